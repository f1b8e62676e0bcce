"""A live page: it follows, holds still, keeps the focus, says when it is late, and ends when the session does."""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from tests.browser import audit

NewPage = Callable[..., Page]
PEOPLE = "/sites/hall-b/people/"
WATCH_S = 8
LONG_S = 60
CHANGE = """async ([address, fields]) => {
    const token = document.querySelector('meta[name="csrf-token"]').content;
    const answer = await fetch(address, {
        method: "POST", body: new URLSearchParams(fields), headers: { "X-CSRFToken": token, "HX-Request": "true" },
    });
    return answer.status;
}"""


def _row(page: Page, name: str) -> Locator:
    return page.get_by_role("row", name=re.compile(rf"^{name} "))


class Admin:
    """An admin in another browser, who changes roles while somebody watches."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.goto(PEOPLE)

    def change(self, act: str, name: str, role: str) -> None:
        """Give (`grant`) or take away (`revoke`) one role."""
        person = (_row(self.page, name).get_attribute("id") or "").removeprefix("member-")
        assert self.page.evaluate(CHANGE, [f"{PEOPLE}{person}/{act}/", {"role": role}]) == 200


def _live(page: Page, path: str) -> Page:
    page.goto(path)
    expect(page.locator("live-socket")).to_contain_text("Live")
    return page


@pytest.mark.parametrize(
    "seconds",
    [pytest.param(WATCH_S, id="short"), pytest.param(LONG_S, marks=[pytest.mark.faults, pytest.mark.timeout(300)], id="long")],
)
def test_a_change_elsewhere_appears_and_nothing_shifts_while_live(new_page: NewPage, seconds: int) -> None:
    admin = Admin(new_page("admin"))
    page = new_page("auditor")
    audit.observe_shifts(page)
    _live(page, PEOPLE)
    cell = _row(page, "viewer-1").locator("td").first
    end = time.monotonic() + seconds
    seen = 0
    while time.monotonic() < end:
        admin.change("grant", "viewer-1", "reviewer")
        expect(cell).to_contain_text("reviewer", timeout=3000)
        admin.change("revoke", "viewer-1", "reviewer")
        expect(cell).not_to_contain_text("reviewer", timeout=3000)
        seen += 2
        page.wait_for_timeout(500)
    assert seen >= 4
    expect(page.locator("live-socket")).to_contain_text("last event")
    assert audit.shifts(page) == []


def test_focus_and_an_open_question_survive_a_live_change(new_page: NewPage) -> None:
    admin = Admin(new_page("admin"))
    page = _live(new_page("admin"), PEOPLE)
    row = _row(page, "teleoperator-1")
    row.locator("summary").click()
    choice = page.get_by_role("combobox", name="Role to give to teleoperator-1")
    expect(choice).to_be_focused()
    admin.change("grant", "teleoperator-1", "viewer")
    expect(row.locator("td").first).to_contain_text("viewer", timeout=3000)
    expect(choice).to_be_focused()
    expect(choice).to_be_visible()
    admin.change("revoke", "teleoperator-1", "viewer")


def test_a_row_stepped_to_keeps_the_focus_over_a_live_change(new_page: NewPage) -> None:
    admin = Admin(new_page("admin"))
    page = _live(new_page("auditor"), PEOPLE)
    page.mouse.move(0, 0)
    page.keyboard.press("j")
    row = page.locator("tr:focus")
    name = row.locator("th").inner_text()
    admin.change("grant", "viewer-1", "reviewer")
    expect(_row(page, "viewer-1").locator("td").first).to_contain_text("reviewer")
    expect(page.locator("tr:focus th")).to_have_text(name)
    admin.change("revoke", "viewer-1", "reviewer")


def test_what_somebody_chose_survives_a_live_change_after_they_left_the_field(new_page: NewPage) -> None:
    admin = Admin(new_page("admin"))
    page = _live(new_page("admin"), PEOPLE)
    row = _row(page, "operator-1")
    row.locator("summary").click()
    choice = page.get_by_role("combobox", name="Role to give to operator-1")
    choice.select_option("auditor")
    page.keyboard.press("Tab")
    expect(choice).not_to_be_focused()
    admin.change("grant", "operator-1", "viewer")
    expect(row.locator("td").first).to_contain_text("viewer", timeout=3000)
    expect(choice).to_have_value("auditor")
    admin.change("revoke", "operator-1", "viewer")


def test_rows_keep_their_place_while_somebody_is_in_the_table(new_page: NewPage) -> None:
    admin = Admin(new_page("admin"))
    page = _live(new_page("auditor"), "/sites/hall-b/journal/")
    admin.change("grant", "approver-1", "floor_operator")
    first = page.locator("#site-journal tr").first
    expect(first).to_contain_text("was granted floor operator", timeout=3000)
    held = first.get_attribute("id")
    first.hover()
    admin.change("revoke", "approver-1", "floor_operator")
    expect(page.locator("[data-held-words]")).to_contain_text("Order held", timeout=3000)
    assert page.locator("#site-journal tr").first.get_attribute("id") == held
    page.keyboard.press("Shift+R")
    expect(page.locator("#site-journal tr").first).not_to_have_attribute("id", held or "")
    expect(page.locator("[data-held-words]")).not_to_contain_text("Order held")


class Link:
    """Stands between a page and its socket: can go silent, cut it, and knows what the page asked for."""

    def __init__(self, page: Page) -> None:
        self.is_silent = False
        self.asked: list[str] = []
        self.sockets: list[WebSocketRoute] = []
        page.route_web_socket("**/ws/", self._join)

    def _join(self, socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        self.sockets.append(socket)

        def to_server(message: Any) -> None:
            self.asked.append(str(message))
            server.send(message)

        def to_page(message: Any) -> None:
            if not self.is_silent:
                socket.send(message)

        socket.on_message(to_server)
        server.on_message(to_page)


def test_a_silent_link_is_said_and_a_cut_one_resumes_from_the_position(new_page: NewPage) -> None:
    admin = Admin(new_page("admin"))
    page = new_page("auditor")
    link = Link(page)
    _live(page, PEOPLE)
    admin.change("grant", "skill-author-1", "viewer")
    cell = _row(page, "skill-author-1").locator("td").first
    expect(cell).to_contain_text("viewer", timeout=3000)

    link.is_silent = True
    expect(page.locator("live-socket")).to_contain_text("values are", timeout=6000)
    expect(page.locator("main")).to_have_attribute("data-stale", "")
    admin.change("revoke", "skill-author-1", "viewer")
    page.wait_for_timeout(500)
    expect(cell).to_contain_text("viewer")

    position = page.locator("[data-topic]").first.get_attribute("data-position")
    asked_before = len(link.asked)
    link.is_silent = False
    link.sockets[-1].close(code=1012)
    expect(cell).not_to_contain_text("viewer", timeout=6000)
    expect(page.locator("live-socket")).to_contain_text("Live")
    expect(page.locator("main")).not_to_have_attribute("data-stale", "")
    assert any(f'"position":{position}' in text for text in link.asked[asked_before:]), link.asked[asked_before:]


def test_pausing_holds_changes_back_until_it_ends(new_page: NewPage) -> None:
    admin = Admin(new_page("admin"))
    page = _live(new_page("auditor"), PEOPLE)
    cell = _row(page, "floor-operator-1").locator("td").first
    page.keyboard.press("Space")
    admin.change("grant", "floor-operator-1", "viewer")
    expect(page.locator("live-socket")).to_contain_text("changes wait")
    page.wait_for_timeout(700)
    expect(cell).not_to_contain_text("viewer")
    page.keyboard.press("Space")
    expect(cell).to_contain_text("viewer")
    admin.change("revoke", "floor-operator-1", "viewer")


def test_a_session_ended_elsewhere_says_so_within_two_seconds(new_page: NewPage) -> None:
    here, there = _live(new_page("reviewer", own_session=True), "/sites/hall-b/floor/"), new_page("reviewer", own_session=True)
    there.goto("/account/sessions/")
    there.get_by_text("Sign out all others").click()
    there.get_by_role("button", name="Sign them out").click()
    expect(here.locator("#session-ended")).to_contain_text("Signed out", timeout=2500)


def test_a_refused_act_is_explained_where_it_was_tried(new_page: NewPage) -> None:
    admin = Admin(new_page("admin"))
    page = new_page("admin")
    page.route_web_socket("**/ws/", lambda _socket: None)  # a page that hears nothing acts on old roles
    page.goto(PEOPLE)
    row = _row(page, "viewer-1")
    row.locator("summary").click()
    admin.change("grant", "viewer-1", "skill_author")
    page.get_by_role("combobox", name="Role to give to viewer-1").select_option("auditor")
    row.get_by_role("button", name="Give this role").click()
    fault = row.get_by_role("alert")
    expect(fault).to_contain_text("412")
    expect(fault.get_by_role("button", name="Copy the number of this event")).to_be_visible()
    admin.change("revoke", "viewer-1", "skill_author")


def test_ones_own_act_shows_at_once_even_with_the_pointer_in_the_table(new_page: NewPage) -> None:
    page = _live(new_page("admin"), "/sites/hall-b/machines/new/")
    page.get_by_label("Name").fill("bench bridge")
    page.get_by_role("button", name="Make the credential").click()
    expect(page.locator("#secret")).to_contain_text("phm_")
    page.goto("/sites/hall-b/machines/")
    row = _row(page, "bench bridge")
    row.locator("summary").click()
    row.get_by_role("button", name="Revoke bench bridge").click()
    expect(row.get_by_role("button", name="Revoke bench bridge")).to_be_hidden()
    page.wait_for_timeout(600)
    expect(page.locator("[data-held-words]")).not_to_contain_text("Order held")
