"""A whole errand without a mouse, and the keys that must stay silent."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.server import PASSWORD

NewPage = Callable[..., Page]


def test_an_admin_signs_in_grants_a_role_and_signs_out_by_keyboard_alone(new_page: NewPage) -> None:
    page = new_page(None)
    page.goto("/account/login/")
    _tab_to(page, "Email")
    page.keyboard.type("admin@example.org")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/sites/hall-b/floor/")

    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Find or do")).to_be_focused()
    page.keyboard.type("people")
    expect(page.get_by_role("option", selected=True)).to_contain_text("People")
    page.keyboard.press("Enter")
    page.wait_for_url("**/sites/hall-b/people/")

    row = page.get_by_role("row").filter(has_text="reviewer@example.org")
    _press_until_inside(page, "j", "reviewer@example.org")
    page.keyboard.press("Enter")
    choice = page.get_by_role("combobox", name="Role to give to reviewer-1")
    expect(choice).to_be_focused()
    page.keyboard.type("auditor")
    expect(choice).to_have_value("auditor")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(row.locator("td").first).to_contain_text("auditor")
    page.keyboard.press("Escape")
    expect(choice).to_be_hidden()

    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet).to_be_visible()
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()

    page.keyboard.press("Control+k")
    page.keyboard.type("sign out")
    page.keyboard.press("Enter")
    page.wait_for_url("**/account/login/**")


def _tab_to(page: Page, label: str) -> None:
    target = page.get_by_label(label)
    for _ in range(10):
        if target.evaluate("(element) => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{label} cannot be reached by Tab")


def _press_until_inside(page: Page, key: str, text: str) -> None:
    page.wait_for_function("document.documentElement.dataset.ready === 'true'")  # keys do nothing before that
    for _ in range(30):
        page.keyboard.press(key)
        if text in page.evaluate("document.activeElement.closest('tr')?.textContent ?? ''"):
            return
    raise AssertionError(f"{text} cannot be reached by {key}")


def test_going_by_two_keys_does_not_also_act_as_one(new_page: NewPage) -> None:
    page = new_page("admin")
    page.goto("/sites/hall-b/people/")
    before = page.locator("html").get_attribute("data-theme")
    page.keyboard.press("g")
    page.keyboard.press("t")
    assert page.locator("html").get_attribute("data-theme") == before
    page.keyboard.press("g")
    page.keyboard.press("l")
    page.wait_for_url("**/journal/")


def test_single_keys_are_dead_in_inputs_and_when_switched_off(new_page: NewPage) -> None:
    page = new_page("operator")
    page.goto("/help/components/")
    page.get_by_label("Reason").fill("")
    page.get_by_label("Reason").press_sequentially("t?go")
    assert page.get_by_label("Reason").input_value() == "t?go"
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()

    page.goto("/me/preferences/")
    page.get_by_role("group", name="Single-key shortcuts").get_by_label("Off").check()
    page.get_by_role("button", name="Keep these").click()
    expect(page.locator("html")).to_have_attribute("data-single-keys", "off")
    page.locator("main").focus()
    page.keyboard.press("?")
    page.keyboard.press("g")
    page.keyboard.press("o")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    assert page.url.endswith("/me/preferences/")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Find or do")).to_be_visible()


def test_the_theme_key_is_kept_for_the_next_page_and_for_pages_without_a_person(new_page: NewPage) -> None:
    page = new_page("teleoperator")
    page.goto("/sites/hall-b/floor/")
    with page.expect_response("**/me/preferences/"):
        page.keyboard.press("t")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto("/help/keys/")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto("/no/such/page/")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_focus_is_seen_and_skips_to_the_content(new_page: NewPage) -> None:
    page = new_page("viewer")
    page.goto("/sites/hall-b/floor/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    inside = page.evaluate("document.querySelector('main').contains(document.activeElement)")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert inside and outline == "solid"
