"""Facts of the journal as people say them: what happened to whom, in one sentence; the record itself stays beside it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from apps.accounts import selectors as accounts
from apps.alarms.types import DEFINITIONS
from apps.journal.types import Recorded
from apps.kernel.ids import parse_id
from apps.kernel.selectors import SubjectWords, subject_named, words_of
from apps.kernel.types import SubjectRef
from apps.shell.selectors.robot_sentences import ROBOT_SENTENCES
from apps.shell.types import Told

Payload = Mapping[str, Any]
Name = Callable[[str], str]  # what the subject behind one name of the payload is called


def _role(payload: Payload) -> str:
    return str(payload["role"]).replace("_", " ")


def _roles(payload: Payload) -> str:
    return ", ".join(str(role).replace("_", " ") for role in payload["roles"])


def _whom(payload: Payload) -> str:
    return "the whole site" if payload["is_whole_site"] else _count(payload["subjects"], "robot")


def _count(things: Sequence[object], word: str) -> str:
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"


def _title(payload: Payload) -> str:
    kind = DEFINITIONS.get(str(payload["definition"]))
    return kind.title if kind is not None else str(payload["definition"]).replace("_", " ")


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
    "control.stop_requested": lambda told, _name: f"{told['pressed_by_name'] or 'Somebody'} stopped {_whom(told)}",
    "control.stop_sent": lambda told, _name: f"Stop was sent to {_count(told['subjects'], 'subject')}",
    "control.stop_confirmed": lambda _told, name: f"{name('subject')} reports that Stop is in effect",
    "control.clear_requested": lambda told, _name: f"{told['requested_by_name']} asks to clear a Stop",
    "control.clear_withdrawn": lambda _told, _name: "A request to clear a Stop was withdrawn",
    "control.stop_cleared": lambda told, _name: f"{told['cleared_by_name']} cleared a Stop as the second person",
    "control.stop_released": lambda _told, name: f"{name('subject')} reports that Stop no longer holds it",
    "control.policy_changed": lambda told, _name: (
        f"{'One person clears' if told['one_person_clears'] else 'Two people clear'} Stops"
    ),
    "alarms.raised": lambda told, name: f"Alarm {_title(told)}: {name('subject')}",
    "alarms.subject_joined": lambda _told, name: f"An alarm now also concerns {name('subject')}",
    "alarms.subject_returned": lambda _told, name: f"What an alarm was about has gone for {name('subject')}",
    "alarms.acknowledged": lambda told, _name: f"{told['acknowledged_by_name']} acknowledged an alarm",
    "alarms.reset": lambda told, _name: f"{told['reset_by_name']} reset an alarm",
    "alarms.shelved": lambda told, _name: f"{told['shelved_by_name']} shelved an alarm: {told['reason']}",
    "alarms.unshelved": lambda _told, _name: "A shelved alarm shows again",
    "alarms.escalated": lambda _told, _name: "Nobody acknowledged an alarm in time",
    "accounts.sessions_ended": lambda told, name: f"Sessions of {name('person_id')} were ended: {told['count']}",
    **ROBOT_SENTENCES,
}
_SUBJECTS = ("person_id", "credential_id", "token_id", "invitation_id")


def told(events: Sequence[Recorded]) -> list[Told]:
    """Each event with its sentence. The same few queries for one event as for fifty."""
    names = accounts.names_of({found for event in events for found in _subjects(event.payload)})
    things = words_of(ref for event in events for ref in _things(event.payload))
    names |= {found: words.name for (_, found), words in things.items()}
    return [Told(event, _sentence(event, names), _facts(event.payload), _about(event, things)) for event in events]


def _about(event: Recorded, things: Mapping[tuple[str, UUID], SubjectWords]) -> SubjectWords | None:
    """The first robot or the like that the fact names."""
    return next((things[ref.kind, ref.id] for ref in _things(event.payload)), None)


def _subjects(payload: Payload) -> Iterable[UUID]:
    for key in _SUBJECTS:
        found = parse_id(str(payload.get(key, "")))
        if found is not None:
            yield found


def _things(payload: Payload) -> Iterable[SubjectRef]:
    """Robots and the like that a fact names: lower apps write them as `kind:id`, fleet by their own keys."""
    spelled = (
        str(payload.get("subject", "")),
        f"robot:{payload.get('robot_id', '')}",
        f"bridge:{payload.get('bridge_id', '')}",
    )
    for text in spelled:
        found = subject_named(text)
        if found is not None:
            yield found


def _sentence(event: Recorded, names: Mapping[UUID, str]) -> str:
    def name(key: str) -> str:
        text = str(event.payload.get(key, ""))
        found = parse_id(text.partition(":")[2] or text)
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
