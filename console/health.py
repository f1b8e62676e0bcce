"""`/healthz`, `/readyz`, `/metrics`: for supervisors, proxies and Prometheus."""

import sys
from ipaddress import ip_address

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from apps.accounts import selectors as accounts
from apps.kernel import problems
from apps.kernel.access import access
from apps.kernel.errors import NotFound, Unavailable
from apps.kernel.permissions import require
from apps.shell.views import server_error
from console import metrics, probes


@access("kernel.public")
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers. Nothing else is asked, so that a database that is down restarts nobody."""
    return JsonResponse({"status": "ok"})


@access("kernel.public")
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Whether the console can serve: 503 names what is missing, `degraded` says what works worse."""
    found = probes.parts()
    failed = [part for part in found if not part.ok]
    status = "ready"
    if failed:
        status = "unavailable" if any(part.vital for part in failed) else "degraded"
    body = {
        "status": status,
        "failed": [part.name for part in failed],
        "parts": {part.name: part.reason or "ok" for part in found},
    }
    response = JsonResponse(body, status=503 if status == "unavailable" else 200)
    if status == "unavailable":
        response["Retry-After"] = "5"
    return response


@access("kernel.public")
@require_safe
def measures(request: HttpRequest) -> HttpResponse:
    """Figures for Prometheus: to this machine itself, or to a token of somebody who may read them."""
    if not _from_this_machine(request):
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise NotFound("There is nothing here.")
        require(accounts.verify_token(token.strip()).actor, "kernel.read_metrics")
    return HttpResponse(metrics.exposition(), content_type=metrics.CONTENT_TYPE)


def failed(request: HttpRequest) -> HttpResponse:
    """What Django asks for an error outside every view: a database that does not answer is no fault of ours there either.

    The view may have done its work by then (a session is saved after it), so nothing is said about what was changed.
    """
    if isinstance(problems.as_refusal(sys.exc_info()[1] or Exception()), Unavailable):
        message = "The database does not answer. Look whether it was done before you repeat it."
        return problems.answer(request, Unavailable(message))
    return server_error(request)


def _from_this_machine(request: HttpRequest) -> bool:
    """A proxy on this machine speaks for others, so what it forwards does not count as local."""
    if getattr(request, "was_forwarded", False):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
