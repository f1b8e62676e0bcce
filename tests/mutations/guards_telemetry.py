"""Guards of recorded samples, each switched off in turn."""

from tests.guards import guard
from tests.mutations import Mutation

_RECORDER = "tests/unit/telemetry/test_recorder.py::"
_HOSTILE = "tests/integration/telemetry/test_hostile_stream.py::"
_SERIES = "tests/integration/telemetry/test_series.py::"


@guard("each sample once")
def _once() -> None:
    """Take whatever comes, in the order in which it comes."""
    from apps.telemetry.recording import recorder

    recorder._once = lambda rows: rows
    recorder.Holes.fill = lambda _self, _sequence: True  # type: ignore[method-assign]


@guard("boots apart")
def _boots() -> None:
    """A bridge that began anew goes on in the numbers of its last run."""
    from apps.telemetry.recording import recorder

    forget = recorder._Track.forget_boot

    def only_at_first(self: recorder._Track) -> None:
        if not hasattr(self, "last"):
            forget(self)

    recorder._Track.forget_boot = only_at_first  # type: ignore[method-assign]


@guard("series only of the site")
def _site() -> None:
    """Find a subject by its id alone."""
    from apps.telemetry.models import Layout
    from apps.telemetry.selectors import charts
    from apps.telemetry.services.layouts import layout_of

    charts.layouts_of = lambda subject: [layout_of(row) for row in Layout.objects.filter(subject_id=subject.id)]


@guard("values that are numbers")
def _finite() -> None:
    """Keep NaN and infinities as they come."""
    from apps.telemetry.recording import recorder

    recorder.np = _Everything(recorder.np)  # type: ignore[assignment]


class _Everything:
    """numpy to which everything is finite."""

    def __init__(self, real: object) -> None:
        self._real = real

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)

    def isfinite(self, values: object) -> object:
        """All of them."""
        return self._real.ones(values.shape, bool)  # type: ignore[attr-defined]


@guard("a block stored once")
def _stored_once() -> None:
    """Store a block under a new id each time."""
    from apps.kernel.ids import new_id
    from apps.telemetry.services import blocks

    values = blocks._values
    blocks._values = lambda block: (new_id(), *values(block)[1:])


@guard("waiting blocks within bounds")
def _bounds() -> None:
    """Keep every block that could not be stored."""
    from apps.telemetry.recording import recorder

    made = recorder.Recorder.__init__

    def unbounded(self: object, **given: object) -> None:
        made(self, **given | {"most_waiting": 2**60})  # type: ignore[arg-type]

    recorder.Recorder.__init__ = unbounded  # type: ignore[method-assign, assignment]


CASES = [
    Mutation("each sample once", f"{_HOSTILE}test_repeated_reordered_lost_and_restarted_it_reads_as_it_was_sent"),
    Mutation("boots apart", f"{_HOSTILE}test_repeated_reordered_lost_and_restarted_it_reads_as_it_was_sent"),
    Mutation("each sample once", f"{_RECORDER}test_repeated_states_are_taken_once"),
    Mutation("each sample once", f"{_RECORDER}test_a_late_state_fills_the_gap_it_left"),
    Mutation("boots apart", f"{_RECORDER}test_another_boot_begins_anew"),
    Mutation("series only of the site", f"{_SERIES}test_a_subject_of_another_site_is_not_found"),
    Mutation("values that are numbers", f"{_RECORDER}test_unknown_values_come_back_as_unknown"),
    Mutation(
        "a block stored once", "tests/integration/telemetry/test_write_blocks.py::test_storing_a_block_twice_is_storing_it_once"
    ),
    Mutation("waiting blocks within bounds", f"{_RECORDER}test_what_could_not_be_stored_waits_within_bounds_oldest_lost"),
]
