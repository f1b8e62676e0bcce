"""Bridges and pages for tests: real sockets to a real gateway, and nothing between."""

import asyncio
import io
import json
import random
import time
from contextlib import asynccontextmanager, suppress
from uuid import UUID, uuid4

from PIL import Image, ImageDraw
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from apps.accounts.selectors import verify_machine
from tests.factories import fleet
from tests.served import COOKIE
from workers.protocol import Hello, Picture, Report, State, States, Welcome, decode_from_gateway, encode, pack


class Bridge:
    """One bridge: says what it is told to say, and keeps what it hears."""

    def __init__(self, socket, hello: Hello, robots) -> None:
        self.socket, self.hello, self.robots = socket, hello, robots
        self.heard: list = []
        self.welcome: Welcome | None = None
        self._sequence = 0
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        with suppress(ConnectionClosed):
            async for frame in self.socket:
                self.heard.append(decode_from_gateway(frame))

    async def say(self, message, *, packed: bool = True) -> None:
        """Send one message."""
        await self.socket.send(pack(message) if packed else encode(message))

    async def states(self, *numbers: int, values=(40.0, 0.5), sequence: int | None = None, at_ms: int | None = None) -> int:
        """One state of each of these subjects, by place; the sequence they have."""
        if sequence is None:
            self._sequence += 1
            sequence = self._sequence
        at_ms = at_ms if at_ms is not None else int(time.time() * 1000)
        rows = [
            State(subject=one, sequence=sequence, at_ms=at_ms, values=list(values))
            for one in numbers or range(len(self.robots))
        ]
        for start in range(0, len(rows), 50):
            await self.say(States(states=rows[start : start + 50]))
        return sequence

    async def report(self, number: int = 0, *, sequence: int = 1, **given) -> None:
        """One report."""
        values = {"at_ms": int(time.time() * 1000), "mode": "autonomous", "driver": "policy"} | given
        await self.say(Report(subject=number, sequence=sequence, **values))

    async def picture(self, number: int = 0, *, sequence: int = 1, jpeg: bytes = b"", camera: str = "front") -> None:
        """One picture."""
        jpeg = jpeg or picture_of(number, sequence)
        await self.say(Picture(subject=number, camera=camera, sequence=sequence, at_ms=int(time.time() * 1000), jpeg=jpeg))

    async def hear(self, kind, within: float = 5.0, **wanted):
        """The first message of this kind that was not asked for before."""
        async with asyncio.timeout(within):
            while True:
                for message in self.heard:
                    if isinstance(message, kind) and all(getattr(message, name) == value for name, value in wanted.items()):
                        self.heard.remove(message)
                        return message
                await asyncio.sleep(0.005)

    def count(self, kind) -> int:
        """How many of this kind wait."""
        return sum(isinstance(message, kind) for message in self.heard)


