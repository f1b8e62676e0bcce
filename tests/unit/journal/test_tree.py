"""The tree is that of RFC 6962, checkpoints are signed notes, and neither takes anything else."""

import base64
import hashlib
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from apps.journal.lifecycle.notes import BadNote, Sealed, VerifierKey, read, sign, verify
from apps.journal.lifecycle.tree import EMPTY_ROOT, Frontier, leaf_hash, node_hash, subtree_root, subtrees

# The roots over the first leaves of a test vector that logs of certificates share: each leaf hash is SHA-256(0x00 || data).
VECTOR = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
ROOTS = {
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    7: "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}
LEAVES = [hashlib.sha256(bytes([number])).digest() for number in range(64)]
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
AT = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)


def by_definition(leaves):
    """RFC 6962, 2.1, word for word."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << ((len(leaves) - 1).bit_length() - 1)
    return node_hash(by_definition(leaves[:split]), by_definition(leaves[split:]))


def grown(leaves):
    tree = Frontier()
    for leaf in leaves:
        tree.add(leaf)
    return tree


@pytest.mark.parametrize("size", ROOTS)
def test_roots_of_a_known_vector(size):
    leaves = [hashlib.sha256(b"\x00" + bytes.fromhex(data)).digest() for data in VECTOR[:size]]
    assert grown(leaves).root().hex() == ROOTS[size]


@given(st.integers(0, 64))
def test_is_the_tree_of_the_definition(size):
    tree = grown(LEAVES[:size])
    assert tree.root() == by_definition(LEAVES[:size])
    assert Frontier.unpacked(size, tree.packed()).root() == tree.root()


@given(st.integers(0, 64), st.integers(0, 64))
def test_complete_subtrees_stand_for_their_leaves(one, other):
    begin, end = sorted((one, other))
    tree = grown(LEAVES[:begin])
    for first, level in subtrees(begin, end):
        assert first == tree.size
        tree.add_subtree(subtree_root(LEAVES[first : first + (1 << level)]), level)
    assert tree.root() == by_definition(LEAVES[:end])
    assert len(list(subtrees(begin, end))) <= 12


def test_what_is_no_tree_is_refused():
    assert Frontier().root() == EMPTY_ROOT
    with pytest.raises(ValueError, match="complete subtrees"):
        Frontier(3, LEAVES[:1])
    with pytest.raises(ValueError, match="whole number"):
        Frontier.unpacked(1, b"short")
    with pytest.raises(ValueError, match="begins after"):
        grown(LEAVES[:1]).add_subtree(LEAVES[1], 1)
    assert leaf_hash(1, LEAVES[0]) != leaf_hash(2, LEAVES[0])
    assert leaf_hash(-1, LEAVES[0]) != leaf_hash(1, LEAVES[0])


def a_note(size=3):
    sealed = Sealed("pilothouse.journal/one", size, LEAVES[0], AT)
    return sealed, sign(sealed, KEY), VerifierKey("pilothouse.journal/one", KEY.public_key().public_bytes_raw())


def test_a_checkpoint_says_what_was_signed():
    sealed, note, key = a_note()
    root = base64.b64encode(LEAVES[0]).decode()
    assert note.startswith(
        f"pilothouse.journal/one\n3\n{root}\nsealed 2026-01-31T09:30:00.000000Z\n\n\u2014 pilothouse.journal/one "
    )
    assert read(note) == sealed
    assert verify(note, [key]) == key
    assert VerifierKey.parse(key.text) == key


@pytest.mark.parametrize(
    ("old", "new"), [("\n3\n", "\n4\n"), ("09:30", "09:31"), ("/one\n3", "/two\n3"), ("\u2014 ", "\u2014 x")]
)
def test_a_changed_checkpoint_is_not_believed(old, new):
    _, note, key = a_note()
    with pytest.raises(BadNote):
        verify(note.replace(old, new, 1), [key])


@pytest.mark.parametrize(
    "note",
    [
        "",
        "\n\n",
        "a\n1\nAAAA\nsealed 2026-01-31T09:30:00.000000Z\n\n",
        "a\n-1\nb\nsealed\n\n",
        "a\n01\n" + base64.b64encode(LEAVES[0]).decode() + "\nsealed 2026-01-31T09:30:00.000000Z\n\n",
        "a\n1\n" + base64.b64encode(LEAVES[0]).decode() + "\nsealed yesterday\n\n",
        "a\n1\n!\nsealed 2026-01-31T09:30:00.000000Z\n\n",
    ],
)
def test_what_is_no_checkpoint_is_refused(note):
    with pytest.raises(BadNote):
        read(note)


def test_another_key_is_not_believed():
    _, note, key = a_note()
    other = VerifierKey(key.name, Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key().public_bytes_raw())
    with pytest.raises(BadNote, match="not signed by a key"):
        verify(note, [other])
    for text in ("", "a+b", f"{key.name}+00000000+{key.text.rpartition('+')[2]}", key.text[:-4]):
        with pytest.raises(BadNote):
            VerifierKey.parse(text)
