"""Apps meet at their front doors, edges hold no rules, rules know no edges, and state is reached one way."""

import ast
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, Source, dotted, plant, sources

FRONT_DOOR = {"services", "selectors", "events", "types", "permissions", "recording"}  # the last by ADR 0019
EDGES = {"views", "api", "consumers", "tasks", "management", "forms", "serializers", "middleware", "templatetags", "topics"}
EDGES |= {"gateway", "mlflow", "otlp", "commands", "urls", "authentication", "adapters", "reactions"}
INNER = {"types", "lifecycle", "events", "permissions", "models", "selectors", "projections", "services"}
# ADR 0001: `accounts` owns the keys every table points to. Others name them by string ("accounts.Site"), never by class.
HTTP = ("django.http", "django.shortcuts", "django.urls", "django.views", "rest_framework", "channels")
# A selector may make what a page needs, links included; nothing else below the edges knows that there are pages.
HTTP_IN_SELECTORS = ("rest_framework", "channels", "django.shortcuts", "django.views")
# The composition root may reach an app's edges to mount them; an app's own tables stay its own.
MOUNTABLE = FRONT_DOOR | EDGES | {"admin"}
READS_ENVIRONMENT = ("console/env.py", "console/supervisor/", "console/embedded/")


def side_doors(root: Path) -> list[str]:
    """Imports of another app's insides."""
    found = []
    for source in sources(root, "apps", "console"):
        for name, line in ((found.name, found.line) for found in source.imports):
            parts = name.split(".")
            if parts[0] != "apps" or len(parts) < 3 or parts[1] in {source.app, "kernel"}:
                continue
            if parts[2] not in (FRONT_DOOR if source.app else MOUNTABLE):
                found.append(f"{source.at(line)}: {name} is behind the front door of {parts[1]}")
    return found


def tables_at_edges(root: Path) -> list[str]:
    """Views, API, sockets, tasks and commands that touch the ORM instead of calling services and selectors."""
    found = []
    for source in sources(root, "apps"):
        if source.kind not in EDGES:
            continue
        annotations = _names_in_annotations(source)
        for imported in source.imports:
            parts = imported.name.split(".")
            if source.kind == "adapters":  # called back by a library, which hands them its rows and transactions
                continue
            is_table = parts[0] == "apps" and "models" in parts[2:3] and not parts[-1].isupper()
            if is_table and _uses(source, parts[-1]) <= annotations:
                continue  # says what a selector returned, and asks it nothing
            if is_table or imported.name.startswith(("django.db.connection", "django.db.transaction", "django.db.models")):
                found.append(f"{source.at(imported.line)}: {imported.name} at an edge; call a service or a selector")
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Attribute) and node.attr == "objects":
                found.append(f"{source.at(node.lineno)}: the ORM at an edge; call a service or a selector")
    return found


def _uses(source: Source, name: str) -> set[tuple[int, int]]:
    """Where a file mentions a name."""
    return {(n.lineno, n.col_offset) for n in ast.walk(source.tree) if isinstance(n, ast.Name) and n.id == name}


def _names_in_annotations(source: Source) -> set[tuple[int, int]]:
    """Where names stand that only say a type."""
    types: list[ast.AST | None] = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.arg | ast.AnnAssign):
            types.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            types.append(node.returns)
        elif isinstance(node, ast.Subscript):
            types.append(node.slice)
    return {(n.lineno, n.col_offset) for node in types if node for n in ast.walk(node) if isinstance(n, ast.Name)}


def edges_inside(root: Path) -> list[str]:
    """Services, selectors and what is below them that know HTTP or an edge."""
    found = []
    for source in sources(root, "apps"):
        if source.kind not in INNER or source.app == "kernel":
            continue
        for imported in source.imports:
            parts = imported.name.split(".")
            at_edge = parts[0] == "apps" and len(parts) > 2 and parts[1] != "kernel" and parts[2] in EDGES - {"topics"}
            http = HTTP_IN_SELECTORS if source.kind == "selectors" else HTTP
            if at_edge or imported.name.startswith(http):
                found.append(f"{source.at(imported.line)}: {imported.name} below the edges")
    return found


def signals(root: Path) -> list[str]:
    """Receivers of Django signals: behaviour that no caller can see."""
    return [
        f"{source.at(imported.line)}: {imported.name}; say it in a service"
        for source in sources(root, "apps", "console")
        for imported in source.imports
        if imported.name == "django.dispatch.receiver" or imported.name.startswith("django.db.models.signals")
    ]


