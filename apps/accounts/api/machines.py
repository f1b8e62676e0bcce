"""Credentials of the machines of a site."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import selectors
from apps.accounts.serializers import MachineCreate, MachinePage, MachineRow, SecretMade
from apps.accounts.services import machines
from apps.kernel.access import access
from apps.kernel.api import PAGING, Endpoint, nothing, only, row, rows
from apps.kernel.serializers import Nothing


@access(GET="accounts.view_machines", POST="accounts.manage_machines")
class MachineList(Endpoint):
    """Machine credentials of a site."""

    @extend_schema(responses=MachinePage, parameters=PAGING, operation_id="list_machines")
    def get(self, request: Request, site_slug: str) -> Response:
        """Credentials that are not revoked, newest first."""
        only(request, "cursor", "limit")
        asked = request.query_params
        return rows(MachineRow, selectors.machines_page(self.site.id, cursor=asked.get("cursor"), limit=asked.get("limit")))

    @extend_schema(request=MachineCreate, responses={201: SecretMade}, operation_id="create_machine")
    def post(self, request: Request, site_slug: str) -> Response:
        """Make a credential. Its secret is in this answer and nowhere else."""
        body = self.body(MachineCreate)
        made = machines.create_machine_credential(actor=self.actor, site_id=self.site.id, idempotency_key=self.key(), **body)
        return row(SecretMade, made, status=201)


@access(DELETE="accounts.revoke_machines")
class MachineDetail(Endpoint):
    """One machine credential."""

    @extend_schema(request=None, responses={204: None}, operation_id="revoke_machine")
    def delete(self, request: Request, site_slug: str, credential_id: UUID) -> Response:
        """End a machine's access; its open sockets close within a second."""
        self.body(Nothing)
        machines.revoke_machine_credential(
            actor=self.actor, site_id=self.site.id, credential_id=credential_id, idempotency_key=self.key()
        )
        return nothing()
