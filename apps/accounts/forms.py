"""Shape and parse what people type. Rules are the services'."""

from collections.abc import Sequence
from typing import Any

from django import forms

from apps.accounts.models import Site
from apps.accounts.types import DENSITIES, MACHINE_DAYS, MACHINE_DAYS_MOST, THEMES, TOKEN_DAYS, TOKEN_DAYS_MOST, parse_roles
from apps.kernel.forms import KeyedForm
from apps.kernel.types import Actor, Role

ROLES = [(role.value, role.label.capitalize()) for role in Role]


class RoleForm(KeyedForm):
    """One role of one person, and the roles the page showed."""

    role = forms.ChoiceField(choices=ROLES)
    roles_seen = forms.CharField(required=False, max_length=200, widget=forms.HiddenInput)

    def clean_roles_seen(self) -> frozenset[Role] | None:
        """The roles shown, None where the sender names none."""
        return _seen(self.cleaned_data["roles_seen"])


class RemoveForm(KeyedForm):
    """The roles the page showed of somebody who is to leave the site."""

    roles_seen = forms.CharField(required=False, max_length=200, widget=forms.HiddenInput)

    def clean_roles_seen(self) -> frozenset[Role] | None:
        """The roles shown, None where the sender names none."""
        return _seen(self.cleaned_data["roles_seen"])


def _seen(text: str) -> frozenset[Role] | None:
    try:
        return parse_roles(text) or None
    except ValueError as error:
        raise forms.ValidationError("There is no such role.") from error


class InviteForm(KeyedForm):
    """Whom to invite, with which roles."""

    email = forms.EmailField(label="E-mail address", max_length=254)
    name = forms.CharField(max_length=100)
    roles = forms.MultipleChoiceField(choices=ROLES, widget=forms.CheckboxSelectMultiple)


class AcceptForm(KeyedForm):
    """Who accepts, with a password of their own."""

    name = forms.CharField(max_length=100, widget=forms.TextInput(attrs={"autocomplete": "name"}))
    password = forms.CharField(
        max_length=200,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="At least 12 characters.",
    )


class MachineForm(KeyedForm):
    """What a machine is called and whom it speaks for."""

    name = forms.CharField(max_length=100, help_text="The bridge or worker that will use it.")
    subjects = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="What it may speak for, one kind:id a line; the id is a UUID.",
    )
    days = forms.IntegerField(label="Days until it ends", initial=MACHINE_DAYS, min_value=1, max_value=MACHINE_DAYS_MOST)

    def clean_subjects(self) -> list[str]:
        """One subject a line."""
        return [line.strip() for line in self.cleaned_data["subjects"].splitlines() if line.strip()]


class TokenForm(KeyedForm):
    """What a token is for and how far it reaches."""

    name = forms.CharField(max_length=100, help_text="The program that will use it.")
    reach = forms.ChoiceField(label="Acts as", help_text="One role you hold, at one site.")
    days = forms.IntegerField(label="Days until it ends", initial=TOKEN_DAYS, min_value=1, max_value=TOKEN_DAYS_MOST)

    def __init__(self, *args: Any, actor: Actor, sites: Sequence[Site], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reach"].choices = [  # type: ignore[attr-defined]
            (f"{site.slug} {role.value}", f"{role.label} at {site.name}")
            for site in sites
            for role in Role
            if role in actor.roles_at(site.id) | {Role.VIEWER}
        ]

    @property
    def site_slug(self) -> str:
        """The site chosen."""
        return str(self.cleaned_data["reach"].split()[0])

    @property
    def role(self) -> Role:
        """The role chosen."""
        return Role(self.cleaned_data["reach"].split()[1])


class PreferencesForm(KeyedForm):
    """How the console looks and behaves. A field that is not sent stays as it is."""

    theme = forms.ChoiceField(required=False, choices=[(word, word) for word in THEMES], widget=forms.RadioSelect)
    density = forms.ChoiceField(required=False, choices=[(word, word) for word in DENSITIES], widget=forms.RadioSelect)
    single_keys = forms.ChoiceField(
        required=False, label="Single-key shortcuts", choices=[("on", "on"), ("off", "off")], widget=forms.RadioSelect
    )


class SiteForm(KeyedForm):
    """A new site."""

    name = forms.CharField(max_length=100)
    slug = forms.SlugField(label="Short name", max_length=50, help_text="Part of its addresses; cannot be changed.")
    time_zone = forms.CharField(max_length=50, initial="UTC", help_text="For instance Europe/Paris.")


class SiteSettingsForm(KeyedForm):
    """Settings of a site, and the version the page showed."""

    name = forms.CharField(max_length=100)
    time_zone = forms.CharField(max_length=50)
    expected = forms.IntegerField(required=False, widget=forms.HiddenInput)