class Page:
    """One page's socket to the gateway."""

    def __init__(self, socket) -> None:
        self.socket = socket
        self.heard: list[dict] = []
        self.pictures: list[tuple[dict, bytes]] = []
        self.rows: dict[int, list] = {}
        self.subjects: dict[int, dict] = {}
        self.reports: dict[int, dict] = {}
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        with suppress(ConnectionClosed):
            async for frame in self.socket:
                self._take(frame)

    def _take(self, frame) -> None:
        if isinstance(frame, bytes):
            size = int.from_bytes(frame[:4], "big")
            self.pictures.append((json.loads(frame[4 : 4 + size]), frame[4 + size :]))
            return
        said = json.loads(frame)
        self.heard.append(said)
        if said["op"] == "floor":
            self.rows.update({row[0]: row for row in said["rows"]})
        elif said["op"] == "subjects":
            self.subjects.update({one["i"]: one for one in said["list"]})
        elif said["op"] == "reports":
            self.reports.update({one["i"]: one for one in said["list"]})

    async def say(self, **frame) -> None:
        """Send one frame."""
        await self.socket.send(json.dumps(frame, default=str))

    async def watch(self, site, *, floor=True, subjects=(), pictures=()) -> None:
        """Watch a site."""
        await self.say(op="watch", site=site.id, floor=floor, subjects=list(subjects), pictures=list(pictures))

    async def stop(self, site, robots=None, stop: UUID | None = None) -> UUID:
        """Press Stop."""
        stop = stop or uuid4()
        subjects = None if robots is None else [robot.id for robot in robots]
        await self.say(op="stop", stop=stop, site=site.id, subjects=subjects, pressed_at_ms=int(time.time() * 1000))
        return stop

    async def hear(self, op: str, within: float = 5.0, **wanted) -> dict:
        """The first frame of this kind that was not asked for before."""
        async with asyncio.timeout(within):
            while True:
                for said in self.heard:
                    if said["op"] == op and all(said.get(name) == _plain(value) for name, value in wanted.items()):
                        self.heard.remove(said)
                        return said
                await asyncio.sleep(0.005)

    async def until(self, holds, within: float = 5.0) -> None:
        """Wait until something holds of what was heard."""
        async with asyncio.timeout(within):
            while not holds(self):
                await asyncio.sleep(0.005)

    def place_of(self, robot) -> int:
        """Where a robot stands."""
        return next((place for place, one in self.subjects.items() if one["id"] == str(robot.id)), -1)

    def row_of(self, robot):
        """The newest row of a robot."""
        return self.rows.get(self.place_of(robot))

    def report_of(self, robot):
        """The newest report of a robot."""
        return self.reports.get(self.place_of(robot))


def _plain(value):
    return str(value) if isinstance(value, UUID) else value


@asynccontextmanager
async def bridge_of(world, gateway, site, robots, *, credential: str = "", boot: UUID | None = None, name: str = "", **given):
    """A bridge that speaks for these robots and was welcomed."""
    credential = credential or await world.do(fleet.credential_for, site, robots, name)
    machine = await world.do(verify_machine, credential)
    hello = fleet.hello_of(machine, robots, boot=boot, **given)
    bearer = [("Authorization", f"Bearer {credential}")]
    async with connect(gateway.socket, additional_headers=bearer, compression=None, proxy=None, max_queue=None) as socket:
        bridge = Bridge(socket, hello, robots)
        await bridge.say(hello)
        bridge.welcome = await bridge.hear(Welcome, within=20)
        yield bridge


def page_at(gateway, session: str = "", *, origin: str | None = "", headers=(), path: str = "/control", **options):
    """Open a page's socket; an empty origin means the right one, None none at all."""
    cookie = [("Cookie", f"{COOKIE}={session}")] if session else []
    address = gateway.address.replace("http", "ws") + path
    given = gateway.address if origin == "" else origin
    return connect(
        address,
        origin=given,
        additional_headers=[*cookie, *headers],
        compression=None,
        proxy=None,
        **{"close_timeout": 3, "max_queue": None, "max_size": 2**23} | options,
    )


@asynccontextmanager
async def page_of(world, gateway, site=None, *roles, session: str = ""):
    """The page of somebody with these roles at a site."""
    if not session:
        _, session = await world.person(site, *roles)
    async with page_at(gateway, session) as socket:
        page = Page(socket)
        await page.say(op="ping", t=1)
        await page.hear("pong")  # it was let in
        yield page


def picture_of(seed: int, number: int, *, brightness: int = 150, size=(160, 120)) -> bytes:
    """A picture that nobody else has: noise by the seed, and a clock. The same one for the same numbers."""
    noise = random.Random(seed).randbytes(size[0] * size[1])
    image = Image.frombytes("L", size, noise).point(lambda value: value * brightness // 255).convert("RGB")
    ImageDraw.Draw(image).text((2, 2), f"{seed}/{number}", fill=(255, 255, 255))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=70)
    return out.getvalue()


def black_picture(number: int, size=(160, 120)) -> bytes:
    """Nothing to be seen but the clock."""
    image = Image.new("RGB", size)
    ImageDraw.Draw(image).text((2, 2), f"{number}", fill=(255, 255, 255))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=70)
    return out.getvalue()
