"""Stop from a page: at once, without a question, each fact on its own, by another way without a socket; cleared by two."""

import json
import re
import signal
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from tests.browser import audit
from tests.browser.arms import Arms
from tests.browser.server import Console

# Arms, bridge, gateway, web and browser beside each other take minutes.
pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]
NewPage = Callable[..., Page]
FLOOR = "/sites/hall-b/floor/"
STOPS = "/sites/hall-b/stops/"
LATCHED_MS = 8000  # the tests share two cores; how fast it is, tests/bench measures
HOLD_MS = 2600


def live(page: Page, path: str = FLOOR) -> Page:
    page.goto(path)
    expect(page.locator("button.stop").last).to_contain_text(re.compile("moving|here"), timeout=20_000)
    return page


def panel(page: Page) -> Locator:
    return page.get_by_role("region", name="Stop pressed on this page")


def moving(page: Page) -> int:
    """How many robots say that they move."""
    return int(re.search(r"(\d+) moving", page.locator("button.stop").last.inner_text())[1])  # type: ignore[index]


def clear_all(new_page: NewPage) -> None:
    """As two people do: a floor operator looks and asks, an operator confirms."""
    asking, confirming = new_page("floor_operator", own_session=True), new_page("operator", own_session=True)
    for page, words in ((asking, "ask to clear"), (confirming, "can move again")):
        page.goto(STOPS)
        buttons = page.get_by_role("button", name=re.compile(words))
        while buttons.count():
            left = buttons.count()
            buttons.first.focus()
            page.keyboard.down("Space")
            page.wait_for_timeout(HOLD_MS)
            page.keyboard.up("Space")
            expect(buttons).to_have_count(left - 1, timeout=10_000)
    expect(confirming.get_by_text("Nothing is stopped")).to_be_visible(timeout=10_000)


def test_a_viewer_stops_the_site_by_keyboard_and_two_others_clear_it(new_page: NewPage, arms: Arms) -> None:
    page = live(new_page("viewer"))
    watching = live(new_page("operator"))
    audit.observe_shifts(page)
    page.locator("main").focus()
    page.keyboard.press("Control+Shift+Period")
    expect(panel(page)).to_be_visible()
    expect(panel(page)).to_contain_text("12 of 12 robots", timeout=LATCHED_MS)
    expect(panel(page)).to_contain_text("in the journal", timeout=LATCHED_MS)
    for seen in (page, watching):
        expect(seen.locator("button.stop").last).to_contain_text("0 moving, 12 stopped", timeout=LATCHED_MS)
        expect(seen.locator('#floor-tiles [data-part="word"]', has_text="stopped")).to_have_count(12, timeout=LATCHED_MS)
    latched = {
        line["message"]["subject"]
        for line in arms.said()
        if line["message"]["op"] == "report" and line["message"]["mode"] == "stopped"
    }
    assert len(latched) == 12, "the page may only show what the robots said"
    assert audit.axe_findings(page) == []
    clear_all(new_page)
    expect(watching.locator("button.stop").last).not_to_contain_text("stopped", timeout=15_000)


def test_one_robot_is_stopped_from_its_own_page_and_from_its_tile(new_page: NewPage, arms: Arms) -> None:
    first, second = list(arms.subjects)[:2]
    page = live(new_page("operator"), f"/sites/hall-b/robots/{first}/")
    page.get_by_role("button", name="Stop arm-01").click()
    expect(panel(page)).to_contain_text("1 of 1 robot", timeout=LATCHED_MS)
    expect(page.get_by_role("button", name="Stop arm-01")).to_contain_text("stopped", timeout=LATCHED_MS)
    expect(page.locator("#robot-state [data-part=word]")).to_have_text("stopped", timeout=LATCHED_MS)
    page = live(new_page("reviewer"))
    page.locator(f'#floor-tiles [data-subject="{second}"] .tile-stop').click()
    expect(panel(page)).to_contain_text("1 of 1 robot", timeout=LATCHED_MS)
    expect(page.locator("button.stop").last).to_contain_text("2 stopped", timeout=LATCHED_MS)
    clear_all(new_page)


def test_without_an_answer_on_the_socket_it_goes_by_a_post(new_page: NewPage, arms: Arms) -> None:
    page = new_page("operator")
    posted: list[dict[str, Any]] = []

    def swallow_stops(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        socket.on_message(lambda message: None if '"op":"stop"' in str(message) else server.send(message))
        server.on_message(socket.send)

    page.route_web_socket(re.compile("/control$"), swallow_stops)
    page.on("request", lambda request: posted.append(json.loads(request.post_data or "{}")) if "/stop" in request.url else None)
    live(page)
    page.keyboard.press("Control+Shift+Period")
    expect(page.locator("button.stop").last).to_contain_text("0 moving, 12 stopped", timeout=LATCHED_MS)
    expect(panel(page)).to_contain_text("12 of 12 robots", timeout=LATCHED_MS)
    assert len({body["stop"] for body in posted if body}) == 1, "the same Stop, however often it is sent"
    clear_all(new_page)


def test_a_robot_that_does_not_answer_is_named(new_page: NewPage, arms: Arms) -> None:
    page = live(new_page("operator"))
    assert arms.process is not None
    arms.process.send_signal(signal.SIGSTOP)
    try:
        page.keyboard.press("Control+Shift+Period")
        expect(panel(page)).to_contain_text("0 of 12 robots", timeout=LATCHED_MS)
        expect(panel(page)).to_contain_text("arm-01 has not confirmed")
        page.wait_for_timeout(1500)
        expect(page.locator('#floor-tiles [data-part="word"]', has_text="stopped")).to_have_count(0)
    finally:
        arms.process.send_signal(signal.SIGCONT)
    expect(panel(page)).to_contain_text("12 of 12 robots", timeout=15_000)
    clear_all(new_page)


def test_with_every_gateway_gone_it_says_that_nothing_was_sent(
    new_page: NewPage, arms: Arms, console: Console, complaints: list[str]
) -> None:
    page = live(new_page("operator"))
    assert console.gateway is not None
    console.gateway.kill()
    console.gateway.wait()
    try:
        page.keyboard.press("Control+Shift+Period")
        expect(panel(page)).to_contain_text("sending")
        expect(panel(page)).to_contain_text("was NOT sent", timeout=40_000)
        expect(panel(page)).to_contain_text("Use the stop on the machine itself")
    finally:
        console.serve_gateway()
        live(page)
        complaints.clear()  # the browser's own words on sockets that nobody answers
