"""The tree as the rules of this folder read it: Python files parsed once, imports by full name, templates and scripts."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = ("apps", "console", "workers")
EVERYTHING = (*CODE, "tests", "tools")
SKIPPED = {"__pycache__", "node_modules", "vendor", ".venv", "build", "var"}


@dataclass(frozen=True)
class Import:
    """One imported name, in full: `apps.accounts.selectors.sites_of`."""

    name: str
    line: int


class Source:
    """One Python file."""

    def __init__(self, root: Path, path: Path) -> None:
        self.path = path
        self.rel = path.relative_to(root).as_posix()
        self.parts = self.rel.removesuffix(".py").split("/")

    @cached_property
    def text(self) -> str:
        return self.path.read_text()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def app(self) -> str | None:
        """The app this file belongs to."""
        return self.parts[1] if self.parts[0] == "apps" and len(self.parts) > 2 else None

    @property
    def kind(self) -> str:
        """What kind of file of its app this is: the third part of its path."""
        return self.parts[2] if self.app else ""

    @cached_property
    def imports(self) -> list[Import]:
        """Every imported name, also those inside functions; relative ones resolved."""
        found = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found += [Import(alias.name, node.lineno) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                here = self.parts[: -node.level] if node.level else []
                module = ".".join([*here, *([node.module] if node.module else [])])
                found += [Import(f"{module}.{alias.name}", node.lineno) for alias in node.names]
        return found

    @cached_property
    def strings(self) -> set[str]:
        """Every string constant."""
        return {node.value for node in ast.walk(self.tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}

    def at(self, line: int) -> str:
        """A place, for a finding."""
        return f"{self.rel}:{line}"


def files(root: Path, tops: tuple[str, ...], *suffixes: str) -> Iterator[Path]:
    """Files under some top folders by suffix, without what others wrote."""
    for top in tops:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in suffixes and path.is_file() and not SKIPPED & set(path.relative_to(root).parts):
                yield path


def sources(root: Path, *tops: str) -> list[Source]:
    """Python files under some top folders."""
    return [Source(root, path) for path in files(root, tops or CODE, ".py")]


def dotted(node: ast.AST) -> str:
    """`a.b.c` for an attribute chain, else an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""


def plant(root: Path, files_by_path: dict[str, str]) -> Path:
    """Write a small tree, so that a rule can be seen to catch what it forbids."""
    for name, text in files_by_path.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root
