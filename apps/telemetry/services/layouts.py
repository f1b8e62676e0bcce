"""Keeping what the numbers of a subject mean."""

import hashlib
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec

from apps.kernel import clock
from apps.kernel.errors import Invalid
from apps.kernel.ids import parse_id
from apps.kernel.types import SubjectRef
from apps.telemetry import types
from apps.telemetry.models import Layout
from workers.protocol import Described

_Key = tuple[str, UUID, bytes]


def describe(*, site_id: UUID, described: Sequence[Described]) -> dict[UUID, types.Layout]:
    """The layout of each subject as its bridge describes it now, stored if it is new. The caller knows that they are its own.

    Two statements at most when nothing is new, four otherwise. Raises Invalid for a name that is no `kind:<uuid>` and for
    two channels of one name.
    """
    wanted = dict(_wanted(site_id, one) for one in described)
    found = _stored(site_id, wanted)
    if missing := [row for key, row in wanted.items() if key not in found]:
        Layout.objects.bulk_create(missing, ignore_conflicts=True)
        found = _stored(site_id, wanted)
    return {key[1]: layout_of(row) for key, row in found.items()}


def layout_of(row: Layout) -> types.Layout:
    """A row as the frozen type that leaves telemetry."""
    return types.Layout(
        id=row.id,
        subject=SubjectRef(row.subject_kind, row.subject_id, site_id=row.site_id),
        channels=tuple(types.MeasuredChannel(**channel) for channel in row.channels),
    )


def _wanted(site_id: UUID, described: Described) -> tuple[_Key, Layout]:
    kind, _, text = described.subject.partition(":")
    subject_id = parse_id(text)
    if subject_id is None or not 1 <= len(kind) <= 20:
        raise Invalid("A subject is named kind:<uuid>.", fields={"subject": [described.subject[:60]]})
    channels: list[dict[str, Any]] = [
        {"name": one.name, "unit": one.unit, "low": one.low, "high": one.high} for one in described.channels
    ]
    if len({channel["name"] for channel in channels}) != len(channels):
        raise Invalid("Two channels have one name.", fields={"channels": [described.subject[:60]]})
    digest = hashlib.sha256(msgspec.json.encode(channels, order="deterministic")).digest()
    row = Layout(
        site_id=site_id, subject_kind=kind, subject_id=subject_id, digest=digest, channels=channels, created_at=clock.now()
    )
    return (kind, subject_id, digest), row


def _stored(site_id: UUID, wanted: dict[_Key, Layout]) -> dict[_Key, Layout]:
    rows = Layout.objects.filter(site_id=site_id, subject_id__in=[subject_id for _, subject_id, _ in wanted])
    found = {(row.subject_kind, row.subject_id, bytes(row.digest)): row for row in rows}
    return {key: found[key] for key in wanted if key in found}
