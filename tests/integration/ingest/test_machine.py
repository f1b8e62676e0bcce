"""A bridge at the gateway: attack 20's other half, 66 in its first form, revocation, one socket a bridge."""

import asyncio
import time
from datetime import timedelta
from uuid import uuid4

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from apps.kernel import clock
from apps.kernel.types import system_actor
from tests.factories import fleet
from tests.served import COOKIE
from workers.protocol import Ack, Heartbeat, Hello, Refused, Welcome, decode_from_gateway, encode


@pytest.fixture
async def site(world):
    return await world.site()


async def _credential(world, site, name="bridge-1", subjects=()):
    from apps.accounts.services import create_machine_credential

    return await world.do(
        create_machine_credential, actor=system_actor("tests"), site_id=site.id, name=name, subjects=list(subjects)
    )


def _bridge(gateway, text="", headers=(), path="", **options):
    bearer = [("Authorization", f"Bearer {text}")] if text else []
    return connect(gateway.socket + path, additional_headers=[*bearer, *headers], compression=None, proxy=None, **options)


def _hello(**changes):
    return Hello(**{"bridge": "bridge-1", "boot": uuid4(), "versions": [1], **changes})


async def _tell(socket, message, within=5):
    await socket.send(encode(message))
    async with asyncio.timeout(within):
        return decode_from_gateway(await socket.recv())


async def _code(socket, within=5):
    async with asyncio.timeout(within):
        await socket.wait_closed()
    return socket.close_code


async def test_hello_then_heartbeats(world, gateway, site):
    robot = await world.do(fleet.make_robot, site)
    subject, nobody = f"robot:{robot.id}", f"robot:{uuid4()}"
    secret = await _credential(world, site, subjects=[subject, nobody])
    async with _bridge(gateway, secret.text) as socket:
        welcome = await _tell(socket, _hello(subjects=[nobody, subject], versions=[1, 9]))
        assert isinstance(welcome, Welcome)
        assert (welcome.version, welcome.subjects) == (1, [subject])
        assert [(one.subject, one.code) for one in welcome.refused] == [(nobody, "unknown")]
        for sequence in range(3):
            ack = await _tell(socket, Heartbeat(sequence=sequence, sent_at_ms=7))
            assert isinstance(ack, Ack)
            assert (ack.sequence, ack.sent_at_ms) == (sequence, 7)
            assert abs(ack.server_time_ms - clock.now().timestamp() * 1000) < 5000


async def _refusal(opening):
    with pytest.raises(InvalidStatus) as refused:
        await opening
    return refused.value.response.status_code


async def test_no_way_in_but_a_credential(world, gateway, site):
    secret = await _credential(world, site)
    _, session = await world.person()
    cookie = [("Cookie", f"{COOKIE}={session}")]
    assert await _refusal(_bridge(gateway)) == 401
    assert await _refusal(_bridge(gateway, headers=cookie)) == 403
    assert await _refusal(_bridge(gateway, secret.text, headers=cookie)) == 403
    assert await _refusal(_bridge(gateway, secret.text, origin="http://localhost:8000")) == 403
    assert await _refusal(_bridge(gateway, path=f"?token={secret.text}")) == 403
    assert await _refusal(_bridge(gateway, secret.text[:-1] + "z")) == 401
    assert await _refusal(_bridge(gateway, "phm_" + "0" * 12 + "_" + "0" * 48)) == 401
    assert await _refusal(_bridge(gateway, "x" * 5000)) == 401
    assert await _refusal(_bridge(gateway, secret.text, path="/more")) == 404
    # No part of an address either: what looks like a secret is masked in any line, but not every secret looks like one.
    assert secret.text not in gateway.log()
    assert "token=" not in gateway.log()


