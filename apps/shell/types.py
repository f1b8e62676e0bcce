"""Words of the shell: navigation, commands, keys, and what a page is framed by."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.fleet.selectors.figures import EpisodesSeen
from apps.fleet.types import FloorRobot
from apps.kernel.selectors import SubjectWords


@dataclass(frozen=True)
class NavEntry:
    """One part of the console in the rail. Shown only to those whom `verb` admits at the site of the page."""

    label: str
    icon: str
    keys: str
    url_name: str
    verb: str


@dataclass(frozen=True)
class NavLink:
    """A navigation entry resolved for one person at one site."""

    label: str
    icon: str
    keys: str
    url: str
    is_current: bool


@dataclass(frozen=True)
class KeyLine:
    """One line of the keyboard sheet: the keys in order, and what they do."""

    keys: tuple[str, ...]
    does: str
    is_single: bool = False


@dataclass(frozen=True)
class KeyGroup:
    """Lines of the keyboard sheet under one heading."""

    title: str
    lines: Sequence[KeyLine]


@dataclass(frozen=True)
class SiteLink:
    """A site the person may switch to."""

    name: str
    url: str
    is_current: bool


@dataclass(frozen=True)
class Frame:
    """What surrounds every page of a signed-in person."""

    site: Any
    robots: int
    roles: str
    sites: Sequence[SiteLink]
    links: Sequence[NavLink]
    account_links: Sequence[NavLink]
    commands: Sequence[dict[str, Any]]
    key_groups: Sequence[KeyGroup]


@dataclass(frozen=True)
class Display:
    """How a page looks: `theme` is light, dark, or empty for the system's; `density` is compact or comfortable."""

    theme: str
    density: str
    single_keys: bool


THEMES = ("light", "dark")
THEME_COOKIE = "pilothouse_theme"


@dataclass(frozen=True)
class Told:
    """A fact of the journal, the sentence that tells it, and its payload line by line."""

    event: Any
    sentence: str
    facts: Sequence[tuple[str, str]]
    about: SubjectWords | None = None


@dataclass(frozen=True)
class Word:
    """A state: its word, its drawing, and its kind: "" plain, "hum" a person's hands, "unk" not known."""

    name: str
    icon: str
    kind: str = ""


@dataclass(frozen=True)
class AlarmExample:
    """An alarm row of the gallery."""

    level: int
    what: str
    state: str
    is_seen: bool
    icon: str = ""


@dataclass(frozen=True)
class RunExample:
    """A table row of the gallery."""

    name: str
    word: Word
    success: str
    at: datetime


@dataclass(frozen=True)
class FaultExample:
    """An error of the gallery."""

    status: int
    heading: str
    message: str
    again: str
    id: str


@dataclass(frozen=True)
class FloorView:
    """The floor as its page shows it first. With `is_marks` there are too many robots for pictures."""

    robots: Sequence[FloorRobot]
    is_marks: bool
    all_simulated: bool
    robots_url: str
    episodes: EpisodesSeen
