"""Released messages keep their text: what an older bridge or gateway sends is still read the same."""

from pathlib import Path
from uuid import UUID

import pytest

from workers.protocol import (
    Ack,
    BadMessage,
    FromBridge,
    Heartbeat,
    Hello,
    Refused,
    Welcome,
    agreed,
    decode_from_bridge,
    decode_from_gateway,
    encode,
)

GOLDEN = Path(__file__).parent / "golden"
BOOT = UUID("018f4e00-0000-7000-8000-000000000001")
ROBOT = "robot:018f4e00-0000-7000-8000-000000000002"
MESSAGES = {
    "hello": Hello(bridge="bridge-1", boot=BOOT, versions=[1], subjects=[ROBOT], software="bridge 0.1.0"),
    "hello-least": Hello(bridge="b", boot=BOOT, versions=[1]),
    "heartbeat": Heartbeat(sequence=7, sent_at_ms=1_764_547_200_000),
    "welcome": Welcome(version=1, heartbeat_s=5.0, server_time_ms=1_764_547_200_000, subjects=[ROBOT]),
    "refused": Refused(code="unknown_version", message="This gateway speaks 1.", versions=[1]),
    "ack": Ack(sequence=7, server_time_ms=1_764_547_200_001),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_golden(name):
    message, text = MESSAGES[name], (GOLDEN / f"{name}.json").read_text().strip()
    read = decode_from_bridge if isinstance(message, FromBridge) else decode_from_gateway
    assert encode(message) == text
    assert read(text) == message


def test_every_golden_file_is_compared():
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(MESSAGES)


@pytest.mark.parametrize(
    "text",
    [
        '{"op":"hello","bridge":"","boot":"018f4e00-0000-7000-8000-000000000001","versions":[1]}',
        '{"op":"hello","bridge":"b","boot":"018f4e00-0000-7000-8000-000000000001","versions":[]}',
        '{"op":"hello","bridge":"b","boot":"no","versions":[1]}',
        '{"op":"heartbeat","sequence":-1,"sent_at_ms":0}',
        '{"op":"heartbeat","sequence":1,"sent_at_ms":0,"more":1}',
        '{"op":"heartbeat","sequence":1.5,"sent_at_ms":0}',
        '{"op":"ack","sequence":1,"server_time_ms":0}',
        "null",
        "{",
    ],
)
def test_what_is_no_message_is_refused_without_being_quoted(text):
    with pytest.raises(BadMessage) as refused:
        decode_from_bridge(text)
    assert "018f4e00" not in str(refused.value)


@pytest.mark.parametrize(
    ("offered", "spoken", "version"), [([1], (1,), 1), ([3, 1, 2], (1, 2), 2), ([2], (1,), None), ([], (1,), None)]
)
def test_the_highest_common_version(offered, spoken, version):
    assert agreed(offered, spoken) == version
