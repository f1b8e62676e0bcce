"""Guards by name, each with the way to switch it off. Used only by `--guard-off`; the product has no such switch."""

from collections.abc import Callable

_GUARDS: dict[str, Callable[[], None]] = {}


def guard(name: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register how to switch off one guard."""

    def keep(off: Callable[[], None]) -> Callable[[], None]:
        if name in _GUARDS:
            raise ValueError(f"guard {name} is named twice")
        _GUARDS[name] = off
        return off

    return keep


def switch_off(name: str) -> None:
    """Switch off one guard for the rest of this process."""
    from tests import mutations

    mutations.load()
    _GUARDS[name]()
