"""Every template is reached from a view, nothing is inline, and a component says what it takes."""

import re
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, files, plant, sources

REFERENCE = re.compile(r"""{%-?\s*(?:include|extends|element|partial_template)\s+["']([^"'#]+)""")
COMMENT = re.compile(r"{#.*?#}|{%\s*comment.*?endcomment\s*%}|<!--.*?-->", re.DOTALL)
INLINE = {
    r"<style\b": "a style element: write a class in static/css/",
    r"\sstyle\s*=": "a style attribute: write a class in static/css/",
    r"<[^>]*\son[a-z]+\s*=": "an event attribute: listen in a module of static/js/",
    r"\shx-on[:\w-]*\s*=": "htmx's event attribute: listen in static/js/htmx-bridge.js",
    r"(?i)javascript:": "a javascript: address",
    r"""hx-(?:vals|vars|headers)\s*=\s*["']js:""": "an htmx expression",
    r"<script\b(?![^>]*\bsrc\s*=)(?![^>]*type\s*=\s*.application/json)": "an inline script: put it in static/js/",
}


def inline(root: Path) -> list[str]:
    """Scripts, styles and event attributes that the content policy would refuse."""
    found = []
    for path in files(root, ("templates", "apps"), ".html"):
        text = COMMENT.sub(lambda match: "\n" * match.group().count("\n"), path.read_text())
        for pattern, why in INLINE.items():
            found += [
                f"{path.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}: {why}"
                for match in re.finditer(pattern, text)
            ]
    return found


def library_templates() -> set[str]:
    """Names of allauth's own templates."""
    import allauth

    folder = Path(allauth.__file__).parent / "templates"
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def named_in_python(root: Path) -> set[str]:
    """Template names in Python, with `name.html#part` cut; an f-string's field stands for any text."""
    strings = {string for source in sources(root, "apps", "console") for string in source.strings}
    return {string.partition("#")[0] for string in strings if ".html" in string or string.endswith(".txt")}


def unreachable(root: Path, also: set[str] = frozenset()) -> list[str]:
    """Templates that no view, tag or other reachable template names."""
    folder = root / "templates"
    names = {path.relative_to(folder).as_posix(): path for path in files(root, ("templates",), ".html", ".txt")}
    named = named_in_python(root) | also
    problems = {f"errors/{mark}{status}.html" for status in (400, 403, 404, 409, 412, 422, 429, 500, 503) for mark in ("", "_")}
    # allauth looks for element__tag.html before element.html.
    waiting = [name for name in names if {name, re.sub(r"__\w+\.html$", ".html", name)} & (named | problems)]
    reached = set(waiting)
    while waiting:
        text = names[waiting.pop()].read_text()
        for reference in REFERENCE.findall(text):
            for name in (reference, f"allauth/elements/{reference}.html"):
                if name in names and name not in reached:
                    reached.add(name)
                    waiting.append(name)
    return [f"templates/{name}: nothing shows it" for name in sorted(names.keys() - reached)]


def undescribed_components(root: Path) -> list[str]:
    """Components whose first line does not say their arguments."""
    return [
        f"{path.relative_to(root)}: begin with {{# what it is. Arguments: ... #}}"
        for path in files(root, ("templates/components",), ".html")
        if not re.match(r"{#.*Arguments?:.*#}", path.read_text().partition("\n")[0])
    ]


@pytest.mark.parametrize("rule", [inline, undescribed_components, lambda root: unreachable(root, library_templates())])
def test_the_tree_keeps_the_rule(rule):
    findings = rule(ROOT)
    assert not findings, "\n".join(findings)


@pytest.mark.parametrize(
    "text",
    [
        "<script>let a = 1</script>",
        '<script nonce="{{ n }}">let a = 1</script>',
        "<style>a {}</style>",
        '<p style="color:red">',
        '<button onclick="go()">',
        '<button\n  onclick="go()">',
        '<a href="javascript:go()">',
        '<div hx-on:click="go()">',
        """<div hx-vals='js:{a: go()}'>""",
    ],
)
def test_inline_code_is_caught(tmp_path, text):
    assert inline(plant(tmp_path, {"templates/shell/a.html": text})) != []


@pytest.mark.parametrize(
    "text",
    [
        '<script src="a.js" defer></script>',
        '<script type="application/json" id="data">{}</script>',
        "{# no style= here #}",
        '<p class="on" data-once="1" aria-controls="style">',
    ],
)
def test_what_is_not_inline_passes(tmp_path, text):
    assert inline(plant(tmp_path, {"templates/shell/a.html": text})) == []


def test_an_unreachable_template_is_caught(tmp_path):
    plant(
        tmp_path,
        {
            "apps/shell/views.py": 'render(request, "shell/floor.html")\n',
            "templates/base.html": '{% include "components/menu.html" %}',
            "templates/shell/floor.html": '{% extends "base.html" %}',
            "templates/components/menu.html": "{# The menu. Arguments: none. #}",
            "templates/components/lost.html": "<p></p>",
            "templates/shell/old.html": '{% include "components/lost.html" %}',
        },
    )
    assert unreachable(tmp_path) == [
        "templates/components/lost.html: nothing shows it",
        "templates/shell/old.html: nothing shows it",
    ]
    assert len(undescribed_components(tmp_path)) == 1
