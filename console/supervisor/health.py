"""Asking a process whether it works. `python -m console.supervisor.health URL` is the container's form of it."""

import http.client
import sys
from urllib.parse import urlsplit


def http_status(port: int, path: str, wait: float = 4.0, host: str = "127.0.0.1") -> int:
    """The status a GET is answered with; 0 for no answer."""
    connection = http.client.HTTPConnection(host, port, timeout=wait)
    try:
        connection.request("GET", path, headers={"Host": "localhost", "Connection": "close", "User-Agent": "pilothouse-health"})
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def main(argv: list[str]) -> int:
    """0 if the address answers 200."""
    parts = urlsplit(argv[0])
    return 0 if http_status(parts.port or 80, parts.path, host=parts.hostname or "127.0.0.1") == 200 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
