"""One writer: a person who changes their preferences as fast as the console lets them, through the real service.

Run as a program with JSON: {"seconds": n, "number": n, "way": "fast" | "ordinary" | "batch"}. It says that it is ready, and
begins when it reads a line.
"""

import json
import sys
import time
from typing import Any

BATCH = 10


def write(seconds: float, number: int, way: str) -> dict[str, Any]:
    """Write until the time is over; how many events, and how long one act took in the middle."""
    import django

    django.setup()
    from apps.accounts import services
    from apps.accounts.selectors import actor_of_person
    from apps.accounts.services import people
    from apps.kernel.ids import new_id
    from apps.kernel.types import system_actor

    if way == "ordinary":
        people.append_fast = lambda *_, **__: None  # type: ignore[assignment] # the same service by the ORM
    name = f"writer-{number}-{new_id()}"
    person = services.create_person(actor=system_actor("bench"), email=f"{name}@example.test", name=name)
    actor, act = actor_of_person(person, proved_at=None), 0
    ten = _batches(actor) if way == "batch" else None
    taken: list[float] = []
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    ends = time.monotonic() + seconds
    while (now := time.monotonic()) < ends:
        act += 1
        if ten is not None:
            ten(act)
        else:
            services.change_preferences(
                actor=actor,
                theme="dark" if act % 2 else "light",
                density="compact",
                single_keys=bool(act % 3),
                idempotency_key=f"{name}-{act}",
            )
        taken.append(time.monotonic() - now)
    taken.sort()
    return {
        "events": act * (BATCH if ten else 1),
        "p50_ms": taken[len(taken) // 2] * 1000,
        "p99_ms": taken[-1 - len(taken) // 100] * 1000,
    }


def _batches(actor: Any) -> Any:
    """Ten facts in one transaction with one key, as a bridge hands over what it spooled."""
    from apps.journal.events import event
    from apps.journal.services import append_fast, operation
    from apps.journal.types import Payload

    @event("bench.counted")
    class Counted(Payload):
        number: int
        at_device_ms: int

    stream = f"bench.stream:{actor.id}"
    with operation(actor, "bench.count") as unit:
        unit.append(stream, [Counted(number=0, at_device_ms=0)])

    def ten(act: int) -> None:
        facts = [Counted(number=act * BATCH + one, at_device_ms=1_700_000_000_000 + act) for one in range(BATCH)]
        if append_fast(actor, "bench.count", stream=stream, payloads=facts, key=f"{act}", request={"act": act}) is None:
            raise RuntimeError("the batch was not taken")

    return ten


if __name__ == "__main__":
    sys.stdout.write(json.dumps(write(**json.loads(sys.argv[1]))))
