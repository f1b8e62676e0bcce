"""Where a gateway is."""

import ipaddress
from urllib.parse import urlsplit, urlunsplit

PATH = "/machine"
_SOCKETS = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}


def socket_url(url: str) -> str:
    """The address of the machine socket for a gateway's address. Raises ValueError, quoting nothing of it."""
    parts = urlsplit(url)
    if parts.scheme not in _SOCKETS or not parts.hostname:
        raise ValueError("the gateway's address begins with http://, https://, ws:// or wss:// and names a host")
    if parts.username or parts.password or parts.query or parts.fragment or parts.path not in {"", "/", PATH}:
        raise ValueError(f"the gateway's address has a host, a port and at most the path {PATH}, nothing else")
    return urlunsplit((_SOCKETS[parts.scheme], parts.netloc, PATH, "", ""))


def is_here(url: str) -> bool:
    """Whether the address is this computer's own, which no proxy can reach."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
