"""`manage.py status`: what runs in a data folder."""

import json
import time
from typing import Any

import psutil

from console.supervisor.folder import DataFolder
from console.supervisor.supervision import announce


def report(folder: DataFolder) -> dict[str, Any]:
    """State of every process: what the supervisor noted last, with memory and age as they are now."""
    holder = folder.holder()
    answer: dict[str, Any] = {"data": str(folder.path), "running": holder is not None, "serving": False, "processes": []}
    if holder is None:
        return answer
    answer |= {"pid": holder.pid, "url": holder.url, "age": round(time.time() - holder.started, 1)}
    answer["memory"] = _memory(holder.pid, recursive=False)
    try:
        noted = json.loads(folder.status.read_text())
    except (OSError, ValueError):
        return answer
    answer["serving"] = noted["serving"]
    for process in noted["processes"]:
        age = time.time() - process.pop("since")
        pid = process["pid"]
        answer["processes"].append(process | {"age": round(age, 1), "memory": _memory(pid) if pid else 0})
    return answer


def _memory(pid: int, *, recursive: bool = True) -> int:
    """Resident bytes of a process and its descendants."""
    total = 0
    try:
        top = psutil.Process(pid)
        for one in [top, *(top.children(recursive=True) if recursive else [])]:
            total += one.memory_info().rss
    except psutil.Error:
        return total
    return total


def status(folder: DataFolder, *, as_json: bool) -> int:
    """Print the report. The code is 0 where the console serves, 3 where it does not."""
    found = report(folder)
    if as_json:
        announce(json.dumps(found, indent=1))
    elif not found["running"]:
        announce(f"Nothing runs in {folder.path}.")
    else:
        announce(f"{found['url']}  {'serving' if found['serving'] else 'starting'}  process {found['pid']}")
        announce(f"{'process':<10} {'state':<11} {'pid':>7} {'restarts':>8} {'for':>9} {'memory':>8} {'port':>6}")
        for one in found["processes"]:
            announce(
                f"{one['name']:<10} {one['state']:<11} {one['pid'] or '':>7} {one['restarts']:>8} {one['age']:>8.0f}s "
                f"{one['memory'] // 2**20:>5} MB {one['port'] or '':>6}"
            )
    return 0 if found["serving"] else 3
