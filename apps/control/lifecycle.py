"""What may become of a Stop, pure: from what is loaded to the facts that follow, or the refusal.

A Stop acts before it is recorded, so recording is never refused for what the record holds: the robots stand already.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from apps.control import events
from apps.control.types import CLEAR_HOLDS, MOST_SUBJECTS, ClearRequest, Confirmation, Phase, Release, StopState, SubjectState
from apps.journal.types import Payload
from apps.kernel.errors import Conflict, NotAllowed, Stale
from apps.kernel.selectors import subject_name


def decide_record(state: StopState | None, pressed: events.StopRequested, sent_to: Sequence[str]) -> list[Payload]:
    """The facts of a press that reached the database: none for one that is known, a new round for one after a clear."""
    facts: list[Payload] = []
    known = state.sent_to if state is not None else frozenset()
    if state is None or not state.is_recorded:
        facts.append(_in_round(pressed, state.round if state is not None else 1))
    elif state.cleared_at is not None and pressed.received_at > state.cleared_at:
        facts.append(_in_round(pressed, state.round + 1))  # the same press cannot come after its own clear: it is another one
        known = frozenset()
    named = frozenset(pressed.subjects) if facts else frozenset()
    fresh = sorted(set(sent_to) - known - named)
    for start in range(0, len(fresh), MOST_SUBJECTS):
        chunk = fresh[start : start + MOST_SUBJECTS]
        facts.append(events.StopSent(stop_id=pressed.stop_id, site_id=pressed.site_id, subjects=chunk))
    return facts


def _in_round(pressed: events.StopRequested, number: int) -> events.StopRequested:
    return events.StopRequested(**{name: getattr(pressed, name) for name in pressed.__struct_fields__} | {"round": number})


def decide_confirmations(
    said: Iterable[Confirmation], states: dict[tuple[UUID, str], SubjectState], *, site_id: UUID, now: datetime
) -> list[Payload]:
    """The facts of subjects that report a Stop in effect: none for those that said so and have not been released since."""
    facts: list[Payload] = []
    for one in said:
        key = (one.stop_id, subject_name(one.subject))
        if states.get(key) is SubjectState.LATCHED:
            continue
        states[key] = SubjectState.LATCHED
        facts.append(
            events.StopConfirmed(
                stop_id=one.stop_id,
                site_id=site_id,
                subject=key[1],
                latched_at=one.latched_at,
                ended_at=one.ended_at,
                recorded_at=now,
            )
        )
    return facts


def decide_releases(
    said: Iterable[Release], states: dict[tuple[UUID, str], SubjectState], *, site_id: UUID, now: datetime
) -> list[Payload]:
    """The facts of subjects that report a Stop ended. What was never latched cannot be released."""
    facts: list[Payload] = []
    for one in said:
        key = (one.stop_id, subject_name(one.subject))
        if states.get(key) is not SubjectState.LATCHED:
            continue
        states[key] = SubjectState.RELEASED
        facts.append(
            events.StopReleased(
                stop_id=one.stop_id, site_id=site_id, subject=key[1], released_at=one.released_at, recorded_at=now
            )
        )
    return facts


def refuse_cleared(state: StopState) -> None:
    """A Stop is cleared once."""
    if state.phase is Phase.CLEARED:
        raise Conflict("This Stop was cleared already.", code="stop_cleared")


def refuse_one_person(request: ClearRequest, person_id: UUID) -> None:
    """Two people clear a Stop."""
    if request.by == person_id:
        raise NotAllowed("A second person has to confirm it: you asked for it yourself.", code="one_person")


def refuse_old_clear(state: StopState, clear_id: UUID, now: datetime) -> ClearRequest:
    """What a second person confirms is the one request that stands now, never one from before. Returns it."""
    request = state.clear
    if request is None or request.id != clear_id:
        raise Stale("What you confirm was asked earlier and no longer stands. The Stop holds; look again.", code="old_clear")
    if request.expires_at <= now:
        raise Stale("What you confirm was asked too long ago. The Stop holds; ask again.", code="clear_expired")
    return request


def refuse_program(*, is_scripted: bool, is_simulated: bool) -> None:
    """A program releases nothing real."""
    if is_scripted and not is_simulated:
        raise NotAllowed("A program may clear a Stop only at a simulated site.", code="program_clears")


def decide_clear_request(
    state: StopState, *, clear_id: UUID, by: UUID, by_name: str, now: datetime
) -> list[events.ClearRequested]:
    """Ask that a Stop be cleared. One that somebody asked already stands until it runs out."""
    refuse_cleared(state)
    if state.clear is not None and state.clear.expires_at > now:
        raise Conflict("Somebody asked for this already. A second person has to confirm it.", code="clear_requested")
    return [
        events.ClearRequested(
            stop_id=state.id,
            site_id=state.site_id,
            clear_id=clear_id,
            requested_by=by,
            requested_by_name=by_name,
            requested_at=now,
            expires_at=now + CLEAR_HOLDS,
        )
    ]


def decide_withdrawal(state: StopState, clear_id: UUID, *, by: UUID | None) -> list[events.ClearWithdrawn]:
    """Take a request back. Raises Stale when another one stands."""
    refuse_cleared(state)
    if state.clear is None or state.clear.id != clear_id:
        raise Stale("This request no longer stands.", code="old_clear")
    return [events.ClearWithdrawn(stop_id=state.id, site_id=state.site_id, clear_id=clear_id, withdrawn_by=by)]


def decide_clear(
    state: StopState, clear_id: UUID, *, by: UUID, by_name: str, one_person_clears: bool, now: datetime
) -> list[events.StopCleared]:
    """Clear a Stop as the second person."""
    refuse_cleared(state)
    request = refuse_old_clear(state, clear_id, now)
    if not one_person_clears:
        refuse_one_person(request, by)
    return [
        events.StopCleared(
            stop_id=state.id,
            site_id=state.site_id,
            clear_id=clear_id,
            cleared_by=by,
            cleared_by_name=by_name,
            cleared_at=now,
        )
    ]


def decide_policy(
    *, site_id: UUID, is_simulated: bool, one_person_clears: bool, before: bool, version: int
) -> list[events.PolicyChanged]:
    """Let one person clear Stops, or two again; none when it is so already."""
    if one_person_clears and not is_simulated:
        raise Conflict("Only at a site marked simulated may one person clear a Stop.", code="not_simulated")
    if one_person_clears == before:
        return []
    return [events.PolicyChanged(site_id=site_id, one_person_clears=one_person_clears, version=version + 1)]
