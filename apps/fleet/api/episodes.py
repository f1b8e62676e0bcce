"""Episodes and bridges of a site."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.fleet import selectors
from apps.fleet.serializers import BridgePage, BridgeRow, EpisodePage, EpisodeRow
from apps.kernel.access import access
from apps.kernel.api import Endpoint, every, only, row, rows


@access(GET="fleet.view")
class EpisodeList(Endpoint):
    """Episodes of a site."""

    @extend_schema(responses=EpisodePage, parameters=selectors.EPISODES.described(), operation_id="list_episodes")
    def get(self, request: Request, site_slug: str) -> Response:
        """Episodes, newest first."""
        return rows(EpisodeRow, selectors.episodes_page(self.site.id, request.query_params))


@access(GET="fleet.view")
class EpisodeDetail(Endpoint):
    """One episode."""

    @extend_schema(responses=EpisodeRow, operation_id="get_episode")
    def get(self, request: Request, site_slug: str, episode_id: UUID) -> Response:
        """One attempt at a task."""
        only(request)
        return row(EpisodeRow, selectors.episode_of_site(self.site.id, episode_id))


@access(GET="fleet.view")
class BridgeList(Endpoint):
    """Bridges of a site."""

    @extend_schema(responses=BridgePage, operation_id="list_bridges")
    def get(self, request: Request, site_slug: str) -> Response:
        """Every bridge that ever connected, by name."""
        only(request)
        return every(BridgeRow, selectors.bridges_of(self.site.id))
