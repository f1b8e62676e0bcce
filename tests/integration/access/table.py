"""The rights table, written by hand in matrix.toml, and what it expects of one call."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.kernel.types import Role

TABLE: dict[str, Any] = tomllib.loads((Path(__file__).parent / "matrix.toml").read_text())
URLS: dict[str, dict[str, str]] = TABLE["url"]
ROLES = frozenset(role.value for role in Role)
NEED = frozenset({"fresh", "browser", "any-site"})
WHO = frozenset({"anybody", "person", "known", "own", "staff", "nobody", "every-role"})


@dataclass(frozen=True)
class Rule:
    """Who may make one call, what else it needs, and the statuses of an allowed call without a body."""

    who: frozenset[str]
    need: frozenset[str]
    allowed: frozenset[int | str]

    @property
    def at_site(self) -> bool:
        """Whether the rule goes by roles."""
        return bool(self.who & ROLES)


def entry_of(route_name: str) -> str | None:
    """The table's entry for a route: its own, or the one pattern (with *) that fits; None for none."""
    if route_name in URLS:
        return route_name
    fitting = [entry for entry in URLS if "*" in entry and _fits(entry, route_name)]
    return fitting[0] if len(fitting) == 1 else None


def _fits(entry: str, name: str) -> bool:
    return re.fullmatch(re.escape(entry).replace(r"\*", "[a-z]+[_/][a-z]+"), name) is not None


def rule(text: str) -> Rule:
    """Read `admin auditor, fresh -> 422`. Raises ValueError on a word that is not in the table's language."""
    left, _, right = text.partition("->")
    who, _, need = left.partition(",")
    words, needs = frozenset(who.split()), frozenset(need.split())
    if unknown := (words - WHO - ROLES) | (needs - NEED):
        raise ValueError(f"{text!r}: what is {sorted(unknown)}?")
    if "every-role" in words:
        words = words - {"every-role"} | ROLES
    statuses = frozenset(int(word) if word.isdigit() else word for word in right.split())
    return Rule(words, needs, statuses or frozenset({200}))


@dataclass(frozen=True)
class Caller:
    """What of a member of the cast decides the answer."""

    name: str
    kind: str  # nobody, person, token
    roles: frozenset[str] = frozenset()  # at the site called
    anywhere: frozenset[str] = frozenset()  # at any site
    fresh: bool = False
    staff: bool = False


def expected(one: Rule, caller: Caller, *, api: bool, theirs: bool) -> frozenset[int | str]:
    """The statuses this call may have. `sign-in` and `re-enter` are redirects to those pages.

    `theirs`: the address names something that belongs to another person or site than the caller.
    """
    anonymous: frozenset[int | str] = frozenset({401 if api else "sign-in"})
    if "anybody" in one.who:
        return one.allowed
    if caller.kind == "nobody" or (not api and caller.kind != "person"):
        return anonymous
    if "nobody" in one.who:
        return frozenset({403, 404})
    if "staff" in one.who:
        return one.allowed if caller.staff else frozenset({403})
    if "own" in one.who:
        return frozenset({_kind(one, caller, api=api) or (404 if theirs else 0)}) - {0} or one.allowed
    refusal = _reach(one, caller) or _kind(one, caller, api=api)
    return frozenset({refusal}) if refusal else one.allowed


def _reach(one: Rule, caller: Caller) -> int:
    """Whether roles reach the subject: 0, 403 or 404."""
    if "any-site" in one.need:
        return 0 if caller.anywhere & one.who else 403
    if one.at_site:
        return 404 if not caller.roles else 0 if caller.roles & one.who else 403
    return 403 if "person" in one.who and caller.kind != "person" else 0


def _kind(one: Rule, caller: Caller, *, api: bool) -> int | str:
    """Whether this kind of caller, with this proof, may do it: 0 or the refusal."""
    if one.need & {"fresh", "browser"} and caller.kind != "person":
        return 403
    if "fresh" in one.need and not caller.fresh:
        return 403 if api else "re-enter"
    return 0
