"""What the sign-in library asks of us: its hooks, its forms and the views that must leave a fact in the journal."""

from apps.accounts.adapters.account import AccountAdapter
from apps.accounts.adapters.second_factor import SecondFactorAdapter
from apps.accounts.adapters.sessions import SessionsAdapter

__all__ = ["AccountAdapter", "SecondFactorAdapter", "SessionsAdapter"]
