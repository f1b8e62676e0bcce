"""What belongs to the signed-in person.

`accounts/token_list.html` (part `tokens`): tokens (`ApiToken` with `site`), form_key, now.
`accounts/token_create.html` (part `form`): form. `accounts/secret_shown.html`: as in `people`, without site.
`accounts/preferences.html` (part `form`): form, display.
"""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from apps.accounts import selectors, services
from apps.accounts.forms import PreferencesForm, TokenForm
from apps.accounts.types import NewSecret
from apps.accounts.views.answers import secret_page
from apps.kernel import clock
from apps.kernel.access import access, actor_of
from apps.kernel.errors import NotFound
from apps.kernel.forms import KeyedForm, checked, page_or_part, tried
from apps.kernel.ids import new_id

TOKENS = "accounts/token_list.html"
CREATE = "accounts/token_create.html"
PREFERENCES = "accounts/preferences.html"


def _own_id(request: HttpRequest) -> UUID:
    own_id = actor_of(request).id
    if own_id is None:
        raise NotFound("There is nothing here.")
    return own_id


def _tokens(request: HttpRequest) -> dict[str, Any]:
    return {"tokens": selectors.tokens_of(_own_id(request)), "form_key": str(new_id()), "now": clock.now()}


@access("accounts.view_own_tokens")
def token_list(request: HttpRequest) -> HttpResponse:
    """Which programs may act as this person."""
    return page_or_part(request, TOKENS, "tokens", _tokens(request))


@access(GET="accounts.manage_own_tokens", POST="accounts.manage_own_tokens")
def token_create(request: HttpRequest) -> HttpResponse:
    """Make a token; the answer shows it once."""
    actor = actor_of(request)
    form = TokenForm(request.POST if request.method == "POST" else None, actor=actor, sites=selectors.sites_of(actor))
    if request.method == "POST":
        made = tried(form, lambda: _make_token(request, form))
        if made is not None:
            context = {
                "heading": f"Token {made.name}",
                "explanation": "Put it where the program reads it. Only its digest is kept here.",
                "secret": made,
                "secret_text": made.text,
                "back_url": reverse("accounts:token_list"),
            }
            return secret_page(request, context)
    return page_or_part(request, CREATE, "form", {"form": form}, status=422 if form.errors else 200)


def _make_token(request: HttpRequest, form: TokenForm) -> NewSecret:
    site = selectors.find_site(form.site_slug)
    if site is None:
        raise NotFound("There is nothing here.")
    return services.create_token(
        actor=actor_of(request),
        person_id=_own_id(request),
        site_id=site.id,
        role=form.role,
        name=form.cleaned_data["name"],
        days=form.cleaned_data["days"],
        idempotency_key=form.key,
    )


@access(POST="accounts.revoke_own_tokens")
def token_revoke(request: HttpRequest, token_id: UUID) -> HttpResponse:
    """End a token."""
    form = KeyedForm(request.POST)
    checked(form)
    key = f"{form.key}:{token_id}"[:100] if form.key else None
    row = services.revoke_token(actor=actor_of(request), token_id=token_id, idempotency_key=key)
    if request.headers.get("HX-Request"):
        return page_or_part(request, TOKENS, "tokens", _tokens(request))
    messages.success(request, f"The token {row.name} no longer works.")
    return redirect("accounts:token_list")


@access(GET="accounts.own_preferences", POST="accounts.own_preferences")
def preferences(request: HttpRequest) -> HttpResponse:
    """How the console looks and behaves for this person; a field that is not sent stays as it is."""
    now = selectors.preferences_of(_own_id(request))
    shown = {"theme": now.theme, "density": now.density, "single_keys": "on" if now.single_keys else "off"}
    form = PreferencesForm(request.POST if request.method == "POST" else None, initial=shown)
    if request.method == "POST":
        changed = tried(
            form,
            lambda: services.change_preferences(
                actor=actor_of(request),
                theme=form.cleaned_data["theme"] or now.theme,
                density=form.cleaned_data["density"] or now.density,
                single_keys=(form.cleaned_data["single_keys"] or shown["single_keys"]) == "on",
                idempotency_key=form.key,
            ),
        )
        if changed is not None:
            if not request.headers.get("HX-Request"):
                messages.success(request, "Kept.")
                return redirect("accounts:preferences")
            now = changed
            shown = {"theme": now.theme, "density": now.density, "single_keys": "on" if now.single_keys else "off"}
            form = PreferencesForm(initial=shown)
    context = {"form": form, "display": now}
    return page_or_part(request, PREFERENCES, "form", context, status=422 if form.errors else 200)
