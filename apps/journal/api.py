"""The journal over the API: read only."""

from uuid import UUID

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.journal import selectors
from apps.journal.serializers import EventPage, EventRow, SealRow
from apps.journal.views import EXPORT_TYPE, export_of
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


@access("journal.export")
class Seal(Endpoint):
    """How well the journal is kept."""

    @extend_schema(responses=SealRow, operation_id="get_seal")
    def get(self, request: Request, site_slug: str) -> Response:
        """The last checkpoint and the last verification."""
        only(request)
        return row(SealRow, selectors.seal_status())


@access("journal.export")
class Export(Endpoint):
    """Every sealed fact of one site, with what proves it."""

    @extend_schema(
        responses={(200, EXPORT_TYPE): OpenApiTypes.STR},
        parameters=[OpenApiParameter("earlier", int, description="Size of a checkpoint you hold, to compare with it.")],
        operation_id="export_events",
    )
    def get(self, request: Request, site_slug: str) -> StreamingHttpResponse:
        """JSON lines: facts, the hashes that stand for other sites' facts, checkpoints. `tools/check_proofs.py` checks them."""
        return export_of(self.site, request.query_params)
