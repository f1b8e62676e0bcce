"""One real browser on the floor page, as a person has it open: how old what it shows is, and whether anything jumps."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page, Response, sync_playwright

from tests.browser.conftest import ARGUMENTS, CHROMIUM

_TEXTS = ("text/", "javascript", "json", "svg")
# Looks ten times a second at what the page holds of some subjects: after its own script took the frame, by the shared clock.
_PROBE = """
() => {
  window.benchAges = [];
  window.benchShifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.hadRecentInput) continue;
      const moved = entry.sources.map(({ node, previousRect, currentRect }) => {
        const name = node?.id || node?.className || node?.parentElement?.outerHTML.slice(0, 80) || "something";
        return `${name} from ${previousRect.x},${previousRect.y} to ${currentRect.x},${currentRect.y}`;
      });
      window.benchShifts.push([entry.value, moved.join("; ")]);
    }
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
        self._responses: list[Response] = []
        page.on("pageerror", lambda error: self.faults.append(str(error)[:200]))
        page.on("response", lambda response: self._responses.append(response))

    def watch(self) -> None:
        """Begin to look."""
        self.page.evaluate(_PROBE)

    def found(self) -> dict[str, Any]:
        """Ages in ms, in order, and the sum of layout shifts."""
        ages, shifts = self.page.evaluate("() => [window.benchAges, window.benchShifts]")
        moved = [words for _, words in shifts]
        return {"ages": sorted(ages), "shift": sum(value for value, _ in shifts), "moved": moved, "faults": self.faults}

    def transferred(self) -> int:
        """Bytes of the page and of all it loaded, text as gzip makes it: what a proxy in front sends. No pictures of robots."""
        total = 0
        for response in list(self._responses):
            body = response.body()
            is_text = any(word in response.headers.get("content-type", "") for word in _TEXTS)
            total += len(gzip.compress(body, 6)) if is_text else len(body)
        return total

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
