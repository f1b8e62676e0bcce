"""Machine credentials of a site.

`accounts/machine_list.html` (part `machines`): site, machines (`MachineCredential`), next_cursor, manages, form_key, now.
`accounts/machine_create.html` (part `form`): site, form.
`accounts/secret_shown.html`: as in `people`.
"""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from apps.accounts import selectors, services
from apps.accounts.forms import MachineForm
from apps.accounts.views.answers import secret_page
from apps.kernel import clock
from apps.kernel.access import SiteRequest, access, actor_of
from apps.kernel.forms import KeyedForm, checked, page_or_part, tried
from apps.kernel.ids import new_id
from apps.kernel.types import Role

MACHINES = "accounts/machine_list.html"
CREATE = "accounts/machine_create.html"


def _context(request: SiteRequest) -> dict[str, Any]:
    page = selectors.machines_page(request.site.id, cursor=request.GET.get("cursor"), limit=request.GET.get("limit"))
    return {
        "site": request.site,
        "machines": page.rows,
        "next_cursor": page.next_cursor,
        "manages": Role.ADMIN in actor_of(request).roles_at(request.site.id),
        "form_key": str(new_id()),
        "now": clock.now(),
    }


@access("accounts.view_machines")
def machine_list(request: SiteRequest, site_slug: str) -> HttpResponse:
    """What may sign in here besides people."""
    return page_or_part(request, MACHINES, "machines", _context(request))


@access(GET="accounts.manage_machines", POST="accounts.manage_machines")
def machine_create(request: SiteRequest, site_slug: str) -> HttpResponse:
    """Make a credential; the answer shows it once."""
    form = MachineForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        made = tried(
            form,
            lambda: services.create_machine_credential(
                actor=actor_of(request),
                site_id=request.site.id,
                name=form.cleaned_data["name"],
                subjects=form.cleaned_data["subjects"],
                days=form.cleaned_data["days"],
                idempotency_key=form.key,
            ),
        )
        if made is not None:
            context = {
                "site": request.site,
                "heading": f"Credential of {made.name}",
                "explanation": "Put it where the machine reads it. Only its digest is kept here.",
                "secret": made,
                "secret_text": made.text,
                "back_url": reverse("accounts:machine_list", args=[request.site.slug]),
            }
            return secret_page(request, context)
    return page_or_part(request, CREATE, "form", {"site": request.site, "form": form}, status=422 if form.errors else 200)


@access(POST="accounts.revoke_machines")
def machine_revoke(request: SiteRequest, site_slug: str, credential_id: UUID) -> HttpResponse:
    """End a machine's access."""
    form = KeyedForm(request.POST)
    checked(form)
    row = services.revoke_machine_credential(
        actor=actor_of(request),
        site_id=request.site.id,
        credential_id=credential_id,
        idempotency_key=f"{form.key}:{credential_id}"[:100] if form.key else None,
    )
    if request.headers.get("HX-Request"):
        return page_or_part(request, MACHINES, "machines", _context(request))
    messages.success(request, f"The credential of {row.name} no longer works.")
    return redirect("accounts:machine_list", site_slug=request.site.slug)
