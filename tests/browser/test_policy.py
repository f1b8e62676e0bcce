"""The content policy holds: no inline script or style, the import map by its nonce, and everything from here."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from playwright.sync_api import Page

from tests.browser.pages import TEMPLATES

NewPage = Callable[..., Page]
BUDGET_BYTES = 45_000
INLINE = re.compile(
    r"<style|\sstyle=|\son[a-z]+=\"|javascript:|<script(?![^>]*\bsrc=)(?![^>]*type=\"application/json\")", re.IGNORECASE
)


def test_no_template_has_inline_script_or_style() -> None:
    found = {str(path.relative_to(TEMPLATES)): INLINE.findall(path.read_text()) for path in TEMPLATES.rglob("*.html")}
    assert {name: hits for name, hits in found.items() if hits} == {}


@pytest.mark.parametrize("who", [None, "admin"])
def test_the_policy_allows_nothing_unsafe_and_modules_still_start(new_page: NewPage, who: str | None) -> None:
    """One page of each kind. test_accessibility visits the others, and fails there on any complaint of the browser."""
    page = new_page(who)
    for path in ("/account/login/", "/no/such/page/") if who is None else ("/sites/hall-b/people/", "/account/sessions/"):
        answer = page.goto(path)
        assert answer is not None
        policy = answer.header_value("content-security-policy") or ""
        assert "'unsafe" not in policy and "default-src 'none'" in policy, path
        assert page.locator("html").get_attribute("data-now"), path
        page.wait_for_function("document.documentElement.dataset.ready === 'true'")


def test_an_inline_script_is_refused_by_the_browser(new_page: NewPage, complaints: list[str]) -> None:
    page = new_page(None)
    page.goto("/account/login/")
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.ran = true";
        document.body.append(script);
    }""")
    assert page.evaluate("window.ran") is None
    assert len(complaints) == 1 and "Content Security Policy" in complaints[0]
    complaints.clear()


def test_modules_come_under_hashed_names(new_page: NewPage) -> None:
    page = new_page(None)
    page.goto("/account/login/")
    imports = json.loads(page.locator("script[type=importmap]").text_content() or "")["imports"]
    assert all(re.search(r"\.[0-9a-f]{12}\.js$", address) for address in imports.values()), imports


def test_core_scripts_stay_within_the_budget() -> None:
    names = ["django_htmx/htmx-2.min.js", "vendor/idiomorph-0.8.0/idiomorph.min.js", "vendor/tinykeys-3.1.0/tinykeys.module.js"]
    files = [Path(finders.find(name) or name) for name in names]
    files += sorted((TEMPLATES.parent / "static" / "js").glob("*.js"))
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in files}
    assert sum(sizes.values()) <= BUDGET_BYTES, sizes
