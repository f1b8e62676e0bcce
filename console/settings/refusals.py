"""What a console on a network must not be started with. Each fault names the variable and what to do."""

import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit


def faults(
    *,
    debug: bool,
    secret_key: str,
    hosts: Sequence[str],
    public_url: str,
    database_url: str,
    valkey_url: str,
    admin_networks: Sequence[str],
) -> list[str]:
    """Every reason not to start, as lines to show; none for a sound deployment."""
    public = urlsplit(public_url)
    known = {host.lower() for host in hosts}
    return [
        reason
        for wrong, reason in (
            (debug, "DEBUG: must be off, it shows secrets to anybody who causes a fault"),
            (len(secret_key) < 50 or len(set(secret_key)) < 10, "PILOTHOUSE_SECRET_KEY: give at least 50 random characters"),
            (
                secret_key.lower().startswith(("django-insecure", "change", "only-for-tests")),
                "PILOTHOUSE_SECRET_KEY: this is a default, make your own",
            ),
            (not hosts, "PILOTHOUSE_HOSTS: name the hosts this console answers to"),
            (any("*" in host or host.startswith(".") for host in hosts), "PILOTHOUSE_HOSTS: name each host, without wildcards"),
            (public.scheme != "https" or not public.hostname, "PILOTHOUSE_PUBLIC_URL: must start with https://"),
            (
                bool(hosts) and bool(public.hostname) and public.hostname not in known,
                "PILOTHOUSE_HOSTS: the host of PILOTHOUSE_PUBLIC_URL is missing",
            ),
            (not database_url, "PILOTHOUSE_DATABASE_URL: missing"),
            (not valkey_url, "PILOTHOUSE_VALKEY_URL: missing"),
            (not all(map(_is_network, admin_networks)), "PILOTHOUSE_ADMIN_NETWORKS: give networks such as 10.0.0.0/8"),
            (
                any(_is_network(text) and ipaddress.ip_network(text, strict=False).prefixlen == 0 for text in admin_networks),
                "PILOTHOUSE_ADMIN_NETWORKS: this is everybody",
            ),
        )
        if wrong
    ]


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True
