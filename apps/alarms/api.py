"""Alarms over the API."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.alarms import selectors, services
from apps.alarms.serializers import Acknowledge, AlarmPage, AlarmRow, DefinitionPage, DefinitionRow, LoadRow, Shelve
from apps.alarms.types import DEFINITIONS
from apps.kernel.access import access
from apps.kernel.api import Endpoint, every, only, row, rows
from apps.kernel.serializers import Nothing


@access(GET="alarms.view")
class AlarmList(Endpoint):
    """Alarms of a site."""

    @extend_schema(responses=AlarmPage, parameters=selectors.ALARMS.described(), operation_id="list_alarms")
    def get(self, request: Request, site_slug: str) -> Response:
        """Alarms of one site, newest first; those that are over have the state `normal`."""
        return rows(AlarmRow, selectors.alarms_page(self.site.id, request.query_params))


@access(GET="alarms.view")
class AlarmDetail(Endpoint):
    """One alarm."""

    @extend_schema(responses=AlarmRow, operation_id="get_alarm")
    def get(self, request: Request, site_slug: str, alarm_id: UUID) -> Response:
        """One alarm."""
        only(request)
        found = selectors.get_alarm(self.site.id, alarm_id)
        return row(AlarmRow, found, version=found.alarm.version)


@access(POST="alarms.acknowledge")
class AlarmAcknowledge(Endpoint):
    """Acknowledgement of one alarm."""

    @extend_schema(request=Acknowledge, responses=AlarmRow, operation_id="acknowledge_alarm")
    def post(self, request: Request, site_slug: str, alarm_id: UUID) -> Response:
        """Say that one saw it. With `seen`, one that grew since is refused."""
        body = self.body(Acknowledge)
        services.acknowledge(
            actor=self.actor, site_id=self.site.id, alarm_id=alarm_id, seen=body.get("seen"), idempotency_key=self.key()
        )
        return row(AlarmRow, selectors.get_alarm(self.site.id, alarm_id))


@access(POST="alarms.reset")
class AlarmReset(Endpoint):
    """Reset of one latched alarm."""

    @extend_schema(request=None, responses=AlarmRow, operation_id="reset_alarm")
    def post(self, request: Request, site_slug: str, alarm_id: UUID) -> Response:
        """End an alarm that was seen and whose condition has gone."""
        self.body(Nothing)
        services.reset_alarm(actor=self.actor, site_id=self.site.id, alarm_id=alarm_id, idempotency_key=self.key())
        return row(AlarmRow, selectors.get_alarm(self.site.id, alarm_id))


@access(POST="alarms.shelve", DELETE="alarms.shelve")
class AlarmShelf(Endpoint):
    """Shelving of one alarm."""

    @extend_schema(request=Shelve, responses=AlarmRow, operation_id="shelve_alarm")
    def post(self, request: Request, site_slug: str, alarm_id: UUID) -> Response:
        """Hide it for a time; it goes on underneath."""
        body = self.body(Shelve)
        services.shelve_alarm(actor=self.actor, site_id=self.site.id, alarm_id=alarm_id, idempotency_key=self.key(), **body)
        return row(AlarmRow, selectors.get_alarm(self.site.id, alarm_id))

    @extend_schema(request=None, responses=AlarmRow, operation_id="unshelve_alarm")
    def delete(self, request: Request, site_slug: str, alarm_id: UUID) -> Response:
        """Show it again."""
        self.body(Nothing)
        services.unshelve_alarm(actor=self.actor, site_id=self.site.id, alarm_id=alarm_id, idempotency_key=self.key())
        return row(AlarmRow, selectors.get_alarm(self.site.id, alarm_id))


@access(GET="alarms.view")
class DefinitionList(Endpoint):
    """What deserves an alarm."""

    @extend_schema(responses=DefinitionPage, operation_id="list_alarm_definitions")
    def get(self, request: Request, site_slug: str) -> Response:
        """Every kind of alarm, the most urgent first."""
        only(request)
        return every(DefinitionRow, sorted(DEFINITIONS.values(), key=lambda one: (one.priority, one.name)))


@access(GET="alarms.view")
class LoadDetail(Endpoint):
    """What alarms ask of people."""

    @extend_schema(responses=LoadRow, operation_id="get_alarm_load")
    def get(self, request: Request, site_slug: str) -> Response:
        """Load figures of the last day."""
        only(request)
        return row(LoadRow, selectors.load_of(self.site.id))
