"""Every service has a test beside its app, and every attack the specification lists has a test that can fail."""

import ast
import re
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, Source, plant, sources

# The numbered attacks of the reliability specification that this version answers. Later versions add theirs.
ATTACKS = (
    *(6, 7, 8, 9, 11, 12, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 28, 29, 30, 31, 32, 33, 34, 35, 37, 38, 39, 41, 42, 50),
    *(66, 70, 71),
)
MARK = re.compile(r"\bAttacks? ((?:\d+)(?:(?:, | and |, and )\d+)*)\b")
TEST_FOLDERS = ("unit", "integration", "property", "faults")


def public_functions(source: Source) -> list[str]:
    """Functions at the top of a module that others may call."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return [node.name for node in source.tree.body if isinstance(node, kinds) and not node.name.startswith("_")]


def names_used(source: Source) -> set[str]:
    """Every name and attribute a file mentions."""
    found = {node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name)}
    found |= {node.attr for node in ast.walk(source.tree) if isinstance(node, ast.Attribute)}
    return found | {imported.name.rpartition(".")[2] for imported in source.imports}


def offered_services(root: Path) -> list[tuple[str, str]]:
    """What apps offer: functions of services.py, or what the package's __init__ exports, each with its place."""
    found = []
    for source in sources(root, "apps"):
        if source.kind != "services" or source.parts[3:] not in ([], ["__init__"]):
            continue
        exported = {
            imported.name.rpartition(".")[2] for imported in source.imports if f".{source.app}.services." in imported.name
        }
        names = {*public_functions(source), *(name for name in exported if name[:1].islower())}
        found += [(source.rel, name) for name in sorted(names)]
    return found


def untested_services(root: Path) -> list[str]:
    """Services that no test calls."""
    tests = [one for one in sources(root, *(f"tests/{folder}" for folder in TEST_FOLDERS)) if one.parts[-1].startswith("test_")]
    used = set().union(*(names_used(one) for one in tests)) if tests else set()
    return [f"{place}: no test calls {name}" for place, name in offered_services(root) if name not in used]


def attacks_answered(root: Path) -> dict[int, list[str]]:
    """Tests by the attack their docstring, or that of their module, names: `Attack 19: ...`."""
    answered: dict[int, list[str]] = {}
    for source in sources(root, "tests"):
        if not source.parts[-1].startswith("test_") or source.parts[1] in {"architecture", "mutations"}:
            continue
        of_module = _numbers(ast.get_docstring(source.tree))
        for node in ast.walk(source.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for number in _numbers(ast.get_docstring(node)) or of_module:
                    answered.setdefault(number, []).append(f"{source.rel}::{node.name}")
    return answered


def _numbers(text: str | None) -> list[int]:
    return [int(number) for found in MARK.finditer(text or "") for number in re.findall(r"\d+", found.group(1))]


def attacks_open(answered: dict[int, list[str]], mutated: set[str]) -> list[str]:
    """Attacks without a test, or whose tests were never seen to fail."""
    found = []
    for number in ATTACKS:
        tests = answered.get(number, [])
        if not tests:
            found.append(f"attack {number}: no test says that it answers it")
        elif not any({test, test.partition("::")[0]} & mutated for test in tests):
            found.append(f"attack {number}: no guard of it is switched off in tests/mutations ({', '.join(tests[:3])})")
    return found


def test_every_service_has_a_test():
    findings = untested_services(ROOT)
    assert not findings, "\n".join(findings)


def test_every_attack_has_a_test_that_fails_without_its_guard():
    from tests.mutations import load

    mutated = {re.sub(r"\[.*", "", case.test) for case in load()}
    findings = attacks_open(attacks_answered(ROOT), mutated)
    assert not findings, "\n".join(findings)


def test_every_mutation_names_a_test_that_exists():
    from tests.mutations import load

    known = {
        f"{source.rel}::{node.name}"
        for source in sources(ROOT, "tests")
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    known |= {source.rel for source in sources(ROOT, "tests")}
    named = {re.sub(r"::Test\w+", "", re.sub(r"\[.*", "", case.test)) for case in load()}
    assert sorted(named - known) == []


def test_an_untested_service_is_caught(tmp_path):
    plant(
        tmp_path,
        {
            "apps/a/services/__init__.py": "from apps.a.services.things import Thing, lose_thing, make_thing\n",
            "apps/a/services/things.py": "def make_thing(): ...\ndef lose_thing(): ...\ndef inner(): ...\n",
            "apps/b/services.py": "def do_it(): ...\ndef _inner(): ...\n",
            "tests/integration/a/test_make_thing.py": "from apps.a import services\n\nservices.make_thing()\n",
        },
    )
    assert untested_services(tmp_path) == [
        "apps/a/services/__init__.py: no test calls lose_thing",
        "apps/b/services.py: no test calls do_it",
    ]


@pytest.mark.parametrize(
    ("docstring", "numbers"),
    [
        ("Attack 19: foreign origins.", [19]),
        ("Attacks 29 and 31.", [29, 31]),
        ("Attacks 28, 29, and 31 at once", [28, 29, 31]),
        ("Something of 19.", []),
    ],
)
def test_attacks_are_read_from_docstrings(tmp_path, docstring, numbers):
    plant(tmp_path, {"tests/integration/test_a.py": f'def test_it():\n    """{docstring}"""\n'})
    assert attacks_answered(tmp_path) == {number: ["tests/integration/test_a.py::test_it"] for number in numbers}


def test_an_open_attack_is_caught():
    answered = {number: [f"tests/t.py::test_{number}"] for number in ATTACKS if number != 42}
    mutated = {test for tests in answered.values() for test in tests} - {"tests/t.py::test_19"}
    assert [finding.partition(":")[0] for finding in attacks_open(answered, mutated)] == ["attack 19", "attack 42"]
