"""A browser on the sign-in pages, as a person or an attacker drives it."""

import json
import re
from datetime import datetime
from typing import Any

from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.test import Client

from apps.kernel import clock
from tests.factories.accounts import PASSWORD

LOGIN = "/account/login/"
CODE = "/account/2fa/authenticate/"
STEP_UP = "/account/reauthenticate/"
STEP_UP_CODE = "/account/2fa/reauthenticate/"


def code_of(secret: str, at: datetime | None = None, *, steps: int = 0) -> str:
    """What an authenticator app shows at that time, some steps off."""
    step = int((at or clock.now()).timestamp()) // 30 + steps
    return str(format_hotp_value(hotp_value(secret, step)))


class Browser(Client):
    """A client with an address of its own."""

    def __init__(self, address: str = "198.51.100.7", **options: Any) -> None:
        super().__init__(REMOTE_ADDR=address, **options)

    def sign_in(self, email: str, password: str = PASSWORD, **extra: Any) -> Any:
        return self.post(LOGIN, {"login": email, "password": password}, **extra)

    def give_code(self, code: str) -> Any:
        return self.post(CODE, {"code": code})

    @property
    def is_signed_in(self) -> bool:
        return "_auth_user_id" in self.session

    def step_up(self, password: str = PASSWORD) -> Any:
        return self.post(STEP_UP, {"password": password})

    def set_up_codes(self) -> str:
        """Turn on codes, after a step-up, and return the secret."""
        assert self.step_up().status_code == 302
        page = self.get("/account/2fa/totp/activate/")
        secret = str(page.context["form"].secret)
        done = self.post("/account/2fa/totp/activate/", {"code": code_of(secret, steps=-1)})
        assert done.status_code == 302, done.content
        return secret

    def options_on(self, page: Any) -> dict[str, Any]:
        """What a page asks of a passkey."""
        found = re.search(r'<script id="js_data" type="application/json">(.*?)</script>', page.content.decode(), re.S)
        assert found is not None
        data = json.loads(found[1])
        return dict(data.get("creation_options") or data["request_options"])["publicKey"]
