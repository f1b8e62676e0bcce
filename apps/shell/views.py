"""Thin edges of the shell: home, floor, error pages."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from apps.accounts import selectors as accounts
from apps.kernel import clock
from apps.kernel.access import SiteRequest, access, actor_of
from apps.kernel.permissions import can
from apps.kernel.problems import problem
from apps.shell import selectors


@access("kernel.person")
def home(request: HttpRequest) -> HttpResponse:
    """The floor of the first site, or a page that says there is none."""
    sites = accounts.sites_of(actor_of(request))
    if sites:
        return redirect("shell:floor", site_slug=sites[0].slug)
    return render(request, "shell/no_site.html")


@access("accounts.view_site")
def floor(request: SiteRequest, site_slug: str) -> HttpResponse:
    """Everything at one site, sorted by need."""
    page = selectors.floor_view(request.site)
    if page.robots:
        return render(request, "shell/floor.html", {"site": request.site, "page": page})
    actor = actor_of(request)
    may = {verb: bool(can(actor, verb, request.site)) for verb in ("accounts.view_machines", "fleet.register_robot")}
    return render(
        request,
        "shell/floor_first_use.html",
        {
            "site": request.site,
            "first_command": "make demo",
            "can_make_machines": may["accounts.view_machines"],
            "can_register": may["fleet.register_robot"],
        },
    )


@access("kernel.person")
def components(request: HttpRequest) -> HttpResponse:
    """Every part of the interface in one place."""
    return render(request, "shell/component_gallery.html", selectors.gallery_page(clock.now()))


@access("kernel.person")
def keys(request: HttpRequest) -> HttpResponse:
    """Every key."""
    return render(request, "shell/key_sheet.html")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400 before any view ran."""
    return problem(request, 400, message="The request cannot be read. Nothing was changed.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403 from a library."""
    return problem(request, 403, message="You may not do this. Nothing was changed.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404."""
    return problem(request, 404, message="There is nothing here.")


def server_error(request: HttpRequest) -> HttpResponse:
    """500: a fault of ours."""
    return problem(
        request, 500, message="The console failed. Whether the act took effect is not known; look before you repeat it."
    )


def csrf_failed(request: HttpRequest, reason: str = "", **_rest: Any) -> HttpResponse:
    """403 for a form that did not come from a page of ours."""
    return problem(
        request,
        403,
        message="This form did not come from a current page of this console. Reload and try again.",
        code="csrf_failed",
    )
