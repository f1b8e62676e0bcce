"""Facts of the journal as people say them: what happened to whom, in one sentence; the record itself stays beside it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from apps.accounts import selectors as accounts
from apps.journal.types import Recorded
from apps.kernel.ids import parse_id
from apps.shell.types import Told

Payload = Mapping[str, Any]
Name = Callable[[str], str]  # what the subject behind one name of the payload is called


def _role(payload: Payload) -> str:
    return str(payload["role"]).replace("_", " ")


def _roles(payload: Payload) -> str:
    return ", ".join(str(role).replace("_", " ") for role in payload["roles"])


_KINDS = {"totp": "a code generator", "webauthn": "a passkey", "recovery_codes": "recovery codes"}


def _kind(payload: Payload) -> str:
    return _KINDS.get(str(payload["kind"]), str(payload["kind"]))


# A kind of fact that is not here is told by its own words, so that a new one is never hidden.
_SENTENCES: dict[str, Callable[[Payload, Name], str]] = {
    "accounts.site_created": lambda told, _name: f"Site {told['name']} was created",
    "accounts.site_settings_changed": lambda told, _name: f"Site is now called {told['name']}, time zone {told['time_zone']}",
    "accounts.person_created": lambda told, _name: f"{told['name']} was added",
    "accounts.person_deactivated": lambda _told, name: f"{name('person_id')} was switched off",
    "accounts.person_reactivated": lambda _told, name: f"{name('person_id')} was switched on again",
    "accounts.person_invited": lambda told, _name: f"{told['name']} was invited as {_roles(told)}",
    "accounts.invitation_accepted": lambda _told, name: f"{name('person_id')} accepted an invitation",
    "accounts.invitation_revoked": lambda _told, name: f"The invitation of {name('invitation_id')} was withdrawn",
    "accounts.role_granted": lambda told, name: f"{name('person_id')} was granted {_role(told)}",
    "accounts.role_revoked": lambda told, name: f"{name('person_id')} is no longer {_role(told)}",
    "accounts.preferences_changed": lambda _told, name: f"{name('person_id')} changed their preferences",
    "accounts.machine_credential_created": lambda told, _name: f"Machine {told['name']} was given a credential",
    "accounts.machine_credential_revoked": lambda _told, name: f"The credential of machine {name('credential_id')} was revoked",
    "accounts.api_token_created": lambda told, name: f"{name('person_id')} made the token {told['name']}, {_role(told)}",
    "accounts.api_token_revoked": lambda _told, name: f"The token {name('token_id')} was revoked",
    "accounts.password_changed": lambda _told, name: f"{name('person_id')} has a new password",
    "accounts.second_factor_added": lambda told, name: f"{name('person_id')} added {_kind(told)}",
    "accounts.second_factor_removed": lambda told, name: f"{name('person_id')} no longer has {_kind(told)}",
    "accounts.recovery_codes_made": lambda _told, name: f"{name('person_id')} made new recovery codes",
    "accounts.sessions_ended": lambda told, name: f"Sessions of {name('person_id')} were ended: {told['count']}",
}
_SUBJECTS = ("person_id", "credential_id", "token_id", "invitation_id")


def told(events: Sequence[Recorded]) -> list[Told]:
    """Each event with its sentence. The same few queries for one event as for fifty."""
    names = accounts.names_of({found for event in events for found in _subjects(event.payload)})
    return [Told(event, _sentence(event, names), _facts(event.payload)) for event in events]


def _subjects(payload: Payload) -> Iterable[UUID]:
    for key in _SUBJECTS:
        found = parse_id(str(payload.get(key, "")))
        if found is not None:
            yield found


def _sentence(event: Recorded, names: Mapping[UUID, str]) -> str:
    def name(key: str) -> str:
        found = parse_id(str(event.payload.get(key, "")))
        return (names.get(found) if found is not None else None) or "somebody no longer known"

    try:
        return _SENTENCES[event.type](event.payload, name)
    except (KeyError, TypeError):  # a kind without a sentence, or an older version of one: say what it is called
        words = event.type.rpartition(".")[2].replace("_", " ")
        return words[:1].upper() + words[1:]


def _facts(payload: Payload) -> list[tuple[str, str]]:
    """The payload as stored, one line a name, without what is empty."""
    return [
        (name.replace("_", " "), " ".join(map(str, value)) if isinstance(value, list) else str(value))
        for name, value in payload.items()
        if value not in (None, "", {}, [])
    ]
