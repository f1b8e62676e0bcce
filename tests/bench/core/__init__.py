"""What the live floor costs and how quick it is: `make bench-core`.

Each part is a module of this package with `measure(bench)`, which yields figures as they are known. A part takes what it needs
from the bench: how much to measure, and a console that is filled once and shared by all parts that ask for it.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType

from tests.bench.core.stage import Stage
from tests.bench.deployment import Deployment

# In the order in which they run: those that share a console first, then those that end it and start their own.
PARTS = ("floor", "gateway", "memory", "demo", "journal")
ALONE = frozenset({"journal"})  # these have engines of their own
SUBJECTS, BRIDGES = 1000, 20
SMOKE_SUBJECTS, SMOKE_BRIDGES = 60, 3


class Bench:
    """One run over some parts. `is_smoke`: so little is measured that only running matters."""

    def __init__(self, *, is_smoke: bool = False, minutes: float = 20.0) -> None:
        self.is_smoke = is_smoke
        self.minutes = 0.05 if is_smoke else minutes
        self._stack = ExitStack()
        self._stage: Stage | None = None

    def __enter__(self) -> "Bench":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    def pick(self, full: float, smoke: float) -> float:
        """One of two amounts."""
        return smoke if self.is_smoke else full

    def stage(self) -> Stage:
        """The console with a thousand subjects on twenty bridges, started when it is first asked for."""
        if self._stage is None:
            stage = Stage(SMOKE_SUBJECTS, SMOKE_BRIDGES, ("--demo",)) if self.is_smoke else Stage(SUBJECTS, BRIDGES)
            self._stage = self._stack.enter_context(stage)
        return self._stage

    @contextmanager
    def demo(self) -> Iterator[Deployment]:
        """The demo as everybody starts it, alone on the machine; in a smoke run the shared console, which has its arms too."""
        if self.is_smoke:
            yield self.stage()
            return
        self.leave()
        with Deployment(("--demo",)) as demo:
            yield demo

    def leave(self) -> None:
        """End the shared console: for a part that needs the machine for itself. A smoke run measures nothing, so it stays."""
        if not self.is_smoke:
            self._stack.close()
            self._stage = None
