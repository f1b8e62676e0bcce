"""How Stops of a site are cleared."""

from uuid import UUID

from apps.accounts import selectors as accounts
from apps.control import events, projections
from apps.control.lifecycle import decide_policy
from apps.control.models import StopPolicy
from apps.journal.services import operation
from apps.kernel.errors import Stale
from apps.kernel.permissions import require
from apps.kernel.types import Actor, ActorKind, SubjectRef


def change_policy(
    *,
    actor: Actor,
    site_id: UUID,
    one_person_clears: bool,
    expected: int | None = None,
    idempotency_key: str | None = None,
) -> StopPolicy:
    """Let one person clear Stops at a site where all is simulated, or two again. `expected` is the version seen.

    Raises NotAllowed, NotFound, Stale, Conflict at a site that is not marked simulated.
    """
    request = {"site_id": site_id, "one_person_clears": one_person_clears, "expected": expected}
    with operation(actor, "control.change_policy", key=idempotency_key, request=request) as act:
        act.lock(events.site_stream(site_id))
        if actor.kind is not ActorKind.SYSTEM:  # a seed has no browser to prove anything at
            require(actor, "control.change_policy", SubjectRef("site", site_id, site_id=site_id))
        site = accounts.get_site(site_id)
        row = StopPolicy.objects.filter(site_id=site_id).first() or StopPolicy(site_id=site_id)
        if act.is_replay:
            return row
        if expected is not None and expected != row.version:
            raise Stale("How Stops are cleared here changed since you looked. Nothing was done; look again.")
        facts = decide_policy(
            site_id=site_id,
            is_simulated=site.is_simulated,
            one_person_clears=one_person_clears,
            before=row.one_person_clears,
            version=row.version,
        )
        if facts:
            act.append(events.site_stream(site_id), facts, site_id=site_id)
            projections.apply_payloads(facts)
        act.done({})
        return StopPolicy.objects.filter(site_id=site_id).first() or row
