"""What was found."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One place where an invariant does not hold."""

    invariant: str
    what: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.what}"
