"""Frames of the floor socket, each made once for everybody who is owed the same.

What is owed follows from a stamp: what changed since. Pages that keep up all ask with the same stamp, so that a thousand of
them cost one frame; one that fell behind asks with an older one and gets what is newest, never what it missed.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import UUID

import msgspec

from apps.ingest.gateway.live import Live, Row, Shown, Site, Subject, wall_ms

_JSON = msgspec.json.Encoder()


def text_of(frame: Any) -> str:
    """Any frame as text."""
    return _JSON.encode(frame).decode()


def subjects(live: Live, site: Site, since: int, own: str = "") -> str | None:
    """What is in the site and was described since; None for nothing. With `own`, only what that gateway itself hears."""
    return _once(site, ("subjects", since, own), lambda: subjects_of(site, _since(site, "described", since, own)))


def subjects_of(site: Site, chosen: Sequence[Subject]) -> str | None:
    """The same for some subjects."""
    return text_of({"op": "subjects", "site": site.id, "list": [_entry(one) for one in chosen]}) if chosen else None


def floor(live: Live, site: Site, since: int, own: str = "") -> str:
    """The headline values of every subject that changed since."""
    return _once(site, ("floor", since, own), lambda: _floor(live, site, since, own)) or ""


def reports(live: Live, site: Site, since: int, own: str = "") -> str | None:
    """What subjects say of themselves and how well we hear them, where that changed since; None for nothing."""
    return _once(site, ("reports", since, own), lambda: reports_of(live, site, _since(site, "reported", since, own)))


def reports_of(live: Live, site: Site, chosen: Sequence[Subject]) -> str | None:
    """The same for some subjects."""
    if not chosen:
        return None
    return text_of({"op": "reports", "site": site.id, "now_ms": wall_ms(), "list": [_report(one) for one in chosen]})


def heard(live: Live, site: Site, since: int, own: str = "") -> str | None:
    """Which subjects said the same again since, and when: so that its age is true."""
    return _once(site, ("heard", since, own), lambda: heard_of(site, _of(site, own), since))


def states(live: Live, subject_id: UUID, rows: Iterable[Row]) -> str:
    """States of one subject at full rate."""
    return text_of({"op": "states", "subject": subject_id, "now_ms": wall_ms(), "rows": list(rows)})


def picture(subject: Subject, camera: str, shown: Shown) -> bytes:
    """One picture with its header."""
    if shown.frame is None:
        header = _JSON.encode(
            {
                "subject": subject.id,
                "camera": camera,
                "sequence": shown.sequence,
                "device_ms": shown.device_ms,
                "received_ms": shown.received_ms,
                "fault": shown.fault,
            }
        )
        shown.frame = len(header).to_bytes(4, "big") + header + shown.jpeg
    return shown.frame


def _once(site: Site, key: tuple[str, int, str], make: Callable[[], str | None]) -> str | None:
    if key not in site.frames:
        site.frames[key] = make()
    return site.frames[key]


def _since(site: Site, stamp: str, since: int, own: str) -> list[Subject]:
    return [one for one in _of(site, own) if getattr(one, stamp) > since]


def _of(site: Site, own: str) -> Iterable[Subject]:
    """All subjects of a site, or those for which only this gateway answers: gateways tell each other nothing second-hand."""
    return [one for one in site.subjects if one.about.gateway == own] if own else site.subjects


def _floor(live: Live, site: Site, since: int, own: str) -> str:
    rows = []
    for one in _of(site, own):
        if one.changed > since and (values := one.values):
            headline = [values[place] for place in one.headline]
            rows.append((one.place, one.sequence, one.device_ms, one.received_ms, headline))
    return text_of({"op": "floor", "site": site.id, "now_ms": wall_ms(), "rows": rows})


def heard_of(site: Site, chosen: Iterable[Subject], since: int) -> str | None:
    """The same of a few subjects that are watched one by one."""
    rows = [(one.place, one.report_received_ms) for one in chosen if one.heard > since >= one.reported]
    return text_of({"op": "heard", "site": site.id, "now_ms": wall_ms(), "rows": rows}) if rows else None


def _entry(one: Subject) -> dict[str, Any]:
    about = one.about
    return {
        "i": one.place,
        "id": one.id,
        "name": about.name,
        "kind": about.kind,
        "channels": about.channels,
        "cameras": about.cameras,
        "is_simulated": about.is_simulated,
        "bridge": about.bridge,
        "gateway": about.gateway,
    }


def _report(one: Subject) -> dict[str, Any]:
    cameras = {name: shown.fault for name, shown in one.pictures.items() if shown.fault}
    return {"i": one.place, "link": one.link, "offset_ms": one.offset_ms, "cameras": cameras, "report": _said(one)}


def _said(one: Subject) -> dict[str, Any] | None:
    report = one.report
    if report is None:
        return None
    return {
        "sequence": report.sequence,
        "device_ms": one.report_device_ms,
        "received_ms": one.report_received_ms,
        "mode": report.mode,
        "driver": report.driver,
        "task": report.task,
        "activity": report.activity,
        "skill": report.skill,
        "episode": report.episode,
        "step": report.step,
        "is_moving": report.is_moving,
        "needs_reset": report.needs_reset,
        "latched": report.latched,
        "faults": report.faults,
    }
