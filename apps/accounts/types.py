"""What accounts hands out: members, preferences, secrets, what a verified bearer may do."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Self
from uuid import UUID

from apps.kernel.types import Actor, Role

INVITATION_LIFE = timedelta(hours=72)
TOKEN_DAYS = 30
TOKEN_DAYS_MOST = 365
MACHINE_DAYS = 180
MACHINE_DAYS_MOST = 730
TOKENS_MOST = 50  # live tokens of one person
SUBJECTS_MOST = 1000  # subjects of one machine
USE_NOTED_EVERY = timedelta(minutes=1)
THEMES = ("system", "light", "dark")
DENSITIES = ("compact", "comfortable")


class SecretKind(StrEnum):
    """What a secret is for; the first part of its text, so that a scanner of leaks can name it."""

    MACHINE = "phm"
    TOKEN = "pht"  # noqa: S105 - a kind, not a secret
    INVITATION = "phi"


_SHAPE = re.compile(r"(phm|pht|phi)_([0-9a-f]{12})_([0-9a-f]{48})")
NO_DIGEST = bytes(32)  # compared with when nothing was found, so that the answer takes as long


@dataclass(frozen=True)
class Secret:
    """`<kind>_<prefix>_<192 random bits>`. Only the prefix and the digest of the whole text are ever stored."""

    kind: SecretKind
    prefix: str
    text: str = field(repr=False)

    @classmethod
    def new(cls, kind: SecretKind) -> Self:
        """A secret nobody has seen."""
        prefix = secrets.token_hex(6)
        return cls(kind, prefix, f"{kind}_{prefix}_{secrets.token_hex(24)}")

    @classmethod
    def parse(cls, text: str, kind: SecretKind) -> Self | None:
        """The secret in `text` if it has the shape of this kind, else None."""
        found = _SHAPE.fullmatch(text)
        if found is None or found[1] != kind:
            return None
        return cls(kind, found[2], text)

    @property
    def digest(self) -> bytes:
        """SHA-256 of the text. Enough for 192 random bits; a slow hash would only slow each request down."""
        return hashlib.sha256(self.text.encode()).digest()

    def matches(self, digest: bytes | memoryview) -> bool:
        """Whether this is the secret behind a stored digest, in time that does not depend on where they differ."""
        return hmac.compare_digest(self.digest, bytes(digest))


def has_expired(expires_at: datetime, now: datetime) -> bool:
    """Whether a credential's time is over."""
    return expires_at <= now


def is_revoked(revoked_at: datetime | None) -> bool:
    """Whether a credential was taken back."""
    return revoked_at is not None


def looks_secret(text: str) -> bool:
    """Whether a text carries one of our secrets anywhere in it."""
    return _SHAPE.search(text) is not None


@dataclass(frozen=True)
class NewSecret:
    """A credential just made. `text` is None when the same request was repeated: it is shown once."""

    id: UUID
    name: str
    expires_at: datetime
    text: str | None = field(repr=False)


@dataclass(frozen=True)
class Member:
    """One person as a site knows them."""

    id: UUID
    name: str
    email: str
    is_active: bool
    is_scripted: bool
    roles: frozenset[Role]

    @property
    def roles_seen(self) -> str:
        """The roles as one word, for a form that must be refused when they have changed since."""
        return " ".join(sorted(self.roles))

    @property
    def roles_in_order(self) -> list[Role]:
        """The roles as they are always listed."""
        return [role for role in Role if role in self.roles]

    @property
    def roles_not_held(self) -> list[Role]:
        """What could be granted."""
        return [role for role in Role if role not in self.roles]

    @property
    def counts_as_admin(self) -> bool:
        """Whether this person keeps the site manageable: a program cannot."""
        return Role.ADMIN in self.roles and self.is_active and not self.is_scripted


@dataclass(frozen=True)
class Display:
    """How the console looks and behaves for one person."""

    theme: str = "system"
    density: str = "compact"
    single_keys: bool = True


@dataclass(frozen=True)
class VerifiedToken:
    """A person's token that holds now, and the actor it makes."""

    actor: Actor
    token_id: UUID
    person_id: UUID
    site_id: UUID
    last_used_at: datetime | None


@dataclass(frozen=True)
class VerifiedMachine:
    """A machine whose credential holds now, and what it may speak for (`kind:id` each)."""

    actor: Actor
    credential_id: UUID
    site_id: UUID
    subjects: Sequence[str]
    expires_at: datetime
    last_used_at: datetime | None


def narrowed(role: Role, held: frozenset[Role]) -> frozenset[Role]:
    """What a token of one role reaches: that role if it is still held. Viewing is part of every role."""
    return frozenset({role}) if role in held or (role is Role.VIEWER and held) else frozenset()


def parse_roles(text: str) -> frozenset[Role]:
    """The opposite of `Member.roles_seen`. Raises ValueError."""
    return frozenset(Role(word) for word in text.split())
