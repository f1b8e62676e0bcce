"""One map from typed refusals to HTTP answers, as page, htmx fragment or problem JSON (RFC 9457)."""

from http import HTTPStatus
from typing import Any

from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SynchronousOnlyOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import urlencode
from psycopg_pool import PoolTimeout
from rest_framework import exceptions as drf

from apps.kernel import errors, logs

STATUS: dict[type[errors.Refusal], int] = {
    errors.NotFound: 404,
    errors.NotSignedIn: 401,
    errors.StepUpNeeded: 403,
    errors.NotAllowed: 403,
    errors.WrongMethod: 405,
    errors.TooLarge: 413,
    errors.Conflict: 409,
    errors.Stale: 412,
    errors.Invalid: 422,
    errors.TooMany: 429,
    errors.Unavailable: 503,
}
DISK_FULL = "53100"  # PostgreSQL's word for it
PAGES = frozenset({400, 403, 404, 409, 412, 422, 429, 500, 503})


def as_refusal(error: BaseException) -> errors.Refusal | None:
    """The refusal that an exception of a library amounts to, or None for a fault of ours."""
    match error:
        case errors.Refusal():
            return error
        case Http404() | drf.NotFound():
            return errors.NotFound("There is nothing here.")
        case PermissionDenied() | drf.PermissionDenied():
            return errors.NotAllowed("You may not do this.")
        case drf.NotAuthenticated() | drf.AuthenticationFailed():
            return errors.NotSignedIn(str(error.detail))
        case drf.ValidationError():
            return errors.Invalid("The request is wrong.", fields=_drf_fields(error.detail))
        case RequestDataTooBig() | TooManyFieldsSent() | TooManyFilesSent():
            return errors.TooLarge("The request body is too large. Nothing was changed.")
        case drf.ParseError():
            return errors.Invalid("The request body cannot be read.", fields={"body": [str(error.detail)]})
        case OperationalError() if getattr(error.__cause__, "sqlstate", "") == DISK_FULL:
            message = "The disk of the database is full. Nothing was changed."
            return errors.Unavailable(message, retry_after_s=30, code="disk_full")
        case OperationalError() | InterfaceError() | PoolTimeout():
            return errors.Unavailable("The database does not answer. Nothing was changed.")
    return None


def _drf_fields(detail: Any) -> dict[str, list[str]]:
    if isinstance(detail, dict):
        return {
            str(name): [str(reason) for reason in (reasons if isinstance(reasons, list) else [reasons])]
            for name, reasons in detail.items()
        }
    return {"body": [str(reason) for reason in (detail if isinstance(detail, list) else [detail])]}


def status_of(refusal: errors.Refusal) -> int:
    """The HTTP status of a refusal."""
    return next(STATUS[kind] for kind in type(refusal).__mro__ if kind in STATUS)


def wants_json(request: HttpRequest) -> bool:
    """Whether the caller is a program rather than a browser page."""
    return request.path.startswith("/api/")


def answer(request: HttpRequest, refusal: errors.Refusal) -> HttpResponse:
    """The answer to a refused request."""
    status = status_of(refusal)
    if not wants_json(request):
        if isinstance(refusal, errors.NotSignedIn):
            return _go(request, reverse("account_login"))
        if isinstance(refusal, errors.StepUpNeeded):
            return _go(request, reverse("account_reauthenticate"))
    return problem(
        request,
        status,
        message=refusal.message,
        code=refusal.code,
        fields=refusal.fields,
        retry_after_s=getattr(refusal, "retry_after_s", None),
        allowed=getattr(refusal, "allowed", ()),
    )


def _go(request: HttpRequest, where: str) -> HttpResponse:
    """Send a browser elsewhere, to come back to the page it was on."""
    back = request.get_full_path() if request.method in {"GET", "HEAD"} else _page_of(request)
    address = f"{where}?{urlencode({'next': back})}"
    if request.headers.get("HX-Request"):
        response = HttpResponse(status=204)
        response["HX-Redirect"] = address
        return response
    return HttpResponseRedirect(address)


def _page_of(request: HttpRequest) -> str:
    """The page that held the form, when it is one of ours."""
    referrer = request.headers.get("Referer", "")
    ours = request.build_absolute_uri("/")
    return "/" + referrer.removeprefix(ours) if referrer.startswith(ours) else "/"


def problem(
    request: HttpRequest,
    status: int,
    *,
    message: str = "",
    code: str = "",
    fields: dict[str, list[str]] | None = None,
    retry_after_s: int | None = None,
    allowed: tuple[str, ...] = (),
) -> HttpResponse:
    """An error answer. Needs no database, so that it can be given when there is none."""
    correlation = logs.correlation_id.get()
    title = HTTPStatus(status).phrase
    response: HttpResponse
    if wants_json(request):
        body: dict[str, Any] = {
            "type": "about:blank",
            "title": title,
            "status": status,
            "code": code or title.lower().replace(" ", "_"),
            "detail": message,
            "correlation_id": correlation,
        }
        if fields:
            body["errors"] = fields
        response = JsonResponse(body, status=status, content_type="application/problem+json")
    else:
        known = status if status in PAGES else 400 if status < 500 else 500
        fragment = bool(request.headers.get("HX-Request"))
        template = f"errors/_{known}.html" if fragment else f"errors/{known}.html"
        context = {
            "status": status,
            "title": title,
            "message": message,
            "code": code,
            "fields": fields or {},
            "correlation_id": correlation,
            "retry_after_s": retry_after_s,
            "request": request,
        }
        page = None if fragment else _page_inside(request, status, template, context)
        response = HttpResponse(page or render_to_string(template, context), status=status)
    response.refusal_code = code or title.lower().replace(" ", "_")  # type: ignore[attr-defined]
    if allowed:
        response["Allow"] = ", ".join(allowed)
    if retry_after_s is not None:
        response["Retry-After"] = str(retry_after_s)
    if status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="pilothouse"'
    return response


def _page_inside(request: HttpRequest, status: int, template: str, context: dict[str, Any]) -> str | None:
    """The error inside the console, so that somebody signed in keeps their way. None where that needs what is not there."""
    if status >= 500:
        return None
    try:
        person = getattr(request, "user", None)
        if person is None or not person.is_authenticated:
            return None
        return render_to_string(template, {**context, "layout": "base.html"}, request=request)
    except (DatabaseError, InterfaceError, PoolTimeout, SynchronousOnlyOperation):
        return None


def api_exception_handler(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """DRF's hook: the same answers as everywhere else."""
    request = context["request"]._request
    refusal = as_refusal(error)
    if refusal is not None:
        return answer(request, refusal)
    if isinstance(error, drf.APIException):
        return problem(request, error.status_code, message=str(error.detail), code=str(error.default_code))
    return None
