"""The process `tail`: numbers events, seals them and hands them to reactions. One holds the tail at a time."""

import threading
import time
from contextlib import suppress
from typing import Any

import psycopg
import structlog
from django.db import Error as DatabaseError
from django.db import close_old_connections, connection
from psycopg_pool import PoolTimeout

from apps.journal.lifecycle.notes import BadNote
from apps.journal.models import Checkpoint, Event, TailEntry, TailState
from apps.journal.services.reacting import Reactor
from apps.journal.services.seal_folder import SealFault, SealFolder
from apps.journal.services.sealing import Sealer
from apps.journal.services.sequencing import MOST_AT_ONCE, Sequencer
from apps.journal.services.watching import watch
from apps.journal.types import Numbered
from apps.kernel import clock

LOCK = 0x70696C6F74  # an advisory lock of this database, by a number nobody else here uses
BUSY_S = 0.02  # between steps while events arrive
IDLE_S = 0.2
LULL_S = 2.0  # so long after the last event it counts as idle
POLL_S = 1.0
SEAL_AGAIN_S = 30.0
_log = structlog.get_logger(__name__)


def catch_up(*, seal: SealFolder | None = None) -> int:
    """Number all that has committed and bring every reaction up to it, on this thread's connection; how many were new.

    What reactions write is numbered, too. For tests and commands. With a folder it is sealed. Raises RuntimeError while a tail
    process runs, which does all this by itself, SealFault where the journal is not what was sealed.
    """
    connection.ensure_connection()
    if not _take_lock(connection.connection):
        raise RuntimeError("a tail process is running")
    try:
        sequencer, reactor, numbered = Sequencer(connection.connection), Reactor(), 0
        sequencer.load()
        is_first = True
        while (found := _all_steps(sequencer)) or is_first:
            numbered, is_first = numbered + found, False
            if seal is not None:
                sealer = Sealer(connection.connection, seal)
                sealer.load(sequencer.number)
                sealer.seal()
            while reactor.run():
                pass
        return numbered
    finally:
        _give_lock(connection.connection)


def _all_steps(sequencer: Sequencer) -> int:
    numbered = 0
    while found := len(sequencer.step()):
        numbered += found
    return numbered


def seal_now(seal: SealFolder, *, within_s: float) -> str | None:
    """Have everything sealed that is committed, and return the last checkpoint; None for a journal without events.

    Where a tail process runs, it does that, and is waited for. Raises SealFault, or RuntimeError where it takes too long.
    """
    if not Event.objects.exists():
        return None
    newest = Event.objects.order_by("-position").values_list("position", flat=True)[0]
    ends = clock.monotonic() + within_s
    while True:
        with suppress(RuntimeError):
            catch_up(seal=seal)
        number = TailEntry.objects.filter(position=newest).values_list("number", flat=True).first()
        last = Checkpoint.objects.order_by("-size").first()
        if number is not None and last is not None and last.size >= number:
            return last.note
        fault = TailState.objects.values_list("seal_fault", flat=True).first()
        if fault:
            raise SealFault(fault)
        if clock.monotonic() > ends:
            raise RuntimeError(f"not sealed within {within_s:g} s: is a tail process running?")
        time.sleep(0.2)


def restart_sealing(seal: SealFolder, *, why: str) -> None:
    """Set aside what is kept outside the database, for instance after a restore: whoever holds an older checkpoint will see
    that the journal was another one. Raises RuntimeError while a tail process runs.
    """
    connection.ensure_connection()
    if not _take_lock(connection.connection):
        raise RuntimeError("a tail process is running: stop it first")
    try:
        at = clock.now().strftime("%Y%m%dT%H%M%SZ")
        seal.set_aside(f"before-{at}")
        TailState.objects.update(seal_fault="")
        _log.warning("sealing starts again from what the database holds", why=why)
    finally:
        _give_lock(connection.connection)


