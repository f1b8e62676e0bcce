"""The floor: every number, age and picture is what the bridge said; old ones say so; nothing moves under the eyes."""

import hashlib
import json
import signal
import struct
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocket, expect

from tests.browser import audit
from tests.browser.arms import Arms
from tests.browser.server import Console

# Arms, bridge, gateway, web and browser beside each other take minutes.
pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]
NewPage = Callable[..., Page]
FLOOR = "/sites/hall-b/floor/"
WATCH_S, LONG_S = 8, 60
SLACK_MS = 1500  # a state may be that much older than its age says: the way to the gateway, on a machine that tests share
PIXELS_OFF = 3.0  # mean difference of a colour that is painted: the browser's own rounding
TILES = """() => [...document.querySelectorAll("#floor-tiles .tile")].map((tile) => ({
    id: tile.dataset.subject,
    sequence: Number(tile.dataset.sequence),
    values: [...tile.querySelectorAll("[data-part=value]")].map((node) => node.textContent),
    units: [...tile.querySelectorAll("[data-part=unit]")].map((node) => node.textContent),
    labels: [...tile.querySelectorAll("[data-part=label]")].map((node) => node.textContent),
    age: tile.querySelector("[data-part=age]").textContent,
    word: tile.querySelector("[data-part=word]").textContent,
    picture: Number(tile.querySelector("canvas").dataset.sequence),
    camera: tile.dataset.camera,
    nowMs: performance.timeOrigin + performance.now(),
}))"""
PAINTED = """async ([id, jpeg]) => {
    const canvas = document.querySelector(`#floor-tiles [data-subject="${id}"] canvas`);
    const bytes = Uint8Array.from(atob(jpeg), (character) => character.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));
    const other = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    other.drawImage(bitmap, 0, 0);
    const [a, b] = [canvas.getContext("2d"), other].map((one) => one.getImageData(0, 0, bitmap.width, bitmap.height).data);
    return a.reduce((sum, value, at) => sum + Math.abs(value - b[at]), 0) / a.length;
}"""


def figure(value: float | None) -> str:
    """As static/js/floor/text.js writes it."""
    if value is None:
        return "unknown"
    size = abs(value)
    if size < 0.005:
        return f"{round(value, 3):g}" if size >= 0.0005 else "0"
    places = 0 if size >= 100 else 1 if size >= 10 else 2
    return str(Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))


def milliseconds(words: str) -> float:
    """An age in words, back."""
    number, unit = words.removesuffix(" old").split(" ")
    return float(number) * {"s": 1000, "min": 60_000, "h": 3_600_000}[unit]


def live(page: Page) -> Page:
    """The floor, once every tile has a state and a picture."""
    page.goto(FLOOR)
    page.wait_for_function(
        """() => {
            const tiles = [...document.querySelectorAll("#floor-tiles .tile")];
            const painted = (tile) => tile.dataset.sequence && tile.querySelector("canvas").dataset.sequence;
            return tiles.length === 12 && tiles.every(painted);
        }"""
    )
    return page


class Taken:
    """Pictures as they reached the page, by robot and sequence."""

    def __init__(self, page: Page) -> None:
        self.jpegs: dict[tuple[str, int], bytes] = {}
        page.on("websocket", self._follow)

    def _follow(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._take)

    def _take(self, frame: Any) -> None:
        if isinstance(frame, bytes):
            length = struct.unpack(">I", frame[:4])[0]
            header = json.loads(frame[4 : 4 + length])
            self.jpegs[header["subject"], header["sequence"]] = frame[4 + length :]


def test_every_number_age_and_picture_is_what_the_bridge_said(new_page: NewPage, arms: Arms) -> None:
    page = new_page("operator")
    taken = Taken(page)
    live(page)
    looks = []
    for _ in range(8):
        looks += page.evaluate(TILES)
        page.wait_for_timeout(450)
    painted = next(tile for tile in page.evaluate(TILES) if (tile["id"], tile["picture"]) in taken.jpegs)

    states, pictures = arms.states(), arms.pictures()
    headline = [(at, channel) for at, channel in enumerate(arms.channels()) if channel["headline"]]
    assert len(looks) == 8 * 12 and len({(look["id"], look["sequence"]) for look in looks}) > 24
    for look in looks:
        assert (look["id"], look["sequence"]) in states, look
        at_ms, values = states[look["id"], look["sequence"]]
        assert look["labels"] == [channel["name"].replace("_", " ") for _, channel in headline]
        assert look["values"] == [figure(values[at]) for at, _ in headline], look
        assert look["units"] == ["" if values[at] is None else channel["unit"] for at, channel in headline]
        shown, true = milliseconds(look["age"]), look["nowMs"] - at_ms
        assert true - SLACK_MS <= shown <= true + SLACK_MS, look
        assert (look["id"], look["picture"]) in pictures, look
    for key, jpeg in taken.jpegs.items():
        assert hashlib.sha256(jpeg).hexdigest() == pictures[key]
    off = page.evaluate(PAINTED, [painted["id"], _base64(taken.jpegs[painted["id"], painted["picture"]])])
    newer = page.evaluate(TILES)
    still = any(tile["id"] == painted["id"] and tile["picture"] == painted["picture"] for tile in newer)
    assert off < PIXELS_OFF or not still


