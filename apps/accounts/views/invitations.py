"""The page behind an invitation's link, open to anybody who holds it.

`accounts/invitation.html` (part `form`): invitation (its `site`, `email`, `role_labels`, `expires_at`), form,
sign_in_url, signed_in_as (the person, or None), is_theirs (whether the invitation is for that person).
"""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from apps.accounts import selectors, services
from apps.accounts.forms import AcceptForm
from apps.accounts.models import Invitation
from apps.accounts.services.invitations import GONE
from apps.kernel.access import access, actor_of
from apps.kernel.errors import NotFound
from apps.kernel.forms import KeyedForm, checked, page_or_part, tried
from apps.kernel.types import ActorKind

TEMPLATE = "accounts/invitation.html"


@access(GET="kernel.public", POST="kernel.public")
def invitation(request: HttpRequest, link_text: str) -> HttpResponse:
    """Let the invited person in: with a new account, or as whoever they already are."""
    actor = actor_of(request)
    if actor.kind is ActorKind.PERSON and actor.id is not None:
        used = selectors.find_used_invitation(link_text, actor.id)
        if used is not None:
            return redirect("shell:floor", site_slug=used.site.slug)
    row = selectors.find_open_invitation(link_text)
    if row is None:
        raise NotFound(GONE, code="invitation_gone")
    if actor.kind is ActorKind.PERSON:
        return _as_known(request, row, link_text)
    return _as_stranger(request, row, link_text)


def _as_known(request: HttpRequest, row: Invitation, link_text: str) -> HttpResponse:
    if request.method == "POST":
        form = KeyedForm(request.POST)
        checked(form)
        services.accept_invitation(actor=actor_of(request), link_text=link_text, idempotency_key=form.key)
        messages.success(request, f"You are at {row.site.name} now.")
        return redirect("shell:floor", site_slug=row.site.slug)
    person = request.user
    context = {
        "invitation": row,
        "form": KeyedForm(),
        "sign_in_url": _sign_in_url(link_text),
        "signed_in_as": person,
        "is_theirs": person.email == row.email,  # type: ignore[union-attr]
    }
    return page_or_part(request, TEMPLATE, "form", context)


def _as_stranger(request: HttpRequest, row: Invitation, link_text: str) -> HttpResponse:
    """The same page and the same answer whether or not the address has an account."""
    form = AcceptForm(request.POST if request.method == "POST" else None, initial={"name": row.name})
    if request.method == "POST":
        tried(
            form,
            lambda: services.accept_as_new_person(
                link_text=link_text, name=form.cleaned_data["name"], password=form.cleaned_data["password"]
            ),
        )
        if not form.errors:
            messages.success(request, "Now sign in. If you had an account under this address, sign in with that.")
            return redirect(_sign_in_url(link_text))
    context = {
        "invitation": row,
        "form": form,
        "sign_in_url": _sign_in_url(link_text),
        "signed_in_as": None,
        "is_theirs": False,
    }
    return page_or_part(request, TEMPLATE, "form", context, status=422 if form.errors else 200)


def _sign_in_url(link_text: str) -> str:
    return f"{reverse('account_login')}?{urlencode({'next': reverse('accounts:invitation', args=[link_text])})}"
