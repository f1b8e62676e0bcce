"""People of a site: members, their roles, invitations."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import selectors
from apps.accounts.serializers import InvitationCreate, InvitationMade, InvitationPage, InvitationRow, MemberPage, MemberRow
from apps.accounts.services import invitations, roles
from apps.accounts.types import Member
from apps.kernel.access import access
from apps.kernel.api import PAGING, Endpoint, every, nothing, only, row, rows
from apps.kernel.errors import Invalid, NotFound
from apps.kernel.serializers import Nothing
from apps.kernel.types import Role

_ROLE = OpenApiParameter("role", str, OpenApiParameter.PATH, enum=[role.value for role in Role])


def _member(found: Member | None) -> Response:
    if found is None:
        raise NotFound("There is nothing here.")
    return row(MemberRow, found, version=found.roles_seen)


@access("accounts.view_people")
class MemberList(Endpoint):
    """People of a site."""

    @extend_schema(responses=MemberPage, parameters=PAGING, operation_id="list_people")
    def get(self, request: Request, site_slug: str) -> Response:
        """People who hold a role at the site, by name."""
        only(request, "cursor", "limit")
        asked = request.query_params
        return rows(MemberRow, selectors.members_page(self.site.id, cursor=asked.get("cursor"), limit=asked.get("limit")))


class _OfMember(Endpoint):
    """What acts on one member go by: the roles seen in the last answer."""

    def seen(self) -> frozenset[Role] | None:
        """The roles the caller saw, from If-Match."""
        words = self.expected_words()
        try:
            return None if words is None else frozenset(Role(word) for word in words)
        except ValueError:
            raise Invalid("The version is wrong.", fields={"if_match": ["Give the ETag of the last answer."]}) from None

    def act(self, person_id: UUID) -> dict[str, Any]:
        """What every service about a member takes."""
        return {
            "actor": self.actor,
            "site_id": self.site.id,
            "person_id": person_id,
            "roles_seen": self.seen(),
            "idempotency_key": self.key(),
        }


@access(GET="accounts.view_people", DELETE="accounts.manage_people")
class MemberDetail(_OfMember):
    """One person of a site."""

    versioned = ("DELETE",)

    @extend_schema(responses=MemberRow, operation_id="get_person")
    def get(self, request: Request, site_slug: str, person_id: UUID) -> Response:
        """Somebody of this site and the roles held here."""
        only(request)
        return _member(selectors.find_member(self.site.id, person_id))

    @extend_schema(request=None, responses={204: None}, operation_id="remove_person")
    def delete(self, request: Request, site_slug: str, person_id: UUID) -> Response:
        """Take every role at this site away."""
        self.body(Nothing)
        roles.remove_person(**self.act(person_id))
        return nothing()


@access(PUT="accounts.manage_people", DELETE="accounts.manage_people")
class MemberRole(_OfMember):
    """One role of one person at a site."""

    versioned = ("PUT", "DELETE")

    def role(self, word: str) -> Role:
        """The role in the address. Raises NotFound."""
        try:
            return Role(word)
        except ValueError:
            raise NotFound("There is nothing here.") from None

    @extend_schema(request=None, responses=MemberRow, parameters=[_ROLE], operation_id="grant_role")
    def put(self, request: Request, site_slug: str, person_id: UUID, role: str) -> Response:
        """Give a role to somebody of this site; strangers are invited."""
        self.body(Nothing)
        return _member(roles.grant_role(role=self.role(role), **self.act(person_id)))

    @extend_schema(request=None, responses={204: None}, parameters=[_ROLE], operation_id="revoke_role")
    def delete(self, request: Request, site_slug: str, person_id: UUID, role: str) -> Response:
        """Take one role away; the last admin of a site stays."""
        self.body(Nothing)
        found = roles.revoke_role(role=self.role(role), **self.act(person_id))
        return nothing(version=found.roles_seen if found is not None else None)


@access(GET="accounts.view_people", POST="accounts.manage_people")
class InvitationList(Endpoint):
    """Invitations to a site."""

    @extend_schema(responses=InvitationPage, operation_id="list_invitations")
    def get(self, request: Request, site_slug: str) -> Response:
        """Invitations whose link still works, newest first, all on one page."""
        only(request)
        return every(InvitationRow, selectors.open_invitations(self.site.id))

    @extend_schema(request=InvitationCreate, responses={201: InvitationMade}, operation_id="invite_person")
    def post(self, request: Request, site_slug: str) -> Response:
        """Invite an address. The answer is the same whether or not the address is known."""
        body = self.body(InvitationCreate)
        made = invitations.invite_person(actor=self.actor, site_id=self.site.id, idempotency_key=self.key(), **body)
        link = selectors.invitation_link(made.text) if made.text else None
        return row(InvitationMade, {"id": made.id, "email": made.name, "expires_at": made.expires_at, "link": link}, status=201)


@access(DELETE="accounts.manage_people")
class InvitationDetail(Endpoint):
    """One invitation."""

    @extend_schema(request=None, responses={204: None}, operation_id="revoke_invitation")
    def delete(self, request: Request, site_slug: str, invitation_id: UUID) -> Response:
        """Make a link useless."""
        self.body(Nothing)
        invitations.revoke_invitation(
            actor=self.actor, site_id=self.site.id, invitation_id=invitation_id, idempotency_key=self.key()
        )
        return nothing()
