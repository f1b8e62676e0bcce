"""The journal over the API: read only."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.journal import selectors
from apps.journal.serializers import EventPage, EventRow
from apps.kernel.access import access
from apps.kernel.api import Endpoint, only, row, rows


@access("journal.view")
class EventList(Endpoint):
    """Facts of one site."""

    @extend_schema(responses=EventPage, parameters=selectors.EVENTS.described(), operation_id="list_events")
    def get(self, request: Request, site_slug: str) -> Response:
        """Facts of one site, newest first."""
        return rows(EventRow, selectors.event_page(self.site.id, request.query_params))


@access("journal.view")
class EventDetail(Endpoint):
    """One fact of one site."""

    @extend_schema(responses=EventRow, operation_id="get_event")
    def get(self, request: Request, site_slug: str, event_id: UUID) -> Response:
        """One fact."""
        only(request)
        return row(EventRow, selectors.event_of_site(self.site.id, event_id))
