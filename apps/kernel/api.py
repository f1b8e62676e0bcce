"""The one base of every API view: strict JSON in, one shape out, idempotency keys and versions by header."""

import codecs
import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter
from rest_framework import exceptions, serializers
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.kernel.access import actor_of
from apps.kernel.errors import Invalid, TooLarge
from apps.kernel.ids import parse_id
from apps.kernel.pagination import Page
from apps.kernel.types import Actor

_VERSION = re.compile(r'"(0|[1-9][0-9]{0,17})"')
_TAG = re.compile(r'"([a-z_ ]{0,200})"')
PAGING = [
    OpenApiParameter("cursor", str, description="`next_cursor` of the page before."),
    OpenApiParameter("limit", int, description="Rows on a page, 1 to 200."),
]
KEY_HEADER, VERSION_HEADER = "Idempotency-Key", "If-Match"


class StrictJson(BaseParser):
    """JSON in UTF-8, up to the body limit, without repeated names, NaN or bottomless nesting."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """The value in the body. Raises TooLarge, or ParseError naming what is wrong with it."""
        body = _read(stream)
        try:
            text = codecs.decode(body, "utf-8", "strict")
            return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant, parse_float=_finite)
        except UnicodeDecodeError:
            raise exceptions.ParseError("The body is not UTF-8.") from None
        except RecursionError:
            raise exceptions.ParseError("The body is nested too deep.") from None
        except ValueError as error:
            raise exceptions.ParseError(f"The body is not JSON: {error}"[:200]) from None


def _read(stream: Any) -> bytes:
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    body = bytes(stream.read(limit + 1))
    if len(body) > limit:
        raise TooLarge(f"The request body is over {limit} bytes. Nothing was changed.")
    return body


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is given twice")
    return found


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number is too large")
    return number


class AlwaysJson(BaseContentNegotiation):
    """Answers are JSON whatever is asked for; a refusal over the Accept header would help nobody."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        """The parser of the body's media type, or None for 415."""
        kind = request.content_type.partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == kind), None)

    def select_renderer(self, request: Any, renderers: Any, format_suffix: str | None = None) -> Any:
        """The first renderer, always."""
        return renderers[0], renderers[0].media_type


class Endpoint(APIView):
    """One address of the API. Says what it needs by `@access(GET=..., POST=...)` on the class."""

    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    parser_classes = [StrictJson]
    content_negotiation_class = AlwaysJson

    @property
    def actor(self) -> Actor:
        """Who asks."""
        return actor_of(self.request)

    @property
    def site(self) -> Any:
        """The site in the address, loaded by the access rule."""
        return self.request._request.site

    def body(self, kind: type[serializers.BaseSerializer[Any]], *, partial: bool = False) -> Any:
        """Checked fields of the body. Raises ValidationError naming each wrong one."""
        reader = kind(data=self.request.data, partial=partial)
        reader.is_valid(raise_exception=True)
        return reader.validated_data

    def key(self) -> str | None:
        """The idempotency key of this request, if any. Services check its form."""
        return self.request.headers.get(KEY_HEADER)

    def expected(self) -> int | None:
        """The version the caller decided on, from If-Match. None for none or `*`. Raises Invalid."""
        given = self.request.headers.get(VERSION_HEADER, "").strip()
        if given in {"", "*"}:
            return None
        if not (found := _VERSION.fullmatch(given)):
            raise Invalid("The version is wrong.", fields={"if_match": ["Give the ETag of the last answer."]})
        return int(found[1])

    def expected_words(self) -> frozenset[str] | None:
        """As `expected`, where the version is a set of words."""
        given = self.request.headers.get(VERSION_HEADER, "").strip()
        if given in {"", "*"}:
            return None
        if not (found := _TAG.fullmatch(given)):
            raise Invalid("The version is wrong.", fields={"if_match": ["Give the ETag of the last answer."]})
        return frozenset(found[1].split())


def row(
    kind: type[serializers.BaseSerializer[Any]], value: Any, *, status: int = 200, version: int | str | None = None
) -> Response:
    """One thing as an answer, with its version as ETag where it has one."""
    return Response(kind(value).data, status=status, headers=_tag(version))


def rows(kind: type[serializers.BaseSerializer[Any]], page: Page[Any], *, version: int | str | None = None) -> Response:
    """One page of a list as an answer."""
    found = {"items": kind(page.rows, many=True).data, "next_cursor": page.next_cursor}
    return Response(found, headers=_tag(version))


def every(kind: type[serializers.BaseSerializer[Any]], found: Sequence[Any]) -> Response:
    """A list that is short by nature, as one whole page."""
    return rows(kind, Page(found, None))


def nothing(*, version: int | str | None = None) -> Response:
    """An answer without a body."""
    return Response(status=204, headers=_tag(version))


def identifier(text: Any) -> UUID:
    """An id in an address. One that cannot exist is as absent as one that does not."""
    found = parse_id(str(text))
    if found is None:
        raise exceptions.NotFound
    return found


def only(request: Request, *names: str) -> None:
    """Refuse query parameters other than `names`. Raises Invalid."""
    wrong = {ascii(name)[1:-1][:60]: ["There is no such parameter."] for name in request.query_params if name not in names}
    if wrong:
        raise Invalid("There is no such parameter.", fields=wrong)


def _tag(version: int | str | None) -> dict[str, str]:
    return {} if version is None else {"ETag": f'"{version}"'}
