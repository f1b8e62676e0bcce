"""One serving process: uvicorn on listening sockets that somebody else opened.

Embedded, the supervisor opens the sockets and gives them by number (`--fd`, several times), so that equal processes share
one queue of connections and none is refused while one of them restarts. In a container this module opens them itself
(`--listen`) and starts the others. uvicorn's own `--workers` leaves Nagle's algorithm on: 44 ms a request, not 1.7.
"""

import argparse
import logging
import os
import signal
import socket
import sys
from pathlib import Path

import uvicorn

from console.embedded.launch import start
from console.processes import APPLICATIONS


def listening(host: str, port: int, backlog: int = 1024) -> socket.socket:
    """A listening socket without Nagle's delay; what is accepted on it inherits that. Raises OSError if taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((host, port))
        made.listen(backlog)
    except OSError:
        made.close()
        raise
    return made


def serve(
    application: str, largest_message: int, protocol: str, sockets: list[socket.socket], *, lifespan: str = "off"
) -> None:
    """Serve until told to stop; open sockets get three seconds then. With `lifespan` on, the application begins at once."""
    for opened in sockets:
        opened.setblocking(False)
    config = uvicorn.Config(
        application,
        lifespan=lifespan,  # type: ignore[arg-type]
        ws=protocol,
        ws_per_message_deflate=False,  # a small frame could unpack to a large one
        ws_max_size=largest_message,
        ws_ping_interval=20,
        ws_ping_timeout=20,
        server_header=False,
        proxy_headers=False,  # our own middleware decides whom to believe
        access_log=False,
        log_config=None,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=32 * 1024,
    )
    uvicorn.Server(config).run(sockets=sockets)


def _share(command: list[str], processes: int, opened: socket.socket) -> int:
    """Container form: start equal processes on one socket; when one ends, end all and let the container restart."""
    told: list[int] = []
    number = str(opened.fileno())
    children = [
        start([*command, "--fd", number], cwd=Path.cwd(), environment=dict(os.environ), log=2, pass_fds=[opened.fileno()])
        for _ in range(processes)
    ]

    def end(sent: int = 0, _frame: object = None) -> None:
        told.append(sent)
        for child in children:
            child.terminate()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    code = 0 if told else 1
    end()
    for child in children:
        child.wait()
    return code


def main(argv: list[str] | None = None) -> None:
    """Entry point of `python -m console.supervisor.serve`."""
    parser = argparse.ArgumentParser(prog="console.supervisor.serve")
    parser.add_argument("name", choices=sorted(APPLICATIONS))
    parser.add_argument("--fd", type=int, action="append", default=[], help="number of an open listening socket")
    parser.add_argument("--listen", default="", help="HOST:PORT to open, in a container")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--app", default="", help="another application, for tests")
    options = parser.parse_args(argv)
    application, largest_message, protocol = APPLICATIONS[options.name]
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")
    if options.listen:
        host, _, port = options.listen.rpartition(":")
        opened = listening(host, int(port))
        if options.processes > 1:
            command = [sys.executable, "-m", "console.supervisor.serve", options.name]
            command += ["--app", options.app] if options.app else []
            sys.exit(_share(command, options.processes, opened))
        sockets = [opened]
    else:
        sockets = [socket.socket(fileno=number) for number in options.fd]
    # The gateway works by itself too: it calls other gateways, and records Stops that an earlier process left.
    serve(options.app or application, largest_message, protocol, sockets, lifespan="on" if options.name == "gateway" else "off")


if __name__ == "__main__":
    main()
