"""What the live floor costs and how quick it is: `make bench-core`. Each part is a module with `measure(size)`."""

from dataclasses import dataclass

# In the order in which they run. The longest come last.
PARTS = ("floor", "gateway", "journal", "demo", "memory")


@dataclass(frozen=True)
class Size:
    """How much is measured: everything, or so little that only running matters."""

    is_smoke: bool = False

    def pick(self, full: float, smoke: float) -> float:
        """One of two amounts."""
        return smoke if self.is_smoke else full
