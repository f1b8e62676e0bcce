"""Orders, each carried out once, over restarts too."""

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import msgspec

from workers.client import ConsoleClock
from workers.edge.base.slots import Slots
from workers.protocol import Order, OrderDone

REMEMBERED = 500


class OrderRefused(Exception):
    """A bridge does not carry out an order; the text says why and is shown to who asked."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """One order that was begun."""

    order: UUID
    finished: bool = False


class SeenOrders(msgspec.Struct, frozen=True, kw_only=True):
    """The last of them."""

    orders: tuple[Seen, ...] = ()


class Orders:
    """Carries out orders by `act`, which returns what to tell or raises OrderRefused; `tell` keeps the fact of it."""

    def __init__(
        self, folder: Path, clock: ConsoleClock, act: Callable[[Order], str], tell: Callable[[str, OrderDone], object]
    ) -> None:
        """Raises OSError where the folder cannot be used."""
        self._slots = Slots(folder, "orders", SeenOrders())
        self._clock, self._act, self._tell = clock, act, tell
        self._before = {seen.order for seen in self._slots.kept.orders if not seen.finished}  # begun by an earlier run

    def carry_out(self, order: Order) -> None:
        """Do it, unless it is too late or was begun before. Raises SpoolFull when its end cannot be told."""
        if order.order in self._before:
            self.done(order, succeeded=False, detail="The bridge ended while it carried this out.")
            return
        if any(seen.order == order.order for seen in self._slots.kept.orders):
            return
        now = self._clock.now_ms()
        if order.valid_until_ms and (now is None or now > order.valid_until_ms):
            self.done(order, succeeded=False, detail="It came too late.")
            return
        self._keep(Seen(order=order.order))
        try:
            detail = self._act(order)
        except OrderRefused as refusal:
            self.done(order, succeeded=False, detail=str(refusal))
        else:
            self.done(order, succeeded=True, detail=detail)

    def done(self, order: Order, *, succeeded: bool, detail: str = "") -> None:
        """Tell how it ended, once."""
        if any(seen.order == order.order and seen.finished for seen in self._slots.kept.orders):
            return
        self._tell(order.subject, OrderDone(order=order.order, succeeded=succeeded, detail=detail[:200]))
        self._before.discard(order.order)
        self._keep(Seen(order=order.order, finished=True))

    def close(self) -> None:
        """Close the files."""
        self._slots.close()

    def _keep(self, seen: Seen) -> None:
        others = [one for one in self._slots.kept.orders if one.order != seen.order]
        self._slots.write(SeenOrders(orders=(*others[-REMEMBERED + 1 :], seen)))
