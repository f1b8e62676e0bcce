"""Thin edges of accounts, by noun."""

from apps.accounts.views.invitations import invitation
from apps.accounts.views.machines import machine_create, machine_list, machine_revoke
from apps.accounts.views.own import preferences, token_create, token_list, token_revoke
from apps.accounts.views.people import invitation_revoke, person_invite, person_remove, role_grant, role_revoke, site_people
from apps.accounts.views.sites import site_create, site_settings

__all__ = [
    "invitation",
    "invitation_revoke",
    "machine_create",
    "machine_list",
    "machine_revoke",
    "person_invite",
    "person_remove",
    "preferences",
    "role_grant",
    "role_revoke",
    "site_create",
    "site_people",
    "site_settings",
    "token_create",
    "token_list",
    "token_revoke",
]
