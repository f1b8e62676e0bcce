"""What pages say to the gateway, and what gateways say to each other about Stops. Frames are JSON texts; `op` names them."""

from typing import Annotated
from uuid import UUID

import msgspec

MOST_FULL_RATE = 4
MOST_PICTURES = 24
MOST_FPS = 10.0
MOST_SECONDS = 600
MOST_STOPPED = 500
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Camera = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class Frame(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", forbid_unknown_fields=True):
    """Base of what is said."""


class WantedPicture(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One camera that a page shows, and how often it wants a new picture."""

    subject: UUID
    camera: Camera
    fps: Annotated[float, msgspec.Meta(gt=0, le=MOST_FPS)] = 2.0


class Watch(Frame, frozen=True, kw_only=True, tag="watch"):
    """What a page shows from now on, instead of what it showed before."""

    site: UUID
    floor: bool = False
    subjects: Annotated[list[UUID], msgspec.Meta(max_length=MOST_FULL_RATE)] = []
    pictures: Annotated[list[WantedPicture], msgspec.Meta(max_length=MOST_PICTURES)] = []


class PressStop(Frame, frozen=True, kw_only=True, tag="stop"):
    """Somebody pressed Stop for these subjects, or with None for the whole site."""

    stop: UUID
    site: UUID
    subjects: Annotated[list[UUID], msgspec.Meta(min_length=1, max_length=MOST_STOPPED)] | None = None
    pressed_at_ms: Milliseconds = 0


class Ring(Frame, frozen=True, kw_only=True, tag="ring"):
    """The last seconds of one subject at full rate."""

    subject: UUID
    seconds: Annotated[float, msgspec.Meta(gt=0, le=MOST_SECONDS)] = 60.0


class Ping(Frame, frozen=True, kw_only=True, tag="ping"):
    """Is anybody there? `t` comes back."""

    t: Annotated[float, msgspec.Meta(ge=0, le=2**53)] = 0


FromPage = Watch | PressStop | Ring | Ping


class WatchedSite(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the pages of a gateway together show of one site."""

    site: UUID
    floor: bool = False
    subjects: list[UUID] = []
    pictures: list[WantedPicture] = []


class WatchAll(Frame, frozen=True, kw_only=True, tag="watch_all"):
    """What a gateway wants of another one from now on."""

    sites: list[WatchedSite] = []


class RelayStop(Frame, frozen=True, kw_only=True, tag="relay_stop"):
    """A Stop that another gateway authorised and keeps; `by` is the name of who pressed."""

    stop: UUID
    site: UUID
    subjects: list[UUID] | None = None
    by: str = ""


class RelayRing(Frame, frozen=True, kw_only=True, tag="relay_ring"):
    """The last seconds of one subject, for a page at another gateway."""

    subject: UUID
    seconds: float


FromLink = WatchAll | RelayStop | RelayRing | Ping
