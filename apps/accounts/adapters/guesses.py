"""Which budgets a guess is taken from: the known device's own, or else those of the address and of the account."""

import ipaddress
from collections.abc import Callable

from django.http import HttpRequest

from apps.accounts.adapters.devices import device_of
from apps.accounts.services import budgets
from apps.accounts.services.budgets import Budget

GiveBack = Callable[[], None]


def address_of(request: HttpRequest) -> str:
    """Where a request comes from; of IPv6 the /64, which one customer holds whole."""
    try:
        address = ipaddress.ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return "unknown"  # one bucket for all of them: fails towards refusing
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False).network_address)
    return str(address)


def take_password_guess(request: HttpRequest, email: str) -> GiveBack:
    """Count one password before it is looked at. Raises TooMany. Call the result when the password was right.

    The address is counted first: one that is used up cannot go on using up accounts. An account nobody has is counted
    like any other, so that the answer does not tell.
    """
    return _take(request, email, by_device=budgets.BY_DEVICE, by_account=budgets.BY_ACCOUNT, by_address=budgets.BY_ADDRESS)


def take_code_guess(request: HttpRequest, email: str) -> GiveBack:
    """Count one code before it is looked at, as above. The password was right by then, so only the account counts."""
    return _take(request, email, by_device=budgets.CODE_BY_DEVICE, by_account=budgets.CODE_BY_ACCOUNT)


def _take(
    request: HttpRequest, email: str, *, by_device: Budget, by_account: Budget, by_address: Budget | None = None
) -> GiveBack:
    account = email.strip().lower()
    device = device_of(request, account)
    if device is not None:
        chosen = [(by_device, f"{device} {account}")]
    else:
        chosen = [(by_address, address_of(request))] if by_address is not None else []
        chosen.append((by_account, account))
    for budget, subject in chosen:
        budgets.take(budget, subject)

    def give_back() -> None:
        for budget, subject in chosen:
            budgets.give_back(budget, subject)

    return give_back
