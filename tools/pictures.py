"""Make the pictures of docs/pictures/: a real console with its own databases, seen by a real Chromium, in both themes."""

import shutil
import sys
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, ViewportSize, sync_playwright  # noqa: E402

from tests import engines  # noqa: E402
from tests.browser.server import PASSWORD, Console  # noqa: E402

TARGET = ROOT / "docs" / "pictures"
Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
SIZE: ViewportSize = {"width": 1440, "height": 900}
# Grey text smoothing: the same on every screen, and a third of the size of coloured smoothing.
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-lcd-text"]
LARGEST_BYTES = 200_000
SIGNED_OUT = {"sign-in": "/account/login/"}
SIGNED_IN = {
    "floor-empty": "/sites/hall-b/floor/",
    "components": "/help/components/",
    "error-404": "/sites/hall-b/no-such-page/",
}


def main() -> int:
    """Draw every picture. Returns the exit status."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("pictures: Debian's chromium is not installed", file=sys.stderr)
        return 1
    TARGET.mkdir(parents=True, exist_ok=True)
    running = engines.Engines()
    engines.share(running)
    console = Console("pictures")
    try:
        console.start()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
            for theme in THEMES:
                _draw(browser, console.address, theme)
            browser.close()
    finally:
        console.stop()
        shutil.rmtree(console.folder, ignore_errors=True)
        running.stop()
    return _report()


def _draw(browser: Browser, address: str, theme: Theme) -> None:
    context = browser.new_context(base_url=address, viewport=SIZE, color_scheme=theme, reduced_motion="reduce")
    page = context.new_page()
    for names, is_signed_in in ((SIGNED_OUT, False), (SIGNED_IN, True)):
        if is_signed_in:
            page.goto("/account/login/")
            page.get_by_label("Email").fill("admin@example.org")
            page.get_by_label("Password").fill(PASSWORD)
            page.get_by_role("button", name="Sign in", exact=True).click()
            page.wait_for_url("**/floor/")
        for name, path in names.items():
            page.goto(path)
            page.wait_for_timeout(1500)  # the socket's first tick, so that the live line says what it says in use
            page.screenshot(path=str(TARGET / f"{name}-{theme}.png"))
    context.close()


def _report() -> int:
    sizes = {path.name: path.stat().st_size for path in sorted(TARGET.glob("*.png"))}
    for name, size in sizes.items():
        print(f"{name:28} {size / 1000:6.1f} kB")
    too_large = [name for name, size in sizes.items() if size > LARGEST_BYTES]
    if too_large:
        print(f"pictures: over {LARGEST_BYTES / 1000:.0f} kB: {', '.join(too_large)}", file=sys.stderr)
    return 1 if too_large else 0


if __name__ == "__main__":
    sys.exit(main())
