"""The rules of the journal, pure: what a payload may hold, the chain of each stream, the tree over all, its checkpoints."""

from apps.journal.lifecycle.chain import GENESIS, Head, digest_of, encoded, faults, plain, recompute

__all__ = ["GENESIS", "Head", "digest_of", "encoded", "faults", "plain", "recompute"]
