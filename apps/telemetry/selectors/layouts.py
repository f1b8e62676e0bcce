"""What the numbers of a subject mean."""

from collections.abc import Sequence

from apps.kernel.errors import Invalid, NotFound
from apps.kernel.types import SubjectRef
from apps.telemetry.models import Layout
from apps.telemetry.services.layouts import layout_of
from apps.telemetry.types import Layout as KnownLayout
from apps.telemetry.types import MeasuredChannel


def layouts_of(subject: SubjectRef) -> list[KnownLayout]:
    """Every layout of a subject of this site, newest first. Raises NotFound for one that never measured anything here."""
    site_id = subject.site_id
    if site_id is None:
        raise NotFound("There is nothing here.")
    rows = Layout.objects.filter(subject_id=subject.id, site_id=site_id, subject_kind=subject.kind).order_by("-id")
    if not rows:
        raise NotFound("There is nothing here.")
    return [layout_of(row) for row in rows]


def chosen(layouts: Sequence[KnownLayout], names: Sequence[str] | None, most: int) -> list[MeasuredChannel]:
    """The channels of these names, or the first ones of the newest layout. Raises Invalid for a name that none has."""
    known = {channel.name: channel for layout in reversed(layouts) for channel in layout.channels}
    wanted = list(dict.fromkeys(names)) if names is not None else [channel.name for channel in layouts[0].channels[:most]]
    if len(wanted) > most:
        raise Invalid("Too many channels at once.", fields={"channels": [f"Give at most {most}."]})
    if unknown := [name for name in wanted if name not in known]:
        raise Invalid("This subject has no such channel.", fields={"channels": [f"Unknown: {', '.join(unknown)}"[:200]]})
    return [known[name] for name in wanted]


def places(layout: KnownLayout, channels: Sequence[MeasuredChannel]) -> list[int | None]:
    """Where each channel stands in this layout."""
    order = {channel.name: place for place, channel in enumerate(layout.channels)}
    return [order.get(channel.name) for channel in channels]
