"""Stops over the API. Stop itself is pressed at a gateway, which needs neither this process nor its database."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.control import selectors, services
from apps.control.serializers import PolicyChange, PolicyRow, StopPage, StopRow
from apps.kernel.access import access
from apps.kernel.api import Endpoint, only, row, rows
from apps.kernel.serializers import Nothing


@access(GET="control.view_stops")
class StopList(Endpoint):
    """Stops of a site."""

    @extend_schema(responses=StopPage, parameters=selectors.STOPS.described(), operation_id="list_stops")
    def get(self, request: Request, site_slug: str) -> Response:
        """Stops of one site, newest first."""
        return rows(StopRow, selectors.stops_page(self.site.id, request.query_params))


@access(GET="control.view_stops")
class StopDetail(Endpoint):
    """One Stop."""

    @extend_schema(responses=StopRow, operation_id="get_stop")
    def get(self, request: Request, site_slug: str, stop_id: UUID) -> Response:
        """One Stop, and what each subject said of it."""
        only(request)
        return row(StopRow, selectors.get_stop(self.site.id, stop_id))


@access(POST="control.request_clear")
class StopClears(Endpoint):
    """Requests to clear one Stop."""

    @extend_schema(request=None, responses={201: StopRow}, operation_id="request_clear")
    def post(self, request: Request, site_slug: str, stop_id: UUID) -> Response:
        """Ask, as a floor operator who has looked, that a Stop be cleared. It holds for five minutes."""
        self.body(Nothing)
        services.request_clear(actor=self.actor, site_id=self.site.id, stop_id=stop_id, idempotency_key=self.key())
        return row(StopRow, selectors.get_stop(self.site.id, stop_id), status=201)


@access(POST="control.confirm_clear", DELETE="control.withdraw_clear")
class StopClear(Endpoint):
    """One request to clear a Stop."""

    @extend_schema(request=None, responses={200: StopRow}, operation_id="confirm_clear")
    def post(self, request: Request, site_slug: str, stop_id: UUID, clear_id: UUID) -> Response:
        """Clear the Stop, as the second person."""
        self.body(Nothing)
        services.confirm_clear(
            actor=self.actor, site_id=self.site.id, stop_id=stop_id, clear_id=clear_id, idempotency_key=self.key()
        )
        return row(StopRow, selectors.get_stop(self.site.id, stop_id))

    @extend_schema(request=None, responses={200: StopRow}, operation_id="withdraw_clear")
    def delete(self, request: Request, site_slug: str, stop_id: UUID, clear_id: UUID) -> Response:
        """Take the request back; the Stop holds."""
        self.body(Nothing)
        services.withdraw_clear(
            actor=self.actor, site_id=self.site.id, stop_id=stop_id, clear_id=clear_id, idempotency_key=self.key()
        )
        return row(StopRow, selectors.get_stop(self.site.id, stop_id))


@access(GET="control.view_stops", PUT="control.change_policy")
class StopPolicyDetail(Endpoint):
    """How Stops of a site are cleared."""

    @extend_schema(responses=PolicyRow, operation_id="get_stop_policy")
    def get(self, request: Request, site_slug: str) -> Response:
        """By two people, or by one where all is simulated."""
        only(request)
        found = selectors.policy_of(self.site.id)
        return row(PolicyRow, found, version=found.version)

    @extend_schema(request=PolicyChange, responses=PolicyRow, operation_id="change_stop_policy")
    def put(self, request: Request, site_slug: str) -> Response:
        """Let one person clear Stops at a site marked simulated, or two again."""
        body = self.body(PolicyChange)
        made = services.change_policy(
            actor=self.actor, site_id=self.site.id, expected=self.expected(), idempotency_key=self.key(), **body
        )
        return row(PolicyRow, made, version=made.version)
