"""No finding of axe on any page in either theme; no page sticks out on a phone; no page is forgotten."""

from collections.abc import Callable

import pytest
from django.template.loader import render_to_string
from playwright.sync_api import Page, Route

from tests.browser import audit
from tests.browser.pages import AFTER_AN_ACT, ERRORS, VISITS, Visit, page_templates

NewPage = Callable[..., Page]
WHOS = sorted({visit.who for visit in VISITS}, key=str)


def test_every_page_template_is_visited() -> None:
    shown = {visit.template for visit in VISITS} | {f"errors/{code}.html" for code in ERRORS} | AFTER_AN_ACT
    assert page_templates() <= shown, "add the page to tests/browser/pages.py"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("who", WHOS)
def test_axe_finds_nothing(new_page: NewPage, who: str | None, theme: str) -> None:
    page = new_page(who, theme=theme)
    findings = [f"{visit.path}: {finding}" for visit in _visits_of(who) for finding in _found_at(page, visit)]
    assert findings == []


def _visits_of(who: str | None) -> list[Visit]:
    return [visit for visit in VISITS if visit.who == who]


def _found_at(page: Page, visit: Visit) -> list[str]:
    page.goto(visit.path)
    return audit.axe_findings(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_what_opens(new_page: NewPage, theme: str) -> None:
    page = new_page("admin", theme=theme)
    page.goto("/sites/hall-b/floor/")
    for keys, what in (("Control+k", "command menu"), ("?", "keyboard sheet")):
        page.keyboard.press(keys)
        page.locator("dialog:popover-open").wait_for()
        assert audit.axe_findings(page) == [], what
        page.keyboard.press("Escape")
        page.locator("dialog:popover-open").wait_for(state="hidden")
    page.locator("button.who").click()
    assert audit.axe_findings(page) == [], "account menu"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_an_invitation_and_an_open_question(new_page: NewPage, theme: str) -> None:
    page = new_page("admin", theme=theme)
    page.goto("/sites/hall-b/people/invite/")
    page.get_by_role("button", name="Make the invitation").click()
    page.get_by_label("E-mail address").fill(f"{theme}@example.org")
    page.get_by_label("Name").fill("Somebody New")
    page.get_by_label("Reviewer").check()
    page.get_by_role("button", name="Make the invitation").click()
    link = page.locator("#secret").inner_text()
    assert audit.axe_findings(page) == [], "secret shown once"
    page.goto("/sites/hall-b/people/")
    page.locator("summary").first.click()
    assert audit.axe_findings(page) == [], "change of roles"
    stranger = new_page(None, theme=theme)
    stranger.goto(link)
    assert stranger.get_by_role("heading", name="Join Delft hall B").is_visible()
    assert audit.axe_findings(stranger) == [], "invitation"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_error_pages(new_page: NewPage, theme: str) -> None:
    page = new_page(None, theme=theme)
    page.route("**/drawn/*", _draw)
    for code in ERRORS:
        page.goto(f"/drawn/{code}")
        assert page.locator("h1").count() == 1
        assert audit.axe_findings(page) == [], code


def _draw(route: Route) -> None:
    code = int(route.request.url.rsplit("/", 1)[1])
    context = {
        "status": code,
        "message": "A part did not answer.",
        "correlation_id": "018f-4a2c",
        "fields": {"name": ["Give one."]},
        "retry_after_s": 5,
    }
    route.fulfill(status=code, content_type="text/html", body=render_to_string(f"errors/{code}.html", context))


@pytest.mark.parametrize("width", [320, 390])
@pytest.mark.parametrize("who", WHOS)
def test_pages_reflow_on_a_phone(new_page: NewPage, who: str | None, width: int) -> None:
    page = new_page(who, width=width, height=844)
    out = {}
    for visit in _visits_of(who):
        page.goto(visit.path)
        out[visit.path] = audit.overflow_px(page)
    assert {path: px for path, px in out.items() if px > 0} == {}


@pytest.mark.parametrize("width", [1280, 1440, 1920])
def test_pages_fit_a_desk(new_page: NewPage, width: int) -> None:
    page = new_page("admin", width=width)
    for visit in _visits_of("admin"):
        page.goto(visit.path)
        assert audit.overflow_px(page) <= 0, visit.path
        stops = page.locator(".stops").bounding_box()
        assert stops is not None and abs(stops["x"] + stops["width"] - width) <= 1 and stops["y"] <= 1, visit.path
