"""The examples of the component gallery. They describe the parts, and say nothing about any real robot."""

from datetime import datetime, timedelta
from typing import Any

from apps.shell.types import AlarmExample, FaultExample, RunExample, Word

_RUNNING = Word("running", "half")
_FAILED = Word("failed", "no")
_SUCCEEDED = Word("succeeded", "ok")
_CANCELLED = Word("cancelled", "dash")

STATES = (
    (
        "Robot",
        (
            (Word("autonomous", "play"), Word("paused", "pause")),
            (Word("correcting", "hand", "hum"), Word("recovering", "hand", "hum")),
            (Word("stopped", "stop"), Word("unknown", "wait", "unk")),
        ),
    ),
    (
        "Device",
        (
            (Word("idle", "ok"), Word("leased", "lock")),
            (Word("resetting", "reset"), Word("quarantined", "no")),
        ),
    ),
    (
        "Job",
        (
            (Word("queued", "wait"), _RUNNING),
            (_SUCCEEDED, _FAILED),
            (_CANCELLED, Word("lost", "wait", "unk")),
        ),
    ),
)
ALARMS = (
    AlarmExample(1, "Control lost, driving", "0:04 ago", is_seen=False),
    AlarmExample(2, "Pictures late, 3 arms", "2 min ago", is_seen=False),
    AlarmExample(3, "Grip force, arm-12", "seen 14:20", is_seen=True),
    AlarmExample(2, "Heartbeat, amr-01", "gone, not seen", is_seen=False),
    AlarmExample(1, "Stop pressed, arm-10", "latched", is_seen=True, icon="lock"),
    AlarmExample(3, "Battery low, amr-03", "to 15:00", is_seen=True, icon="clock"),
    AlarmExample(4, "Door open, cell 4", "by design", is_seen=True, icon="dash"),
    AlarmExample(4, "Camera 3, bench 1", "out of service", is_seen=True, icon="cross"),
)
FAULTS = (
    FaultExample(
        409,
        "Someone else claimed arm-07 first",
        "Held by another since 14:31:15. Nothing changed.",
        "See the queue",
        "018f4a2c-409",
    ),
    FaultExample(
        412,
        "This page is older than the promotion",
        "v15 got new evidence at 14:30. Not approved, nothing changed.",
        "Load it again",
        "018f4a2c-412",
    ),
    FaultExample(
        503,
        "Gateway 1 does not answer",
        "Your stop went another way and is confirmed. Nothing else was sent.",
        "Load it again",
        "018f4a2c-503",
    ),
)
SWATCHES = (
    ("accent", "accent", "interaction and focus"),
    ("human", "human", "a person has control"),
    ("p1", "p1", "urgent, diamond"),
    ("p2", "p2", "high, triangle"),
    ("p3", "p3", "normal, square"),
    ("p4", "p4", "advisory, circle"),
    ("band", "band", "the normal band"),
    ("stop", "stop-c", "Stop"),
)


def gallery_page(now: datetime) -> dict[str, Any]:
    """Everything the gallery shows, with ages that count on from `now`."""
    runs = (
        RunExample("hitl 31", _RUNNING, "0.842", now - timedelta(seconds=1)),
        RunExample("hitl 30", _FAILED, "0.611", now - timedelta(hours=2)),
        RunExample("hitl 29", _SUCCEEDED, "0.803", now - timedelta(days=2)),
        RunExample("bc 112", _RUNNING, "0.574", now - timedelta(seconds=2)),
        RunExample("bc 111", _CANCELLED, "none", now - timedelta(days=3)),
    )
    return {
        "states": STATES,
        "alarms": ALARMS,
        "faults": FAULTS,
        "swatches": SWATCHES,
        "runs": runs,
        "fresh": now,
        "late": now - timedelta(seconds=48),
        "lost": now - timedelta(minutes=8),
    }
