"""Thin edges of the journal."""

from django.http import HttpResponse
from django.shortcuts import render

from apps.journal import selectors
from apps.kernel.access import SiteRequest, access
from apps.kernel.errors import Invalid


@access("journal.view")
def event_list(request: SiteRequest, site_slug: str) -> HttpResponse:
    """Newest facts of one site, fifty a page."""
    before = request.GET.get("before", "")
    if before and not (before.isascii() and before.isdigit() and len(before) < 19):
        raise Invalid("The position is wrong.", fields={"before": ["Give the position of an event."]})
    events = selectors.events_of_site(request.site.id, before=int(before) if before else None, most=51)
    context = {"site": request.site, "events": events[:50], "next_before": events[49].position if len(events) > 50 else None}
    return render(request, "journal/event_list.html", context)
