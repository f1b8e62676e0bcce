"""Whether a code or an assertion of a passkey holds, and that it never holds twice."""

import hmac
from typing import Any
from uuid import UUID

import structlog
from allauth.core.internal.cryptokit import normalize_user_code
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from allauth.mfa.webauthn.internal.auth import STATE_SESSION_KEY, get_credentials
from cryptography.fernet import InvalidToken
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from fido2.server import Fido2Server
from fido2.utils import websafe_decode
from fido2.webauthn import AuthenticationResponse, PublicKeyCredentialRpEntity, RegistrationResponse

from apps.accounts.models import Person
from apps.kernel import clock
from apps.kernel.errors import Invalid

PERIOD_S = 30
TOLERANCE = 1  # steps before and after the current one
_log = structlog.get_logger(__name__)


def matching_step(secret: str, code: str) -> int | None:
    """The time step whose code this is, among the current one and its two neighbours."""
    given = normalize_user_code(code)
    current = int(clock.now().timestamp()) // PERIOD_S
    found = None
    for step in range(current - TOLERANCE, current + TOLERANCE + 1):
        if hmac.compare_digest(format_hotp_value(hotp_value(secret, step)).encode(), given.encode()):
            found = step
    return found


def accept_code(person: Person, code: str) -> Authenticator | None:
    """The factor whose code this is, used up by this call; None for a wrong, late, early or used code.

    The row lock makes two requests with one code take turns, and the step kept in the row refuses the second.
    """
    with transaction.atomic():
        rows = Authenticator.objects.select_for_update().filter(user=person).exclude(type=Authenticator.Type.WEBAUTHN)
        for row in rows.order_by("-type"):  # the generator before the recovery codes
            try:
                held = _use_step(row, code) if row.type == Authenticator.Type.TOTP else row.wrap().validate_code(code)
            except InvalidToken:
                _log.error("a second factor cannot be read with this secret key", person=str(person.pk))
                held = False
            if held:
                return row
    return None


def _use_step(row: Authenticator, code: str) -> bool:
    step = matching_step(get_adapter().decrypt(row.data["secret"]), code)
    if step is None or step <= row.data.get("last_step", -1):
        return False
    row.data["last_step"] = step
    row.save(update_fields=["data"])
    return True


def use_up_first_code(person: Person, step: int) -> None:
    """The code that set a generator up is used: it does not sign anybody in as well."""
    row = Authenticator.objects.select_for_update().get(user=person, type=Authenticator.Type.TOTP)
    row.data["last_step"] = step
    row.save(update_fields=["data"])


def person_of_handle(response: dict[str, Any]) -> Person:
    """Whom a passkey says it belongs to. Raises Invalid."""
    try:
        key = UUID(hex=websafe_decode(response["response"]["userHandle"]).decode())
    except (KeyError, TypeError, ValueError) as error:
        raise Invalid("This passkey cannot be used here.") from error
    person = Person.objects.filter(pk=key).first()
    if person is None:
        raise Invalid("This passkey cannot be used here.")
    return person


def require_our_origin(response: AuthenticationResponse | RegistrationResponse) -> None:
    """Raise Invalid unless the browser was on our one public address: no other port, scheme or subdomain."""
    if response.response.client_data.origin != settings.PUBLIC_URL:
        raise Invalid("This passkey cannot be used here.")


def take_challenge(session: Any) -> dict[str, Any]:
    """The challenge given to this session, taken out for good. Raises Invalid when there is none left.

    Under the lock of the session's row, because two requests of one session load it side by side.
    """
    state = session.pop(STATE_SESSION_KEY, None)
    with transaction.atomic():
        row = Session.objects.select_for_update().filter(pk=session.session_key).first()
        stored = row.get_decoded() if row is not None else {}
        if row is None or state is None or stored.pop(STATE_SESSION_KEY, None) != state:
            raise Invalid("This request is over. Start again.")
        row.session_data = session.encode(stored)
        row.save(update_fields=["session_data"])
    return dict(state)


def accept_assertion(session: Any, person: Person, credential: dict[str, Any]) -> Authenticator:
    """The passkey that signed this session's challenge. Raises Invalid for anything else.

    Its counter must have grown, where it counts at all: a copy of the key falls behind and is refused.
    """
    state = take_challenge(session)
    try:
        response = AuthenticationResponse.from_dict(credential)
        require_our_origin(response)
        rp = PublicKeyCredentialRpEntity(**get_adapter().get_public_key_credential_rp_entity())
        signed_by = Fido2Server(rp).authenticate_complete(state, get_credentials(person), response)
    except (TypeError, ValueError, KeyError) as error:
        raise Invalid("This passkey cannot be used here.") from error
    return _count(person, signed_by.credential_id, response.response.authenticator_data.counter)


def _count(person: Person, credential_id: bytes, counter: int) -> Authenticator:
    with transaction.atomic():
        rows = Authenticator.objects.select_for_update().filter(user=person, type=Authenticator.Type.WEBAUTHN)
        for row in rows:
            registered = row.wrap().authenticator_data
            if registered.credential_data.credential_id != credential_id:
                continue
            last = row.data.get("sign_count", registered.counter)
            if (counter or last) and counter <= last:
                _log.error("a passkey counted backwards: it may have been copied", person=str(person.pk))
                break
            row.data["sign_count"] = counter
            row.save(update_fields=["data"])
            return row
    raise Invalid("This passkey cannot be used here.")
