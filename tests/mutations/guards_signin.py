"""What protects sign-in, sessions, the admin site and pages, each switched off in turn."""

from contextlib import suppress
from typing import Any

from tests.guards import guard
from tests.mutations import Mutation

_SECURITY = "tests/integration/security/"
_GUESSING = f"{_SECURITY}test_guessing.py::"
_CODES = f"{_SECURITY}test_codes.py::"
_PASSKEYS = f"{_SECURITY}test_passkeys.py::"
_SESSIONS = f"{_SECURITY}test_sessions.py::"
_STEP_UP = f"{_SECURITY}test_step_up.py::"
_HOSTS = f"{_SECURITY}test_hosts.py::"
_ADMIN = f"{_SECURITY}test_admin_site.py::"
_PAGES = f"{_SECURITY}test_every_page.py::"
_CACHE = f"{_SECURITY}test_shared_cache.py::"
_PRODUCTION = f"{_SECURITY}test_production.py::"


def _nothing(*_args: Any, **_named: Any) -> None:
    """In the place of a guard that raises."""


def _free(*_args: Any, **_named: Any) -> Any:
    """A guess that costs nothing."""
    return _nothing


@guard("sign-in budgets")
def _budgets() -> None:
    from apps.accounts.adapters import guesses

    guesses.take_password_guess = _free  # type: ignore[assignment]


@guard("sign-in budget by address")
def _by_address() -> None:
    from apps.accounts.services import budgets

    budgets.BY_ADDRESS = budgets.Budget("sign-in by address", 10_000, 1)


@guard("known device")
def _known_device() -> None:
    from apps.accounts.adapters import guesses

    guesses.device_of = lambda *_: None  # type: ignore[assignment]


@guard("known device budget")
def _device_budget() -> None:
    from apps.accounts.services import budgets

    take = budgets.take
    budgets.take = lambda budget, subject: None if budget is budgets.BY_DEVICE else take(budget, subject)  # type: ignore[assignment]


@guard("equal time of unknown accounts")
def _equal_time() -> None:
    from allauth.account.auth_backends import AuthenticationBackend

    AuthenticationBackend._mitigate_timing_attack = _nothing  # type: ignore[assignment,method-assign]


@guard("one answer to deactivated accounts")
def _deactivated() -> None:
    from allauth.account.adapter import DefaultAccountAdapter

    from apps.accounts.adapters import AccountAdapter

    AccountAdapter.authenticate = DefaultAccountAdapter.authenticate  # type: ignore[method-assign]


@guard("budgets outside the cache")
def _cached_budgets() -> None:
    from apps.accounts.services import budgets

    def take(budget: budgets.Budget, subject: str) -> None:
        """Counts in the cache and opens when it is down, as many limits do."""
        from django.core.cache import cache

        with suppress(ConnectionError, OSError, Exception):
            cache.incr(budget.key(subject).hex())

    budgets.take = take


@guard("closed sign-up")
def _sign_up() -> None:
    from apps.accounts.adapters import AccountAdapter

    AccountAdapter.is_open_for_signup = lambda *_: True  # type: ignore[method-assign]


@guard("code used once")
def _code_once() -> None:
    from allauth.mfa.adapter import get_adapter

    from apps.accounts.services import second_factor

    second_factor._use_step = lambda row, code: (  # type: ignore[assignment]
        second_factor.matching_step(get_adapter().decrypt(row.data["secret"]), code) is not None
    )


@guard("first code used up")
def _first_code() -> None:
    from apps.accounts.services import second_factor

    second_factor.use_up_first_code = _nothing


@guard("one step of tolerance")
def _tolerance() -> None:
    from apps.accounts.services import second_factor

    second_factor.TOLERANCE = 125


@guard("code budget")
def _code_budget() -> None:
    from apps.accounts.adapters import forms

    forms.take_code_guess = _free  # type: ignore[assignment]


@guard("recovery code used once")
def _recovery_once() -> None:
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes

    RecoveryCodes._mark_code_used = _nothing  # type: ignore[method-assign]


@guard("fresh proof for factors")
def _fresh_proof() -> None:
    from allauth.account.internal.flows import reauthentication

    reauthentication.did_recently_reauthenticate = lambda *_: True  # type: ignore[assignment]


@guard("step-up by the second factor")
def _step_up_factor() -> None:
    from apps.accounts.adapters import account

    account.has_second_factor = lambda *_: False  # type: ignore[assignment]


@guard("encrypted factors")
def _encrypted() -> None:
    from apps.accounts.adapters import SecondFactorAdapter

    SecondFactorAdapter.encrypt = SecondFactorAdapter.decrypt = lambda _self, text: text  # type: ignore[method-assign]


@guard("passkey origin")
def _origin() -> None:
    from apps.accounts.services import second_factor

    second_factor.require_our_origin = _nothing  # type: ignore[assignment]


