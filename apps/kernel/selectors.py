"""What subjects are called and where they are shown: lower apps know them by kind and id only, and ask here for the words.

An app that owns a kind of subject registers how to name many of them in one query.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from apps.kernel.ids import parse_id
from apps.kernel.types import SubjectRef


@dataclass(frozen=True)
class SubjectWords:
    """One subject as people read it. `url` is the path of its page, empty where it has none."""

    name: str
    url: str = ""


Finder = Callable[[Collection[UUID]], Mapping[UUID, SubjectWords]]
_FINDERS: dict[str, Finder] = {}


def register_subjects(kind: str, finder: Finder) -> None:
    """Name the subjects of one kind by `finder`, which takes ids and makes one query."""
    if _FINDERS.setdefault(kind, finder) is not finder:
        raise ValueError(f"subjects of kind {kind} are named twice")


def words_of(subjects: Iterable[SubjectRef]) -> dict[tuple[str, UUID], SubjectWords]:
    """Each subject in words, by (kind, id): one query a kind. One that nobody names is called by its kind and id."""
    by_kind: dict[str, set[UUID]] = {}
    for subject in subjects:
        by_kind.setdefault(subject.kind, set()).add(subject.id)
    found: dict[tuple[str, UUID], SubjectWords] = {}
    for kind, ids in by_kind.items():
        named = _FINDERS[kind](ids) if kind in _FINDERS else {}
        for one in ids:
            found[kind, one] = named.get(one) or SubjectWords(f"{kind} {str(one)[-8:]}")
    return found


def subject_name(subject: SubjectRef) -> str:
    """The one spelling of a subject in records and on the wire: `kind:id`."""
    return f"{subject.kind}:{subject.id}"


def subject_named(text: str, *, site_id: UUID | None = None) -> SubjectRef | None:
    """The subject that `kind:id` spells, or None."""
    kind, _, rest = text.partition(":")
    found = parse_id(rest)
    if found is None or not (kind.isascii() and kind.isidentifier() and kind.islower() and len(kind) <= 40):
        return None
    return SubjectRef(kind, found, site_id=site_id)
