"""`python -m tests.faults.checker EXPORT [--record FILE ...] [--settled] [--earlier FILE ...] [--data FOLDER]`

`[--secrets FILE --look PLACE ...]`: each line of the file is a secret, and none may stand in a place. Exit code 0 when all
invariants hold that could be judged from what was given; else 1, with a line for each place where one does not.
"""

import argparse
import sys
from pathlib import Path

from tests.faults.checker import acknowledged, canaries, claims, proofs, read_export, read_record, replay, stops


def main() -> int:
    """Check, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("export", type=Path)
    parser.add_argument("--record", type=Path, action="append", default=[], help="what a bridge wrote with --log")
    parser.add_argument("--settled", action="store_true", help="everybody had time to send all they kept")
    parser.add_argument("--earlier", type=Path, action="append", default=[], help="an older export or checkpoint")
    parser.add_argument("--data", type=Path, help="data folder of the deployment, to make its tables again")
    parser.add_argument("--secrets", type=Path, help="file with one secret a line")
    parser.add_argument("--look", type=Path, action="append", default=[], help="file or folder that must hold none of them")
    given = parser.parse_args()
    export, records = read_export(given.export), [read_record(path) for path in given.record]
    found = [
        *claims(export),
        *acknowledged(export, records, settled=given.settled),
        *stops(export, records, settled=given.settled),
        *proofs(given.export, earlier=given.earlier),
        *(replay(data=given.data) if given.data else ()),
        *(canaries(given.secrets.read_text().split(), [given.export, *given.record, *given.look]) if given.secrets else ()),
    ]
    for one in found:
        print(one)
    print(f"{len(export.events)} facts, {len(records)} records: {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
