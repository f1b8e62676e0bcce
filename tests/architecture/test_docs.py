"""Pages of the documentation lead somewhere, name commands that exist, and hold the tables that the code makes."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from tests.architecture.tree import ROOT
from tools import write_docs

LINK = re.compile(r"(?<!`)!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
PATHS = ("apps/", "console/", "workers/", "tests/", "templates/", "static/", "tools/", "docs/", "requirements/", ".ci/")
PAGES = write_docs.pages() + sorted((ROOT / "apps").glob("*/README.md"))


def anchors(text: str) -> set[str]:
    """Headings as a browser addresses them."""
    heads = re.findall(r"^#+\s+(.*)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def dead_links(page: Path, text: str) -> list[str]:
    """Links to files or headings that are not there. Other sites are not asked."""
    found = []
    for target in LINK.findall(FENCE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        there = (page.parent / name).resolve() if name else page
        if not there.exists() or (anchor and there.suffix == ".md" and anchor not in anchors(there.read_text())):
            found.append(f"{page.name}: {target} leads nowhere")
    return found


def unknown_commands(text: str, targets: set[str], commands: set[str]) -> list[str]:
    """`make X` and `manage.py X` that do not exist, in code."""
    code = "\n".join([*CODE.findall(FENCE.sub("", text)), *FENCE.findall(text)])
    found = [f"make {name}" for name in re.findall(r"\bmake ([a-z][a-z-]*)\b(?! *=)", code) if name not in targets]
    return found + [f"manage.py {name}" for name in re.findall(r"\bmanage\.py ([a-z_]+)", code) if name not in commands]


def missing_files(text: str, root: Path) -> list[str]:
    """Files of the tree that a page names and that are not there. Patterns, placeholders and folders to come are let be."""
    plain = FENCE.sub("", text)
    names = {name.rstrip("/") for name in CODE.findall(plain) if name.startswith(PATHS) and not re.search(r"[<>*{} …]", name)}
    return sorted(name for name in names if not (root / name.partition("::")[0]).exists())


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert dead_links(page, page.read_text()) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_exist(page):
    assert unknown_commands(page.read_text(), make_targets(), set(get_commands())) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_files_exist(page):
    text = page.read_text()
    if page.name == "CONTRIBUTING.md":  # the files of its sample changes 1 and 11 are to be made
        text = re.sub(r"### (1|11)\. .*?(?=### 2\. |## Tests)", "", text, flags=re.DOTALL)
    assert missing_files(text, ROOT) == []


@pytest.mark.parametrize("page", write_docs.pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_generated_tables_are_current(page):
    assert write_docs.renewed(page.read_text()) == page.read_text(), "run make docs"


def test_every_setting_is_in_operations():
    from console import env

    text = (ROOT / "docs" / "operations.md").read_text()
    assert [one.name for one in env.VARIABLES if f"`{env.PREFIX}{one.name}`" not in text] == []


def test_every_make_target_says_what_it_does():
    text = (ROOT / "Makefile").read_text()
    silent = [
        name for name in re.findall(r"^([a-z][a-z-]*):(?!.*##)", text, re.MULTILINE) if name not in {"setup-web", "setup-demo"}
    ]
    assert silent == []


def test_the_version_is_in_the_changelog():
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1]
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text()


def test_a_dead_link_is_caught(tmp_path):
    page, other = tmp_path / "a.md", tmp_path / "b.md"
    other.write_text("# One thing\n")
    text = "[a](b.md) [b](b.md#one-thing) [c](https://site.example) ```\n"
    assert dead_links(page, text) == []
    assert dead_links(page, "[a](c.md) [b](b.md#two) ") == ["a.md: c.md leads nowhere", "a.md: b.md#two leads nowhere"]


def test_an_unknown_command_is_caught():
    text = "Run `make demo`, `make fly` or `manage.py up`.\n\n```sh\n.venv/bin/python manage.py soar --high\n```\n"
    assert unknown_commands(text, {"demo"}, {"up"}) == ["make fly", "manage.py soar"]


def test_a_missing_file_is_caught(tmp_path):
    (tmp_path / "docs").mkdir()
    assert missing_files("`docs/` `docs/lost.md` `apps/<app>/views.py` `docs/*.md`", tmp_path) == ["docs/lost.md"]


def test_an_old_table_is_renewed():
    old = "x\n<!-- generated: settings -->\nstale words\n<!-- end -->\ny\n"
    fresh = write_docs.renewed(old)
    assert "PILOTHOUSE_DATA" in fresh
    assert "stale words" not in fresh
    assert write_docs.renewed(fresh) == fresh
