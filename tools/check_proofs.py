#!/usr/bin/env python3
"""Check an export of a Pilothouse journal. Needs Python 3.11 and the package `cryptography`, and nothing of Pilothouse.

    python check_proofs.py EXPORT [--checkpoint FILE ...] [--key KEY ...]

EXPORT is what `manage.py journal export` or the journal page wrote. FILE is a checkpoint kept from earlier: a text of five
lines, or an older export, whose checkpoints are taken. KEY is a public key you noted; without one the keys in the export are
believed, so note what is printed here and give it the next time.

Checked: the digest of every event, the order and links of every stream, the tree over everything (RFC 6962), the signature
and root of every checkpoint, and that the tree of each earlier checkpoint is the beginning of this one. Exit code 0 when all
of it holds; else 1, and the first thing that does not is named.
"""

import argparse
import base64
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

GENESIS = bytes(32)
COVERED = (
    *("id", "stream", "sequence", "type", "version", "payload", "site_id", "actor_kind", "actor_id", "actor_name"),
    *("correlation_id", "recorded_at"),
)


class Bad(Exception):
    """The first thing that does not hold."""


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces; floats in the shortest form, written out down to the fifth place."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        return shortest(value)
    return json.dumps(value, ensure_ascii=False)


def shortest(value: float) -> str:
    """A float as the console writes it."""
    digits, _, exponent = repr(value).partition("e")
    if not exponent:
        return digits
    power = int(exponent)
    if power == -5:
        sign = "-" if digits.startswith("-") else ""
        return f"{sign}0.0000{digits.lstrip('-').replace('.', '')}"
    return f"{digits}e{power}"


def digest_of(event: "dict[str, Any]", previous: bytes) -> bytes:
    """SHA-256 over the digest before it and everything the event says."""
    body = {name: event[name] for name in COVERED}
    return hashlib.sha256(previous + canonical(body).encode()).digest()


class Tree:
    """The complete subtrees at the right edge of a growing Merkle tree."""

    def __init__(self) -> None:
        self.size = 0
        self.edge: list[bytes] = []

    def add(self, root: bytes, level: int = 0) -> None:
        """Add 2^level leaves by the root over them."""
        if self.size % (1 << level):
            raise Bad(f"a node of {1 << level} leaves cannot stand after {self.size}")
        left = self.size >> level
        while left & 1:
            root = hashlib.sha256(b"\x01" + self.edge.pop() + root).digest()
            left >>= 1
        self.edge.append(root)
        self.size += 1 << level

    def root(self) -> bytes:
        """The root over everything added."""
        if not self.edge:
            return hashlib.sha256(b"").digest()
        root = self.edge[-1]
        for left in reversed(self.edge[:-1]):
            root = hashlib.sha256(b"\x01" + left + root).digest()
        return root


class Checkpoint:
    """A signed note: origin, number of events, root, time, and a signature over those four lines."""

    def __init__(self, note: str) -> None:
        self.text, gap, signatures = note.partition("\n\n")
        lines = self.text.split("\n")
        if not gap or len(lines) != 4 or not re.fullmatch("[0-9]+", lines[1]):
            raise Bad("this is no checkpoint")
        self.origin, self.size, self.at = lines[0], int(lines[1]), lines[3]
        self.root = base64.b64decode(lines[2])
        self.signatures = [line[2:].split(" ") for line in signatures.splitlines() if line.startswith("\u2014 ")]

    def check_signature(self, keys: "Iterable[str]") -> None:
        """Raise Bad unless one of the keys signed it."""
        for key in keys:
            name, mark, public = key.split("+", 2)
            for signer, signature in self.signatures:
                raw = base64.b64decode(signature)
                if signer == name == self.origin and raw[:4].hex() == mark:
                    try:
                        verifier = Ed25519PublicKey.from_public_bytes(base64.b64decode(public)[1:])
                        verifier.verify(raw[4:], f"{self.text}\n".encode())
                    except InvalidSignature:
                        raise Bad(f"the signature of the checkpoint of {self.size} events is wrong") from None
                    return
        raise Bad(f"the checkpoint of {self.size} events is not signed by a key you believe")


def lines_of(name: str) -> "Iterator[dict[str, Any]]":
    """The lines of an export."""
    with Path(name).open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def checkpoints_in(name: str) -> "Iterator[Checkpoint]":
    """The checkpoints somebody kept in a file."""
    with Path(name).open(encoding="utf-8") as file:
        text = file.read()
    if not text.startswith("{"):
        yield Checkpoint(text)
        return
    for line in filter(None, text.split("\n")):  # other characters that end lines may stand in facts
        found = json.loads(line)
        if "checkpoint" in found or "note" in found:
            yield Checkpoint(found.get("checkpoint") or found["note"])


