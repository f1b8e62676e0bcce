"""Acts of accounts, by noun: import the function from the module that holds it, or from here."""

from apps.accounts.services.invitations import accept_as_new_person, accept_invitation, invite_person, revoke_invitation
from apps.accounts.services.machines import create_machine_credential, note_machine_use, revoke_machine_credential
from apps.accounts.services.people import change_preferences, create_person, deactivate_person, reactivate_person
from apps.accounts.services.roles import grant_role, remove_person, revoke_role
from apps.accounts.services.seed import SeededAccount, demo_site, seed_deployment, service_person
from apps.accounts.services.sign_in import end_sessions, remove_second_factors, set_password
from apps.accounts.services.sites import change_site_settings, create_site
from apps.accounts.services.tokens import create_token, note_token_use, revoke_token

__all__ = [
    "SeededAccount",
    "accept_as_new_person",
    "accept_invitation",
    "change_preferences",
    "change_site_settings",
    "create_machine_credential",
    "create_person",
    "create_site",
    "create_token",
    "deactivate_person",
    "demo_site",
    "end_sessions",
    "grant_role",
    "invite_person",
    "note_machine_use",
    "note_token_use",
    "reactivate_person",
    "remove_person",
    "remove_second_factors",
    "revoke_invitation",
    "revoke_machine_credential",
    "revoke_role",
    "revoke_token",
    "seed_deployment",
    "service_person",
    "set_password",
]
