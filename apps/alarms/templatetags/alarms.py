"""The alarm line of every page."""

from typing import Any

from django import template
from django.template import Context

from apps.alarms import selectors
from apps.kernel.access import actor_of
from apps.kernel.permissions import can

register = template.Library()


@register.inclusion_tag("alarms/_alarm_strip.html", takes_context=True)
def alarm_line(context: Context, site: Any) -> dict[str, Any]:
    """What waits for a person at a site, on every page; the socket keeps it as it is. Empty where there is no site."""
    request = context.get("request")
    if site is None or request is None:
        return {"site": None}
    actor = actor_of(request)
    if not can(actor, "alarms.view", site):
        return {"site": None}
    return {
        "site": site,
        "strip": selectors.strip(site.id),
        "handles": bool(can(actor, "alarms.acknowledge", site)),
        "request": request,
        "csrf_token": context.get("csrf_token", ""),
    }
