"""Make the pictures of docs/pictures/: a real console with its own databases, seen by a real Chromium, in both themes."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402
from playwright.sync_api import Browser, ViewportSize, sync_playwright  # noqa: E402

from tests import engines  # noqa: E402
from tests.bench.core.seed import EMAIL, SLUG  # noqa: E402
from tests.bench.core.seed import PASSWORD as WATCHERS  # noqa: E402
from tests.browser.arms import Arms  # noqa: E402
from tests.browser.server import PASSWORD, Console, end  # noqa: E402

TARGET = ROOT / "docs" / "pictures"
Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
SIZE: ViewportSize = {"width": 1440, "height": 900}
# Grey text smoothing: the same on every screen, and a third of the size of coloured smoothing.
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-lcd-text"]
LARGEST_BYTES = 320_000  # what a camera sees does not compress as an interface does
SIGNED_OUT = {"sign-in": "/account/login/"}
SIGNED_IN = {
    "components": "/help/components/",
    "people": "/sites/hall-b/people/",
    "error-404": "/sites/hall-b/no-such-page/",
    "floor": "/sites/hall-b/floor/",
    "robot": "/sites/hall-b/robots/{robot}/",
    "alarms": "/sites/hall-b/alarms/",
    "journal": "/sites/hall-b/journal/",
}
AS_AUDITOR = {"floor-empty": "/sites/lab/floor/"}
AS_WATCHER = {"floor-1000": f"/sites/{SLUG}/floor/"}
LIVE, LIVE_MS = frozenset({"floor", "robot", "floor-1000"}), 6000
WARM_UP_S, LOAD_S = 30, 600
EXACT = 128  # colours kept exactly, the most frequent ones
MANY, BRIDGES, HERTZ = 1000, 4, 1.0


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
    arms = Arms(console)
    try:
        console.start()
        arms.start()
        time.sleep(WARM_UP_S)  # charts, episodes and facts to show
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
            for theme in THEMES:
                _draw(browser, console, theme, SIGNED_OUT)
                _draw(browser, console, theme, SIGNED_IN, "admin@example.org")
                _draw(browser, console, theme, AS_AUDITOR, "auditor@example.org")
            arms.stop()
            with _many(console):
                for theme in THEMES:
                    _draw(browser, console, theme, AS_WATCHER, EMAIL, WATCHERS)
            browser.close()
    finally:
        arms.stop()
        console.stop()
        shutil.rmtree(console.folder, ignore_errors=True)
        running.stop()
    return _report()


@contextmanager
def _many(console: Console) -> Iterator[None]:
    """A thousand subjects on a few bridges, at a site of their own, each once a second."""
    command = [sys.executable, "-m", "tests.bench.core.seed", str(MANY), str(BRIDGES)]
    made = subprocess.run(
        command, cwd=ROOT, env=console.environment, stdout=subprocess.PIPE, text=True, check=True, timeout=300
    )
    world = json.loads(made.stdout)
    given = {
        "url": console.environment["PILOTHOUSE_GATEWAY_URL"],
        "bridges": world["bridges"],
        "hertz": HERTZ,
        "seconds": LOAD_S,
    }
    load = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.core.load"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    if load.stdin is None or load.stdout is None:
        raise RuntimeError("a program without pipes")
    try:
        load.stdin.write(json.dumps(given).encode() + b"\n")
        load.stdin.flush()
        load.stdout.readline()  # every bridge is welcome
        load.stdin.write(b"go\n")
        load.stdin.flush()
        time.sleep(4)
        yield
    finally:
        end(load)


def _draw(
    browser: Browser, console: Console, theme: Theme, pages: dict[str, str], who: str = "", password: str = PASSWORD
) -> None:
    context = browser.new_context(base_url=console.address, viewport=SIZE, color_scheme=theme, reduced_motion="reduce")
    page = context.new_page()
    if who:
        page.goto("/account/login/")
        page.get_by_label("Email").fill(who)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url(lambda url: "/account/login" not in url, timeout=60_000)
    for name, path in pages.items():
        page.goto(path.format(**console.made), timeout=60_000)
        page.wait_for_timeout(LIVE_MS if name in LIVE else 1500)  # the socket's first words, pictures, and a chart's last
        picture = page.screenshot()
        (TARGET / f"{name}-{theme}.png").write_bytes(_with_palette(picture))
    context.close()


def _with_palette(picture: bytes) -> bytes:
    """The same picture with 256 colours, a third of the size: those of the interface as they are, the rest shared out.

    By frequency alone an alarm would turn grey; spread over all colours alone, the grey ground would turn green.
    """
    drawn = Image.open(BytesIO(picture)).convert("RGB")
    counted = sorted(drawn.getcolors(drawn.width * drawn.height) or [], reverse=True)
    exact = [part for _, colour in counted[:EXACT] for part in colour]  # type: ignore[attr-defined]
    spread = drawn.quantize(256 - EXACT, Image.Quantize.MAXCOVERAGE).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette((exact + spread + [0] * 768)[:768])
    kept = BytesIO()
    drawn.quantize(palette=palette, dither=Image.Dither.NONE).save(kept, "PNG", optimize=True)
    return kept.getvalue()


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
