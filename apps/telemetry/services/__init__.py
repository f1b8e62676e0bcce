"""Storing samples. No act of a person and no fact: nothing here is journaled, and nobody waits for it."""

from apps.telemetry.services.blocks import forget_old_blocks, write_blocks
from apps.telemetry.services.layouts import describe

__all__ = ["describe", "forget_old_blocks", "write_blocks"]
