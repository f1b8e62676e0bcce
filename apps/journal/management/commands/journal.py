"""`manage.py journal tail|verify|seal|export|replay`."""

import json
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.journal import services
from apps.journal.lifecycle.notes import BadNote, VerifierKey, read
from apps.kernel import clock
from apps.kernel.ids import parse_id

SEAL_WITHIN_S = 30


class Command(BaseCommand):
    """Runs the tail of the journal, and proves what it holds."""

    help = "Number, seal and hand on facts (tail, seal); prove that they are whole (verify, replay, export)."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """One word says what to do."""
        words = parser.add_subparsers(dest="what", required=True)
        verify = words.add_parser("verify", help="compare every fact with its digest, its stream and what was sealed")
        verify.add_argument("--json", action="store_true", help="for programs")
        verify.add_argument("--record", action="store_true", help="keep the result for the journal page")
        verify.add_argument("--against", action="append", default=[], help="a checkpoint or an export kept elsewhere")
        verify.add_argument("--key", action="append", default=[], help="a public key that signed those")
        tail = words.add_parser("tail", help="number, seal and hand on facts until stopped")
        tail.add_argument("--once", action="store_true", help="only what there is now")
        seal = words.add_parser("seal", help="seal now, and print the checkpoint to keep elsewhere")
        seal.add_argument("--restart", metavar="WHY", help="set the checkpoints aside and start from what the database has")
        export = words.add_parser("export", help="write facts with what proves them")
        export.add_argument("file", help="where to; - for the standard output")
        export.add_argument("--site", help="only what concerns this site, by id")
        export.add_argument("--earlier", type=int, action="append", default=[], help="size of a checkpoint you hold")
        replay = words.add_parser("replay", help="make every table again from the facts, beside the live one, and compare")
        replay.add_argument("--check", action="store_true", help="exit code 1 where one differs")
        replay.add_argument("--json", action="store_true", help="for programs")
        for one in (parser, verify, tail, seal, export, replay):
            one.add_argument("--data", help="data folder of the deployment to speak to")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it."""
        getattr(self, f"_{options['what']}")(options)

    def _tail(self, options: dict[str, Any]) -> None:
        if options["once"]:
            self.stdout.write(f"{services.catch_up(seal=_folder())} new events.")
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        services.Tail(_folder(), stop).run()

    def _seal(self, options: dict[str, Any]) -> None:
        try:
            if options["restart"] is not None:
                services.restart_sealing(_folder(), why=options["restart"])
            note = services.seal_now(_folder(), within_s=SEAL_WITHIN_S)
        except (services.SealFault, RuntimeError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(note if note else "There is nothing to seal yet.\n", ending="")

    def _verify(self, options: dict[str, Any]) -> None:
        """Exit code 0 when it holds, 1 when it does not."""
        try:
            notes, keys = _held(options["against"])
            keys += [VerifierKey.parse(text) for text in options["key"]]
        except (BadNote, OSError, ValueError) as error:
            raise CommandError(f"This cannot be compared with: {error}") from error
        folder = _folder() if _folder().keys.exists() else None
        begun = clock.now()
        found = services.verify_journal(folder, against=notes, keys=keys)
        if options["record"]:
            services.record_verification(found, started_at=begun, is_seal_checked=folder is not None)
        if options["json"]:
            self.stdout.write(json.dumps(asdict(found), indent=1))
        else:
            self._tell(found, "" if folder else " The folder of the seal is not here: checkpoints are the database's own.")
        if found.faults:
            sys.exit(1)

    def _tell(self, found: Any, remark: str) -> None:
        for fault in found.faults:
            self.stdout.write(str(fault))
        if found.more:
            self.stdout.write(f"and {found.more} more")
        verdict = f"{len(found.faults) + found.more} faults" if found.faults else "everything holds"
        sealed = f"{found.sealed} compared with {found.checkpoints} checkpoints"
        self.stdout.write(f"{found.events} events in {found.streams} streams, {sealed}: {verdict}.{remark}")

    def _export(self, options: dict[str, Any]) -> None:
        site = parse_id(options["site"]) if options["site"] else None
        if options["site"] and site is None:
            raise CommandError("Give the id of a site.")
        lines = services.export_lines(site_id=site, earlier=options["earlier"])
        if options["file"] == "-":
            for line in lines:
                self.stdout.write(line, ending="")
            return
        with Path(options["file"]).open("x", encoding="utf-8") as file:
            file.writelines(lines)

    def _replay(self, options: dict[str, Any]) -> None:
        services.use_owner_role(settings.OWNER_DATABASE)
        found = services.replay(say=lambda count: self.stderr.write(f"{count} events applied"))
        if options["json"]:
            self.stdout.write(json.dumps([asdict(one) | {"holds": one.holds} for one in found], indent=1))
        else:
            for one in found:
                self.stdout.write(f"{'holds' if one.holds else 'DIFFERS'}  {one.table}  {one.rows} rows  {one.digest[:16]}")
                for line in one.missing:
                    self.stdout.write(f"    only in the facts: {line}")
                for line in one.extra:
                    self.stdout.write(f"    only in the table: {line}")
        if options["check"] and not all(one.holds for one in found):
            sys.exit(1)


def _folder() -> services.SealFolder:
    return services.SealFolder(settings.SEAL_FOLDER)


def _held(files: list[str]) -> tuple[list[str], list[VerifierKey]]:
    """Checkpoints and keys in files that somebody kept: checkpoints as text, lines of `checkpoints.jsonl`, or exports."""
    notes: list[str] = []
    keys: list[VerifierKey] = []
    for name in files:
        with Path(name).open(encoding="utf-8") as file:
            for text in _texts(file.read(1), file):
                if isinstance(text, list):
                    keys += [VerifierKey.parse(one) for one in text]
                else:
                    read(text)
                    notes.append(text)
    return notes, keys


def _texts(first: str, file: Any) -> Iterator[Any]:
    if first != "{":
        yield first + file.read()
        return
    for number, line in enumerate(file):
        if number == 0 or not line.startswith('{"event"'):
            found = json.loads(first + line if number == 0 else line)
            if "keys" in found:
                yield found["keys"]
            if "note" in found or "checkpoint" in found:
                yield found.get("note") or found["checkpoint"]
