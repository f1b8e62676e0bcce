"""Forms of codes and passkeys: guesses are counted, nothing holds twice."""

from typing import Any

from allauth.core import context as library
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base import forms as codes
from allauth.mfa.models import Authenticator
from allauth.mfa.totp import forms as totp
from allauth.mfa.webauthn import forms as webauthn
from allauth.mfa.webauthn.internal.auth import STATE_SESSION_KEY, parse_registration_response
from django.core.exceptions import ValidationError

from apps.accounts.adapters.guesses import take_code_guess
from apps.accounts.services import second_factor
from apps.kernel.errors import Invalid


def _wrong() -> ValidationError:
    return get_adapter().validation_error("incorrect_code")


class _Code:
    """Replaces the library's check, which keeps used codes in the cache and would forget them with it."""

    user: Any
    cleaned_data: dict[str, Any]
    authenticator: Authenticator

    def clean_code(self) -> str:
        """Count the guess, then use the code up. Raises TooMany past the budget."""
        give_back = take_code_guess(library.request, self.user.email)
        code = self.cleaned_data["code"]
        found = second_factor.accept_code(self.user, code)
        if found is None:
            raise _wrong()
        give_back()
        self.authenticator = found
        found.user = self.user
        return code


class AuthenticateForm(_Code, codes.AuthenticateForm):
    """A code at sign-in."""


class ReauthenticateForm(_Code, codes.ReauthenticateForm):
    """A code at step-up."""


class ActivateForm(totp.ActivateTOTPForm):
    """The first code of a new generator."""

    step = -1

    def clean_code(self) -> str:
        """Count the guess; the matching step is kept, so that this code signs nobody in later."""
        give_back = take_code_guess(library.request, self.user.email)
        code = self.cleaned_data["code"]
        step = second_factor.matching_step(self.secret, code)
        if step is None:
            raise _wrong()
        give_back()
        self.step = step
        return code


class AddPasskeyForm(webauthn.AddWebAuthnForm):
    """A new passkey: made at our address, for a challenge that is asked once."""

    def clean(self) -> dict[str, Any]:
        """Refuse another origin and a used challenge before the library looks at the rest."""
        credential = self.cleaned_data.get("credential")
        if isinstance(credential, dict):
            session = library.request.session
            try:
                second_factor.require_our_origin(parse_registration_response(credential))
                state = second_factor.take_challenge(session)
            except (Invalid, ValueError, KeyError) as error:
                raise _wrong() from error
            session[STATE_SESSION_KEY] = state  # the library takes it from there, and out again below
            try:
                return super().clean()
            finally:
                session.pop(STATE_SESSION_KEY, None)
        raise _wrong()


class _Assertion:
    """Replaces the library's check, which ignores the counter and keeps a challenge after a failure."""

    user: Any
    cleaned_data: dict[str, Any]

    def clean_credential(self) -> Authenticator:
        """The passkey that signed. A challenge is used up by the first try, right or wrong."""
        credential = self.cleaned_data["credential"]
        if not isinstance(credential, dict):
            raise _wrong()
        try:
            person = self.user or second_factor.person_of_handle(credential)
            return second_factor.accept_assertion(library.request.session, person, credential)
        except Invalid as error:
            raise _wrong() from error


class AuthenticatePasskeyForm(_Assertion, webauthn.AuthenticateWebAuthnForm):
    """A passkey as second factor at sign-in."""


class SignInPasskeyForm(_Assertion, webauthn.LoginWebAuthnForm):
    """A passkey instead of a password; the server asked for the person to be verified by it."""


class ReauthenticatePasskeyForm(_Assertion, webauthn.ReauthenticateWebAuthnForm):
    """A passkey at step-up."""
