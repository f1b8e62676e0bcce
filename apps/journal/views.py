"""Thin edges of the journal."""

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render

from apps.journal import selectors, services
from apps.journal.events import registered
from apps.kernel import clock
from apps.kernel.access import SiteRequest, access, actor_of
from apps.kernel.filters import Parameters
from apps.kernel.permissions import can
from apps.kernel.types import SubjectRef

EXPORT_TYPE = "application/x-ndjson"


@access("journal.view")
def event_list(request: SiteRequest, site_slug: str) -> HttpResponse:
    """Facts of one site, newest first, narrowed as the address says."""
    page = selectors.event_page(request.site.id, request.GET, on_page=True)
    kept = request.GET.copy()
    kept.pop("cursor", None)
    narrowed = {name: value for name, value in kept.items() if value}
    context = {
        "site": request.site,
        "page": page,
        "seal": selectors.seal_status(),
        "kinds": sorted({name for name, _ in registered()}),
        "rest": kept.urlencode() if narrowed else "",
        "narrowed": narrowed,
        "is_newest": not request.GET.get("cursor"),
        "may_export": can(actor_of(request), "journal.export", SubjectRef("site", request.site.id, site_id=request.site.id)),
    }
    return render(request, "journal/event_list.html", context)


@access("journal.export")
def event_export(request: SiteRequest, site_slug: str) -> StreamingHttpResponse:
    """Every sealed fact of one site with what proves it, as a file."""
    return export_of(request.site, request.GET)


def export_of(site: Any, parameters: Parameters) -> StreamingHttpResponse:
    """The file itself, made while it is sent. Raises Invalid, or Conflict where nothing is sealed yet."""
    earlier = selectors.earlier_asked(parameters)
    response = StreamingHttpResponse(services.export_lines(site_id=site.id, earlier=earlier), content_type=EXPORT_TYPE)
    at = clock.now().strftime("%Y%m%dT%H%M%SZ")
    response["Content-Disposition"] = f'attachment; filename="journal-{site.slug}-{at}.jsonl"'
    return response
