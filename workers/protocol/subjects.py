"""What a bridge says of the subjects it speaks for."""

from typing import Annotated

import msgspec

from workers.protocol.base import MOST_CHANNELS, Name, Part, SubjectName


class Channel(Part, frozen=True, kw_only=True):
    """One measured quantity. `low` and `high` bound its normal band; `headline` ones (three at most) stand on the floor."""

    name: Name
    unit: Annotated[str, msgspec.Meta(max_length=16)] = ""
    low: float | None = None
    high: float | None = None
    headline: bool = False


class Described(Part, frozen=True, kw_only=True):
    """One subject: its kind (`arm`), its channels in the order that states give them, its cameras."""

    subject: SubjectName
    kind: Name
    channels: Annotated[list[Channel], msgspec.Meta(max_length=MOST_CHANNELS)] = []
    cameras: Annotated[list[Name], msgspec.Meta(max_length=8)] = []
    is_simulated: bool = False


class RefusedSubject(Part, frozen=True, kw_only=True):
    """A subject this bridge does not speak for: `unknown`, `claimed` (another bridge holds it)."""

    subject: SubjectName
    code: str
    message: str
