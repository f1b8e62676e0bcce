"""Arms as tests want them: alone with the facts they tell, or a whole bridge that is not connected."""

import itertools
import time
from argparse import Namespace
from uuid import uuid4

from workers.edge.arms.arm import Arm, Stage
from workers.edge.arms.bridge import Arms
from workers.edge.base import Config, Subject
from workers.protocol import Order
from workers.sims.bench import SUBSTEPS


class Alone:
    """One arm, advanced by hand as its bridge would."""

    def __init__(self, first_seed=2_000_000, skill=None):
        self.facts, self.skill = [], skill
        self.arm = Arm("arm-01", itertools.count(first_seed), self.facts.append)

    def step(self, count=1, answer=None, *, may_move=True):
        for _ in range(count):
            self.arm.observation()
            self.arm.decide(answer)
            for _ in range(SUBSTEPS):
                self.arm.advance()
            self.arm.settle(self.skill, may_move=may_move)

    def until(self, stage, most=200):
        for _ in range(most):
            if self.arm.stage is stage:
                return
            self.step()
        raise AssertionError(f"{self.arm.stage} and not {stage} after {most} steps")

    def said(self, kind):
        return [fact for fact in self.facts if isinstance(fact, kind)]


def bridge_of(folder, count=2, **options):
    """A bridge of that many arms, its console never heard of."""
    config = Config(
        url="ws://127.0.0.1:1/machine",
        credential="none",
        bridge="arms",
        subjects=[Subject(subject=f"robot:{uuid4()}", name=f"arm-{number:02d}") for number in range(1, count + 1)],
    )
    given = {"seed": 0, "expert": True, "weights": folder / "weights", "fault": [], "attendant": 0.0, **options}
    return Arms(config, folder=folder / "state", options=Namespace(**given))


def settled(bridge):
    """As if the console had been heard a while ago."""
    bridge._settled_at = time.monotonic() - 1
    return bridge


def ask(bridge, order, /, arm=0, **arguments):
    """An order as it comes from the console; returns its detail."""
    return bridge.order(Order(order=uuid4(), subject=bridge.subjects[arm], name=order, arguments=arguments))


def arm_of(bridge, place=0):
    return bridge._arms[bridge.subjects[place]]


__all__ = ["Alone", "Stage", "arm_of", "ask", "bridge_of", "settled"]
