"""Page of the fault knobs of simulated robots. `fleet/fault_knobs.html` (part `form`): site, form, faults, robots, results."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpResponse

from apps.fleet import selectors, services
from apps.fleet.forms import FaultForm
from apps.fleet.types import FAULTS, FloorRobot
from apps.kernel.access import SiteRequest, access, actor_of
from apps.kernel.errors import Conflict
from apps.kernel.forms import page_or_part, tried


@dataclass(frozen=True)
class Asked:
    """What became of an order to one robot: nothing was said against it, or why not."""

    robot: FloorRobot
    refusal: str


@access(GET="fleet.inject_fault", POST="fleet.inject_fault")
def fault_knobs(request: SiteRequest, site_slug: str) -> HttpResponse:
    """Turn a fault on or off for some simulated robots; each answers on its own page and in its log."""
    robots = selectors.simulated_robots(request.site.id)
    form = FaultForm(request.POST if request.method == "POST" else None, robots=[(one.id, one.name) for one in robots])
    results: list[Asked] = []
    if request.method == "POST":
        results = tried(form, lambda: _turn_all(request, form, robots)) or []
    context = {"site": request.site, "form": form, "faults": FAULTS, "robots": robots, "results": results}
    return page_or_part(request, "fleet/fault_knobs.html", "form", context, status=422 if form.errors else 200)


def _turn_all(request: SiteRequest, form: FaultForm, robots: Sequence[FloorRobot]) -> list[Asked]:
    chosen = set(form.cleaned_data["robots"])
    return [Asked(one, _turn(request, form, one)) for one in robots if str(one.id) in chosen]


def _turn(request: SiteRequest, form: FaultForm, robot: FloorRobot) -> str:
    """Why one order was not placed, or nothing. One robot that is not connected does not keep the others from theirs."""
    try:
        services.place_order(
            actor=actor_of(request),
            site_id=request.site.id,
            robot_id=robot.id,
            name=form.cleaned_data["order"],
            arguments=form.arguments,
            idempotency_key=f"{form.key}:{robot.id}"[:100] if form.key else None,
        )
    except Conflict as refusal:
        return refusal.message
    return ""
