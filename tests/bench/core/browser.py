"""One real browser on the floor page, as a person has it open: how old what it shows is, and whether anything jumps."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import ARGUMENTS, CHROMIUM

# Looks ten times a second at what the page holds of some subjects: after its own script took the frame, by the shared clock.
_PROBE = """
() => {
  window.benchAges = [];
  window.benchShifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.benchShifts.push(entry.value);
  }).observe({ type: "layout-shift", buffered: false });
  import("pilothouse/gateway-socket").then(({ gateway }) => {
    window.benchTimer = setInterval(() => {
      const now = Date.now();
      const entries = [...gateway.subjects.values()].filter((one) => one.state);
      for (let k = 0; k < 50 && entries.length; k++) {
        const one = entries[Math.floor(Math.random() * entries.length)];
        window.benchAges.push(now - one.state.deviceMs);
      }
    }, 100);
  });
}
"""


class Browser:
    """A page that is open."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.faults: list[str] = []
        page.on("pageerror", lambda error: self.faults.append(str(error)[:200]))

    def watch(self) -> None:
        """Begin to look."""
        self.page.evaluate(_PROBE)

    def found(self) -> dict[str, Any]:
        """Ages in ms, in order, and the sum of layout shifts."""
        ages, shifts = self.page.evaluate("() => [window.benchAges, window.benchShifts]")
        return {"ages": sorted(ages), "shift": sum(shifts), "shifts": len(shifts), "faults": self.faults}

    def transferred(self) -> int:
        """Bytes of the page and of all it loaded, as they were sent, pictures of robots not among them."""
        entries = "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
        return int(self.page.evaluate(f"() => {entries}.reduce((sum, one) => sum + one.encodedBodySize, 0)"))

    def wait(self, seconds: float) -> None:
        """Let the page live."""
        self.page.wait_for_timeout(seconds * 1000)


@contextmanager
def browser(url: str, headers: dict[str, str]) -> Iterator[Browser]:
    """Open one address, signed in by these headers."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            context = chromium.new_context(viewport={"width": 1440, "height": 900})
            cookies = [pair.partition("=") for pair in headers["Cookie"].split("; ")]
            origin = "/".join(url.split("/")[:3])
            context.add_cookies([{"name": name, "value": value, "url": origin} for name, _, value in cookies])
            page = context.new_page()
            page.set_default_timeout(60_000)
            opened = Browser(page)
            page.goto(url)
            yield opened
        finally:
            chromium.close()
