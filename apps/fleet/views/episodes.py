"""Page of episodes. `fleet/episode_list.html` (part `episodes`): site, page (`EpisodeSeen` rows), filters, rest, robot."""

from django.http import HttpResponse

from apps.fleet import selectors
from apps.fleet.forms import EpisodeFilters
from apps.fleet.views.robots import without_cursor
from apps.kernel.access import SiteRequest, access
from apps.kernel.forms import page_or_part


@access("fleet.view")
def episode_list(request: SiteRequest, site_slug: str) -> HttpResponse:
    """Episodes of a site, newest first."""
    page = selectors.episodes_page(request.site.id, request.GET)
    context = {
        "site": request.site,
        "page": page,
        "filters": EpisodeFilters(request.GET),
        "rest": without_cursor(request),
        "robot": page.rows[0].robot if request.GET.get("robot") and page.rows else "",
    }
    return page_or_part(request, "fleet/episode_list.html", "episodes", context)
