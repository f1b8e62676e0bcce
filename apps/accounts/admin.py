"""The admin site: every table of ours to look at, none to write. What staff may do are actions that call a service.

Read-only, because a row changed here would be a change without a fact, and because the rows of most tables are made from
facts: the next replay would undo it. Reached only by staff with a second factor in this session, from ADMIN_NETWORKS.
"""

from typing import Any

from django.apps import apps
from django.contrib import admin, messages
from django.contrib.admin import AdminSite, ModelAdmin
from django.db.models import BinaryField, Field, JSONField, Model, QuerySet, TextField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from apps.accounts.models import Person
from apps.accounts.services import deactivate_person, end_sessions, reactivate_person, remove_second_factors
from apps.kernel.access import actor_of
from apps.kernel.permissions import can

USE = "accounts.use_admin_site"
HIDDEN = frozenset({"password", "digest", "previous", "request", "result"})  # nothing that could be guessed at or replayed


class ConsoleAdmin(AdminSite):
    """Signs nobody in: it has no sign-in page of its own."""

    site_header = "Pilothouse tables"
    site_title = "Pilothouse"
    index_title = "Tables, to look at"
    enable_nav_sidebar = False
    site_url = "/"

    def has_permission(self, request: HttpRequest) -> bool:
        """Asks again what the access rule asked before the view."""
        return bool(can(request.actor, USE))  # type: ignore[attr-defined]

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """The console's own sign-in, with its limits and second factor."""
        return HttpResponseRedirect(reverse("account_login"))

    def logout(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """The console's own sign-out."""
        return HttpResponseRedirect(reverse("account_logout"))

    def password_change(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """The console's own page, which leaves a fact."""
        return HttpResponseRedirect(reverse("account_change_password"))

    password_change_done = password_change


class ReadOnly(ModelAdmin):
    """A table to look at."""

    actions: Any = []
    list_per_page = 50
    show_full_result_count = False
    ordering = ("-pk",)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Every column but the hidden ones."""
        return [field.name for field in self._shown()]

    get_readonly_fields = get_fields

    def get_list_display(self, request: HttpRequest) -> Any:
        """The first columns that fit a line."""
        return [field.name for field in self._shown() if not isinstance(field, JSONField | TextField)][:8]

    def _shown(self) -> list["Field[Any, Any]"]:
        return [field for field in self.model._meta.fields if field.name not in HIDDEN and not isinstance(field, BinaryField)]

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever may use the site sees every table; the site asked."""
        return True

    def has_module_permission(self, request: HttpRequest) -> bool:
        """As above."""
        return True

    def has_add_permission(self, request: HttpRequest, *_args: Any) -> bool:
        """Never."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Never."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Never."""
        return False


class PersonAdmin(ReadOnly):
    """People, and what only staff can do: for somebody who lost a device, and for somebody who left."""

    actions = ["sign_out", "take_factors", "switch_off", "switch_on"]
    search_fields = ["name", "email"]
    ordering = ("name",)

    @admin.action(description="End every session of the selected people")
    def sign_out(self, request: HttpRequest, queryset: "QuerySet[Person]") -> None:
        """By the service, which leaves a fact for each."""
        ended = sum(end_sessions(actor_of(request), person) for person in queryset)
        self.message_user(request, f"{ended} sessions ended.", messages.SUCCESS)

    @admin.action(description="Remove the second factors of the selected people, who lost them")
    def take_factors(self, request: HttpRequest, queryset: "QuerySet[Person]") -> None:
        """By the service, which leaves a fact for each."""
        gone = sum(remove_second_factors(actor_of(request), person) for person in queryset)
        self.message_user(request, f"{gone} second factors removed.", messages.SUCCESS)

    @admin.action(description="Switch the selected people off everywhere")
    def switch_off(self, request: HttpRequest, queryset: "QuerySet[Person]") -> None:
        """By the service, which leaves a fact for each."""
        for person in queryset:
            deactivate_person(actor=request.actor, person_id=person.pk)  # type: ignore[attr-defined]
        self.message_user(request, "Switched off.", messages.SUCCESS)

    @admin.action(description="Switch the selected people on again")
    def switch_on(self, request: HttpRequest, queryset: "QuerySet[Person]") -> None:
        """By the service, which leaves a fact for each."""
        for person in queryset:
            reactivate_person(actor=request.actor, person_id=person.pk)  # type: ignore[attr-defined]
        self.message_user(request, "Switched on.", messages.SUCCESS)


def _ours() -> list[type[Model]]:
    return [
        model
        for config in apps.get_app_configs()
        if config.name.startswith("apps.")
        for model in config.get_models()
        if not isinstance(model._meta.pk, BinaryField)  # buckets named by digests: nothing to see
    ]


site = ConsoleAdmin(name="admin")
for _model in _ours():
    site.register(_model, PersonAdmin if _model is Person else ReadOnly)
