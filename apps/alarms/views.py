"""Pages of alarms.

`alarms/alarm_list.html` (part `alarms`): site, rows (`AlarmRow`), shelved (`AlarmRow`), handles, position, load.
`alarms/alarm_history.html` (part `history`): site, page (`AlarmRow`s), definitions, priorities, rest.
`alarms/alarm_detail.html` (part `alarm`): site, row, definition, subjects, handles, position.
`alarms/definition_list.html`: site, definitions.
An act answers with the alarm line or the part it was made from, whichever asked.
"""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from apps.alarms import selectors, services
from apps.alarms.forms import SeenForm, ShelveForm
from apps.alarms.types import DEFINITIONS, Priority
from apps.kernel.access import SiteRequest, access, actor_of
from apps.kernel.forms import KeyedForm, checked, page_or_part
from apps.kernel.permissions import can

LIST, DETAIL, HISTORY = "alarms/alarm_list.html", "alarms/alarm_detail.html", "alarms/alarm_history.html"
STRIP, ALARM = "alarm-strip", "alarm"


def _handles(request: SiteRequest) -> bool:
    return bool(can(actor_of(request), "alarms.acknowledge", request.site))


def _listed(request: SiteRequest) -> dict[str, Any]:
    return {
        "position": selectors.position_of(request.site.id),
        "site": request.site,
        "rows": selectors.standing_alarms(request.site.id),
        "shelved": selectors.shelved_alarms(request.site.id),
        "handles": _handles(request),
    }


def _detailed(request: SiteRequest, alarm_id: UUID) -> dict[str, Any]:
    position = selectors.position_of(request.site.id)
    row = selectors.get_alarm(request.site.id, alarm_id)
    return {
        "position": position,
        "site": request.site,
        "row": row,
        "definition": row.alarm.known,
        "subjects": selectors.alarm_subjects(alarm_id),
        "handles": _handles(request),
    }


def _done(request: SiteRequest, alarm_id: UUID, message: str) -> HttpResponse:
    """What the act was made from, as it is now."""
    if not request.headers.get("HX-Request"):
        messages.success(request, message)
        return redirect("alarms:alarm_list", site_slug=request.site.slug)
    asked_from = request.headers.get("HX-Target", "")
    if asked_from == STRIP:
        context = {"site": request.site, "strip": selectors.strip(request.site.id), "handles": True}
        return render(request, "alarms/_alarm_strip.html", context)
    if asked_from == ALARM:
        return page_or_part(request, DETAIL, "alarm", _detailed(request, alarm_id))
    return page_or_part(request, LIST, "alarms", _listed(request))


@access("alarms.view")
def alarm_list(request: SiteRequest, site_slug: str) -> HttpResponse:
    """What stands, by need, and what it asks of people."""
    load = selectors.load_of(request.site.id)
    return page_or_part(request, LIST, "alarms", _listed(request) | {"load": load})


@access("alarms.view")
def alarm_history(request: SiteRequest, site_slug: str) -> HttpResponse:
    """Alarms of the site, over ones too, newest first."""
    given = request.GET.copy()
    given.pop("cursor", None)
    for name in [name for name, value in given.items() if not value]:
        del given[name]
    context = {
        "site": request.site,
        "page": selectors.alarms_page(request.site.id, request.GET),
        "definitions": sorted(DEFINITIONS.values(), key=lambda one: one.title),
        "priorities": [(str(one.value), one.label) for one in Priority],
        "rest": given.urlencode(),
    }
    return page_or_part(request, HISTORY, "history", context)


@access("alarms.view")
def alarm_detail(request: SiteRequest, site_slug: str, alarm_id: UUID) -> HttpResponse:
    """One alarm: what is wrong, what to do, whom it concerns."""
    return page_or_part(request, DETAIL, "alarm", _detailed(request, alarm_id))


@access("alarms.view")
def definition_list(request: SiteRequest, site_slug: str) -> HttpResponse:
    """What deserves an alarm here, and why it has its priority."""
    definitions = sorted(DEFINITIONS.values(), key=lambda one: (one.priority, one.title))
    return render(request, "alarms/definition_list.html", {"site": request.site, "definitions": definitions})


@access(POST="alarms.acknowledge")
def alarm_acknowledge(request: SiteRequest, site_slug: str, alarm_id: UUID) -> HttpResponse:
    """Say that one saw it."""
    form = SeenForm(request.POST)
    seen = checked(form)["seen"]
    services.acknowledge(
        actor=actor_of(request), site_id=request.site.id, alarm_id=alarm_id, seen=seen, idempotency_key=form.key
    )
    return _done(request, alarm_id, "Acknowledged.")


@access(POST="alarms.reset")
def alarm_reset(request: SiteRequest, site_slug: str, alarm_id: UUID) -> HttpResponse:
    """End an alarm that stood after its condition had gone."""
    form = KeyedForm(request.POST)
    checked(form)
    services.reset_alarm(actor=actor_of(request), site_id=request.site.id, alarm_id=alarm_id, idempotency_key=form.key)
    return _done(request, alarm_id, "Reset.")


@access(POST="alarms.shelve")
def alarm_shelve(request: SiteRequest, site_slug: str, alarm_id: UUID) -> HttpResponse:
    """Hide an alarm for a time."""
    form = ShelveForm(request.POST)
    values = checked(form)
    services.shelve_alarm(
        actor=actor_of(request),
        site_id=request.site.id,
        alarm_id=alarm_id,
        minutes=values["minutes"],
        reason=values["reason"],
        idempotency_key=form.key,
    )
    return _done(request, alarm_id, "Shelved.")


@access(POST="alarms.shelve")
def alarm_unshelve(request: SiteRequest, site_slug: str, alarm_id: UUID) -> HttpResponse:
    """Show a shelved alarm again."""
    form = KeyedForm(request.POST)
    checked(form)
    services.unshelve_alarm(actor=actor_of(request), site_id=request.site.id, alarm_id=alarm_id, idempotency_key=form.key)
    return _done(request, alarm_id, "Shown again.")
