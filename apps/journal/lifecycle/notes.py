"""Checkpoints as signed text, pure: the size and root of the tree at one moment, with an Ed25519 signature.

The text is a *checkpoint* and the envelope a *signed note*, two small formats that transparency logs share and that programs
of others can read:

    <origin>
    <number of events>
    <root, base64>
    sealed <time>

    — <origin> <base64 of 4 bytes that name the key, then 64 bytes of signature>
"""

import base64
import binascii
import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ED25519 = b"\x01"
_MARK = "\u2014 "
_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"


class BadNote(ValueError):
    """Not a checkpoint, or not signed by a key that is known. The message says what is wrong."""


@dataclass(frozen=True)
class Sealed:
    """What a checkpoint says: the tree over the first `size` events had this root at that time."""

    origin: str
    size: int
    root: bytes
    sealed_at: datetime

    @property
    def text(self) -> str:
        """What is signed."""
        root = base64.b64encode(self.root).decode()
        return f"{self.origin}\n{self.size}\n{root}\nsealed {self.sealed_at.astimezone(UTC).strftime(_TIME)}\n"


@dataclass(frozen=True)
class VerifierKey:
    """A public key with the name it signs under, written `<name>+<8 hex digits>+<base64>`."""

    name: str
    public: bytes

    @property
    def mark(self) -> bytes:
        """Four bytes that name this key in a signature."""
        return hashlib.sha256(self.name.encode() + b"\n" + ED25519 + self.public).digest()[:4]

    @property
    def text(self) -> str:
        """In its one spelling."""
        return f"{self.name}+{self.mark.hex()}+{base64.b64encode(ED25519 + self.public).decode()}"

    @classmethod
    def parse(cls, text: str) -> "VerifierKey":
        """From its spelling. Raises BadNote."""
        name, _, rest = text.strip().partition("+")
        mark, _, encoded = rest.partition("+")
        raw = _decoded(encoded)
        found = cls(name, raw[1:])
        if not name or raw[:1] != ED25519 or len(raw) != 33 or found.mark.hex() != mark:
            raise BadNote("this is no key of a checkpoint")
        return found


def sign(sealed: Sealed, key: Ed25519PrivateKey) -> str:
    """The checkpoint as a signed note."""
    mark = VerifierKey(sealed.origin, key.public_key().public_bytes_raw()).mark
    signature = base64.b64encode(mark + key.sign(sealed.text.encode())).decode()
    return f"{sealed.text}\n{_MARK}{sealed.origin} {signature}\n"


def read(note: str) -> Sealed:
    """What a checkpoint says, believed or not. Raises BadNote."""
    text, gap, _ = note.partition("\n\n")
    lines = text.split("\n")
    if not gap or len(lines) != 4 or not lines[3].startswith("sealed ") or not lines[1].isdigit():
        raise BadNote("this is no checkpoint")
    try:
        at = datetime.strptime(lines[3].removeprefix("sealed "), _TIME).replace(tzinfo=UTC)
    except ValueError:
        raise BadNote("the checkpoint has no time") from None
    root = _decoded(lines[2])
    found = Sealed(lines[0], int(lines[1]), root, at)
    if len(root) != 32 or found.text != text + "\n":
        raise BadNote("this is no checkpoint")
    return found


def verify(note: str, keys: list[VerifierKey]) -> VerifierKey:
    """The key that signed this checkpoint. Raises BadNote when none of `keys` did."""
    sealed = read(note)
    for line in note.partition("\n\n")[2].splitlines():
        name, _, encoded = line.removeprefix(_MARK).partition(" ")
        raw = _decoded(encoded)
        for key in keys:
            if key.name == name == sealed.origin and raw[:4] == key.mark:
                try:
                    Ed25519PublicKey.from_public_bytes(key.public).verify(raw[4:], sealed.text.encode())
                except InvalidSignature:
                    raise BadNote("the signature of the checkpoint is wrong") from None
                return key
    raise BadNote("the checkpoint is not signed by a key that is known")


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise BadNote("this is no base64") from None
