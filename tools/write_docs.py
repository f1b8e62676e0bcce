"""Write the tables of the documentation that the code knows better. Run by `make docs`; a test compares them.

A table stands between `<!-- generated: NAME -->` and `<!-- end -->`.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def settings_table() -> str:
    """Every setting of console/env.py."""
    from console import env

    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for variable in env.VARIABLES:
        default = variable.default.replace(f"{env.ROOT}/", "")
        shown = f"`{default}`" if default else "empty"
        secret = " Secret." if variable.secret else ""
        rows.append(f"| `{env.PREFIX}{variable.name}` | {shown} | {variable.meaning}{secret} |")
    return "\n".join(rows) + "\n"


def processes_table() -> str:
    """Every process of console/processes.py."""
    from console import processes

    return processes.table()


def connections_table() -> str:
    """How many PostgreSQL connections the processes may hold together."""
    from console import processes

    rows = ["| | connections |", "|---|---|"]
    for process in processes.PROCESSES:
        if process.pool:
            most = process.pool * process.pools * process.count
            parts = " x ".join(str(part) for part in (process.count, process.pools, process.pool))
            rows.append(f"| {process.name} (processes x pools x size: {parts}) | {most} |")
    rows.append(f"| migrations, backup, doctor, a person with psql | {processes.TOOLS_CONNECTIONS} |")
    rows.append(f"| reserved for the superuser | {processes.SUPERUSER_CONNECTIONS} |")
    rows.append(f"| **needed** | **{processes.connections_needed()}** |")
    rows.append(f"| `max_connections` is set to | {processes.max_connections()} |")
    return "\n".join(rows) + "\n"


TABLES: dict[str, Callable[[], str]] = {
    "settings": settings_table,
    "processes": processes_table,
    "connections": connections_table,
}


def renewed(text: str) -> str:
    """The page with each of its tables made again. Raises KeyError for a table that nobody makes."""
    pattern = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
    return pattern.sub(lambda found: f"{found[1]}\n{TABLES[found[2]]()}\n{found[3]}", text)


def pages() -> list[Path]:
    """Every page of the documentation."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def main() -> int:
    """Renew every page. Returns the exit status."""
    for page in pages():
        text = page.read_text()
        fresh = renewed(text)
        if fresh != text:
            page.write_text(fresh)
            print(f"docs: {page.relative_to(ROOT)} renewed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
