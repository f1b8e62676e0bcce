"""Correlation ids, forwarded headers, refusals, and access that is denied unless declared."""

import codecs
import re
from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

from apps.kernel import access, logs, problems
from apps.kernel.errors import NotAllowed
from apps.kernel.ids import new_id

_GIVEN = re.compile(r"[0-9a-zA-Z-]{8,64}")
Handler = Callable[[HttpRequest], Any]
_FORWARDED = (
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PORT",
    "HTTP_FORWARDED",
    "HTTP_X_REAL_IP",
)


@sync_and_async_middleware
def correlation(get_response: Handler) -> Handler:
    """Give each request an id that appears in logs, journal and error pages."""
    if iscoroutinefunction(get_response):

        async def middleware(request: HttpRequest) -> HttpResponse:
            token = logs.correlation_id.set(_correlation_of(request))
            try:
                return _marked(request, await get_response(request))
            finally:
                logs.correlation_id.reset(token)

        return middleware

    def sync_middleware(request: HttpRequest) -> HttpResponse:
        token = logs.correlation_id.set(_correlation_of(request))
        try:
            return _marked(request, get_response(request))
        finally:
            logs.correlation_id.reset(token)

    return sync_middleware


def _correlation_of(request: HttpRequest) -> str:
    given = request.headers.get("X-Correlation-Id", "")
    return given if _GIVEN.fullmatch(given) else str(new_id())


def _marked(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Name the request, and let no shared cache keep anything but a static file, whatever the view said."""
    response["X-Correlation-Id"] = logs.correlation_id.get()
    words = {word.strip() for word in response.get("Cache-Control", "").lower().split(",")}
    is_static = request.path_info.startswith(settings.STATIC_URL) and "public" in words and not response.cookies
    if not is_static and not {"private", "no-store"} <= words:
        response["Cache-Control"] = "private, no-store"
    return response


class _Both:
    """Base of middleware that only looks at requests and so serves both sync and async chains."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        self.look(request)
        return self.get_response(request)

    def look(self, request: HttpRequest) -> None:
        """Look at the request before it goes on."""


class ForwardedHeaders(_Both):
    """Drop what a client says of itself; believe exactly the hops that are our own proxies.

    With N trusted proxies the client address is the N-th entry from the right of X-Forwarded-For.
    """

    def look(self, request: HttpRequest) -> None:
        """Rewrite the address and scheme, then drop every forwarding header."""
        request.was_forwarded = any(header in request.META for header in _FORWARDED)  # type: ignore[attr-defined]
        hops: int = settings.TRUSTED_PROXIES
        if hops:
            chain = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if part.strip()]
            if len(chain) >= hops:
                request.META["REMOTE_ADDR"] = chain[-hops]
            if request.META.get("HTTP_X_FORWARDED_PROTO") == "https":
                request.scope["scheme"] = "https"  # type: ignore[attr-defined]
        for header in _FORWARDED:
            request.META.pop(header, None)


class OnlyUtf8(_Both):
    """Refuse a body in another encoding: Python has codecs that are no text, and a form read with one of them is a fault."""

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        """Before anything reads the body."""
        if request.method in {"GET", "HEAD"} or request.encoding is None or codecs.lookup(request.encoding).name == "utf-8":
            return None
        return problems.problem(request, 400, message="Send text as UTF-8. Nothing was changed.", code="wrong_encoding")


class Refusals(_Both):
    """Turn a typed refusal, or a database that does not answer, into its one answer."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The answer, or None to let a real fault become a 500."""
        refusal = problems.as_refusal(error)
        return problems.answer(request, refusal) if refusal is not None else None


class AccessDeclared(_Both):
    """Run no view that does not say what it needs, and none whose need the actor does not meet."""

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], _args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        """None to go on, or the refusal."""
        match = request.resolver_match
        found = access.declared(view, match.view_name if match else "")
        if found is None:
            return problems.answer(request, NotAllowed("This page does not say who may use it, so nobody may."))
        if hasattr(view, "cls"):
            return None  # the API authenticates first, then `DeclaredAccess` asks the same question
        refusal = None
        try:
            access.enforce(request, found, kwargs)
        except Exception as error:
            refusal = problems.as_refusal(error)
            if refusal is None:
                raise
        return problems.answer(request, refusal) if refusal is not None else None
