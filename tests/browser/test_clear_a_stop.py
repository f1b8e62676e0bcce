"""Somebody stops the site; two people, each at their own screen, clear it. A bridge dies; somebody sees to the alarm."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import audit
from tests.browser.arms import Arms

# Arms, bridge, gateway, web and browser beside each other take minutes.
pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

NewPage = Callable[..., Page]
STOPS, ALARMS = "/sites/hall-b/stops/", "/sites/hall-b/alarms/"
HOLD_MS = 2300
SOON_MS = 20_000  # two cores shared with the rest of the suite


def hold(page: Page, words: str) -> None:
    """Hold a button by the keyboard for as long as it asks."""
    page.get_by_role("button", name=words).focus()
    page.keyboard.down("Enter")
    page.wait_for_timeout(HOLD_MS)
    page.keyboard.up("Enter")


@pytest.mark.timeout(300)
def test_stopped_by_one_and_cleared_by_two(new_page: NewPage, arms: Arms) -> None:
    floor, second = new_page("floor_operator"), new_page("operator")
    for page in (floor, second):
        page.goto(STOPS)
        expect(page.get_by_text("Nothing is stopped")).to_be_visible()
    anybody = new_page("viewer")
    anybody.goto("/sites/hall-b/floor/")
    expect(anybody.locator("button.stop").last).to_contain_text("12 robots")
    anybody.get_by_role("button", name="Stop site").click()
    for page in (floor, second):
        expect(page.get_by_role("heading", name="Whole site stopped")).to_be_visible(timeout=SOON_MS)
        expect(page.get_by_text("12 of 12 confirmed").first).to_be_visible(timeout=SOON_MS)
    assert audit.axe_findings(floor) == []
    expect(second.get_by_role("button", name="Hold 2 s")).to_have_count(0)

    floor.get_by_role("button", name="ask to clear").click()  # a click is not enough
    expect(floor.get_by_text("It holds until two people clear it.")).to_be_visible()
    hold(floor, "ask to clear")
    expect(floor.get_by_text("You asked.")).to_be_visible(timeout=SOON_MS)
    expect(floor.get_by_role("button", name="they can move again")).to_have_count(0)
    expect(second.get_by_role("button", name="they can move again")).to_be_visible(timeout=SOON_MS)
    assert audit.axe_findings(second) == []
    hold(second, "they can move again")
    for page in (floor, second):
        expect(page.get_by_text("Nothing is stopped")).to_be_visible(timeout=SOON_MS)
    expect(second.locator("#stop-rows tr").first).to_contain_text("floor-operator-1 and operator-1")


@pytest.mark.timeout(300)
def test_a_lost_bridge_is_seen_on_every_page_and_acknowledged_by_a_key(new_page: NewPage, arms: Arms) -> None:
    page, other = new_page("operator"), new_page("viewer")
    page.goto(ALARMS)
    other.goto("/sites/hall-b/robots/")
    strip = page.locator("#alarm-strip")
    for _ in range(5):  # other tests in the same console end their arms, too: what is gone waits to be acknowledged
        if "Bridge lost" in strip.inner_text():
            before = strip.inner_text()
            page.keyboard.press("a")
            expect(strip).not_to_have_text(before, timeout=SOON_MS)
    expect(strip).not_to_contain_text("Bridge lost")
    arms.stop()
    for one in (page, other):
        expect(one.locator("#alarm-strip")).to_contain_text("Bridge lost", timeout=SOON_MS)
        expect(one.locator("#alarm-strip")).to_contain_text("12 subjects of bridge arms", timeout=SOON_MS)
    expect(other.get_by_role("button", name="Acknowledge")).to_have_count(0)
    expect(page.locator("#alarm-rows")).to_contain_text("Bridge lost")
    assert audit.axe_findings(page) == []
    page.get_by_role("link", name="Response").click()
    expect(page.get_by_text("Look at the robots themselves.")).to_be_visible()
    assert audit.axe_findings(page) == []
    page.keyboard.press("a")
    for one in (page, other):
        expect(one.locator("#alarm-strip")).not_to_contain_text("Bridge lost", timeout=SOON_MS)
    page.goto(ALARMS)
    row = page.locator("#alarm-rows tr", has_text="Bridge lost")
    expect(row).to_contain_text("by operator-1")
    arms.start()
    expect(row).to_have_count(0, timeout=60_000)