async def test_an_expired_credential_is_no_way_in(world, gateway, site):
    from apps.accounts.models import MachineCredential

    secret = await _credential(world, site)
    past = clock.now() - timedelta(seconds=1)
    await world.do(MachineCredential.objects.filter(id=secret.id).update, expires_at=past)
    assert await _refusal(_bridge(gateway, secret.text)) == 401


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"bridge": "bridge-2"}, "wrong_bridge"),
        ({"subjects": [f"robot:{uuid4()}"]}, "wrong_subject"),
        ({"versions": [2, 7]}, "unknown_version"),
    ],
    ids=["bridge", "subject", "version"],
)
async def test_a_hello_beyond_the_credential_is_refused(world, gateway, site, changes, code):
    secret = await _credential(world, site, subjects=[f"robot:{uuid4()}"])
    async with _bridge(gateway, secret.text) as socket:
        refused = await _tell(socket, _hello(**changes))
        assert isinstance(refused, Refused)
        assert refused.code == code
        assert refused.versions == ([1] if code == "unknown_version" else [])
        assert await _code(socket) == 4403


async def _revoke(world, site, secret):
    from apps.accounts.services import revoke_machine_credential

    await world.do(revoke_machine_credential, actor=system_actor("tests"), site_id=site.id, credential_id=secret.id)


async def _expire(world, site, secret):
    from apps.accounts.models import MachineCredential

    await world.do(MachineCredential.objects.filter(id=secret.id).update, expires_at=clock.now())


@pytest.mark.parametrize("end", [_revoke, _expire])
@pytest.mark.parametrize("greeted", [False, True])
async def test_the_socket_closes_within_a_second(world, gateway, site, end, greeted):
    secret = await _credential(world, site)
    async with _bridge(gateway, secret.text) as socket:
        if greeted:
            await _tell(socket, _hello())
        await end(world, site, secret)
        ended = time.monotonic()
        assert await _code(socket) == 4401
        assert time.monotonic() - ended < 1.0


async def test_the_newest_connection_of_a_bridge_wins(world, gateway, site):
    secret = await _credential(world, site)
    async with _bridge(gateway, secret.text) as older, _bridge(gateway, secret.text) as newer:
        await _tell(older, _hello())
        await _tell(newer, _hello())
        assert await _code(older) == 4409
        assert isinstance(await _tell(newer, Heartbeat(sequence=1, sent_at_ms=0)), Ack)


@pytest.mark.parametrize("text", ["", "{", '{"op":"welcome"}', '{"op":"hello"}', "[" * 50_000, b"\x00\x01"])
async def test_what_is_no_message_ends_the_socket(world, gateway, site, text):
    secret = await _credential(world, site)
    async with _bridge(gateway, secret.text) as socket:
        await socket.send(text)
        assert await _code(socket) == 4400


async def test_a_heartbeat_is_no_hello(world, gateway, site):
    secret = await _credential(world, site)
    async with _bridge(gateway, secret.text) as socket:
        await socket.send(encode(Heartbeat(sequence=1, sent_at_ms=0)))
        assert await _code(socket) == 4400


async def test_a_flood_ends_the_socket(world, gateway, site):
    secret = await _credential(world, site)
    async with _bridge(gateway, secret.text, max_queue=None) as socket:
        await _tell(socket, _hello())
        beat = encode(Heartbeat(sequence=1, sent_at_ms=0))
        with pytest.raises(ConnectionClosed):
            for _ in range(20_000):
                await socket.send(beat)
                await asyncio.sleep(0)
        assert await _code(socket) in {4429, 1006}


async def test_silence_after_the_handshake_ends_the_socket(world, gateway, site):
    secret = await _credential(world, site)
    async with _bridge(gateway, secret.text) as socket:
        assert await _code(socket, within=10) == 4408


async def test_nothing_is_kept_of_a_bridge_that_left(world, gateway, site):
    secret = await _credential(world, site)
    async with _bridge(gateway, secret.text) as socket:
        await _tell(socket, _hello())
    await asyncio.sleep(0.5)
    assert gateway.insides()["bridges"] == 0
