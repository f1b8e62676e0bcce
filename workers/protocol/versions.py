"""Versions of the edge protocol, and how both ends settle on one."""

from collections.abc import Iterable

VERSIONS: tuple[int, ...] = (1,)


def agreed(offered: Iterable[int], spoken: Iterable[int] = VERSIONS) -> int | None:
    """The highest version that both ends speak, or None."""
    return max(set(offered) & set(spoken), default=None)
