"""Shapes of accounts in the API: what goes out, and what is taken in (strict: unknown fields are refused)."""

from typing import Any

from rest_framework import serializers

from apps.accounts.models import ROLE_CHOICES
from apps.accounts.types import DENSITIES, MACHINE_DAYS, MACHINE_DAYS_MOST, SUBJECTS_MOST, THEMES, TOKEN_DAYS, TOKEN_DAYS_MOST
from apps.kernel.serializers import Strict, Text, page_of
from apps.kernel.types import Role

SECRET_HELP = "Shown once: null when the same request was repeated under its idempotency key."  # noqa: S105


class RoleField(serializers.ChoiceField):
    """One of the nine roles."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=ROLE_CHOICES, **options)

    def to_internal_value(self, data: Any) -> Role:
        """The role."""
        return Role(super().to_internal_value(data))

    def to_representation(self, value: Any) -> str:
        """Its word."""
        return str(Role(value).value)


class RolesField(serializers.ListField):
    """Roles held, in a fixed order."""

    child = RoleField()

    def to_representation(self, data: Any) -> list[str]:
        """Sorted, since sets have no order."""
        return sorted(str(Role(role).value) for role in data)


class SiteRow(serializers.Serializer[Any]):
    """A site the caller holds a role at."""

    id = serializers.UUIDField()
    slug = serializers.CharField()
    name = serializers.CharField()
    time_zone = serializers.CharField()
    is_simulated = serializers.BooleanField()
    version = serializers.IntegerField(help_text="Rises with each change of the settings; also the ETag.")
    created_at = serializers.DateTimeField()


class SiteCreate(Strict):
    """A new site."""

    slug = serializers.RegexField(r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=50, help_text="Part of addresses; never changes.")
    name = Text(max_length=100)
    time_zone = Text(max_length=50, default="UTC")


class SiteSettings(Strict):
    """What may be changed of a site."""

    name = Text(max_length=100)
    time_zone = Text(max_length=50)


class HeldRoles(serializers.Serializer[Any]):
    """Roles at one site."""

    site_id = serializers.UUIDField()
    slug = serializers.CharField()
    name = serializers.CharField()
    roles = RolesField()


class Me(serializers.Serializer[Any]):
    """Who is asking, as the console sees it."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=["person", "token", "machine"])
    name = serializers.CharField(allow_blank=True)
    sites = HeldRoles(many=True)


class MemberRow(serializers.Serializer[Any]):
    """Somebody who holds a role at the site."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    email = serializers.EmailField()
    is_active = serializers.BooleanField()
    is_scripted = serializers.BooleanField(help_text="Driven by a program.")
    roles = RolesField()


class InvitationRow(serializers.Serializer[Any]):
    """An invitation whose link still works."""

    id = serializers.UUIDField()
    email = serializers.EmailField()
    name = serializers.CharField()
    roles = RolesField()
    invited_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class InvitationCreate(Strict):
    """Whom to invite."""

    email = serializers.EmailField(max_length=254)
    name = Text(max_length=100)
    roles = RolesField(min_length=1, max_length=len(Role))


class InvitationMade(serializers.Serializer[Any]):
    """An invitation just made."""

    id = serializers.UUIDField()
    email = serializers.EmailField()
    expires_at = serializers.DateTimeField()
    link = serializers.URLField(allow_null=True, help_text=SECRET_HELP)


class InvitationAccept(Strict):
    """The secret in an invitation's link."""

    secret = Text(max_length=100)


class MachineRow(serializers.Serializer[Any]):
    """A credential of a machine; never its secret."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    subjects = serializers.ListField(child=serializers.CharField())
    prefix = serializers.CharField(help_text="First part of the secret, to tell credentials apart.")
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(allow_null=True)


class MachineCreate(Strict):
    """A new credential of one machine."""

    name = Text(max_length=100)
    subjects = serializers.ListField(
        child=Text(max_length=100), max_length=SUBJECTS_MOST, default=list, help_text="What it may speak for, as `kind:id`."
    )
    days = serializers.IntegerField(min_value=1, max_value=MACHINE_DAYS_MOST, default=MACHINE_DAYS)


class TokenRow(serializers.Serializer[Any]):
    """One of the caller's own tokens; never its secret."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    site = serializers.CharField(source="site.slug")
    role = RoleField()
    prefix = serializers.CharField(help_text="First part of the secret, to tell tokens apart.")
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(allow_null=True)


class TokenCreate(Strict):
    """A new token of one's own: one role held at one site."""

    name = Text(max_length=100)
    site = serializers.RegexField(r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=50, help_text="Slug of the site.")
    role = RoleField()
    days = serializers.IntegerField(min_value=1, max_value=TOKEN_DAYS_MOST, default=TOKEN_DAYS)


class SecretMade(serializers.Serializer[Any]):
    """A credential just made."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    expires_at = serializers.DateTimeField()
    secret = serializers.CharField(source="text", allow_null=True, help_text=SECRET_HELP)


class PreferencesRow(serializers.Serializer[Any]):
    """How the console looks and behaves for the caller."""

    theme = serializers.ChoiceField(choices=THEMES)
    density = serializers.ChoiceField(choices=DENSITIES)
    single_keys = serializers.BooleanField()


class PreferencesChange(Strict):
    """How it should look and behave."""

    theme = serializers.ChoiceField(choices=THEMES)
    density = serializers.ChoiceField(choices=DENSITIES)
    single_keys = serializers.BooleanField()


class SessionRow(serializers.Serializer[Any]):
    """A browser in which the caller is signed in."""

    id = serializers.IntegerField()
    ip = serializers.CharField()
    user_agent = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    last_seen_at = serializers.DateTimeField()
    is_current = serializers.BooleanField()


SitePage = page_of(SiteRow)
MemberPage = page_of(MemberRow)
InvitationPage = page_of(InvitationRow)
MachinePage = page_of(MachineRow)
TokenPage = page_of(TokenRow)
SessionPage = page_of(SessionRow)