class Tail:
    """Runs until `stop` is set. Whatever it loses, it starts again from what the database says."""

    def __init__(self, seal: SealFolder, stop: threading.Event | None = None) -> None:
        self.seal = seal
        self.stop = stop or threading.Event()
        self._grown = threading.Event()
        self._troubled = False

    def run(self) -> None:
        """Hold the tail whenever it is free."""
        reacting = threading.Thread(target=self._react_forever, name="tail-reactions", daemon=True)
        reacting.start()
        threading.Thread(target=watch, args=(self.stop,), name="tail-verification", daemon=True).start()
        while not self.stop.is_set():
            try:
                with _own_connection() as own:
                    self._hold(own)
            except (psycopg.Error, RuntimeError, OSError) as error:
                self._note_trouble(error)
                self.stop.wait(POLL_S)
        self._grown.set()
        reacting.join(timeout=5)

    def _hold(self, own: "psycopg.Connection[Any]") -> None:
        while not _take_lock(own):
            self._troubled = False
            if self.stop.wait(POLL_S):
                return
        sequencer = Sequencer(own)
        sequencer.load()
        _log.info("the tail is held", number=sequencer.number)
        self._troubled = False
        seals = _Seals(own, self.seal)
        busy_until = 0.0
        while not self.stop.is_set():
            found = sequencer.step()
            seals.follow(sequencer.number, found)
            if found:
                busy_until = clock.monotonic() + LULL_S
                self._grown.set()
            if len(found) < MOST_AT_ONCE:
                self.stop.wait(BUSY_S if clock.monotonic() < busy_until else IDLE_S)
        seals.close()

    def _react_forever(self) -> None:
        reactor = Reactor()
        while not self.stop.is_set():
            self._grown.clear()
            more = False
            with suppress(DatabaseError, PoolTimeout):  # the sequencer says so already, and tries again as this does
                more = reactor.run()
            close_old_connections()
            if not more:
                self._grown.wait(POLL_S)
        connection.close()

    def _note_trouble(self, error: Exception) -> None:
        if not self._troubled:
            _log.warning("the tail stands still and will be tried again", fault=type(error).__name__, words=str(error)[:200])
        self._troubled = True


class _Seals:
    """Sealing beside numbering: what goes wrong there is told, and holds up nothing else."""

    def __init__(self, own: "psycopg.Connection[Any]", folder: SealFolder) -> None:
        self.own = own
        self.folder = folder
        self._sealer: Sealer | None = None
        self._not_before = 0.0
        self._told: str | None = None

    def follow(self, number: int, found: list[Numbered]) -> None:
        """Take in what was just numbered, up to `number`, and seal when it is time."""
        try:
            if self._sealer is not None:
                self._sealer.add(found)
            elif clock.monotonic() >= self._not_before:
                sealer = Sealer(self.own, self.folder)
                sealer.load(number)
                self._sealer = sealer
            if self._sealer is not None and self._sealer.is_due:
                self._sealer.seal()
            if self._sealer is not None:
                self._tell("")
        except (SealFault, BadNote, OSError) as error:
            self._sealer, self._not_before = None, clock.monotonic() + SEAL_AGAIN_S
            self._tell(str(error))

    def close(self) -> None:
        """Seal what there is, at an orderly end."""
        if self._sealer is not None:
            with suppress(OSError):
                self._sealer.seal()

    def _tell(self, fault: str) -> None:
        if fault != self._told:
            if fault:
                _log.error("the journal is not sealed", fault=fault)
            with psycopg.Cursor(self.own) as cursor:
                cursor.execute("UPDATE journal_tail_state SET seal_fault = %s WHERE id = 1", [fault])
            self._told = fault


def _own_connection() -> "psycopg.Connection[Any]":
    """A connection outside the pool: the lock on the tail lives as long as it does."""
    given = connection.get_connection_params()
    given = {name: value for name, value in given.items() if name not in ("cursor_factory", "context", "prepare_threshold")}
    return psycopg.connect(**given, autocommit=True)


def _take_lock(own: "psycopg.Connection[Any]") -> bool:
    with psycopg.Cursor(own) as cursor:
        row = cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK]).fetchone()
    return bool(row and row[0])


def _give_lock(own: "psycopg.Connection[Any]") -> None:
    with psycopg.Cursor(own) as cursor:
        cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
