"""A client that costs next to nothing, since it shares two cores with what it measures: one socket, bytes made once."""

import socket
import time


class KeepAlive:
    """One HTTP/1.1 connection. Answers must carry Content-Length, as ours do."""

    def __init__(self, host: str, port: int, headers: dict[str, str]) -> None:
        self.host, self.port, self.headers = host, port, headers
        self._socket: socket.socket | None = None

    def __enter__(self) -> "KeepAlive":
        self._socket = socket.create_connection((self.host, self.port), timeout=20)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self

    def __exit__(self, *_: object) -> None:
        if self._socket is not None:
            self._socket.close()

    def get(self, path: str) -> tuple[int, bytes]:
        """Status and body of one GET."""
        if self._socket is None:
            raise RuntimeError("enter the client first")
        lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in self.headers.items()), "", ""]
        self._socket.sendall("\r\n".join(lines).encode())
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._more()
        head, _, body = received.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        length = int(fields[b"content-length"])
        while len(body) < length:
            body += self._more()
        return int(head[9:12]), body

    def _more(self) -> bytes:
        part = self._socket.recv(65536) if self._socket is not None else b""
        if not part:
            raise ConnectionError("the server closed the connection")
        return part

    def timed(self, path: str, times: int) -> list[float]:
        """Seconds that each of `times` GETs took. Raises on any answer but 200."""
        taken = []
        for _ in range(times):
            begun = time.perf_counter()
            status, body = self.get(path)
            taken.append(time.perf_counter() - begun)
            if status != 200:
                raise RuntimeError(f"GET {path} was answered {status}: {body[:200]!r}")
        return taken
