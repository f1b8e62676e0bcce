"""Reads of accounts, by noun."""

from apps.accounts.selectors.credentials import (
    machines_holding,
    machines_page,
    tokens_of,
    verify_machine,
    verify_token,
)
from apps.accounts.selectors.people import (
    actor_of_person,
    find_member,
    find_open_invitation,
    invitation_link,
    members_page,
    open_invitations,
    people_active,
    person_by_email,
    preferences_of,
    roles_of,
    roles_of_many,
)
from apps.accounts.selectors.sessions import (
    SignIn,
    Standing,
    gave_second_factor,
    has_second_factor,
    proved_at_of,
    sessions_in_force,
    sessions_of,
    standing_of,
)
from apps.accounts.selectors.sites import find_site, first_site, get_site, sites_of

__all__ = [
    "SignIn",
    "Standing",
    "actor_of_person",
    "find_member",
    "find_open_invitation",
    "find_site",
    "first_site",
    "gave_second_factor",
    "get_site",
    "has_second_factor",
    "invitation_link",
    "machines_holding",
    "machines_page",
    "members_page",
    "open_invitations",
    "people_active",
    "person_by_email",
    "preferences_of",
    "proved_at_of",
    "roles_of",
    "roles_of_many",
    "sessions_in_force",
    "sessions_of",
    "sites_of",
    "standing_of",
    "tokens_of",
    "verify_machine",
    "verify_token",
]
