"""Pages of Stop.

`control/stop_list.html` (part `stops`): site, standing (Stops that hold, as `StopRow`), page (`StopRow`s), policy, asks (may
this person ask for a clear), confirms, changes_policy, own_id, position. Each act answers with it too.
"""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from apps.control import selectors, services
from apps.control.forms import PolicyForm
from apps.control.permissions import SECOND_PERSONS
from apps.kernel.access import SiteRequest, access, actor_of
from apps.kernel.forms import KeyedForm, checked, page_or_part
from apps.kernel.types import Role

STOPS = "control/stop_list.html"


def _context(request: SiteRequest) -> dict[str, Any]:
    """What the page shows. Who holds the role sees the control; the act itself also asks for a fresh proof."""
    site, actor = request.site, actor_of(request)
    held = actor.roles_at(site.id)
    return {
        "position": selectors.position_of(site.id),
        "site": site,
        "standing": selectors.standing_stops(site.id),
        "page": selectors.stops_page(site.id, request.GET),
        "policy": selectors.policy_of(site.id),
        "asks": Role.FLOOR_OPERATOR in held,
        "confirms": bool(SECOND_PERSONS & held),
        "changes_policy": Role.ADMIN in held and site.is_simulated,
        "own_id": actor.id,
    }


def _done(request: SiteRequest, message: str) -> HttpResponse:
    """The page as it is now."""
    if request.headers.get("HX-Request"):
        return page_or_part(request, STOPS, "stops", _context(request))
    messages.success(request, message)
    return redirect("control:stop_list", site_slug=request.site.slug)


@access("control.view_stops")
def stop_list(request: SiteRequest, site_slug: str) -> HttpResponse:
    """Stops of the site: those that hold, what each robot said of them, and those that were cleared."""
    return page_or_part(request, STOPS, "stops", _context(request))


@access(POST="control.request_clear")
def clear_request(request: SiteRequest, site_slug: str, stop_id: UUID) -> HttpResponse:
    """Ask, as a floor operator, that a Stop be cleared."""
    form = KeyedForm(request.POST)
    checked(form)
    services.request_clear(actor=actor_of(request), site_id=request.site.id, stop_id=stop_id, idempotency_key=form.key)
    return _done(request, "Asked. A second person has five minutes to confirm it.")


@access(POST="control.withdraw_clear")
def clear_withdraw(request: SiteRequest, site_slug: str, stop_id: UUID, clear_id: UUID) -> HttpResponse:
    """Take back what was asked."""
    form = KeyedForm(request.POST)
    checked(form)
    services.withdraw_clear(
        actor=actor_of(request), site_id=request.site.id, stop_id=stop_id, clear_id=clear_id, idempotency_key=form.key
    )
    return _done(request, "Withdrawn. The Stop holds.")


@access(POST="control.confirm_clear")
def clear_confirm(request: SiteRequest, site_slug: str, stop_id: UUID, clear_id: UUID) -> HttpResponse:
    """Clear a Stop as the second person."""
    form = KeyedForm(request.POST)
    checked(form)
    services.confirm_clear(
        actor=actor_of(request), site_id=request.site.id, stop_id=stop_id, clear_id=clear_id, idempotency_key=form.key
    )
    return _done(request, "Cleared. Each robot reports its own release.")


@access(POST="control.change_policy")
def policy_change(request: SiteRequest, site_slug: str) -> HttpResponse:
    """Let one person clear Stops at a simulated site, or two again."""
    form = PolicyForm(request.POST)
    values = checked(form)
    services.change_policy(
        actor=actor_of(request),
        site_id=request.site.id,
        one_person_clears=values["one_person_clears"],
        expected=values["expected"],
        idempotency_key=form.key,
    )
    return _done(request, "Changed.")
