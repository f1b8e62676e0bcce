"""Clear a Stop: a floor operator asks, a second person confirms, the subjects are told."""

from uuid import UUID

from apps.accounts import selectors as accounts
from apps.control import events, projections
from apps.control.lifecycle import decide_clear, decide_clear_request, decide_withdrawal, refuse_program
from apps.control.models import Stop, StopPolicy
from apps.journal.services import Operation, operation
from apps.kernel import clock
from apps.kernel.errors import NotFound, Stale
from apps.kernel.ids import new_id
from apps.kernel.permissions import require
from apps.kernel.types import Actor, Role, SubjectRef


def request_clear(*, actor: Actor, site_id: UUID, stop_id: UUID, idempotency_key: str | None = None) -> Stop:
    """Ask, as a floor operator who has looked, that a Stop be cleared. Holds for five minutes.

    Raises NotAllowed, NotFound, Conflict when it was cleared, or asked by somebody already.
    """
    request = {"site_id": site_id, "stop_id": stop_id}
    with operation(actor, "control.request_clear", key=idempotency_key, request=request) as act:
        row = _locked(act, site_id, stop_id, "control.request_clear")
        if act.is_replay:
            return row
        by = _person(actor, site_id)
        facts = decide_clear_request(row.state(), clear_id=new_id(), by=by, by_name=actor.name[:200], now=clock.shared())
        return _record(act, row, facts)


def withdraw_clear(*, actor: Actor, site_id: UUID, stop_id: UUID, clear_id: UUID, idempotency_key: str | None = None) -> Stop:
    """Take back what was asked; any floor operator may. Raises Stale when another request stands, Conflict when cleared."""
    request = {"site_id": site_id, "stop_id": stop_id, "clear_id": clear_id}
    with operation(actor, "control.withdraw_clear", key=idempotency_key, request=request) as act:
        row = _locked(act, site_id, stop_id, "control.withdraw_clear")
        if act.is_replay:
            return row
        return _record(act, row, decide_withdrawal(row.state(), clear_id, by=actor.id))


def confirm_clear(*, actor: Actor, site_id: UUID, stop_id: UUID, clear_id: UUID, idempotency_key: str | None = None) -> Stop:
    """Clear a Stop as the second person. `clear_id` names the request that this person saw.

    Raises NotAllowed for whoever asked for it, NotFound, Stale when that request ran out, was withdrawn, is from before the
    Stop was pressed anew, or came from somebody who is no floor operator any more, Conflict when it was cleared.
    """
    request = {"site_id": site_id, "stop_id": stop_id, "clear_id": clear_id}
    with operation(actor, "control.confirm_clear", key=idempotency_key, request=request) as act:
        row = _locked(act, site_id, stop_id, "control.confirm_clear")
        if act.is_replay:
            return row
        _refuse_asker_gone(row)
        policy = StopPolicy.objects.filter(site_id=site_id).first()
        facts = decide_clear(
            row.state(),
            clear_id,
            by=_person(actor, site_id),
            by_name=actor.name[:200],
            # Asked again here, so that a site that is real after all never clears by one person.
            one_person_clears=policy is not None and policy.one_person_clears and row.site.is_simulated,
            now=clock.shared(),
        )
        return _record(act, row, facts)


def drop_expired_clears(*, actor: Actor) -> int:
    """Withdraw requests that nobody confirmed in time, and return how many. The Stops hold."""
    dropped, now = 0, clock.shared()
    old = Stop.objects.filter(clear_expires_at__lte=now, cleared_at=None).values_list("id", "site_id")
    for stop_id, site_id in list(old[:100]):
        with operation(actor, "control.drop_expired_clears") as act:
            row = _locked(act, site_id, stop_id, "control.watch")
            state = row.state()
            if state.clear is not None and state.clear.expires_at <= now:
                _record(act, row, decide_withdrawal(state, state.clear.id, by=None))
                dropped += 1
    return dropped


def _locked(act: Operation, site_id: UUID, stop_id: UUID, verb: str) -> Stop:
    """One Stop of the site, under the lock of the site's Stops, after asking whether the actor may."""
    if not Stop.objects.filter(id=stop_id, site_id=site_id).exists():  # before anything is locked, or made to be locked
        raise NotFound("There is nothing here.")
    act.lock(events.site_stream(site_id))
    require(act.actor, verb, SubjectRef("site", site_id, site_id=site_id))
    row = Stop.objects.select_related("site").filter(id=stop_id, site_id=site_id).first()
    if row is None:
        raise NotFound("There is nothing here.")
    return row


def _person(actor: Actor, site_id: UUID) -> UUID:
    """The person who acts, no program where anything is real. The verbs let only people through."""
    assert actor.id is not None  # noqa: S101 - `people_only`
    member = accounts.find_member(site_id, actor.id)
    if member is None:
        raise NotFound("There is nothing here.")
    refuse_program(is_scripted=member.is_scripted, is_simulated=accounts.get_site(site_id).is_simulated)
    return actor.id


def _refuse_asker_gone(row: Stop) -> None:
    """The word of the first person counts while they hold the role they gave it in."""
    if row.clear_by is None:
        return
    asker = accounts.find_member(row.site_id, row.clear_by)
    if asker is None or not asker.is_active or Role.FLOOR_OPERATOR not in asker.roles:
        raise Stale("Whoever asked for this is no longer a floor operator here. The Stop holds.", code="asker_gone")


def _record(act: Operation, row: Stop, facts: list) -> Stop:  # type: ignore[type-arg]
    act.append(events.site_stream(row.site_id), facts, site_id=row.site_id)
    projections.apply_payloads(facts)
    act.done({})
    return Stop.objects.get(id=row.id)
