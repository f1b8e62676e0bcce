"""What keeps tokens, machines, invitations and roles honest, each switched off in turn."""

from collections.abc import Callable

from tests.guards import guard
from tests.mutations import Mutation

_BEARER = "tests/integration/accounts/test_bearer_token.py::"
_TOKEN = "tests/integration/accounts/test_create_token.py::"
_MACHINE = "tests/integration/accounts/test_create_machine_credential.py::"
_INVITE = "tests/integration/accounts/test_invite_person.py::"
_GRANT = "tests/integration/accounts/test_grant_role.py::"
_REVOKE = "tests/integration/accounts/test_revoke_role.py::"
_DEACTIVATE = "tests/integration/accounts/test_deactivate_person.py::"


def _off(answer: object = None) -> Callable[..., object]:
    return lambda *args, **named: answer


@guard("accounts: secret compared with its digest")
def _digest() -> None:
    from apps.accounts.types import Secret

    Secret.matches = _off(True)


@guard("accounts: expiry")
def _expiry() -> None:
    from apps.accounts.selectors import credentials, people

    credentials.has_expired = people.has_expired = _off(False)


@guard("accounts: revocation")
def _revocation() -> None:
    from apps.accounts.selectors import credentials, people

    credentials.is_revoked = people.is_revoked = _off(False)


@guard("accounts: no token in an address")
def _address() -> None:
    from apps.accounts import authentication

    authentication.looks_secret = _off(False)


@guard("accounts: a token reaches only what is still held")
def _reach() -> None:
    from apps.accounts.selectors import credentials

    credentials.narrowed = lambda role, held: frozenset({role})


@guard("accounts: only a person approves or steps up")
def _people_only() -> None:
    from apps.kernel import permissions

    permissions._kind_allows = _off()


@guard("accounts: the last admin stays")
def _last_admin() -> None:
    from apps.accounts import lifecycle
    from apps.accounts.services import people

    lifecycle.refuse_last_admin = _off()
    people._is_last_admin = _off(False)


@guard("accounts: nobody grants to themselves")
def _self_grant() -> None:
    from apps.accounts import lifecycle
    from apps.accounts.services import invitations

    lifecycle.refuse_self_grant = invitations.refuse_self_grant = _off()


@guard("accounts: a decision on what has changed is refused")
def _stale() -> None:
    from apps.accounts import lifecycle

    lifecycle.refuse_stale = _off()


@guard("accounts: a program is no approver")
def _program() -> None:
    from apps.accounts import lifecycle

    lifecycle.refuse_program_as_approver = _off()


@guard("accounts: a known address is not told apart")
def _known_address() -> None:
    from apps.accounts.services import invitations

    invitations.person_by_email = _off()


CASES = [
    Mutation("accounts: secret compared with its digest", f"{_BEARER}test_what_a_dump_of_the_database_holds_opens_nothing"),
    Mutation("accounts: secret compared with its digest", f"{_MACHINE}test_stolen_from_a_dump_it_is_useless"),
    Mutation("accounts: secret compared with its digest", f"{_INVITE}test_only_a_digest_is_kept"),
    Mutation("accounts: expiry", f"{_BEARER}test_expired"),
    Mutation("accounts: expiry", f"{_MACHINE}test_a_credential_ends"),
    Mutation("accounts: expiry", f"{_INVITE}test_a_link_works_for_72_hours"),
    Mutation("accounts: revocation", f"{_BEARER}test_revoked"),
    Mutation("accounts: revocation", f"{_MACHINE}test_a_revoked_credential_is_refused"),
    Mutation("accounts: revocation", f"{_INVITE}test_a_revoked_link_is_useless"),
    Mutation("accounts: no token in an address", f"{_BEARER}test_in_an_address"),
    Mutation("accounts: a token reaches only what is still held", f"{_BEARER}test_of_somebody_who_lost_the_role"),
    Mutation("accounts: only a person approves or steps up", f"{_TOKEN}test_an_approvers_token_does_not_approve"),
    Mutation("accounts: only a person approves or steps up", f"{_BEARER}test_an_admins_token_changes_no_rights"),
    Mutation("accounts: the last admin stays", f"{_REVOKE}test_the_last_admin_stays"),
    Mutation("accounts: the last admin stays", f"{_DEACTIVATE}test_the_last_admin_of_any_site_stays"),
    Mutation("accounts: nobody grants to themselves", f"{_GRANT}test_nobody_grants_to_themselves"),
    Mutation("accounts: nobody grants to themselves", f"{_INVITE}test_nobody_invites_themselves"),
    Mutation("accounts: a decision on what has changed is refused", f"{_REVOKE}test_what_changed_since_the_page_was_shown"),
    Mutation("accounts: a program is no approver", f"{_GRANT}test_a_program_is_approver_only_where_all_is_simulated"),
    Mutation(
        "accounts: a known address is not told apart",
        f"{_INVITE}TestAnAddressThatIsKnownElsewhere::test_looks_the_same_to_a_stranger_with_the_link",
    ),
]
