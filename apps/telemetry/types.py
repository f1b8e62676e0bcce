"""Words of telemetry."""

from dataclasses import dataclass
from uuid import UUID

from apps.kernel.types import SubjectRef


@dataclass(frozen=True)
class MeasuredChannel:
    """One quantity of a layout: its name, its unit, and the band it is normally in."""

    name: str
    unit: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Layout:
    """What the numbers of one subject mean, in their order. A subject has a new one when its channels change."""

    id: int
    subject: SubjectRef
    channels: tuple[MeasuredChannel, ...]


@dataclass(frozen=True)
class Gap:
    """Nothing was received between two times (ms of receipt): `silent` for a while, or the bridge began a new boot."""

    since_ms: int
    until_ms: int
    reason: str
    missing: int


@dataclass(frozen=True)
class ChannelSeries:
    """Lowest, highest and mean of one channel for each pixel; None where no value is known."""

    channel: MeasuredChannel
    lowest: list[float | None]
    highest: list[float | None]
    mean: list[float | None]


@dataclass(frozen=True)
class Series:
    """Some channels of a subject over a time, pixel by pixel. Pixel k covers `pixel_ms` from `since_ms + k * pixel_ms`.

    `count` are the states received in a pixel, `missing` those known lost there by their sequence. Times are of receipt, in ms.
    """

    subject: SubjectRef
    since_ms: int
    until_ms: int
    pixel_ms: int
    count: list[int]
    missing: list[int]
    channels: list[ChannelSeries]
    gaps: list[Gap]


@dataclass(frozen=True)
class StoredSample:
    """One stored state: bridge's own run, sequence, both clocks, values by channel name."""

    boot: UUID
    sequence: int
    device_ms: int
    received_ms: int
    values: dict[str, float | None]


@dataclass(frozen=True)
class Storage:
    """What stored telemetry takes: blocks and states by estimate, bytes with indexes, and the oldest and newest receipt."""

    blocks: int
    table_bytes: int
    oldest_ms: int | None
    newest_ms: int | None