@guard("passkey challenge asked once")
def _challenge() -> None:
    from allauth.mfa.webauthn.internal.auth import STATE_SESSION_KEY

    from apps.accounts.services import second_factor
    from apps.kernel.errors import Invalid

    given: list[dict[str, Any]] = []

    def take(session: Any) -> dict[str, Any]:
        """Leaves the challenge where it was, and remembers it when the library takes it away."""
        state = session.get(STATE_SESSION_KEY) or (given[-1] if given else None)
        if state is None:
            raise Invalid("none")
        given.append(state)
        return dict(state)

    second_factor.take_challenge = take


@guard("passkey counter")
def _counter() -> None:
    from apps.accounts.services import second_factor

    count = second_factor._count
    highest = iter(range(1_000_000, 2_000_000))
    second_factor._count = lambda person, credential, _counter: count(person, credential, next(highest))


@guard("new session key at sign-in")
def _fixation() -> None:
    from django.contrib.sessions.backends.base import SessionBase

    SessionBase.cycle_key = _nothing  # type: ignore[method-assign]


@guard("cookie flags")
def _cookies() -> None:
    from django.conf import settings

    settings.SESSION_COOKIE_HTTPONLY = False


@guard("salt of the browser mark")
def _salt() -> None:
    from django.core import signing

    from apps.accounts.adapters import devices

    class AnySalt:
        """Signatures of any feature count."""

        BadSignature = signing.BadSignature
        dumps = staticmethod(signing.dumps)

        @staticmethod
        def loads(value: str, **_named: Any) -> Any:
            import json

            with suppress(Exception):
                return json.loads(signing.b64_decode(value.split(":")[0].encode()))
            return {}

    devices.signing = AnySalt  # type: ignore[assignment]


@guard("sessions ended")
def _ended() -> None:
    from apps.accounts.services import sign_in

    sign_in._drop_sessions = lambda *_: 1  # type: ignore[assignment]


@guard("session bound to the password")
def _bound() -> None:
    from apps.accounts.selectors import sessions

    sessions.constant_time_compare = lambda *_: True  # type: ignore[assignment]


@guard("real proofs only")
def _real_proofs() -> None:
    from apps.accounts import selectors
    from apps.accounts.selectors import sessions

    sessions._proofs = lambda session: session["account_authentication_methods"]  # type: ignore[assignment]
    assert selectors.proved_at_of is sessions.proved_at_of


@guard("canonical reset link")
def _canonical() -> None:
    from allauth.account.adapter import DefaultAccountAdapter

    from apps.accounts.adapters import AccountAdapter

    AccountAdapter.get_reset_password_from_key_url = (  # type: ignore[method-assign]
        DefaultAccountAdapter.get_reset_password_from_key_url
    )
    AccountAdapter.send_mail = DefaultAccountAdapter.send_mail  # type: ignore[method-assign]


@guard("allowed hosts")
def _hosts() -> None:
    from django.conf import settings
    from django.http import request

    settings.ALLOWED_HOSTS = ["*"]
    request.validate_host = lambda *_: True  # type: ignore[assignment]


@guard("forwarding headers dropped")
def _forwarded() -> None:
    from apps.kernel.middleware import ForwardedHeaders

    def look(_self: Any, request: Any) -> None:
        """Believes whatever a client says."""
        said = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")[0].strip()
        if said:
            request.META["REMOTE_ADDR"] = said

    ForwardedHeaders.look = look  # type: ignore[method-assign]


@guard("reset budget")
def _reset_budget() -> None:
    from apps.accounts import middleware

    middleware._counted = lambda *_: []  # type: ignore[assignment]


@guard("admin networks")
def _networks() -> None:
    from apps.accounts import middleware

    middleware.may_reach_admin = lambda *_: True  # type: ignore[assignment]


@guard("second factor for the admin site")
def _admin_factor() -> None:
    from apps.accounts import selectors

    selectors.gave_second_factor = lambda *_: True  # type: ignore[assignment]


@guard("read-only admin site")
def _read_only() -> None:
    from apps.accounts.admin import ReadOnly

    for name in ("has_add_permission", "has_change_permission", "has_delete_permission"):
        setattr(ReadOnly, name, lambda *_args, **_named: True)


@guard("facts of the admin site")
def _admin_facts() -> None:
    from apps.journal.services import Operation

    Operation.append = lambda *_args, **_named: []  # type: ignore[method-assign]


@guard("no shared cache")
def _no_cache() -> None:
    from apps.kernel import middleware

    middleware._marked = lambda _request, response: response  # type: ignore[assignment]


@guard("content policy")
def _policy() -> None:
    from csp.middleware import CSPMiddleware

    CSPMiddleware.process_response = lambda _self, _request, response: response  # type: ignore[method-assign]


@guard("production refusals")
def _refusals() -> None:
    from console.settings import refusals

    refusals.faults = lambda **_: []  # type: ignore[assignment]


@guard("checks of sign-in settings")
def _checks() -> None:
    from apps.accounts import checks

    checks._FIXED = ()


