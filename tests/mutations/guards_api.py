"""What keeps the API to what it says, each switched off in turn."""

from typing import Any

from tests.guards import guard
from tests.mutations import Mutation

_BODIES = "tests/integration/access/test_api_bodies.py::"
_CROSS = "tests/integration/access/test_cross_site.py::"
_HOSTILE = "tests/integration/access/test_hostile_parameters.py::"
_FRAMING = "tests/integration/access/test_framing.py::"
_CONTRACT = "tests/contract/api/"


@guard("unknown fields are refused")
def _strict() -> None:
    from rest_framework import serializers

    from apps.kernel.serializers import Strict

    Strict.to_internal_value = serializers.Serializer.to_internal_value


@guard("text is clean")
def _clean() -> None:
    from apps.kernel.serializers import Text

    def unclean(self: Text, **options: Any) -> None:
        super(Text, self).__init__(**options)

    Text.__init__ = unclean
    from apps.accounts.services import invitations, machines, sites

    for module in (invitations, machines, sites):
        module.clean_name = lambda text, field="name": text


@guard("bodies have a limit")
def _limit() -> None:
    from apps.kernel import api

    api._read = lambda stream: bytes(stream.read())


@guard("a field counts once")
def _once() -> None:
    from apps.kernel import api

    api._once = dict


@guard("only JSON is read")
def _types() -> None:
    from apps.kernel.api import AlwaysJson

    AlwaysJson.select_parser = lambda self, request, parsers: parsers[0]


@guard("CSRF")
def _csrf() -> None:
    from django.middleware.csrf import CsrfViewMiddleware

    CsrfViewMiddleware.process_view = lambda self, request, view, args, kwargs: None


@guard("CSRF origin")
def _origin() -> None:
    from django.middleware.csrf import CsrfViewMiddleware

    CsrfViewMiddleware._origin_verified = lambda self, request: True


@guard("parameters are declared")
def _parameters() -> None:
    from apps.accounts.api import people
    from apps.kernel import api
    from apps.kernel.filters import Listing

    people.only = api.only = lambda request, *names: None
    given = Listing._given
    Listing._given = lambda self, parameters, wrong: given(self, parameters, {})


@guard("no page in a frame")
def _framing() -> None:
    from django.conf import settings

    del settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]["frame-ancestors"]


@guard("the schema in the tree")
def _snapshot() -> None:
    from rest_framework import serializers

    from apps.accounts.serializers import SiteRow

    SiteRow._declared_fields["extra"] = serializers.CharField(default="")


CASES = [
    Mutation("unknown fields are refused", f"{_BODIES}test_fields_that_nobody_may_set_are_refused[create_site]"),
    Mutation("text is clean", f"{_BODIES}test_unclean_text_is_refused_by_field[create_machine]"),
    Mutation("bodies have a limit", f"{_BODIES}test_bodies_over_the_limit_are_refused[create_site]"),
    Mutation("a field counts once", f"{_BODIES}test_a_field_given_twice_is_refused[create_site]"),
    Mutation("only JSON is read", f"{_BODIES}test_bodies_of_another_type_are_refused"),
    Mutation("CSRF", f"{_CROSS}test_forged_writes_are_refused_everywhere[a plain form]"),
    Mutation("CSRF origin", f"{_CROSS}test_forged_writes_are_refused_everywhere[a cookie tossed by a subdomain]"),
    Mutation("parameters are declared", f"{_HOSTILE}test_the_api_refuses_names_it_does_not_declare[list_people]"),
    Mutation("parameters are declared", f"{_HOSTILE}test_the_api_refuses_names_it_does_not_declare[list_events]"),
    Mutation("no page in a frame", f"{_FRAMING}test_answers_to_no_address_cannot_be_framed"),
    Mutation("the schema in the tree", f"{_CONTRACT}test_schema.py::test_the_schema_is_the_one_in_the_tree"),
]
