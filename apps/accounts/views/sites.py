"""Sites.

`accounts/site_create.html` (part `form`): form. `accounts/site_settings.html` (part `form`): site, form, manages.
"""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from apps.accounts import services
from apps.accounts.forms import SiteForm, SiteSettingsForm
from apps.kernel.access import SiteRequest, access, actor_of
from apps.kernel.forms import page_or_part, tried
from apps.kernel.types import Role


@access(GET="accounts.create_site", POST="accounts.create_site")
def site_create(request: HttpRequest) -> HttpResponse:
    """Make a site; whoever makes it is its first admin."""
    form = SiteForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        made = tried(
            form,
            lambda: services.create_site(
                actor=actor_of(request),
                slug=form.cleaned_data["slug"],
                name=form.cleaned_data["name"],
                time_zone=form.cleaned_data["time_zone"],
                idempotency_key=form.key,
            ),
        )
        if made is not None:
            messages.success(request, f"{made.name} is made, and you are its admin.")
            return redirect("accounts:site_people", site_slug=made.slug)
    return page_or_part(request, "accounts/site_create.html", "form", {"form": form}, status=422 if form.errors else 200)


@access(GET="accounts.view_site_settings", POST="accounts.change_site_settings")
def site_settings(request: SiteRequest, site_slug: str) -> HttpResponse:
    """Name and time zone of a site."""
    site = request.site
    shown = {"name": site.name, "time_zone": site.time_zone, "expected": site.version}
    form = SiteSettingsForm(request.POST if request.method == "POST" else None, initial=shown)
    if request.method == "POST":
        changed = tried(
            form,
            lambda: services.change_site_settings(
                actor=actor_of(request),
                site_id=site.id,
                name=form.cleaned_data["name"],
                time_zone=form.cleaned_data["time_zone"],
                expected=form.cleaned_data["expected"],
                idempotency_key=form.key,
            ),
        )
        if changed is not None:
            messages.success(request, "Kept.")
            return redirect("accounts:site_settings", site_slug=site.slug)
    manages = Role.ADMIN in actor_of(request).roles_at(site.id)
    context = {"site": site, "form": form, "manages": manages}
    return page_or_part(request, "accounts/site_settings.html", "form", context, status=422 if form.errors else 200)
