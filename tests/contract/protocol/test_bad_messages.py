"""What is no message is refused, says where it goes wrong, and quotes nothing of what was sent."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.protocol.messages import MESSAGES
from workers.protocol import BadMessage, FromBridge, decode_from_bridge, decode_from_gateway, encode, pack

CANARY = "canary-7f3a"
BOOT = "018f4e00-0000-7000-8000-000000000001"
HELLO = {"op": "hello", "bridge": "b", "boot": BOOT, "versions": [1]}
FACT = {"sequence": 1, "at_ms": 1, "subject": "robot:1", "body": {"fact": "was_reset"}}
REPORT = {"op": "report", "subject": 0, "sequence": 0, "at_ms": 0, "mode": "hold"}
BAD_FROM_BRIDGE = {
    "no name": HELLO | {"bridge": ""},
    "a long name": HELLO | {"bridge": CANARY * 20},
    "no version": HELLO | {"versions": []},
    "many versions": HELLO | {"versions": list(range(21))},
    "no boot": HELLO | {"boot": CANARY},
    "many subjects": HELLO | {"subjects": ["robot:1"] * 501},
    "a long subject": HELLO | {"subjects": ["r" * 101]},
    "many channels": HELLO | {"described": [{"subject": "robot:1", "kind": "arm", "channels": [{"name": "a"}] * 65}]},
    "many cameras": HELLO | {"described": [{"subject": "robot:1", "kind": "arm", "cameras": ["a"] * 9}]},
    "an unknown part": HELLO | {"described": [{"subject": "robot:1", "kind": "arm", CANARY: 1}]},
    "a heartbeat below zero": {"op": "heartbeat", "sequence": -1, "sent_at_ms": 0},
    "an unknown field": {"op": "heartbeat", "sequence": 1, "sent_at_ms": 0, CANARY: 1},
    "half a number": {"op": "heartbeat", "sequence": 1.5, "sent_at_ms": 0},
    "a word for a number": {"op": "heartbeat", "sequence": CANARY, "sent_at_ms": 0},
    "no states": {"op": "states", "states": []},
    "many states": {"op": "states", "states": [[0, 0, 0, []]] * 51},
    "a place beyond": {"op": "states", "states": [[500, 0, 0, []]]},
    "a sequence beyond": {"op": "states", "states": [[0, 2**53 + 1, 0, []]]},
    "many values": {"op": "states", "states": [[0, 0, 0, [0.0] * 65]]},
    "a word for a value": {"op": "states", "states": [[0, 0, 0, [CANARY]]]},
    "a short state": {"op": "states", "states": [[0, 0, 0]]},
    "an unknown mode": REPORT | {"mode": CANARY},
    "long words": REPORT | {"task": "x" * 201},
    "many stops": REPORT | {"latched": [BOOT] * 101},
    "many faults": REPORT | {"faults": ["x"] * 21},
    "no facts": {"op": "facts", "boot": BOOT, "facts": []},
    "many facts": {"op": "facts", "boot": BOOT, "facts": [FACT] * 51},
    "fact number zero": {"op": "facts", "boot": BOOT, "facts": [FACT | {"sequence": 0}]},
    "an unknown fact": {"op": "facts", "boot": BOOT, "facts": [FACT | {"body": {"fact": CANARY}}]},
    "an unknown outcome": {
        "op": "facts",
        "boot": BOOT,
        "facts": [FACT | {"body": {"fact": "episode_ended", "episode": BOOT, "steps": 1, "outcome": CANARY}}],
    },
    "a tiny picture": {"op": "picture", "subject": 0, "camera": "c", "sequence": 0, "at_ms": 0, "jpeg": "AA=="},
    "no picture": {"op": "picture", "subject": 0, "camera": "c", "sequence": 0, "at_ms": 0, "jpeg": [CANARY]},
    "what the other end says": {"op": "ack", "sequence": 1, "server_time_ms": 0},
    "an unknown kind": {"op": CANARY},
    "no kind": {"sequence": 1},
}


@pytest.mark.parametrize("name", BAD_FROM_BRIDGE)
@pytest.mark.parametrize("form", [json.dumps, msgspec.msgpack.encode], ids=["text", "bytes"])
def test_from_a_bridge(name, form):
    with pytest.raises(BadMessage) as refused:
        decode_from_bridge(form(BAD_FROM_BRIDGE[name]))
    assert CANARY not in str(refused.value)
    assert BOOT not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["", "null", "{", "[]", "1", '"hello"', "[" * 50_000, '{"op":"heartbeat","sequence":1e309}', "\ud800"]
)
def test_text_that_is_no_message(text):
    for read in (decode_from_bridge, decode_from_gateway):
        with pytest.raises(BadMessage):
            read(text)


@pytest.mark.parametrize("frame", [b"", b"\x00", b"\xc1", b"\x91" * 50_000, b"\xdf\xff\xff\xff\xff", b'{"op":"heartbeat"}'])
def test_bytes_that_are_no_message(frame):
    for read in (decode_from_bridge, decode_from_gateway):
        with pytest.raises(BadMessage):
            read(frame)


def test_not_a_number_has_no_text_and_passes_as_bytes():
    """JSON cannot say it; MessagePack can: whoever reads states has to look."""
    with pytest.raises(BadMessage):
        decode_from_bridge('{"op":"states","states":[[0,0,0,[NaN]]]}')
    frame = msgspec.msgpack.encode({"op": "states", "states": [[0, 0, 0, [float("nan")]]]})
    assert decode_from_bridge(frame).states[0].values[0] != 0.0


@given(st.sampled_from(sorted(MESSAGES)), st.data())
def test_a_frame_with_damage_is_read_or_refused_and_nothing_else(name, data):
    message = MESSAGES[name]
    read = decode_from_bridge if isinstance(message, FromBridge) else decode_from_gateway
    frame = bytearray(pack(message) if data.draw(st.booleans()) else encode(message).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(frame)))
    for one in (bytes(frame), bytes(frame[:cut])):
        try:
            read(one)
        except BadMessage:
            continue