def _base64(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    "seconds",
    [pytest.param(WATCH_S, id="short"), pytest.param(LONG_S, marks=[pytest.mark.faults, pytest.mark.timeout(300)], id="long")],
)
def test_nothing_shifts_while_live(new_page: NewPage, arms: Arms, seconds: int) -> None:
    page = new_page("operator")
    audit.observe_shifts(page)
    live(page)
    page.wait_for_timeout(seconds * 1000)
    assert audit.shifts(page) == []


def test_axe_finds_nothing_on_a_live_floor(new_page: NewPage, arms: Arms) -> None:
    page = live(new_page("operator"))
    assert audit.axe_findings(page) == []


def test_the_keyboard_alone_filters_moves_opens_and_pauses(new_page: NewPage, arms: Arms) -> None:
    page = live(new_page("operator"))
    page.keyboard.press("/")
    page.keyboard.type("arm-1")
    expect(page.locator("#floor-tiles .tile:visible")).to_have_count(3)
    assert page.url.endswith("?find=arm-1")
    page.keyboard.press("Tab")  # out of the field: to the order, where it waits, else into the first tile
    for _ in range(3):
        page.keyboard.press("j")
        if page.evaluate("() => document.activeElement.dataset.name === 'arm-11'"):
            break
    expect(page.locator(".tile:focus")).to_have_attribute("data-name", "arm-11")
    page.keyboard.press("Enter")
    page.wait_for_url("**/robots/**")
    expect(page.locator("h1")).to_have_text("arm-11")


def test_paused_values_stand_still_and_grow_old(new_page: NewPage, arms: Arms) -> None:
    page = live(new_page("operator"))
    page.locator("main").focus()
    page.keyboard.press("Space")
    expect(page.locator("live-socket")).to_contain_text("Paused")
    before = page.evaluate(TILES)
    page.wait_for_timeout(4000)
    after = page.evaluate(TILES)
    assert [tile["values"] for tile in after] == [tile["values"] for tile in before]
    assert all(milliseconds(tile["age"]) >= 3000 for tile in after), after
    expect(page.locator("#floor-tiles .tile.stale")).to_have_count(12)
    page.keyboard.press("Space")
    expect(page.locator("#floor-tiles .tile.stale")).to_have_count(0, timeout=10_000)


@pytest.fixture
def silent_bridge(arms: Arms) -> Iterator[Arms]:
    """The bridge stands still and says nothing, its socket open: nobody is told that it is gone."""
    assert arms.process is not None
    arms.process.send_signal(signal.SIGSTOP)
    yield arms
    arms.process.send_signal(signal.SIGCONT)


def test_a_silent_bridge_makes_every_tile_old_in_words(new_page: NewPage, silent_bridge: Arms) -> None:
    page = new_page("operator")
    page.goto(FLOOR)
    expect(page.locator("#floor-tiles .tile.stale")).to_have_count(12, timeout=15_000)
    words = set(page.locator("#floor-tiles [data-part=word]").all_inner_texts())
    assert words <= {"late", "link lost"}, words
    expect(page.locator(".seg [data-count=late]")).to_have_text("12")


def test_a_lost_link_freezes_the_page_and_says_so(new_page: NewPage, arms: Arms, console: Console) -> None:
    page = live(new_page("operator"))
    assert console.gateway is not None
    console.gateway.send_signal(signal.SIGSTOP)
    try:
        expect(page.get_by_role("alert").filter(has_text="No link to the robots")).to_be_visible(timeout=10_000)
        expect(page.locator("main")).to_have_attribute("data-robots-stale", "")
        expect(page.locator("#floor-tiles .tile.stale")).to_have_count(12, timeout=10_000)
        assert audit.axe_findings(page) == []
    finally:
        console.gateway.send_signal(signal.SIGCONT)
    expect(page.locator("main")).not_to_have_attribute("data-robots-stale", "", timeout=20_000)
    expect(page.locator("#floor-tiles .tile.stale")).to_have_count(0, timeout=20_000)


def test_a_viewer_sees_the_floor_and_a_site_without_robots_says_how_to_begin(new_page: NewPage, arms: Arms) -> None:
    live(new_page("viewer"))
    page = new_page("auditor")
    page.goto("/sites/lab/floor/")
    expect(page.get_by_role("heading", name="No robots yet")).to_be_visible()
