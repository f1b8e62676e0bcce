"""One robot: its values now, over time and back in storage, its pictures, episodes and log."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import audit
from tests.browser.arms import Arms
from tests.browser.test_floor import LONG_S, WATCH_S, figure

# Arms, bridge, gateway, web and browser beside each other take minutes.
pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]
NewPage = Callable[..., Page]
NUMBERS = """() => [...document.querySelectorAll("[data-channel]")].map((row) => [
    row.dataset.channel,
    row.querySelector("[data-part=value]").textContent,
])"""
SEQUENCE = "() => Number(document.querySelector('live-robot').dataset.sequence)"
STORED_MS = 20_000  # a block is closed and stored after some ten seconds


def live(page: Page, arms: Arms, more: str = "") -> Page:
    page.goto(f"/sites/hall-b/robots/{next(iter(arms.subjects))}/{more}")
    page.wait_for_function("() => document.querySelector('live-robot')?.dataset.sequence > 0")
    return page


def test_every_value_is_what_the_bridge_said(new_page: NewPage, arms: Arms) -> None:
    page = live(new_page("operator"), arms)
    looks = []
    for _ in range(10):
        looks.append(page.evaluate(f"() => [({SEQUENCE})(), ({NUMBERS})()]"))
        page.wait_for_timeout(300)
    states, robot = arms.states(), next(iter(arms.subjects))
    names = [channel["name"] for channel in arms.channels()]
    assert len({sequence for sequence, _ in looks}) >= 4
    for sequence, shown in looks:
        _, values = states[robot, sequence]
        assert shown == [[name, figure(value)] for name, value in zip(names, values, strict=True)]


def test_charts_pause_go_back_into_storage_and_return(new_page: NewPage, arms: Arms) -> None:
    page = live(new_page("operator"), arms)
    when = page.locator("[data-part=when]")
    expect(when).to_have_text("Live")
    expect(page.locator(".chart")).to_have_count(3)
    page.keyboard.press("Space")
    expect(when).to_contain_text("Paused at")
    paused = when.inner_text()
    page.wait_for_timeout(1200)
    assert when.inner_text() == paused
    assert "at=" in page.url
    page.keyboard.press("Space")
    expect(when).to_have_text("Live")
    page.get_by_role("button", name="tip x").click()
    expect(page.locator(".chart")).to_have_count(4)
    page.wait_for_timeout(STORED_MS)
    with page.expect_response(re.compile("/series/")) as answered:
        page.get_by_role("button", name="10 min").click()
        page.get_by_role("button", name="Half a width back").click()
    assert answered.value.status == 200
    expect(when).to_contain_text("Looking back")
    expect(page.locator("[data-part=series-fault]")).to_be_empty()
    kept = page.url
    page.goto(kept)
    expect(page.locator("[data-part=when]")).to_contain_text("Looking back")
    expect(page.locator(".chart")).to_have_count(4)
    expect(page.locator("[data-part=now]").first).to_be_visible()
    page.get_by_role("button", name="Live", exact=True).click()
    expect(page.locator("[data-part=when]")).to_have_text("Live")


def test_axe_finds_nothing_on_a_live_robot(new_page: NewPage, arms: Arms) -> None:
    page = live(new_page("operator"), arms)
    assert audit.axe_findings(page) == []
    assert audit.overflow_px(page) <= 0


@pytest.mark.parametrize(
    "seconds",
    [pytest.param(WATCH_S, id="short"), pytest.param(LONG_S, marks=[pytest.mark.faults, pytest.mark.timeout(300)], id="long")],
)
def test_nothing_shifts_while_live(new_page: NewPage, arms: Arms, seconds: int) -> None:
    page = new_page("operator")
    audit.observe_shifts(page)
    live(page, arms)
    page.wait_for_timeout(seconds * 1000)
    assert audit.shifts(page) == []


def test_episodes_and_log_follow_what_the_robot_does(new_page: NewPage, arms: Arms) -> None:
    page = live(new_page("operator"), arms)
    episodes = page.locator("#robot-episodes tbody tr")
    expect(episodes.first).to_contain_text(re.compile("running|success|failure"))
    before = page.locator("#robot-log tbody").inner_text()
    expect(page.locator("#robot-log tbody")).not_to_have_text(before, timeout=40_000)
