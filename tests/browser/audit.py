"""Asks axe-core what is wrong with a page, and the browser whether anything sticks out or moved."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
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
    """One line a finding; empty for a clean page. Goes in through the debugger, so the page's policy stays as it is."""
    manifest = json.loads((ROOT / "static" / "vendor" / "manifest.json").read_text())
    version = next(package["version"] for package in manifest["packages"] if package["name"] == "axe-core")
    source = (ROOT / "static" / "vendor" / f"axe-core-{version}" / "axe.min.js").read_text()
    session = page.context.new_cdp_session(page)
    session.send("Runtime.evaluate", {"expression": source})
    session.detach()
    violations: list[dict[str, Any]] = page.evaluate(
        "(tags) => axe.run(document, { runOnly: tags }).then((result) => result.violations)", RULES
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
