"""What keeps a bridge safe and its facts whole, each switched off in turn.

Bridges that a test starts as processes switch the guard off in themselves: see `tests.integration.edge.spinner`.
"""

from tests.guards import guard
from tests.mutations import Mutation

_SPOOL = "tests/unit/workers/test_spool.py::"
_LATCH = "tests/unit/workers/test_latch.py::"
_STOPS = "tests/unit/workers/test_stops.py::"
_PARTS = "tests/unit/workers/test_client_parts.py::"
_CONFIG = "tests/unit/workers/test_config.py::"
_CLIENT = "tests/integration/edge/test_client.py::"
_PROCESS = "tests/integration/edge/test_bridge_process.py::"
_REAL = "tests/integration/edge/test_real_gateway.py::"
_BAD = "tests/contract/protocol/test_bad_messages.py::"


@guard("messages refused unquoted")
def _unquoted() -> None:
    from workers.protocol import codec

    codec._reason = lambda error, frame: str(error)


@guard("facts kept until taken, at length")
@guard("facts kept until taken")
def _kept() -> None:
    """A fact is forgotten as soon as it was handed over to be sent."""
    from workers.client import Spool

    pending = Spool.pending

    def forget(self, most=50):
        facts = pending(self, most)
        if facts is not None:
            self.taken(facts.boot, facts.facts[-1].sequence)
        return facts

    Spool.pending = forget


@guard("late answers")
def _late() -> None:
    """Whatever an answer says is believed, also less than was known before."""
    from workers.client import Spool

    taken = Spool.taken

    def believe(self, boot, sequence):
        self.lost(boot, sequence)
        taken(self, boot, sequence)

    Spool.taken = believe


@guard("half facts cut off")
def _half() -> None:
    import os

    from workers.client import segment

    segment.os = type("Disk", (), {"write": staticmethod(os.write), "ftruncate": staticmethod(lambda handle, size: None)})


@guard("checksums of facts")
def _checksums() -> None:
    from workers.client import segment

    segment.zlib = type("Zlib", (), {"crc32": staticmethod(lambda body: 0)})


@guard("room for stops in the spool")
def _room() -> None:
    from workers.client import spool

    spool.RESERVED = 0.0


@guard("facts safe before they are sent")
def _synced() -> None:
    from workers.client import Spool

    Spool.sync = lambda self: None


@guard("newest wins")
def _newest() -> None:
    """Samples queue while nobody takes them."""
    from workers.client.slots import Slots

    def put(self, state):
        self._states[len(self._states)] = state

    Slots.put_state = put


@guard("jitter")
def _jitter() -> None:
    from workers.client import backoff

    backoff.Backoff.next_s = lambda self: backoff.FIRST_S


@guard("no hammering")
def _hammering() -> None:
    from workers.client.backoff import Backoff

    Backoff.slow_s = Backoff.next_s


@guard("best round trip")
def _best() -> None:
    from workers.client.clock import ConsoleClock

    def last(self):
        import time

        return self._trips[-1].console_ahead_ms + time.monotonic() * 1000 if self._trips else None

    ConsoleClock.now_ms = last


@guard("credential out of a bridge's log")
def _quiet() -> None:
    import logging

    from workers.client import reconnect

    reconnect._QUIET.setLevel(logging.DEBUG)


@guard("silence of a gateway")
def _silence() -> None:
    from workers.client import session

    session.SILENT_BEATS = 10**6


@guard("config for its owner only")
def _owner() -> None:
    import stat

    from workers.edge.base import config

    config.stat = type("Stat", (), {"S_IRWXG": 0, "S_IRWXO": 0, "S_IMODE": stat.S_IMODE})


@guard("stops on disk")
def _latch() -> None:
    from workers.edge.base.latch import Latch

    Latch.keep = lambda self: None


@guard("two places of a record")
def _places() -> None:
    from workers.edge.base.slots import Slots

    def one(self, kept):
        self._number += 1  # so that it comes to the same place again
        write(self, kept)

    write, Slots.write = Slots.write, one


@guard("lower epochs")
def _epochs() -> None:
    from workers.edge.base.latch import Latch

    Latch.admit = lambda self, subject, epoch: True


@guard("orders once")
def _once() -> None:
    from workers.edge.base.orders import Orders

    def carry_out(self, order):
        self._before.clear()
        self._slots.kept = type(self._slots.kept)()
        first(self, order)

    first, Orders.carry_out = Orders.carry_out, carry_out


@guard("orders in time")
def _in_time() -> None:
    from workers.client import ConsoleClock

    ConsoleClock.now_ms = lambda self: 0.0


@guard("standing still is seen")
def _seen() -> None:
    """A Stop is confirmed because it was sent to the machine."""
    from workers.edge.base.stops import Stops

    def believe(self, held, subject):
        self._standing.add((held.stop, subject))
        self._disk.submit(self._confirm, held, subject, self._now_ms())

    Stops._see = believe


@guard("end of a step under way")
def _step_under_way() -> None:
    """A Stop is confirmed at the first look that sees no motion, and a step is not looked at again."""
    from workers.edge.base import stops

    stops.Stops.tick = lambda self: None
    stops.AGAIN_AFTER_S = 0.0


