"""Facts are told in a sentence, whatever their kind, and what others typed stays text."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.template.loader import render_to_string

from apps.journal import events
from apps.journal.types import Recorded
from apps.shell.selectors import sentences

PERSON = UUID("01a23190-f151-7713-b3ac-6bf90a2d55c5")


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """One person is known by name; pytest refuses any query here."""
    monkeypatch.setattr(sentences.accounts, "names_of", lambda ids: {PERSON: "Demo auditor"} if PERSON in ids else {})


def fact(kind: str, **payload: object) -> Recorded:
    at = datetime(2026, 12, 1, tzinfo=UTC)
    return Recorded(1, PERSON, "s", 1, kind, 1, payload, None, "person", None, "Admin", "", at, b"", b"")


def test_says_who_was_granted_what(known: None) -> None:
    (row,) = sentences.told([fact("accounts.role_granted", person_id=str(PERSON), role="floor_operator")])
    assert row.sentence == "Demo auditor was granted floor operator"
    assert ("role", "floor_operator") in row.facts


def test_says_when_nobody_of_that_name_is_left(known: None) -> None:
    (row,) = sentences.told([fact("accounts.role_granted", person_id=str(UUID(int=7)), role="viewer")])
    assert row.sentence == "somebody no longer known was granted viewer"


def test_a_kind_without_a_sentence_and_an_older_payload_are_told_by_their_own_words(known: None) -> None:
    rows = sentences.told([fact("fleet.robot_moved_away"), fact("accounts.role_granted")])
    assert [row.sentence for row in rows] == ["Robot moved away", "Role granted"]


def test_every_kind_of_accounts_has_a_sentence() -> None:
    kinds = {name for name, _version in events.registered() if name.startswith("accounts.")}
    assert kinds <= set(sentences._SENTENCES)


def test_what_somebody_typed_stays_text(known: None) -> None:
    shown = render_to_string("realtime/site_journal.html", {"events": [fact("accounts.person_created", name="<b>x</b>")]})
    assert "<b>x</b>" not in shown and "&lt;b&gt;x&lt;/b&gt; was added" in shown
