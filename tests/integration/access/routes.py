"""Every address the resolver knows, with its view and the methods its declaration names."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

from apps.kernel.access import declared


@dataclass(frozen=True)
class Route:
    """One address. `name` is the full URL name, or `path:<pattern>` for one without a name."""

    name: str
    pattern: str
    view: Callable[..., Any]
    arguments: frozenset[str]
    view_name: str

    @property
    def methods(self) -> frozenset[str] | None:
        """Methods declared for it beside HEAD; None where nothing is declared."""
        found = declared(self.view, self.view_name)
        return None if found is None else frozenset(found.verbs) - {"HEAD"}


def routes() -> list[Route]:
    """All of them, libraries and unnamed ones included."""
    return list(_walk(get_resolver(), "", (), frozenset()))


def _walk(resolver: URLResolver, before: str, names: tuple[str, ...], arguments: frozenset[str]) -> Iterator[Route]:
    for entry in resolver.url_patterns:
        pattern = before + str(entry.pattern)
        taken = arguments | frozenset(entry.pattern.regex.groupindex)
        if isinstance(entry, URLPattern):
            name = ":".join([*names, entry.name]) if entry.name else f"path:{pattern}"
            view_name = ":".join([*names, entry.name or entry.lookup_str])
            yield Route(name, pattern, entry.callback, taken, view_name)
        else:
            yield from _walk(entry, pattern, (*names, entry.namespace) if entry.namespace else names, taken)
