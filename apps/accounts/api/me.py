"""What belongs to the caller alone."""

from typing import cast
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import selectors
from apps.accounts.models import Person
from apps.accounts.serializers import (
    InvitationAccept,
    Me,
    PreferencesChange,
    PreferencesRow,
    SecretMade,
    SessionPage,
    SessionRow,
    TokenCreate,
    TokenPage,
    TokenRow,
)
from apps.accounts.services import invitations, people, sign_in, tokens
from apps.kernel.access import access
from apps.kernel.api import Endpoint, every, nothing, only, row
from apps.kernel.errors import NotFound
from apps.kernel.serializers import Nothing


class _Own(Endpoint):
    """What every view of one's own things needs."""

    @property
    def own_id(self) -> UUID:
        """The caller's id. Raises NotFound for a caller without one."""
        if self.actor.id is None:
            raise NotFound("There is nothing here.")
        return self.actor.id


@access("kernel.signed_in")
class MeDetail(_Own):
    """Who is asking."""

    @extend_schema(responses=Me, operation_id="get_me")
    def get(self, request: Request) -> Response:
        """Who the console takes the caller for, and the roles held at each site."""
        only(request)
        held = [
            {"site_id": site.id, "slug": site.slug, "name": site.name, "roles": self.actor.roles_at(site.id)}
            for site in selectors.sites_of(self.actor)
        ]
        return row(Me, {"id": self.own_id, "kind": self.actor.kind.value, "name": self.actor.name, "sites": held})


@access(GET="accounts.own_preferences", PUT="accounts.own_preferences")
class PreferencesDetail(_Own):
    """The caller's preferences."""

    @extend_schema(responses=PreferencesRow, operation_id="get_preferences")
    def get(self, request: Request) -> Response:
        """How the console looks and behaves for the caller."""
        only(request)
        return row(PreferencesRow, selectors.preferences_of(self.own_id))

    @extend_schema(request=PreferencesChange, responses=PreferencesRow, operation_id="change_preferences")
    def put(self, request: Request) -> Response:
        """Change how it looks and behaves."""
        body = self.body(PreferencesChange)
        return row(PreferencesRow, people.change_preferences(actor=self.actor, idempotency_key=self.key(), **body))


@access("accounts.manage_own_sign_in")
class SessionList(_Own):
    """Where the caller is signed in."""

    @extend_schema(responses=SessionPage, operation_id="list_sessions")
    def get(self, request: Request) -> Response:
        """Browsers in which the caller is signed in, last used first, all on one page."""
        only(request)
        return every(SessionRow, selectors.sessions_of(self.own_id, current=request.session.session_key))


@access(DELETE="accounts.manage_own_sign_in")
class SessionDetail(_Own):
    """One sign-in of the caller."""

    @extend_schema(request=None, responses={204: None}, operation_id="end_session")
    def delete(self, request: Request, session_id: int) -> Response:
        """Sign one browser out; what it has open closes within two seconds."""
        self.body(Nothing)
        sign_in.end_session(self.actor, cast("Person", request.user), str(session_id))
        return nothing()


@access(GET="accounts.view_own_tokens", POST="accounts.manage_own_tokens")
class TokenList(_Own):
    """The caller's tokens."""

    @extend_schema(responses=TokenPage, operation_id="list_tokens")
    def get(self, request: Request) -> Response:
        """Tokens that are not revoked, newest first, all on one page."""
        only(request)
        return every(TokenRow, selectors.tokens_of(self.own_id))

    @extend_schema(request=TokenCreate, responses={201: SecretMade}, operation_id="create_token")
    def post(self, request: Request) -> Response:
        """Make a token for one role held at one site. Its secret is in this answer and nowhere else."""
        body = self.body(TokenCreate)
        site = selectors.find_site(body.pop("site"))
        if site is None:
            raise NotFound("There is nothing here.")
        made = tokens.create_token(actor=self.actor, person_id=self.own_id, site_id=site.id, idempotency_key=self.key(), **body)
        return row(SecretMade, made, status=201)


@access(DELETE="accounts.revoke_own_tokens")
class TokenDetail(_Own):
    """One token of the caller."""

    @extend_schema(request=None, responses={204: None}, operation_id="revoke_token")
    def delete(self, request: Request, token_id: UUID) -> Response:
        """End a token."""
        self.body(Nothing)
        tokens.revoke_token(actor=self.actor, token_id=token_id, idempotency_key=self.key())
        return nothing()


@access(POST="kernel.person")
class AcceptInvitation(_Own):
    """Join a site."""

    @extend_schema(request=InvitationAccept, responses={204: None}, operation_id="accept_invitation")
    def post(self, request: Request) -> Response:
        """Take the roles an invitation offers, as the person it was sent to."""
        secret = self.body(InvitationAccept)["secret"]
        invitations.accept_invitation(actor=self.actor, link_text=secret, idempotency_key=self.key())
        return nothing()
