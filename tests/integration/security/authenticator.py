"""A passkey made of software: real keys, real signatures, and a counter that can be turned back."""

import os
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from fido2.cose import ES256
from fido2.utils import sha256, websafe_decode, websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

ORIGIN = "http://localhost:8000"
FLAGS = AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.UV


class Passkey:
    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id = os.urandom(32)
        self.counter = 0
        self.user_handle = ""

    def create(self, options: dict[str, Any], *, origin: str = ORIGIN) -> dict[str, Any]:
        """The answer to a request for a new credential."""
        self.user_handle = options["user"]["id"]
        self.counter += 1
        public = AttestedCredentialData.create(Aaguid.NONE, self.id, ES256.from_cryptography_key(self.key.public_key()))
        data = AuthenticatorData.create(
            sha256(options["rp"]["id"].encode()), FLAGS | AuthenticatorData.FLAG.AT, self.counter, public
        )
        client = self._client_data(CollectedClientData.TYPE.CREATE, options, origin)
        return {
            "id": websafe_encode(self.id),
            "rawId": websafe_encode(self.id),
            "type": "public-key",
            "clientExtensionResults": {"credProps": {"rk": True}},
            "response": {
                "clientDataJSON": websafe_encode(client),
                "attestationObject": websafe_encode(AttestationObject.create("none", data, {})),
            },
        }

    def sign(self, options: dict[str, Any], *, origin: str = ORIGIN, counter: int | None = None) -> dict[str, Any]:
        """The answer to a challenge."""
        self.counter = self.counter + 1 if counter is None else counter
        data = AuthenticatorData.create(sha256(options["rpId"].encode()), FLAGS, self.counter)
        client = self._client_data(CollectedClientData.TYPE.GET, options, origin)
        signature = self.key.sign(bytes(data) + client.hash, ec.ECDSA(SHA256()))
        return {
            "id": websafe_encode(self.id),
            "rawId": websafe_encode(self.id),
            "type": "public-key",
            "clientExtensionResults": {},
            "response": {
                "clientDataJSON": websafe_encode(client),
                "authenticatorData": websafe_encode(data),
                "signature": websafe_encode(signature),
                "userHandle": self.user_handle,
            },
        }

    def _client_data(self, kind: Any, options: dict[str, Any], origin: str) -> CollectedClientData:
        return CollectedClientData.create(kind, websafe_decode(options["challenge"]), origin)
