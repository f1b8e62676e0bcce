"""People of a site.

`accounts/site_people.html` (part `members`): site, members (Page rows of `Member`), next_cursor, invitations (open ones),
manages (may this actor change anything), own_id, form_key. Each act answers with it too.
`accounts/person_invite.html` (part `form`): site, form.
`accounts/secret_shown.html`: site, heading, explanation, secret (`NewSecret`), secret_text (None: shown before), back_url.
"""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from apps.accounts import selectors, services
from apps.accounts.forms import InviteForm, RemoveForm, RoleForm
from apps.accounts.views.answers import secret_page
from apps.kernel.access import SiteRequest, access, actor_of
from apps.kernel.forms import KeyedForm, checked, page_or_part, tried
from apps.kernel.ids import new_id
from apps.kernel.types import Role

PEOPLE = "accounts/site_people.html"
INVITE = "accounts/person_invite.html"


def _context(request: SiteRequest) -> dict[str, Any]:
    site, actor = request.site, actor_of(request)
    page = selectors.members_page(site.id, cursor=request.GET.get("cursor"), limit=request.GET.get("limit"))
    return {
        "site": site,
        "members": page.rows,
        "next_cursor": page.next_cursor,
        "invitations": selectors.open_invitations(site.id),
        "manages": Role.ADMIN in actor.roles_at(site.id),
        "own_id": actor.id,
        "form_key": str(new_id()),
    }


def _done(request: SiteRequest, message: str) -> HttpResponse:
    """The list as it is now."""
    if request.headers.get("HX-Request"):
        return page_or_part(request, PEOPLE, "members", _context(request))
    messages.success(request, message)
    return redirect("accounts:site_people", site_slug=request.site.slug)


def _key(form: KeyedForm, *what: object) -> str | None:
    """One key for each act of a page, which carries a single one."""
    return ":".join([form.key, *map(str, what)])[:100] if form.key else None


@access("accounts.view_people")
def site_people(request: SiteRequest, site_slug: str) -> HttpResponse:
    """Who holds which role, and who is invited."""
    return page_or_part(request, PEOPLE, "members", _context(request))


@access(POST="accounts.manage_people")
def role_grant(request: SiteRequest, site_slug: str, person_id: UUID) -> HttpResponse:
    """Give one role to a member."""
    form = RoleForm(request.POST)
    values = checked(form)
    role = Role(values["role"])
    member = services.grant_role(
        actor=actor_of(request),
        site_id=request.site.id,
        person_id=person_id,
        role=role,
        roles_seen=values["roles_seen"],
        idempotency_key=_key(form, person_id, role),
    )
    return _done(request, f"{member.name} is {role.label} now.")


@access(POST="accounts.manage_people")
def role_revoke(request: SiteRequest, site_slug: str, person_id: UUID) -> HttpResponse:
    """Take one role from a member."""
    form = RoleForm(request.POST)
    values = checked(form)
    role = Role(values["role"])
    services.revoke_role(
        actor=actor_of(request),
        site_id=request.site.id,
        person_id=person_id,
        role=role,
        roles_seen=values["roles_seen"],
        idempotency_key=_key(form, person_id, role),
    )
    return _done(request, f"The role {role.label} was taken away.")


@access(POST="accounts.manage_people")
def person_remove(request: SiteRequest, site_slug: str, person_id: UUID) -> HttpResponse:
    """Take every role at this site from a member."""
    form = RemoveForm(request.POST)
    values = checked(form)
    services.remove_person(
        actor=actor_of(request),
        site_id=request.site.id,
        person_id=person_id,
        roles_seen=values["roles_seen"],
        idempotency_key=_key(form, person_id),
    )
    return _done(request, "Every role at this site was taken away.")


@access(GET="accounts.manage_people", POST="accounts.manage_people")
def person_invite(request: SiteRequest, site_slug: str) -> HttpResponse:
    """Invite an address; the answer shows the link once."""
    form = InviteForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        made = tried(
            form,
            lambda: services.invite_person(
                actor=actor_of(request),
                site_id=request.site.id,
                email=form.cleaned_data["email"],
                name=form.cleaned_data["name"],
                roles=[Role(role) for role in form.cleaned_data["roles"]],
                idempotency_key=form.key,
            ),
        )
        if made is not None:
            context = {
                "site": request.site,
                "heading": f"Invitation for {made.name}",
                "explanation": "Hand this link to the person. It works once.",
                "secret": made,
                "secret_text": selectors.invitation_link(made.text) if made.text else None,
                "back_url": reverse("accounts:site_people", args=[request.site.slug]),
            }
            return secret_page(request, context)
    return page_or_part(request, INVITE, "form", {"site": request.site, "form": form}, status=422 if form.errors else 200)


@access(POST="accounts.manage_people")
def invitation_revoke(request: SiteRequest, site_slug: str, invitation_id: UUID) -> HttpResponse:
    """Make an invitation's link useless."""
    form = KeyedForm(request.POST)
    checked(form)
    services.revoke_invitation(
        actor=actor_of(request),
        site_id=request.site.id,
        invitation_id=invitation_id,
        idempotency_key=_key(form, invitation_id),
    )
    return _done(request, "The invitation no longer works.")
