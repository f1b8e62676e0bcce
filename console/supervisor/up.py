"""`manage.py up`: check, start, serve, stop."""

import hashlib
import json
from collections.abc import Iterable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from console.embedded import postgres
from console.embedded.faults import Fault
from console.processes import ARMS, CORE, DEMO, PROCESSES, PROFILES, Process, chosen
from console.supervisor.folder import DataFolder
from console.supervisor.logs import Follower
from console.supervisor.plan import ROOT, Plan
from console.supervisor.supervision import Supervision, announce


def up(
    folder: DataFolder,
    port: int,
    profiles: Iterable[str] = (),
    *,
    demo: bool = False,
    without: Iterable[str] = (),
    verbose: bool = False,
    processes: Iterable[Process] = PROCESSES,
) -> int:
    """Run until told to stop. Raises Fault, with nothing left running, if it cannot."""
    wanted = list(profiles)
    unknown = sorted(set(wanted) - set(PROFILES))
    if unknown:
        known = ", ".join(PROFILES) or "none yet"
        raise Fault(f"--with {','.join(unknown)}: there is no such part (known: {known}).", 2)
    folder.open()
    folder.lock()
    try:
        plan = Plan(folder, chosen([*wanted, DEMO] if demo else wanted, processes), port, demo=demo)
        announce(f"Starting Pilothouse in {folder.path}")
        plan.say = announce
        _leave_out(plan, without)
        plan.sweep()
        plan.claim_ports()
        folder.sign(plan.url)
        if folder.read_marker() is None:
            announce("First start: making the database and secrets")
        plan.make_engines()
        folder.update_marker(postgres=postgres.major() if plan.cluster else None)
        _decide_preparation(plan)
        try:
            Supervision(plan, announce, Follower() if verbose else None).run(lambda: _serving(plan))
        finally:
            if plan.addresses:
                plan.addresses.close()
            (folder.run / "supervisor.json").unlink(missing_ok=True)
        announce("Stopped.")
        return 0
    finally:
        folder.unlock()


def _leave_out(plan: Plan, names: Iterable[str]) -> None:
    """Drop what is not wanted, and arms that could not move here. Raises Fault for what is no part that can be left out."""
    optional = {process.name for process in plan.processes if process.profile != CORE}
    for name in names:
        if name not in optional:
            raise Fault(f"--without {name}: only these may be left out: {', '.join(sorted(optional)) or 'none'}.", 2)
        plan.drop(name)
    if any(process.name == ARMS.name for process in plan.processes) and find_spec("mujoco") is None:
        plan.drop(ARMS.name)
        announce("Without moving arms: the packages of workers are not installed here (`make demo` installs them)")


def _decide_preparation(plan: Plan) -> None:
    """Say what `prepare` has to do this time: nothing, if neither code nor packages nor the wish for a demo changed."""
    known = plan.folder.read_marker() or {}
    plan.fingerprint = fingerprint()
    seeds = set(known.get("seeded", []))
    plan.seeds = seeds | {"base"} | ({"demo"} if plan.demo else set())
    # A demo of an earlier version has no robots yet.
    has_robots = not plan.demo or (plan.folder.path / "secrets" / "arms.json").exists()
    is_seeded = plan.seeds == seeds and has_robots
    same = known.get("prepared") == plan.fingerprint and is_seeded
    words = ["--static"]
    if not is_seeded:
        words.append("--demo" if plan.demo else "--seed")
    plan.drop("prepare") if same else plan.extend("prepare", words)


def fingerprint(root: Path = ROOT) -> str:
    """Digest of what migrations and static files come from. Equal digests: a start may leave both as they are."""
    digest = hashlib.sha256()
    for distribution in sorted(f"{one.name} {one.version}" for one in metadata.distributions()):
        digest.update(distribution.encode())
    for path in sorted(root.glob("apps/*/migrations/*.py")):
        digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    for top in ("static", "apps"):
        for path in sorted((root / top).rglob("*")):
            if path.is_file() and (top == "static" or "static" in path.relative_to(root).parts):
                found = path.stat()
                digest.update(f"{path.relative_to(root)} {found.st_size} {found.st_mtime_ns}".encode())
    return digest.hexdigest()


def _serving(plan: Plan) -> None:
    if plan.fingerprint:
        plan.folder.update_marker(prepared=plan.fingerprint, seeded=sorted(plan.seeds))
    announce("")
    announce(f"Pilothouse serves at {plan.url}")
    if plan.demo:
        for line in accounts_table(plan.folder.accounts):
            announce(line)
    elif plan.folder.accounts.exists():
        announce(f"Accounts made at the first start are in {plan.folder.accounts}")
    announce("Ctrl-C stops it.")


def accounts_table(path: Path) -> list[str]:
    """The demo accounts the seed made, as lines; they are shown on this machine only."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return []
    accounts = found.get("accounts", found) if isinstance(found, dict) else found
    rows = [
        (str(one.get("email", "")), str(one.get("password", "")), _words(one.get("roles", one.get("role", ""))))
        for one in accounts
        if isinstance(one, dict)
    ]
    if not rows:
        return []
    width = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return ["", "Demo accounts, made at the first start:"] + [
        f"  {email:<{width[0]}}  {password:<{width[1]}}  {roles}" for email, password, roles in rows
    ]


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
