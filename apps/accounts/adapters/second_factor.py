"""Hooks of codes and passkeys."""

import base64
from functools import lru_cache
from urllib.parse import urlsplit

from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class SecondFactorAdapter(DefaultMFAAdapter):
    """Secrets are stored encrypted, and passkeys belong to the one public address, whatever host a request names."""

    def encrypt(self, text: str) -> str:
        """So that a copy of the database makes no codes."""
        return _box(settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS).encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """The opposite. Raises InvalidToken when the secret key was lost."""
        return _box(settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS).decrypt(encrypted_text.encode()).decode()

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Whom a passkey is for."""
        return {"id": urlsplit(settings.PUBLIC_URL).hostname or "", "name": "Pilothouse"}

    def get_totp_issuer(self) -> str:
        """The name an authenticator app shows."""
        return f"Pilothouse {urlsplit(settings.PUBLIC_URL).hostname}"


@lru_cache(maxsize=4)
def _box(*keys: str) -> MultiFernet:
    """One key for this purpose alone, derived from each secret key; the first encrypts."""
    derived = (HKDF(SHA256(), 32, None, b"pilothouse second factor").derive(key.encode()) for key in keys)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in derived])
