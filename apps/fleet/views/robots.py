"""Pages of robots.

`fleet/robot_list.html` (part `robots`): site, page (`FloorRobot` rows), filters, bridges, may_register, may_inject.
`fleet/robot_detail.html`: site, detail (`RobotDetail`), log (newest facts), may (verb to whether this person may), form_key.
`fleet/robot_log.html` (part `log`): site, robot, page (`Recorded` rows).
`fleet/robot_register.html` (part `form`): site, form.
"""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from apps.fleet import selectors, services
from apps.fleet.forms import ReleaseForm, RobotFilters, RobotForm
from apps.fleet.types import RESET
from apps.kernel.access import SiteRequest, access, actor_of
from apps.kernel.forms import KeyedForm, checked, page_or_part, tried
from apps.kernel.ids import new_id
from apps.kernel.permissions import can

LIST, DETAIL = "fleet/robot_list.html", "fleet/robot_detail.html"
LOG, REGISTER = "fleet/robot_log.html", "fleet/robot_register.html"
_VERBS = ("fleet.register_robot", "fleet.reset_scene", "fleet.inject_fault", "control.stop")


@access("fleet.view")
def robot_list(request: SiteRequest, site_slug: str) -> HttpResponse:
    """Every robot of a site, those that need somebody first."""
    context = {
        "site": request.site,
        "page": selectors.robots_page(request.site.id, request.GET),
        "filters": RobotFilters(request.GET),
        "bridges": selectors.bridges_of(request.site.id),
        "may_register": bool(can(actor_of(request), "fleet.register_robot", _at(request))),
        "may_inject": request.site.is_simulated and bool(can(actor_of(request), "fleet.inject_fault", _at(request))),
        "rest": without_cursor(request),
    }
    return page_or_part(request, LIST, "robots", context)


@access("fleet.view")
def robot_detail(request: SiteRequest, site_slug: str, robot_id: UUID) -> HttpResponse:
    """One robot: what it does now, what it did, who speaks for it."""
    context = {
        "site": request.site,
        "detail": selectors.robot_detail(request.site.id, robot_id),
        "log": selectors.newest_facts(robot_id),
        "may": {verb.partition(".")[2]: bool(can(actor_of(request), verb, _at(request))) for verb in _VERBS},
        "form_key": str(new_id()),
    }
    return render(request, DETAIL, context)


@access("fleet.view")
def robot_log(request: SiteRequest, site_slug: str, robot_id: UUID) -> HttpResponse:
    """Facts of one robot, newest first."""
    names = selectors.names_of_robots([robot_id])
    page = selectors.robot_log(request.site.id, robot_id, request.GET)
    context = {"site": request.site, "robot_id": robot_id, "name": names.get(robot_id, ""), "page": page}
    return page_or_part(request, LOG, "log", context | {"rest": without_cursor(request)})


@access(GET="fleet.register_robot", POST="fleet.register_robot")
def robot_register(request: SiteRequest, site_slug: str) -> HttpResponse:
    """Give a robot a name here."""
    form = RobotForm(request.POST if request.method == "POST" else None, initial={"is_simulated": request.site.is_simulated})
    if request.method == "POST":
        made = tried(
            form,
            lambda: services.register_robot(
                actor=actor_of(request),
                site_id=request.site.id,
                name=form.cleaned_data["name"],
                kind=form.cleaned_data["kind"],
                is_simulated=form.cleaned_data["is_simulated"],
                idempotency_key=form.key,
            ),
        )
        if made is not None:
            messages.success(request, f"{made.name} is registered. Bind a machine credential to robot:{made.id} next.")
            return redirect("fleet:robot_detail", site_slug=request.site.slug, robot_id=made.id)
    return page_or_part(request, REGISTER, "form", {"site": request.site, "form": form}, status=422 if form.errors else 200)


@access(POST="fleet.register_robot")
def robot_release(request: SiteRequest, site_slug: str, robot_id: UUID) -> HttpResponse:
    """Take a robot from its bridge."""
    form = ReleaseForm(request.POST)
    values = checked(form)
    robot = services.release_robot(
        actor=actor_of(request),
        site_id=request.site.id,
        robot_id=robot_id,
        expected=values["expected"],
        idempotency_key=form.key,
    )
    messages.success(request, f"{robot.name} is free: the next bridge that claims it gets it.")
    return _back(request, robot_id)


@access(POST="fleet.reset_scene")
def scene_reset(request: SiteRequest, site_slug: str, robot_id: UUID) -> HttpResponse:
    """Ask for the reset of a scene."""
    form = KeyedForm(request.POST)
    checked(form)
    services.place_order(
        actor=actor_of(request), site_id=request.site.id, robot_id=robot_id, name=RESET, idempotency_key=form.key
    )
    messages.success(request, "The reset is asked for. The robot says when its scene is ready.")
    return _back(request, robot_id)


def _back(request: SiteRequest, robot_id: UUID) -> HttpResponse:
    """The robot's page, which shows what became of the act."""
    answer = redirect("fleet:robot_detail", site_slug=request.site.slug, robot_id=robot_id)
    if request.headers.get("HX-Request"):
        where = answer["Location"]
        answer = HttpResponse(status=204)  # type: ignore[assignment]
        answer["HX-Redirect"] = where
    return answer


def _at(request: SiteRequest) -> Any:
    return request.site


def without_cursor(request: SiteRequest) -> str:
    """The parameters of this list but its place, to go on with."""
    given = request.GET.copy()
    given.pop("cursor", None)
    return given.urlencode()
