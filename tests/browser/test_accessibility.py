"""No finding of axe on any page in either theme; no page sticks out on a phone or a desk; no page is forgotten."""

from collections.abc import Callable

import pytest
from django.template.loader import render_to_string
from playwright.sync_api import Page, Route

from tests.browser import audit
from tests.browser.pages import AFTER_AN_ACT, ERRORS, VISITS, page_templates
from tests.browser.server import Console

NewPage = Callable[..., Page]
WHOS = sorted({visit.who for visit in VISITS}, key=str)
DESKS = (1280, 1920, 1440)
PHONES = (390, 320)


def test_every_page_template_is_visited() -> None:
    shown = {visit.template for visit in VISITS} | {f"errors/{code}.html" for code in ERRORS} | AFTER_AN_ACT
    assert page_templates() <= shown, "add the page to tests/browser/pages.py"


@pytest.mark.timeout(400)  # every page, in both themes, at three widths
@pytest.mark.parametrize("who", WHOS)
def test_axe_finds_nothing_and_pages_fit_a_desk_and_a_phone(new_page: NewPage, console: Console, who: str | None) -> None:
    page = new_page(who)
    if who == "admin":
        new_page(who, own_session=True)  # a list of sessions with more than one line
    found = []
    for visit in VISITS:
        if visit.who == who:
            page.goto(visit.path.format(**console.made))
            found += [f"{visit.path}: {finding}" for finding in audit.axe_findings(page)]
            found += [f"{visit.path}: {words}" for words in _what_does_not_fit(page, has_shell=who == "admin")]
    assert found == []


def _what_does_not_fit(page: Page, *, has_shell: bool) -> list[str]:
    wrong = []
    for width in DESKS + PHONES:
        page.set_viewport_size({"width": width, "height": 900 if width in DESKS else 844})
        if (over := audit.overflow_px(page)) > 0:
            wrong.append(f"{over} px too wide at {width}")
        if has_shell and width in DESKS:
            stops = page.locator(".stops").bounding_box()
            if stops is None or abs(stops["x"] + stops["width"] - width) > 1 or stops["y"] > 1:
                wrong.append(f"Stop is not in the corner at {width}")
    page.set_viewport_size({"width": 1440, "height": 900})
    return wrong


def test_axe_finds_nothing_in_what_opens(new_page: NewPage) -> None:
    page = new_page("admin")
    page.goto("/sites/hall-b/floor/")
    for keys, name in (("Control+k", "Find or do"), ("?", "Keys")):
        page.keyboard.press(keys)
        dialog = page.get_by_role("dialog", name=name)
        dialog.wait_for()
        assert audit.axe_findings(page) == [], name
        page.keyboard.press("Escape")
        dialog.wait_for(state="hidden")
    page.locator("button.who").click()
    assert audit.axe_findings(page) == [], "account menu"


def test_axe_finds_nothing_in_an_invitation_and_an_open_question(new_page: NewPage) -> None:
    page = new_page("admin")
    page.goto("/sites/hall-b/people/invite/")
    page.get_by_label("E-mail address").fill("new@example.org")
    page.get_by_label("Name").fill("Somebody New")
    page.get_by_label("Reviewer").check()
    page.get_by_role("button", name="Make the invitation").click()
    link = page.locator("#secret").inner_text()
    assert audit.axe_findings(page) == [], "secret shown once"
    page.goto("/sites/hall-b/people/")
    page.locator("summary").first.click()
    assert audit.axe_findings(page) == [], "change of roles"
    stranger = new_page(None)
    stranger.goto(link)
    assert stranger.get_by_role("heading", name="Join Delft hall B").is_visible()
    assert audit.axe_findings(stranger) == [], "invitation"


def test_axe_finds_nothing_on_error_pages(new_page: NewPage) -> None:
    page = new_page(None)
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
