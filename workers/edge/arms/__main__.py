"""`python -m workers.edge.arms --config arms.json --weights FOLDER [--count 12] [--fault NAME:ARM:SECONDS]`."""

from pathlib import Path

from workers.edge.arms.bridge import Arms
from workers.edge.arms.orders import wish_from
from workers.edge.base import main, parser_of

ATTENDANT_S = 180.0
parser = parser_of("Simulated arms at their benches, in one process.")
parser.add_argument("--weights", type=Path, required=True, help="folder that keeps the trained policy")
parser.add_argument("--seed", type=int, help="first scene of each arm; another one at each start if not given")
parser.add_argument("--expert", action="store_true", help="let the scripted expert drive, and train nothing")
parser.add_argument("--fault", type=wish_from, action="append", default=[], help="NAME[:ARM[:SECONDS]], as often as wanted")
parser.add_argument(
    "--attendant",
    type=float,
    default=ATTENDANT_S,
    help="seconds after which a simulated attendant resets what waits for a person on the floor; 0 for never (%(default)g)",
)

if __name__ == "__main__":
    raise SystemExit(main(Arms, parser=parser))
