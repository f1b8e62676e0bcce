"""What a bridge keeps of Stops, epochs and orders, on a disk that may be full, torn or cut off."""

import errno
import os
import stat
from uuid import uuid4

import pytest

from workers.client import ConsoleClock
from workers.edge.base import OrderRefused
from workers.edge.base import slots as slots_module
from workers.edge.base.latch import Latch
from workers.edge.base.orders import REMEMBERED, Orders
from workers.protocol import Order

A, B, C = (f"robot:{uuid4()}" for _ in "abc")


class TestLatch:
    def test_a_stop_holds_until_it_is_released_and_no_longer(self, tmp_path):
        latch, stop, other = Latch(tmp_path), uuid4(), uuid4()
        assert latch.hold(stop, [A, B, A], 5) == [A, B]
        assert latch.hold(stop, [A, C], 6) == [C]
        assert latch.hold(other, [A], 7) == [A]
        assert latch.of(A) == [stop, other]
        assert latch.release(stop, [A, A, "robot:x"]) == [A]
        assert latch.holds(A)  # by the other
        assert latch.release(other, [A]) == [A]
        assert not latch.holds(A)
        assert latch.holds(B)
        assert latch.release(uuid4(), [B]) == []
        assert latch.release(stop, [B, C]) == [B, C]
        assert latch.unconfirmed() == []

    def test_it_holds_over_a_restart(self, tmp_path):
        latch, stop = Latch(tmp_path), uuid4()
        latch.hold(stop, [A, B], 5)
        latch.confirm(stop, A)
        latch.keep()  # and then killed: nothing is closed
        again = Latch(tmp_path)
        assert again.of(A) == again.of(B) == [stop]
        assert [(held.received_at_ms, subject) for held, subject in again.unconfirmed()] == [(5, B)]

    @pytest.mark.parametrize("damage", ["torn", "zero", "empty", "noise"])
    def test_a_torn_write_leaves_the_one_before(self, tmp_path, damage):
        latch, first, second = Latch(tmp_path), uuid4(), uuid4()
        latch.hold(first, [A], 5)
        latch.keep()
        latch.hold(second, [B], 6)
        latch.keep()
        newest = max(tmp_path.glob("latch.*"), key=lambda path: path.read_bytes()[:8])
        whole = newest.read_bytes()
        newest.write_bytes(
            {"torn": whole[:40] + bytes(len(whole) - 40), "zero": bytes(len(whole)), "empty": b"", "noise": os.urandom(300)}[
                damage
            ]
        )
        again = Latch(tmp_path)
        assert again.of(A) == [first]
        assert again.of(B) == []
        again.hold(second, [B], 7)
        again.keep()
        assert Latch(tmp_path).of(B) == [second]

    def test_a_disk_that_refuses_does_not_keep_a_stop_from_holding(self, tmp_path, monkeypatch):
        latch, stop = Latch(tmp_path), uuid4()
        latch.hold(stop, [A], 5)
        monkeypatch.setattr(slots_module.os, "pwrite", _full)
        latch.keep()
        assert "No space" in latch.fault
        assert latch.holds(A)
        monkeypatch.undo()
        latch.keep()
        assert latch.fault == ""
        assert Latch(tmp_path).holds(A)

    def test_a_stop_needs_no_new_space(self, tmp_path):
        latch = Latch(tmp_path)
        before = {path.name: path.stat().st_blocks for path in tmp_path.iterdir()}
        for _ in range(20):
            latch.hold(uuid4(), [f"robot:{uuid4()}" for _ in range(100)], 5)
        latch.keep()
        latch.keep()
        assert {path.name: path.stat().st_blocks for path in tmp_path.iterdir()} == before
        assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in tmp_path.iterdir())

    def test_a_lower_epoch_is_refused_for_good(self, tmp_path):
        latch = Latch(tmp_path)
        assert [latch.admit(A, epoch) for epoch in (3, 3, 5, 4, 5)] == [True, True, True, False, True]
        assert latch.admit(B, 1)
        again = Latch(tmp_path)
        assert not again.admit(A, 4)
        assert again.admit(A, 5)


def _full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


class TestOrders:
    @pytest.fixture
    def done(self):
        return []

    def orders(self, folder, done, act=lambda order: "done", ahead_ms=0.0):
        clock = ConsoleClock()
        if ahead_ms is not None:
            import time

            now = time.monotonic()
            clock.learn(sent=now, received=now, console_ms=int(time.time() * 1000 + ahead_ms))
        return Orders(folder, clock, act, lambda subject, body: done.append((body.order, body.succeeded, body.detail)))

    def order(self, **more):
        return Order(**{"order": uuid4(), "subject": A, "name": "reset_scene"} | more)

    def test_each_is_carried_out_once_over_restarts_too(self, tmp_path, done):
        acted = []
        order = self.order()
        for _ in range(2):
            orders = self.orders(tmp_path, done, lambda one: acted.append(one.order) or "ready")
            orders.carry_out(order)
            orders.carry_out(order)
        assert acted == [order.order]
        assert done == [(order.order, True, "ready")]

    def test_one_that_killed_the_bridge_is_not_carried_out_again(self, tmp_path, done):
        def die(order):
            raise KeyboardInterrupt

        order = self.order(name="process_kill")
        with pytest.raises(KeyboardInterrupt):
            self.orders(tmp_path, done, die).carry_out(order)
        again = self.orders(tmp_path, done, die)
        again.carry_out(order)
        again.carry_out(order)
        assert [(one, succeeded) for one, succeeded, _ in done] == [(order.order, False)]

    def test_one_may_be_told_before_its_end(self, tmp_path, done):
        order = self.order()
        orders = self.orders(tmp_path, done)
        orders._act = lambda one: orders.done(one, succeeded=True, detail="about to end") or "never told"
        orders.carry_out(order)
        assert done == [(order.order, True, "about to end")]

    @pytest.mark.parametrize(("ahead_ms", "late"), [(0.0, False), (6000.0, True), (-3_600_000.0, False), (None, True)])
    def test_lateness_is_judged_by_the_consoles_clock(self, tmp_path, done, ahead_ms, late):
        import time

        self.orders(tmp_path, done, ahead_ms=ahead_ms).carry_out(self.order(valid_until_ms=int(time.time() * 1000) + 5000))
        assert [succeeded for _, succeeded, _ in done] == [not late]

    def test_a_refusal_says_why(self, tmp_path, done):
        def refuse(order):
            raise OrderRefused("A host has no scene.")

        self.orders(tmp_path, done, refuse).carry_out(self.order())
        assert [(succeeded, detail) for _, succeeded, detail in done] == [(False, "A host has no scene.")]

    def test_what_is_remembered_is_bounded(self, tmp_path, done):
        orders = self.orders(tmp_path, done)
        for _ in range(REMEMBERED + 20):
            orders.carry_out(self.order())
        assert len(orders._slots.kept.orders) == REMEMBERED
        assert all(path.stat().st_size == slots_module.RESERVED_BYTES for path in tmp_path.iterdir())
