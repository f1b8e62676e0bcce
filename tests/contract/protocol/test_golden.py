"""Released messages keep their bytes: what an older bridge or gateway sends is still read the same."""

import os
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from tests.contract.protocol.messages import AT, BOOT, MESSAGES, ROBOT
from workers.protocol import (
    Ack,
    BadMessage,
    FromBridge,
    FromGateway,
    Heartbeat,
    Hello,
    Refused,
    Welcome,
    agreed,
    decode_from_bridge,
    decode_from_gateway,
    encode,
    pack,
)
from workers.protocol.facts import AnyBody, Body

GOLDEN = Path(__file__).parent / "golden"
OLD = GOLDEN / "0.1.0"
OLD_MESSAGES = {
    "hello": Hello(bridge="bridge-1", boot=BOOT, versions=[1], subjects=[ROBOT], software="bridge 0.1.0"),
    "hello-least": Hello(bridge="b", boot=BOOT, versions=[1]),
    "heartbeat": Heartbeat(sequence=7, sent_at_ms=AT),
    "welcome": Welcome(version=1, heartbeat_s=5.0, server_time_ms=AT, subjects=[ROBOT]),
    "refused": Refused(code="unknown_version", message="This gateway speaks 1.", versions=[1]),
    "ack": Ack(sequence=7, server_time_ms=AT + 1),
}


def reader_of(message):
    return decode_from_bridge if isinstance(message, FromBridge) else decode_from_gateway


@pytest.mark.parametrize("name", MESSAGES)
def test_text_and_bytes_are_as_they_were(name):
    message, read = MESSAGES[name], reader_of(MESSAGES[name])
    text, frame = GOLDEN / f"{name}.json", GOLDEN / f"{name}.msgpack.hex"
    if os.environ.get("PILOTHOUSE_WRITE_GOLDEN") and not text.exists():  # a new message; an old file is never written again
        text.write_text(encode(message) + "\n")
        frame.write_text(pack(message).hex() + "\n")
    assert encode(message) == text.read_text().strip()
    assert pack(message).hex() == frame.read_text().strip()
    assert read(text.read_text().strip()) == message
    assert read(bytes.fromhex(frame.read_text())) == message


@pytest.mark.parametrize("name", OLD_MESSAGES)
def test_what_version_0_1_0_sent_is_still_read(name):
    message = OLD_MESSAGES[name]
    assert reader_of(message)((OLD / f"{name}.json").read_text().strip()) == message


def test_every_golden_file_is_compared():
    assert {path.name.partition(".")[0] for path in GOLDEN.glob("*.*") if path.is_file()} == set(MESSAGES)
    assert {path.stem for path in OLD.glob("*.json")} == set(OLD_MESSAGES)


def test_every_message_and_every_kind_of_fact_has_a_golden_file():
    kinds = {type(message) for message in MESSAGES.values()}
    assert kinds == {*get_args(FromBridge), *get_args(FromGateway)}
    told = {type(fact.body) for message in MESSAGES.values() for fact in getattr(message, "facts", ())}
    assert told == set(get_args(AnyBody)) == set(Body.__subclasses__())


def test_every_field_is_set_in_some_golden_file():
    """Else a field could be renamed and no file would tell."""
    for kind in (*get_args(FromBridge), *get_args(FromGateway), *get_args(AnyBody)):
        facts = [fact.body for message in MESSAGES.values() for fact in getattr(message, "facts", ())]
        values = [one for one in (*MESSAGES.values(), *facts) if type(one) is kind]
        for field in msgspec.structs.fields(kind):
            assert any(getattr(one, field.name) != field.default for one in values), f"{kind.__name__}.{field.name}"


@pytest.mark.parametrize(
    ("offered", "spoken", "version"), [([1], (1,), 1), ([3, 1, 2], (1, 2), 2), ([2], (1,), None), ([], (1,), None)]
)
def test_the_highest_common_version(offered, spoken, version):
    assert agreed(offered, spoken) == version


def test_a_reader_of_one_end_refuses_the_other_end():
    for message in MESSAGES.values():
        other = decode_from_gateway if isinstance(message, FromBridge) else decode_from_bridge
        with pytest.raises(BadMessage):
            other(encode(message))
        with pytest.raises(BadMessage):
            other(pack(message))
