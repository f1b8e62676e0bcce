"""What goes from memory to the database by itself: blocks of samples and last reports. None of it is a fact."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from apps.fleet.services import save_reports
from apps.fleet.types import LastReport
from apps.ingest.gateway.bridges import Connection
from apps.ingest.gateway.database import STORE
from apps.ingest.gateway.live import Subject
from apps.kernel.errors import Unavailable
from apps.telemetry.services import write_blocks

if TYPE_CHECKING:
    from apps.ingest.gateway.running import Gateway

BLOCKS_EVERY_S, REPORTS_EVERY_S = 1.0, 2.0
MOST_BLOCKS = 200  # a statement stays short, and what fails is not much


class Storing:
    """Writes what has become ready."""

    def __init__(self, gateway: "Gateway") -> None:
        self._gateway = gateway
        self._saved: dict[str, int] = {}  # by subject, the report that was kept last

    async def blocks(self, *, everything: bool = False) -> None:
        """Store blocks that are closed; what the database does not take waits in memory, within bounds."""
        recorder = self._gateway.recorder
        closed = recorder.take_closed(everything=everything)
        while closed:
            try:
                await STORE.ask(write_blocks, closed[:MOST_BLOCKS])
            except BaseException:
                recorder.give_back(closed)
                raise
            closed = closed[MOST_BLOCKS:]

    async def reports(self) -> None:
        """Keep the newest report of each subject that reported since the last time."""
        fresh = [
            one
            for one in self._gateway.live.subjects.values()
            if isinstance(one.source, Connection) and one.report is not None and self._is_new(one)
        ]
        if fresh:
            await STORE.ask(save_reports, [_last(one) for one in fresh])
            self._saved.update({one.subject_name: one.report_received_ms for one in fresh})

    async def everything(self) -> None:
        """Before the process ends: what is open too."""
        with suppress(Unavailable):
            await self.blocks(everything=True)
        with suppress(Unavailable):
            await self.reports()

    def _is_new(self, subject: Subject) -> bool:
        return self._saved.get(subject.subject_name) != subject.report_received_ms


def _last(subject: Subject) -> LastReport:
    report, boot = subject.report, subject.boot
    assert report is not None and boot is not None  # noqa: S101 - chosen by the caller
    body = msgspec.to_builtins(report)
    del body["subject"], body["op"]
    return LastReport(
        robot_id=subject.id,
        boot=boot,
        sequence=report.sequence,
        device_ms=report.at_ms,
        received_at=datetime.fromtimestamp(subject.report_received_ms / 1000, UTC),
        body=body,
    )
