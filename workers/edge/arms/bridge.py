"""The bridge of the simulated arms."""

import itertools
import logging
import os
import random
import signal
import time
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from workers.edge.arms.arm import Arm
from workers.edge.arms.cameras import Cameras
from workers.edge.arms.channels import CAMERAS, CHANNELS
from workers.edge.arms.learner import Learner
from workers.edge.arms.orders import CLEAR, INJECT, RESET, Wish, cleared_by, wish_of
from workers.edge.arms.telemetry import Disorder
from workers.edge.arms.waiting import Waiting
from workers.edge.base import Bridge, Config, Doing, OrderRefused, Shot
from workers.protocol import Described, NeedsReset, Order, WasReset
from workers.protocol.facts import AnyBody
from workers.sims.bench import CONTROL_S, SUBSTEPS
from workers.sims.faults import CLOCK_SKEW_MS, LINK_LOSS_S, OF_THE_BRIDGE, Fault, Knobs
from workers.sims.scenes import TASK

FIRST_SEED, SEEDS_OF_ONE = 2_000_000, 1_000_000  # scenes that no training and no measurement uses
_log = logging.getLogger(__name__)


class Arms(Bridge):
    """Simulated arms of `workers.sims`, each at its own bench."""

    rate_hz = 1 / CONTROL_S
    software = "simulated arms"

    def __init__(self, config: Config, *, folder: Path, options: Namespace, log: Path | None = None) -> None:
        super().__init__(config, folder=folder, log=log)
        self._options = options
        first = random.randrange(1000) * 100 if options.seed is None else options.seed  # noqa: S311 - which scenes come
        _log.info("scenes from seed %d on", first)
        self._arms = {
            subject: Arm(self.names[subject], self._seeds(first, place), partial(self._keep, subject))
            for place, subject in enumerate(self.subjects)
        }
        self._waiting = Waiting(folder)
        for subject, arm in self._arms.items():
            if (waits := self._waiting.of(subject)) is not None:
                arm.go_on_waiting(*waits)
        self._learner = Learner(options.weights)
        self._cameras = Cameras(self._arms, self.clock.now_ms)
        self.pictures_hz = self._cameras.rate_hz
        self._own = Knobs()  # faults of the bridge itself
        self._is_leaving = False
        self._asked: set[str] = set()  # whom the watchdog told to stop, until the next part of a step heeds it
        arms = list(self._arms.values())
        self.client.shape = Disorder(
            lambda place: Fault.DUPLICATE_TELEMETRY in arms[place].knobs,
            lambda place: Fault.REORDER_TELEMETRY in arms[place].knobs,
        )

    @staticmethod
    def _seeds(first: int, place: int) -> Iterator[int]:
        return itertools.count(FIRST_SEED + place * SEEDS_OF_ONE + first)

    def _keep(self, subject: str, body: AnyBody) -> None:
        self.fact(subject, body)
        try:
            if isinstance(body, NeedsReset):
                self._waiting.begin(subject, body.reason, self._arms[subject].held_mode)
            elif isinstance(body, WasReset):
                self._waiting.end(subject)
        except OSError as error:
            _log.error("that %s waits is not on disk: %s", subject, error)

    def prepare(self) -> None:
        """Begin to learn, and turn the knobs that the command line asks for."""
        if not self._options.expert:
            self._learner.start()
        for wish in self._options.fault:
            for subject, arm in self._arms.items():
                if wish.arm in ("", arm.name):
                    self._inject(subject, wish)

    def describe(self, subject: str) -> Described:
        """A simulated arm and its one camera."""
        return Described(subject=subject, kind="arm", channels=CHANNELS, cameras=CAMERAS, is_simulated=True)

    def step(self) -> None:
        """One action of every arm, in parts of 20 ms so that a Stop takes effect within one of them."""
        began = time.monotonic()
        self._turn_back_what_is_over(began)
        self._decide()
        for part in range(SUBSTEPS):
            for subject, arm in self._arms.items():
                self._heed(subject, arm)
                arm.advance()
            rest = began + (part + 1) * CONTROL_S / SUBSTEPS - time.monotonic()
            if rest > 0 and part < SUBSTEPS - 1:
                time.sleep(rest)
        if self._is_leaving:
            self._leave()
            return
        skill = self._learner.trained
        for subject, arm in self._arms.items():
            arm.settle(skill, may_move=self.may_move(subject))

    def end(self) -> None:
        """End after this step, with every episode."""
        self._is_leaving = True

    def _leave(self) -> None:
        for arm in self._arms.values():
            arm.interrupt("the bridge ended")
        super().end()

    def _decide(self) -> None:
        waits = self._options.attendant
        rows = [(arm, seen) for arm in self._arms.values() if (seen := arm.observation()) is not None]
        answers: dict[Arm, list[float]] = {}
        if rows and rows[0][0].skill is not None:
            found = rows[0][0].skill.policy.act([seen for _, seen in rows])  # one policy, one call for all
            answers = {arm: answer for (arm, _), answer in zip(rows, found, strict=True)}
        for subject, arm in self._arms.items():
            if waits and self.may_move(subject) and arm.held_steps * CONTROL_S >= waits:
                _log.info("%s: reset by the simulated attendant", arm.name)
                arm.reset()
            arm.decide(answers.get(arm))

    def _heed(self, subject: str, arm: Arm) -> None:
        is_held = self.stops.latch.holds(subject)
        if is_held or subject in self._asked:
            self._asked.discard(subject)
            if not arm.is_standing:
                arm.interrupt("stopped" if is_held else "the simulation fell behind")

    def _turn_back_what_is_over(self, now: float) -> None:
        if Fault.CLOCK_SKEW in self._own.expire(now):
            self.clock.skew_ms = 0.0
        for arm in self._arms.values():
            arm.expire(now)

    def sample(self, subject: str) -> Sequence[float | None]:
        """In the order of the channels, as measured after the last action."""
        return self._arms[subject].values

    def report(self, subject: str) -> Doing:
        """What the arm does; injected faults are said openly."""
        arm = self._arms[subject]
        faults = [fault.value for fault in (*arm.knobs.on, *self._own.on)]
        return Doing(
            mode=arm.mode,
            driver=arm.driver,
            task=TASK,
            activity=arm.activity,
            skill=arm.skill_name,
            episode=arm.episode,
            step=arm.judge.steps if arm.episode else 0,
            needs_reset=arm.needs_reset,
            faults=(*faults, self._cameras.fault) if self._cameras.fault else tuple(faults),
        )

    def stop(self, subject: str) -> None:
        """The next part of a step, 20 ms away at most, holds the arm where it is."""
        arm = self._arms[subject]
        if arm.moves or not arm.is_standing:
            self._asked.add(subject)

    def is_moving(self, subject: str) -> bool:
        """Whether a joint turned in the last part of a step, or a Stop was not heeded yet."""
        return subject in self._asked or self._arms[subject].moves

    def pictures(self) -> Iterable[Shot]:
        """The next arm's."""
        return self._cameras.next_shot()

    def order(self, order: Order) -> str:
        """`reset_scene`, `inject_fault`, `clear_fault`."""
        arm = self._arms[order.subject]
        if order.name == RESET:
            if not self.may_move(order.subject):
                raise OrderRefused("It may not move now: a Stop holds it, or its bridge just began.")
            arm.reset()
            return "The scene is laid out anew."
        if order.name == INJECT:
            wish = wish_of(order.arguments)
            self._inject(order.subject, wish)
            return f"{wish.fault} " + (f"for {wish.seconds:g} s" if wish.seconds else "until it is cleared")
        if order.name == CLEAR:
            faults = cleared_by(order.arguments)
            arm.turn_back(faults)
            self._turn_back(faults)
            return "Cleared."
        raise OrderRefused(f"These arms know no order {order.name}.")

    def _inject(self, subject: str, wish: Wish) -> None:
        now = time.monotonic()
        if wish.fault not in OF_THE_BRIDGE:
            self._arms[subject].turn(wish.fault, wish.seconds, now)
        elif wish.fault is Fault.LINK_LOSS:
            self.client.cut_for(wish.seconds or LINK_LOSS_S)
        elif wish.fault is Fault.PROCESS_KILL:
            _log.warning("killed by its own fault knob")
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            self._own.turn_on(wish.fault, wish.seconds, now)
            self.clock.skew_ms = CLOCK_SKEW_MS

    def _turn_back(self, faults: Iterable[Fault]) -> None:
        for fault in faults:
            if self._own.turn_off(fault) and fault is Fault.CLOCK_SKEW:
                self.clock.skew_ms = 0.0

    def close(self) -> None:
        """End training and let go of the pictures."""
        self._learner.close()
        self._cameras.close()
        self._waiting.close()
