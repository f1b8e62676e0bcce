"""Ports: checked before anything starts, opened here, given to the processes that serve them."""

import errno
import socket
from collections.abc import Iterable

from console.embedded.faults import Fault
from console.processes import Process
from console.supervisor.serve import listening


class Addresses:
    """The port of every process that listens, and the open sockets of those that serve people."""

    def __init__(self, processes: Iterable[Process], base: int) -> None:
        self.ports: dict[str, int] = {}
        self.sockets: dict[str, list[socket.socket]] = {}
        inner: list[Process] = []
        try:
            for process in processes:
                if process.listen is None:
                    continue
                if process.listen.public:
                    port = base + process.listen.offset
                    self.sockets[process.name] = _loopback(port, process.name)
                    self.ports[process.name] = port
                else:
                    inner.append(process)
            for process in inner:
                self.ports[process.name] = self._free_near(base + process.listen.offset if process.listen else base)
        except BaseException:
            self.close()
            raise

    def _free_near(self, wanted: int) -> int:
        """Nobody types an inner port, so it moves aside for whoever has it."""
        for port in (*range(wanted, wanted + 200), 0):
            if port in self.ports.values() or port > 65535:
                continue
            try:
                with listening("127.0.0.1", port, backlog=1) as tried:
                    return int(tried.getsockname()[1])
            except OSError:
                continue
        raise Fault("No port is free on 127.0.0.1.")

    def close(self) -> None:
        """Close the listening sockets we hold."""
        for opened in self.sockets.values():
            for one in opened:
                one.close()
        self.sockets.clear()


def _loopback(port: int, name: str) -> list[socket.socket]:
    """Listen on both loopback addresses, so that `localhost` reaches us whichever the browser takes first."""
    if not 1 <= port <= 65535:
        raise Fault(f"Port {port} does not exist: give --port a number from 1 to 65534.")
    opened: list[socket.socket] = []
    for host in ("127.0.0.1", "::1"):
        try:
            opened.append(listening(host, port))
        except OSError as error:
            if host == "::1" and error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                continue  # no IPv6 on this machine
            for one in opened:
                one.close()
            if error.errno == errno.EACCES:
                raise Fault(f"Port {port} ({name}) needs root: choose another with --port.") from error
            raise Fault(f"Port {port} ({name}) is taken: choose another with --port.") from error
    return opened
