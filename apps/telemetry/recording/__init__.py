"""Taking samples in a process of their own rate: no database, no Django, a few hundred nanoseconds a state.

`Recorder` keeps the open block and the ring of each subject and hands over blocks that are ready to be stored; `blocks`
says what a block is, `coding` how its bytes are made, `holes` which sequences are still missing.
"""

from apps.telemetry.recording.blocks import Block, Summary
from apps.telemetry.recording.recorder import BLOCK_S, LONGEST_MS, RING_S, Figures, Recorder, Sample

__all__ = ["BLOCK_S", "LONGEST_MS", "RING_S", "Block", "Figures", "Recorder", "Sample", "Summary"]
