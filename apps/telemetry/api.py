"""Stored samples over the API: read only."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.kernel import clock
from apps.kernel.access import access
from apps.kernel.api import Endpoint, only, row
from apps.kernel.errors import Invalid
from apps.kernel.filters import Unreadable, moment, text, whole
from apps.kernel.types import SubjectRef
from apps.telemetry import selectors
from apps.telemetry.serializers import SeriesRow

DEFAULT_SPAN_MS, DEFAULT_PIXELS = 600_000, 800
_PARAMETERS = [
    OpenApiParameter("since", datetime, description="Received at or after this time; ten minutes before the end if not given."),
    OpenApiParameter("until", datetime, description="Received before this time; now if not given."),
    OpenApiParameter("channels", str, description="Names with commas between; the first sixteen if not given."),
    OpenApiParameter("pixels", int, description=f"Into how many parts the time is divided, 1 to {selectors.MOST_PIXELS}."),
]


def _names(value: str) -> list[str]:
    if len(value) > 2000:
        raise Unreadable("Give at most sixteen names.")
    return [text(name) for name in value.split(",") if name]


_READ: dict[str, Callable[[str], Any]] = {"since": moment, "until": moment, "channels": _names, "pixels": whole}


@access(GET="telemetry.view")
class SubjectSeries(Endpoint):
    """What one subject of a site measured."""

    @extend_schema(responses=SeriesRow, parameters=_PARAMETERS, operation_id="get_series")
    def get(self, request: Request, site_slug: str, subject_kind: str, subject_id: UUID) -> Response:
        """Lowest, highest and mean of channels for each part of a time. The newest ten seconds may not be stored yet."""
        given = _given(request)
        until_ms = _ms(given.get("until", clock.now()))
        found = selectors.series(
            SubjectRef(subject_kind, subject_id, site_id=self.site.id),
            channels=given.get("channels"),
            since_ms=_ms(given["since"]) if "since" in given else until_ms - DEFAULT_SPAN_MS,
            until_ms=until_ms,
            pixels=given.get("pixels", DEFAULT_PIXELS),
        )
        return row(SeriesRow, found)


def _given(request: Request) -> dict[str, Any]:
    """The parameters, each once and readable. Raises Invalid."""
    only(request, *_READ)
    wrong: dict[str, list[str]] = {}
    values: dict[str, Any] = {}
    for name, read in _READ.items():
        words = request.query_params.getlist(name)
        if len(words) > 1:
            wrong[name] = ["Give it once."]
        elif words and words[0]:
            try:
                values[name] = read(words[0])
            except Unreadable as error:
                wrong[name] = [str(error)]
    if wrong:
        raise Invalid("This time cannot be shown.", fields=wrong)
    return values


def _ms(time: datetime) -> int:
    return int(time.timestamp() * 1000)
