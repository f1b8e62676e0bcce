"""What keeps people to their rights, each switched off in turn."""

from typing import Any

from tests.guards import guard
from tests.mutations import Mutation

_MATRIX = "tests/integration/access/test_matrix.py::"
_CALLS = f"{_MATRIX}test_calls_are_answered_as_the_table_says"
_SOCKETS = "tests/integration/access/test_matrix_sockets.py::"
_OUTSIDER = "tests/integration/access/test_outsider.py::"


@guard("access rule before every view")
def _enforce() -> None:
    from apps.kernel import access

    def only_find_site(request: Any, found: access.Access, arguments: Any) -> None:
        if (slug := arguments.get(found.site_argument)) is not None and access._find_site is not None:
            request.site = access._find_site(slug)

    access.enforce = only_find_site


@guard("can says no")
def _can() -> None:
    from apps.kernel import permissions

    permissions.can = lambda *_asked, **_options: permissions.Decision()


@guard("every route is in the table")
def _unlisted_route() -> None:
    from django.urls import path

    from apps.shell import views
    from console import urls

    urls.urlpatterns.append(path("unlisted/", views.home, name="unlisted"))


@guard("every route is declared")
def _undeclared_route() -> None:
    from django.http import HttpRequest, HttpResponse
    from django.urls import path

    from console import urls

    def forgotten(_request: HttpRequest) -> HttpResponse:
        return HttpResponse()

    urls.urlpatterns.insert(0, path("healthz", forgotten, name="healthz"))


@guard("undeclared views are refused")
def _undeclared() -> None:
    from apps.kernel import access

    asked = access.declared
    access.declared = lambda view, name: asked(view, name) or access.Access({"GET": "kernel.public"})


@guard("services ask again on what they loaded")
def _authorise() -> None:
    from apps.accounts.services import tokens

    tokens.authorise = lambda *_asked, **_options: None


@guard("members are looked up at their site")
def _member_of_site() -> None:
    from apps.accounts import selectors
    from apps.accounts.models import RoleGrant

    found = selectors.find_member

    def anywhere(_site_id: Any, person_id: Any) -> Any:
        grant = RoleGrant.objects.filter(person_id=person_id).first()
        return found(grant.site_id, person_id) if grant else None

    selectors.find_member = anywhere


@guard("lists are narrowed to the site")
def _list_of_site() -> None:
    from apps.accounts import selectors
    from apps.accounts.models import MachineCredential
    from apps.kernel.pagination import by_id

    selectors.machines_page = lambda _site_id, *, cursor=None, limit=None: by_id(
        MachineCredential.objects.all(), cursor=cursor, limit=limit
    )


@guard("topics ask for rights")
def _topics() -> None:
    from apps.kernel.permissions import Decision
    from apps.realtime import permissions

    permissions.can = lambda *_asked, **_options: Decision()


@guard("methods outside the declaration are refused")
def _methods() -> None:
    from apps.kernel import access
    from apps.kernel.errors import WrongMethod

    asked = access.enforce

    def any_method(request: Any, found: access.Access, arguments: Any) -> None:
        try:
            asked(request, found, arguments)
        except WrongMethod:
            return

    access.enforce = any_method


CASES = [
    Mutation("access rule before every view", f"{_CALLS}[shell:floor]"),
    Mutation("access rule before every view", f"{_CALLS}[api:member_list]"),
    Mutation("can says no", f"{_CALLS}[api:machine]"),
    Mutation("every route is in the table", f"{_MATRIX}test_every_route_is_in_the_table_and_every_entry_has_a_route"),
    Mutation("every route is declared", f"{_MATRIX}test_every_route_declares_exactly_the_methods_of_the_table"),
    Mutation("undeclared views are refused", "tests/integration/access/test_undeclared.py"),
    Mutation("services ask again on what they loaded", f"{_CALLS}[api:token]"),
    Mutation(
        "members are looked up at their site", f"{_OUTSIDER}test_what_another_site_has_is_answered_as_what_does_not_exist"
    ),
    Mutation("lists are narrowed to the site", f"{_OUTSIDER}test_lists_count_only_what_is_the_caller_s"),
    Mutation("topics ask for rights", f"{_SOCKETS}test_a_topic_is_followed_by_exactly_whom_the_table_names"),
    Mutation("methods outside the declaration are refused", f"{_CALLS}[shell:floor]"),
]