CASES = [
    Mutation("sign-in budgets", f"{_GUESSING}test_a_storm_of_guesses_is_limited_for_each_account"),
    Mutation("sign-in budget by address", f"{_GUESSING}test_one_address_cannot_try_many_accounts"),
    Mutation("known device", f"{_GUESSING}test_the_owner_gets_in_from_a_known_browser_during_the_storm"),
    Mutation("known device budget", f"{_GUESSING}test_a_known_browser_may_not_guess_without_end_either"),
    Mutation("equal time of unknown accounts", f"{_GUESSING}test_an_unknown_account_takes_as_long"),
    Mutation("one answer to deactivated accounts", f"{_GUESSING}test_the_answer_does_not_tell_who_exists"),
    Mutation("budgets outside the cache", f"{_GUESSING}test_limits_hold_and_sign_in_works_while_valkey_is_down"),
    Mutation("closed sign-up", f"{_GUESSING}test_nobody_signs_up"),
    Mutation("sign-in budgets", f"{_GUESSING}test_guesses_at_step_up_are_limited"),
    Mutation("code used once", f"{_CODES}test_a_code_signs_in_once_in_its_window"),
    Mutation("first code used up", f"{_CODES}test_the_code_that_set_the_generator_up_does_not_sign_in"),
    Mutation("one step of tolerance", f"{_CODES}test_one_step_of_tolerance_and_no_more"),
    Mutation("one step of tolerance", f"{_CODES}test_codes_of_a_clock_an_hour_off_are_refused"),
    Mutation("code budget", f"{_CODES}test_guessing_codes_is_limited"),
    Mutation("recovery code used once", f"{_CODES}test_a_recovery_code_signs_in_once"),
    Mutation("fresh proof for factors", f"{_CODES}test_factors_change_only_after_a_fresh_proof"),
    Mutation("step-up by the second factor", f"{_CODES}test_a_password_is_no_step_up_for_whoever_has_codes"),
    Mutation("encrypted factors", f"{_CODES}test_the_database_holds_no_readable_secret"),
    Mutation("passkey origin", f"{_PASSKEYS}test_an_assertion_from_another_origin_is_refused"),
    Mutation("passkey origin", f"{_PASSKEYS}test_a_registration_from_another_origin_is_refused"),
    Mutation("passkey challenge asked once", f"{_PASSKEYS}test_an_assertion_replayed_at_step_up_proves_nothing"),
    Mutation("passkey challenge asked once", f"{_PASSKEYS}test_a_challenge_is_asked_once_even_after_a_wrong_answer"),
    Mutation("passkey counter", f"{_PASSKEYS}test_a_cloned_counter_is_refused"),
    Mutation("new session key at sign-in", f"{_SESSIONS}test_a_session_fixed_by_an_attacker_is_worth_nothing"),
    Mutation("cookie flags", f"{_SESSIONS}test_every_cookie_is_closed_to_scripts_and_other_sites"),
    Mutation("salt of the browser mark", f"{_SESSIONS}test_a_signature_of_another_feature_marks_no_browser"),
    Mutation("sessions ended", f"{_SESSIONS}test_one_session_can_be_ended_and_only_ones_own"),
    Mutation("sessions ended", f"{_SESSIONS}test_a_new_password_ends_every_other_session"),
    Mutation("session bound to the password", f"{_SESSIONS}test_a_password_changed_behind_its_back_ends_a_session"),
    Mutation("real proofs only", f"{_STEP_UP}test_what_is_no_proof"),
    Mutation("canonical reset link", f"{_HOSTS}test_a_reset_link_is_canonical"),
    Mutation("allowed hosts", f"{_HOSTS}test_a_foreign_host_is_refused"),
    Mutation("forwarding headers dropped", f"{_HOSTS}test_a_forwarded_address_is_ignored"),
    Mutation("reset budget", f"{_HOSTS}test_asking_for_links_is_limited"),
    Mutation("admin networks", f"{_ADMIN}test_other_networks_find_nothing"),
    Mutation("second factor for the admin site", f"{_ADMIN}test_nobody_but_staff_with_a_second_factor_gets_in"),
    Mutation("read-only admin site", f"{_ADMIN}test_no_table_can_be_written"),
    Mutation("facts of the admin site", f"{_ADMIN}test_what_staff_do_leaves_a_fact"),
    Mutation("no shared cache", f"{_PAGES}test_no_shared_cache_may_keep_any_page"),
    Mutation("no shared cache", f"{_CACHE}test_nobody_gets_the_page_of_somebody_else"),
    Mutation("content policy", f"{_PAGES}test_every_page_has_the_policy_and_obeys_it"),
    Mutation("production refusals", f"{_PRODUCTION}test_what_is_refused"),
    Mutation("checks of sign-in settings", f"{_PRODUCTION}test_a_setting_that_undoes_a_protection_is_found"),
]
