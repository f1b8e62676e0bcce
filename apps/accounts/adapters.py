"""What the sign-in library asks of us."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):
    """Nobody signs up alone: an admin of a site invites people."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Never."""
        return False
