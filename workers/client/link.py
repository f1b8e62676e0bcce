"""What there is to know of the connection, and what it tells its bridge."""

from dataclasses import dataclass, field
from typing import Protocol

from workers.protocol import ClearStop, Order, Rejected, StopNow, Welcome


class Listener(Protocol):
    """Who is told. Called on the client's own thread: whatever takes long belongs elsewhere."""

    def welcomed(self, welcome: Welcome) -> None:
        """The console accepted the hello; which subjects this bridge speaks for stands in it."""

    def stop_now(self, message: StopNow) -> None:
        """End all motion of these subjects. The first thing done with it is to do it."""

    def clear_stop(self, message: ClearStop) -> None:
        """A Stop no longer holds these subjects."""

    def ordered(self, order: Order) -> None:
        """Somebody asks for something."""

    def rejected(self, rejected: Rejected) -> None:
        """A sample was not taken."""


@dataclass
class Link:
    """State of the connection. `fault` says in words why there is none."""

    connected: bool = False
    welcomes: int = 0
    fault: str = ""
    heartbeat_s: float = 5.0
    accepted: frozenset[str] = field(default_factory=frozenset)