class Check:
    """Goes through an export once."""

    def __init__(self, keys: "list[str]", earlier: "list[Checkpoint]") -> None:
        self.keys = keys
        self.earlier = sorted(earlier, key=lambda checkpoint: checkpoint.size)
        self.tree = Tree()
        self.streams: dict[str, tuple[int, bytes, int]] = {}
        self.events = 0
        self.sealed = 0
        self.origin = ""
        self.site: str | None = None

    def run(self, lines: "Iterator[dict[str, Any]]") -> None:
        """Raise Bad at the first thing that does not hold."""
        head = next(lines, {})
        if head.get("export") != 1:
            raise Bad("this is no export of a journal")
        self.origin, self.site = head["origin"], head["site"]
        self.keys = self.keys or head["keys"]
        for line in lines:
            if "event" in line:
                self.event(line["event"])
            elif "node" in line:
                self.node(line["node"])
            elif "missing" in line:
                raise Bad(f"event {line['missing']} is missing, so that nothing after it can be shown")
            elif "checkpoint" in line:
                self.checkpoint(Checkpoint(line["checkpoint"]))
            else:
                raise Bad("the export is damaged: a line is none of its kinds")
            self.compare_earlier()
        if self.earlier:
            size = self.earlier[0].size
            if size > self.tree.size:
                raise Bad(f"event {self.tree.size + 1} is not there: {size} events were sealed {self.earlier[0].at[7:]}")
            raise Bad(f"the checkpoint of {size} events falls between two nodes: export again with --earlier {size}")
        if self.sealed != head["size"] or self.tree.size != self.sealed:
            raise Bad(f"the export ends at {self.tree.size} of {head['size']} events, {self.sealed} of them sealed")

    def event(self, event: "dict[str, Any]") -> None:
        """One event: its place, its content, its link."""
        number, stream, sequence = event["number"], event["stream"], event["sequence"]
        where = f"event {number} ({stream} {sequence})"
        if number != self.tree.size + 1:
            raise Bad(f"event {self.tree.size + 1} is missing: {where} comes instead")
        if self.site is not None and event["site_id"] != self.site:
            raise Bad(f"{where}: it is of another site")
        known, digest, position = self.streams.get(stream, (0, GENESIS, -(2**63)))
        if sequence != known + 1:
            raise Bad(f"{where}: sequence {known + 1} of its stream is missing")
        if bytes.fromhex(event["previous"]) != digest:
            raise Bad(f"{where}: does not follow the event before it")
        found = digest_of(event, digest)
        if found.hex() != event["digest"]:
            raise Bad(f"{where}: its content does not match its digest")
        if event["position"] <= position:
            raise Bad(f"{where}: its position does not follow that of the event before it")
        self.streams[stream] = (sequence, found, event["position"])
        self.tree.add(hashlib.sha256(b"\x00" + event["position"].to_bytes(8, "big", signed=True) + found).digest())
        self.events += 1

    def node(self, node: "dict[str, Any]") -> None:
        """Events of other sites, by the root over them."""
        if self.site is None or node["begin"] != self.tree.size:
            raise Bad(f"event {self.tree.size + 1} is missing")
        self.tree.add(bytes.fromhex(node["hash"]), node["level"])

    def checkpoint(self, checkpoint: Checkpoint) -> None:
        """A signature over what was seen so far."""
        checkpoint.check_signature(self.keys)
        if checkpoint.origin != self.origin:
            raise Bad(f"the checkpoint of {checkpoint.size} events is of another journal")
        if checkpoint.size != self.tree.size:
            raise Bad(f"a checkpoint of {checkpoint.size} events stands after {self.tree.size}")
        self.same_root(checkpoint)
        self.sealed = checkpoint.size

    def compare_earlier(self) -> None:
        """Checkpoints kept elsewhere, where the tree has their size now."""
        while self.earlier and self.earlier[0].size == self.tree.size:
            self.same_root(self.earlier.pop(0))

    def same_root(self, checkpoint: Checkpoint) -> None:
        """Raise Bad where the tree is not what was signed."""
        if checkpoint.root != self.tree.root():
            first = self.sealed + 1
            raise Bad(f"events {first} to {checkpoint.size} are not those that were {checkpoint.at}")
        self.sealed = max(self.sealed, checkpoint.size)


def main() -> int:
    """Check, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("export")
    parser.add_argument("--checkpoint", action="append", default=[])
    parser.add_argument("--key", action="append", default=[])
    given = parser.parse_args()
    try:
        earlier = [checkpoint for name in given.checkpoint for checkpoint in checkpoints_in(name)]
        check = Check(given.key, earlier)
        header = next(lines_of(given.export), {})
        for checkpoint in earlier:
            checkpoint.check_signature(given.key or header.get("keys", []))
        check.run(lines_of(given.export))
    except Bad as bad:
        print(f"DOES NOT HOLD: {bad}")
        return 1
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        print(f"DOES NOT HOLD: the export is damaged: {error!r}")
        return 1
    print(f"{check.events} events in {len(check.streams)} streams hold, of {check.tree.size} that are sealed.")
    for key in check.keys:
        print(f"signed by {key}" + ("" if given.key else "  (as the export says: note it)"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