def other_clocks(root: Path) -> list[str]:
    """Times read anywhere but in `apps.kernel.clock`."""
    clocks = {"datetime.now", "datetime.utcnow", "datetime.datetime.now", "timezone.now", "time.time", "time.monotonic"}
    return [
        f"{source.at(node.lineno)}: {dotted(node.func)}; ask apps.kernel.clock"
        for source in sources(root, "apps")
        if source.rel != "apps/kernel/clock.py"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and dotted(node.func) in clocks
    ]


def _sets_only(source: Source, node: ast.Attribute) -> bool:
    """`os.environ.setdefault("DJANGO_SETTINGS_MODULE", ...)` at an entry point: names the settings, reads nothing of ours."""
    return any(
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.value is node
        and call.func.attr == "setdefault"
        and isinstance(call.args[0], ast.Constant)
        and call.args[0].value == "DJANGO_SETTINGS_MODULE"
        for call in ast.walk(source.tree)
    )


def environment_readers(root: Path) -> list[str]:
    """Readers of the environment besides console/env.py (and the supervisor, which makes its children's)."""
    found = []
    for source in sources(root, "apps", "console"):
        if source.rel.startswith(READS_ENVIRONMENT):
            continue
        found += [
            f"{source.at(node.lineno)}: the environment; declare a setting in console/env.py"
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Attribute) and dotted(node) in {"os.environ", "os.getenv"} and not _sets_only(source, node)
        ]
    return found


RULES = [side_doors, tables_at_edges, edges_inside, signals, other_clocks, environment_readers]


@pytest.mark.parametrize("rule", RULES)
def test_the_tree_keeps_the_rule(rule):
    findings = rule(ROOT)
    assert not findings, "\n".join(findings)


@pytest.mark.parametrize(
    ("rule", "path", "text", "caught"),
    [
        (side_doors, "apps/shell/selectors.py", "from apps.accounts.models import Site\n", True),
        (side_doors, "apps/shell/selectors.py", "def f():\n    import apps.accounts.projections\n", True),
        (side_doors, "console/wiring.py", "from apps.accounts import models\n", True),
        (side_doors, "apps/shell/selectors.py", "from apps.accounts import selectors\nfrom apps.kernel import clock\n", False),
        (side_doors, "console/asgi.py", "from apps.realtime.consumers import Socket\n", False),
        (tables_at_edges, "apps/a/views.py", "from apps.a import models\nx = models.Thing\n", True),
        (tables_at_edges, "apps/a/views.py", "from apps.a.models import Thing\nx = Thing.make()\n", True),
        (tables_at_edges, "apps/a/views.py", "from apps.a.models import Thing\ndef f(x: Thing) -> list[Thing]: ...\n", False),
        (tables_at_edges, "apps/a/api.py", "from django.db import transaction\n", True),
        (tables_at_edges, "apps/a/consumers/socket.py", "x = thing.objects.get()\n", True),
        (tables_at_edges, "apps/a/management/commands/c.py", "x = Thing.objects\n", True),
        (tables_at_edges, "apps/a/views.py", "from apps.a import selectors\n", False),
        (tables_at_edges, "apps/a/selectors.py", "from apps.a.models import Thing\nx = Thing.objects\n", False),
        (edges_inside, "apps/a/services/things.py", "from django.http import HttpRequest\n", True),
        (edges_inside, "apps/a/services.py", "from apps.a.tasks import later\n", True),
        (edges_inside, "apps/a/services.py", "from apps.a import projections\n", False),
        (signals, "apps/a/apps.py", "from django.db.models.signals import post_save\n", True),
        (signals, "apps/a/models.py", "from django.dispatch import receiver\n", True),
        (other_clocks, "apps/a/services.py", "from datetime import datetime\nx = datetime.now()\n", True),
        (other_clocks, "apps/a/lifecycle.py", "import time\nx = time.time()\n", True),
        (other_clocks, "apps/kernel/clock.py", "import time\nx = time.time()\n", False),
        (environment_readers, "apps/a/services.py", "import os\nx = os.environ['A']\n", True),
        (environment_readers, "console/urls.py", "import os\nx = os.getenv('A')\n", True),
        (environment_readers, "console/asgi.py", "import os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'x')\n", False),
        (environment_readers, "console/asgi.py", "import os\nos.environ.setdefault('PILOTHOUSE_DATA', 'x')\n", True),
        (environment_readers, "console/env.py", "import os\nx = os.environ\n", False),
    ],
)
def test_a_planted_violation_is_caught(tmp_path, rule, path, text, caught):
    assert bool(rule(plant(tmp_path, {path: text}))) is caught
