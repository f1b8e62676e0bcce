"""How the API describes itself: headers that every write takes, problems that every address may answer, ways to sign in."""

from functools import cache
from typing import Any

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import build_bearer_security_scheme_object
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.response import Response

from apps.kernel.access import access, declared
from apps.kernel.api import KEY_HEADER, VERSION_HEADER
from apps.kernel.errors import Refusal
from apps.kernel.permissions import Scope, verb_named
from apps.kernel.serializers import Problem, Strict

PROBLEM = "application/problem+json"
_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_KEY = OpenApiParameter(
    KEY_HEADER,
    {"type": "string", "minLength": 1, "maxLength": 100, "pattern": r"^[\x20-\x7e]+$"},
    OpenApiParameter.HEADER,
    description="Makes a repeat harmless: the same key with the same request gets the same answer and does nothing again.",
)
_VERSION = OpenApiParameter(
    VERSION_HEADER,
    {"type": "string", "pattern": r'^"(0|[1-9][0-9]{0,17})"$'},
    OpenApiParameter.HEADER,
    description="The ETag of the answer that the decision rests on; 412 if somebody changed it since.",
)
_REASONS = {
    401: "Nobody known asks: no sign-in, or a token that is wrong, expired or revoked.",
    403: "The caller may see this but not do it; or a proof of identity is needed; or the CSRF token is missing.",
    404: "There is nothing here, or nothing the caller may know of.",
    405: "This address does not know this method.",
    409: "The state does not admit this, or the idempotency key was used for another request.",
    412: "Somebody changed this since the version in If-Match.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "Something in the request is wrong; `errors` names each field and why.",
    429: "Too many requests; come back after Retry-After.",
    503: "A needed service does not answer now; nothing was changed. Come back after Retry-After.",
}


class Schema(AutoSchema):
    """Adds to each operation what its declaration already implies."""

    def get_override_parameters(self) -> list[Any]:
        """Headers of a write."""
        if self.method not in _WRITES:
            return []
        return [_KEY, _VERSION] if self.method in getattr(self.view, "versioned", ()) else [_KEY]

    def get_tags(self) -> list[str]:
        """The part of the console an address belongs to."""
        return [self._tokenize_path()[0]]

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        found = super()._get_response_bodies(direction)
        for status in self._problems():
            if str(status) not in found:
                answer = OpenApiResponse(Problem, description=_REASONS[status])
                found[str(status)] = self._get_response_for_code(answer, str(status), [PROBLEM], direction)
        return dict(sorted(found.items()))

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> dict[str, Any]:
        found: dict[str, Any] = super()._map_basic_serializer(serializer, direction)
        return found | {"additionalProperties": False} if isinstance(serializer, Strict) else found

    def _problems(self) -> list[int]:
        verb = self._verb()
        statuses = {422, 429, 503}
        if verb.scope is not Scope.PUBLIC:
            statuses |= {401, 403}
        if "{" in self.path:
            statuses.add(404)
        if self.method in _WRITES:
            statuses |= {403, 404, 409, 413, 415}
        if self.method in getattr(self.view, "versioned", ()):
            statuses.add(412)
        return sorted(statuses)

    def _verb(self) -> Any:
        found = declared(type(self.view), "")
        if found is None or self.method not in found.verbs:
            raise Refusal(f"{self.method} {self.path} does not say who may use it")
        return verb_named(found.verbs[self.method])

    def get_description(self) -> str:  # type: ignore[override]
        """The docstring, and the right that is needed."""
        verb = self._verb()
        needs = f"Needs: {verb.meaning[0].lower()}{verb.meaning[1:]}."
        if verb.scope is Scope.SITE:
            needs += f" Roles: {', '.join(sorted(role.label for role in verb.roles))}."
        if verb.step_up or verb.people_only:
            needs += " Only a person signed in at a browser"
            needs += ", with a proof of identity from the last five minutes." if verb.step_up else "."
        return f"{super().get_description()}\n\n{needs}".strip()


class BrowserSessionScheme(OpenApiAuthenticationExtension):
    """The session cookie, and the CSRF token beside it on writes."""

    target_class = "apps.accounts.authentication.BrowserSession"
    name = ["session", "csrf"]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, Any]]:
        """Both parts."""
        return [
            {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME},
            {"type": "apiKey", "in": "header", "name": "X-CSRFToken", "description": "On every method but GET and HEAD."},
        ]

    def get_security_requirement(self, auto_schema: Any) -> dict[str, list[Any]]:
        """The CSRF token only where something is written."""
        return {"session": [], "csrf": []} if auto_schema.method in _WRITES else {"session": []}


class BearerTokenScheme(OpenApiAuthenticationExtension):
    """A person's own token."""

    target_class = "apps.accounts.authentication.BearerToken"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """`Authorization: Bearer ...`."""
        return build_bearer_security_scheme_object("Authorization", "Bearer")


class YamlUnlessAsked(DefaultContentNegotiation):
    """YAML, or JSON for whoever asks for it by header or `?format=json`."""

    def select_renderer(self, request: Any, renderers: Any, format_suffix: str | None = None) -> Any:
        """The renderer asked for, else the first."""
        kind = request.query_params.get("format", "")
        wants_json = kind == "json" or (not kind and "json" in request.headers.get("Accept", ""))
        chosen = next((one for one in renderers if wants_json == ("json" in one.media_type)), renderers[0])
        return chosen, chosen.media_type


@cache
def _schema() -> Any:
    from drf_spectacular.generators import SchemaGenerator

    return SchemaGenerator().get_schema(request=None, public=True)


def schema_view() -> Any:
    """The view of the schema; made late, as the library's module reads settings when it loads."""
    from drf_spectacular.views import SpectacularAPIView

    @access("kernel.public")
    class SchemaView(SpectacularAPIView):
        """What the API can do, as OpenAPI."""

        http_method_names = ["get", "head"]
        authentication_classes: list[Any] = []
        permission_classes: list[Any] = []
        content_negotiation_class = YamlUnlessAsked

        def _get_schema_response(self, request: Any) -> Response:
            # The same for everybody and costly to make, so a stranger must not be able to have it made again and again.
            return Response(_schema())

    return SchemaView.as_view()