@guard("release after its fact")
def _release() -> None:
    from workers.client import SpoolFull
    from workers.edge.base.stops import Stops

    def careless(self, message):
        keep = self._fact

        def fact(subject, body):
            try:
                keep(subject, body)
            except SpoolFull:
                return

        self._fact = fact
        clear(self, message)

    clear, Stops._clear = Stops._clear, careless


@guard("clears name their stop")
def _clears() -> None:
    """Any message that clears something clears all."""
    from workers.edge.base.latch import Latch

    release, of = Latch.release, Latch.of

    def all_of(self, stop, subjects):
        return [gone for one in list(self._stops) for gone in release(self, one, subjects)]

    class Every(list):
        def __contains__(self, stop):
            return bool(len(self))

    Latch.release = all_of
    Latch.of = lambda self, subject: Every(of(self, subject))


@guard("the console is heard first")
def _heard() -> None:
    """Motion begins at once, whether or not a console was there."""
    from workers.edge.base.bridge import Bridge

    Bridge.may_move = lambda self, subject: not self.stops.latch.holds(subject)


@guard("a step in time")
def _step() -> None:
    from workers.edge.base.bridge import Bridge

    Bridge._step_hangs = lambda self, name: None


@guard("one bridge a folder")
def _folder() -> None:
    import os

    from workers.edge.base import bridge

    bridge._locked = lambda path: os.open("/dev/null", os.O_RDONLY)


CASES = [
    Mutation("messages refused unquoted", f"{_BAD}test_from_a_bridge[text-an unknown field]"),
    Mutation("facts kept until taken", f"{_SPOOL}test_facts_are_numbered_from_one_and_given_in_order"),
    Mutation("facts kept until taken", f"{_CLIENT}test_facts_are_sent_again_until_they_are_taken_and_no_further"),
    Mutation(
        "facts kept until taken, at length",
        f"{_REAL}test_no_fact_is_lost_or_doubled_when_gateway_and_bridge_are_killed",
        slow=True,
    ),
    Mutation("late answers", f"{_SPOOL}test_a_late_answer_with_a_lower_number_changes_nothing"),
    Mutation("half facts cut off", f"{_SPOOL}test_a_full_disk_refuses_and_leaves_no_half_fact"),
    Mutation("checksums of facts", f"{_SPOOL}test_a_flipped_bit_is_no_fact"),
    Mutation("room for stops in the spool", f"{_SPOOL}test_a_full_spool_refuses_and_keeps_room_for_stops"),
    Mutation("facts safe before they are sent", f"{_SPOOL}test_nothing_is_synced_twice_and_everything_before_it_is_sent"),
    Mutation("newest wins", f"{_PARTS}TestSlots::test_memory_does_not_grow_while_nobody_takes"),
    Mutation("jitter", f"{_PARTS}TestBackoff::test_waits_grow_to_a_bound_and_differ"),
    Mutation("jitter", f"{_CLIENT}test_many_bridges_do_not_come_back_at_once"),
    Mutation("no hammering", f"{_CLIENT}test_a_lasting_refusal_is_said_and_not_hammered_on[replaced]"),
    Mutation("best round trip", f"{_PARTS}TestConsoleClock::test_the_trip_with_the_least_delay_counts[0]"),
    Mutation("credential out of a bridge's log", f"{_CLIENT}test_the_record_holds_all_that_passed_and_no_credential"),
    Mutation("silence of a gateway", f"{_CLIENT}test_a_gateway_that_falls_silent_is_left"),
    Mutation("config for its owner only", f"{_CONFIG}test_a_credential_that_others_can_read_is_refused[420]"),
    Mutation("stops on disk", f"{_LATCH}TestLatch::test_it_holds_over_a_restart"),
    Mutation("stops on disk", f"{_PROCESS}test_a_stop_ends_motion_and_holds_through_kill_9"),
    Mutation("two places of a record", f"{_LATCH}TestLatch::test_a_torn_write_leaves_the_one_before[torn]"),
    Mutation("lower epochs", f"{_LATCH}TestLatch::test_a_lower_epoch_is_refused_for_good"),
    Mutation("orders once", f"{_LATCH}TestOrders::test_each_is_carried_out_once_over_restarts_too"),
    Mutation("orders in time", f"{_LATCH}TestOrders::test_lateness_is_judged_by_the_consoles_clock[6000.0-True]"),
    Mutation("standing still is seen", f"{_STOPS}test_motion_ends_at_once_and_is_told_when_it_has_ended"),
    Mutation(
        "end of a step under way",
        f"{_STOPS}test_motion_that_a_step_begins_just_after_a_stop_is_ended_and_nothing_is_confirmed_before",
    ),
    Mutation("release after its fact", f"{_STOPS}test_a_release_that_cannot_be_kept_does_not_happen"),
    Mutation("clears name their stop", f"{_STOPS}test_clearing_tells_it_then_frees_and_only_what_no_other_stop_holds"),
    Mutation("the console is heard first", f"{_PROCESS}test_nothing_moves_before_the_console_was_heard"),
    Mutation("the console is heard first", f"{_PROCESS}test_a_stop_pressed_while_the_bridge_was_away_comes_before_any_motion"),
    Mutation("a step in time", f"{_PROCESS}test_a_step_that_hangs_ends_motion"),
    Mutation("one bridge a folder", f"{_PROCESS}test_two_bridges_do_not_share_a_state_folder"),
]
