"""Asks axe-core what is wrong with a page, and the browser whether anything sticks out or moved."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLOURS = ["color-contrast", "link-in-text-block"]
THEME = """(theme) => {
    const before = document.documentElement.dataset.theme ?? null;
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    return before;
}"""
SHIFTS = """
    window.shifts = [];
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
            const moved = entry.sources.map((source) => source.node?.outerHTML?.slice(0, 160) ?? "");
            if (!entry.hadRecentInput) window.shifts.push([entry.value, ...moved]);
        }
    }).observe({ type: "layout-shift", buffered: true });
"""


def axe_findings(page: Page) -> list[str]:
    """One line a finding, in the light theme and, for what depends on colours, in the dark one; empty for a clean page."""
    _bring_axe(page)
    found = [f"light: {line}" for line in _findings(page, {"type": "tag", "values": RULES})]
    page.emulate_media(color_scheme="dark")
    chosen = page.evaluate(THEME, "dark")
    found += [f"dark: {line}" for line in _findings(page, {"type": "rule", "values": COLOURS})]
    page.evaluate(THEME, chosen)
    page.emulate_media(color_scheme="light")
    return found


def _bring_axe(page: Page) -> None:
    """Through the debugger, so that the page's policy stays as it is."""
    if page.evaluate("'axe' in window"):
        return
    session = page.context.new_cdp_session(page)
    session.send("Runtime.evaluate", {"expression": _axe_source()})
    session.detach()


@lru_cache(maxsize=1)
def _axe_source() -> str:
    manifest = json.loads((ROOT / "static" / "vendor" / "manifest.json").read_text())
    version = next(package["version"] for package in manifest["packages"] if package["name"] == "axe-core")
    return (ROOT / "static" / "vendor" / f"axe-core-{version}" / "axe.min.js").read_text()


def _findings(page: Page, which: dict[str, Any]) -> list[str]:
    violations: list[dict[str, Any]] = page.evaluate(
        "(which) => axe.run(document, { runOnly: which, resultTypes: ['violations'] }).then((result) => result.violations)",
        which,
    )
    return [
        f"{found['id']}: {node['html'][:160]} ({(node['any'] or [{'message': ''}])[0]['message'][:160]})"
        for found in violations
        for node in found["nodes"]
    ]


def overflow_px(page: Page) -> int:
    """How far the page sticks out sideways."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def observe_shifts(page: Page) -> None:
    """Note every layout shift from the first paint of the next page on."""
    page.add_init_script(SHIFTS)


def shifts(page: Page) -> list[Any]:
    """The shifts so far that no input caused."""
    return list(page.evaluate("window.shifts"))
