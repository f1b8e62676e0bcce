"""A bridge for tests: each subject is a disc that turns as long as it may, and tells a fact each so many steps.

It writes every angle to `<state>/angles` as it is measured, so that a test can see motion that nobody reported.
"""

import os
import resource
import time
from uuid import uuid4

from workers.edge.base import Bridge, Doing, OrderRefused, main, parser_of
from workers.protocol import Channel, Described, Driver, EpisodeEnded, EpisodeStarted, Mode, Outcome

RUNS_ON_S = 0.06  # a disc is heavy


class Spinner(Bridge):
    """Discs that turn."""

    rate_hz = 50.0
    step_within_s = 0.5
    software = "spinner"

    def __init__(self, *given, options, **named):
        super().__init__(*given, **named)
        self.options = options
        self.angle = dict.fromkeys(self.subjects, 0.0)
        self.turns = dict.fromkeys(self.subjects, False)
        self.told = dict.fromkeys(self.subjects, 0.0)
        self.episodes = {}
        self.count = 0
        self.hang_s = 0.0
        path = (options.state or options.config.parent) / "angles"
        self.angles = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def describe(self, subject):
        return Described(subject=subject, kind="disc", channels=[Channel(name="angle", unit="deg")], is_simulated=True)

    def step(self):
        self.count += 1
        if self.hang_s:
            time.sleep(self.hang_s)
            self.hang_s = 0.0
        for subject in self.subjects:
            if not self.turns[subject] and self.may_move(subject):
                self.turns[subject] = self.begin(subject)
            if self.is_moving(subject):
                self.angle[subject] += 1.0
                os.write(self.angles, f"{time.time():.4f} {subject} {self.angle[subject]}\n".encode())
            if self.turns[subject] and self.count % self.options.facts_each == 0:
                self.fact(subject, EpisodeEnded(episode=self.episodes[subject], outcome=Outcome.SUCCESS, steps=self.count))
                self.begin(subject)

    def begin(self, subject):
        self.episodes[subject] = uuid4()
        return self.fact(subject, EpisodeStarted(episode=self.episodes[subject], task="turn", driver="expert"))

    def sample(self, subject):
        return [self.angle[subject]]

    def report(self, subject):
        mode = Mode.AUTONOMOUS if self.turns[subject] else Mode.HOLD
        return Doing(mode=mode, driver=Driver.EXPERT, task="turn")

    def stop(self, subject):
        if self.turns[subject]:
            self.turns[subject] = False
            self.told[subject] = time.monotonic()

    def is_moving(self, subject):
        return self.turns[subject] or time.monotonic() < self.told[subject] + RUNS_ON_S

    def order(self, order):
        if order.name == "hang":
            self.hang_s = 2.0
            return "hangs"
        if order.name == "kill":
            os.kill(os.getpid(), 9)
        if order.name == "fail":
            raise RuntimeError("a bridge with a fault")
        raise OrderRefused(f"A disc knows no order {order.name}.")


if __name__ == "__main__":
    if name := os.environ.get("PILOTHOUSE_TEST_GUARD_OFF"):
        from tests.guards import switch_off

        switch_off(name)
    parser = parser_of(Spinner.__doc__)
    parser.add_argument("--facts-each", type=int, default=10**9)
    parser.add_argument("--largest-file", type=int, default=0)
    if limit := parser.parse_args().largest_file:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    raise SystemExit(main(Spinner, parser=parser))
