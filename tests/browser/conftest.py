"""Real web and gateway processes and a real Chromium. Whoever looks at a page fails on any complaint of the browser itself."""

import os
import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, StorageState, sync_playwright

from tests.browser import rewrites
from tests.browser.arms import Arms
from tests.browser.server import PASSWORD, Console

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(scope="session")
def console(request: pytest.FixtureRequest) -> Iterator[Console]:
    """Web and gateway of this test worker, without the guard that the run is without."""
    running = Console(f"browser_{os.getpid()}", guard_off=request.config.getoption("--guard-off"))
    try:
        running.start()
        yield running
    finally:
        running.stop()
        shutil.rmtree(running.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def arms(console: Console) -> Iterator[Arms]:
    """Twelve simulated arms, moving, for as long as a module's tests run."""
    running = Arms(console)
    try:
        yield running.start()
    finally:
        running.stop()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser a module; each test has its own context, hence its own cookies.

    Not one a session: while Playwright runs, its loop counts as running in this thread, and Django refuses its database there.
    """
    if not shutil.which("chromium"):
        pytest.skip("Debian's chromium is not installed; `make setup` installs it as root")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser complained of: broken policy, script errors, failed loads."""
    return []


def watch(page: Page, complaints: list[str]) -> Page:
    """Note every complaint of a page, but not the error answers that a test asks for."""

    def note(message: ConsoleMessage) -> None:
        expected = ("Failed to load resource", "Response Status Error Code")
        if message.type in {"error", "warning"} and not message.text.startswith(expected):
            complaints.append(f"{page.url}: {message.text}")

    page.on("console", note)
    page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
    return page


@pytest.fixture(scope="module")
def signed_in() -> dict[str, StorageState]:
    """The cookies of each role that has signed in, so that a module pays for each sign-in once."""
    return {}


@pytest.fixture
def new_page(
    chromium: Browser, console: Console, complaints: list[str], signed_in: dict[str, StorageState]
) -> Iterator[Callable[..., Page]]:
    """Opens a page in a fresh context: `new_page("admin")` is signed in, `new_page(None)` is not.

    Pages of one role share a session in a module; `own_session=True` signs in once more.
    """
    contexts: list[BrowserContext] = []

    def open_page(who: str | None, *, own_session: bool = False) -> Page:
        known = None if own_session or who is None else signed_in.get(who)
        context = chromium.new_context(
            base_url=console.address,
            color_scheme="light",
            viewport={"width": 1440, "height": 900},
            reduced_motion="no-preference",
            storage_state=known,
        )
        context.set_default_timeout(30_000)  # two cores shared with the rest of the suite
        contexts.append(context)
        for stem in rewrites.CHANGES:
            context.route(f"**/static/js/{stem}.*js", rewrites.serve_changed)
        page = watch(context.new_page(), complaints)
        if who is not None and known is None:
            sign_in(page, who)
            if not own_session:
                signed_in[who] = context.storage_state()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def sign_in(page: Page, who: str) -> None:
    """Through the form, as a person does."""
    page.goto("/account/login/")
    page.get_by_label("Email").fill(f"{who}@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(lambda url: "/account/login" not in url)
