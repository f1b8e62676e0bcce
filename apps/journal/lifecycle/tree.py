"""The tree over all events, pure: the Merkle tree of RFC 6962 with one leaf an event, in the order of the tail.

The hash of a leaf is SHA-256 over 0x00, the event's position (8 bytes, signed, big-endian) and its digest; that of a node is
SHA-256 over 0x01 and the hashes of its two children.
"""

import hashlib
from collections.abc import Iterable, Iterator

HASH_SIZE = 32
EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf_hash(position: int, digest: bytes) -> bytes:
    """The hash of one event's leaf."""
    return hashlib.sha256(b"\x00" + position.to_bytes(8, "big", signed=True) + digest).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of a node over its children."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Frontier:
    """The right edge of a growing tree: the roots of its complete subtrees, largest first.

    It is enough to add leaves and to know the root.
    """

    __slots__ = ("hashes", "size")

    def __init__(self, size: int = 0, hashes: Iterable[bytes] = ()) -> None:
        self.size = size
        self.hashes = list(hashes)
        if len(self.hashes) != size.bit_count():
            raise ValueError(f"a tree of {size} leaves has {size.bit_count()} complete subtrees, not {len(self.hashes)}")

    def add(self, leaf: bytes) -> None:
        """Add the hash of the next leaf."""
        self.add_subtree(leaf, 0)

    def add_subtree(self, root: bytes, level: int) -> None:
        """Add 2^level leaves by the root over them. Raises ValueError where such a subtree cannot begin."""
        if self.size & ((1 << level) - 1):
            raise ValueError(f"no subtree of {1 << level} leaves begins after {self.size}")
        left = self.size >> level
        while left & 1:
            root = node_hash(self.hashes.pop(), root)
            left >>= 1
        self.hashes.append(root)
        self.size += 1 << level

    def root(self) -> bytes:
        """The root over everything added."""
        if not self.hashes:
            return EMPTY_ROOT
        root = self.hashes[-1]
        for left in reversed(self.hashes[:-1]):
            root = node_hash(left, root)
        return root

    def packed(self) -> bytes:
        """To be stored."""
        return b"".join(self.hashes)

    @classmethod
    def unpacked(cls, size: int, packed: bytes) -> "Frontier":
        """From what `packed` gave. Raises ValueError for anything else."""
        if len(packed) % HASH_SIZE:
            raise ValueError("no whole number of hashes")
        return cls(size, (packed[at : at + HASH_SIZE] for at in range(0, len(packed), HASH_SIZE)))


def subtrees(begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The fewest complete subtrees that cover leaves `begin` to `end` - 1, counted from 0: each as (first leaf, level)."""
    while begin < end:
        level = (begin & -begin).bit_length() - 1 if begin else (end - begin).bit_length() - 1
        while begin + (1 << level) > end:
            level -= 1
        yield begin, level
        begin += 1 << level


def subtree_root(leaves: list[bytes]) -> bytes:
    """The root over a power of two of leaves."""
    while len(leaves) > 1:
        leaves = [node_hash(leaves[at], leaves[at + 1]) for at in range(0, len(leaves), 2)]
    return leaves[0]
