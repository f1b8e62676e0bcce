"""Whether the standing invariants held, judged from outside.

It reads an export of the journal, the records that bridges wrote of themselves, and whatever else lay around where no secret
may stand. It imports nothing of the console or the workers, so that a mistake of theirs is not made here a second time.

| | invariant | read from |
|---|---|---|
| I1 | epochs of a bridge strictly rise; facts come under the newest; one bridge at a time tells of a robot | export |
| I2 | what was acknowledged is in the journal, once, as it was said; no boot has gaps; nothing is made up | both |
| I3 | making every table again from the facts gives the same rows | `manage.py journal replay --check` |
| I4 | digests, links, tree, signatures, and earlier checkpoints | `tools/check_proofs.py` |
| I7 | no secret in records, logs, pages or bodies of errors, in any usual spelling | files, by bytes |
| Stop | a Stop that acted is recorded; what it holds does not move until it is released | both |

Approvals (I5) and jobs (I6) come with what has them. `python -m tests.faults.checker --help` runs it by hand.
"""

from tests.faults.checker.acknowledged import acknowledged
from tests.faults.checker.bridges import Boot, Record, read_record
from tests.faults.checker.canary import canaries
from tests.faults.checker.claims import claims
from tests.faults.checker.findings import Finding
from tests.faults.checker.journal import Export, read_export
from tests.faults.checker.programs import proofs, replay
from tests.faults.checker.stops import stops

__all__ = [
    "Boot",
    "Export",
    "Finding",
    "Record",
    "acknowledged",
    "canaries",
    "claims",
    "proofs",
    "read_export",
    "read_record",
    "replay",
    "stops",
]
