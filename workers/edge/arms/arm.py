"""One simulated arm: its bench, the episode it is in, and what it does between episodes."""

import threading
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from uuid import UUID, uuid4

from numpy.random import Generator

from workers.edge.arms.channels import measured
from workers.protocol import Driver, EpisodeEnded, EpisodeStarted, Mode, NeedsReset, Outcome, WasReset
from workers.protocol.facts import ActionRefused, AnyBody
from workers.sims.bench import CONTROL_S, HOME, Bench, Sight
from workers.sims.episodes import sensor_noise
from workers.sims.expert import NAME as EXPERT
from workers.sims.expert import expert_action, home_action
from workers.sims.faults import Fault, Knobs, spoiled
from workers.sims.guard import refusal
from workers.sims.policy import Observation, Trained, observe
from workers.sims.scenes import TASK, scene_of
from workers.sims.task import End, Judge, phase

_SHOWN_STEPS = 8  # how long the end of an episode can be looked at
_HOME_STEPS = 60
_HOME_M = 0.015


class Stage(StrEnum):
    """What an arm is at; the text is what people read where nothing more is to be said."""

    WAITING = "waiting to begin"
    RUNNING = "at its task"
    SHOWING = "episode over"
    RETURNING = "going back to the start"
    HELD = "waiting for a person on the floor"


class Arm:
    """Decides once every 0.1 s, moves in parts of 20 ms. `tell` keeps a fact; `lock` is held while the bench moves."""

    def __init__(self, name: str, seeds: Iterator[int], tell: Callable[[AnyBody], object]) -> None:
        self.name, self._seeds, self._tell = name, seeds, tell
        self.bench, self.knobs, self.lock = Bench(), Knobs(), threading.Lock()
        self.stage = Stage.WAITING
        self.skill: Trained | None = None  # of this episode; None is the expert
        self.episode: UUID | None = None
        self.judge = Judge()
        self.needs_reset = ""
        self.held_mode = Mode.FAULT
        self.said = ""  # how the last episode ended
        self.is_being_reset = False
        self.moves = False
        self.held_steps = 0
        self.values: list[float | None] = []
        self._steps, self._is_fresh = 0, False
        self._draw: Generator = sensor_noise(0)
        self.sight: Sight = self.bench.see()
        self._lay_out()
        self.settle(None, may_move=False)

    # Deciding, once for each action.

    def observation(self) -> Observation | None:
        """What the policy must be asked with; None when it does not drive now."""
        if self.stage is Stage.RUNNING and self.skill is not None:
            return observe(self.sight, self._draw)
        return None

    def decide(self, answer: Sequence[float] | None) -> None:
        """Choose the next action. `answer` is the policy's to the observation that was just taken."""
        self.held_steps = self.held_steps + 1 if self.stage is Stage.HELD else 0
        if self.stage is Stage.RUNNING:
            wanted = expert_action(self.sight, self.bench.scene.half[2]) if answer is None else answer
            self._try(spoiled(wanted, self.sight.aimed, self.knobs))
        elif self.stage is Stage.RETURNING:
            self._try(home_action(self.sight))

    def _try(self, action: Sequence[float]) -> None:
        reason = refusal(action, self.sight.aimed)
        if not reason:
            self.bench.aim(action)
            return
        self.bench.hold()
        self._tell(ActionRefused(episode=self.episode, reason=reason))
        self._end(Outcome.UNSAFE, reason)
        self._hold_for_person(f"an action was refused: {reason}", Mode.HOLD)

    # Moving, five times for each action.

    def advance(self) -> None:
        """20 ms of simulated time."""
        with self.lock:
            self.bench.advance()
            self.moves = self.bench.moves

    def settle(self, skill: Trained | None, *, may_move: bool) -> None:
        """After an action: see what came of it, and go on to what is next. A new episode is driven by `skill`."""
        before, self.sight = self.sight, self.bench.see()
        self.values = measured(self.bench, self.sight, before, CONTROL_S)
        self._steps += 1
        match self.stage:
            case Stage.RUNNING:
                end = self.judge.look(self.bench, self.sight)
                if end is not None:
                    self._over(end)
            case Stage.SHOWING if self._steps >= _SHOWN_STEPS:
                self._go(Stage.RETURNING)
            case Stage.RETURNING if self._is_home():
                self._lay_out()
            case Stage.RETURNING if self._steps >= _HOME_STEPS:
                self._hold_for_person("the arm does not get back to its start", Mode.FAULT)
            case Stage.WAITING if may_move:
                if self._is_fresh:
                    self._begin(skill)
                else:
                    self._go(Stage.RETURNING)

    def _is_home(self) -> bool:
        return max(abs(have - want) for have, want in zip(self.sight.tip, HOME, strict=True)) < _HOME_M

    def _lay_out(self) -> None:
        with self.lock:
            self.bench.lay_out(scene_of(next(self._seeds)))
        self.sight, self._is_fresh = self.bench.see(), True
        self._draw = sensor_noise(self.bench.scene.seed)
        if self.is_being_reset:
            self.is_being_reset = False
            self._tell(WasReset())
        self._go(Stage.WAITING)

    def _begin(self, skill: Trained | None) -> None:
        self.skill, self.episode, self.judge, self._is_fresh = skill, uuid4(), Judge(), False
        self._go(Stage.RUNNING)
        driver, seed = self.driver.value, self.bench.scene.seed
        self._tell(EpisodeStarted(episode=self.episode, task=TASK, driver=driver, skill=self.skill_name, seed=seed))

    def _over(self, end: End) -> None:
        self._end(Outcome.SUCCESS if end is End.SUCCESS else Outcome.FAILURE, str(end))
        if end.needs_person:
            self._hold_for_person(str(end), Mode.FAULT)
        else:
            self._go(Stage.SHOWING)

    def _end(self, outcome: Outcome, reason: str) -> None:
        if self.episode is not None:
            self._tell(EpisodeEnded(episode=self.episode, outcome=outcome, steps=self.judge.steps, reason=reason))
            self.said = reason if outcome is not Outcome.SUCCESS else "the block is in the zone"
        self.episode = None

    def go_on_waiting(self, reason: str, mode: Mode) -> None:
        """It waited for a person when its bridge ended: a new process mends nothing."""
        self.held_mode, self.needs_reset = mode, reason
        self._go(Stage.HELD)

    def _hold_for_person(self, reason: str, mode: Mode) -> None:
        self.bench.hold()
        self.held_mode = mode
        self.needs_reset = reason[:1].upper() + reason[1:]
        self._tell(NeedsReset(reason=self.needs_reset))
        self._go(Stage.HELD)

    def _go(self, stage: Stage) -> None:
        self.stage, self._steps = stage, 0

    # What others do to it.

    @property
    def is_standing(self) -> bool:
        """Whether nothing moves it before somebody or something lets it."""
        return self.stage in (Stage.WAITING, Stage.HELD)

    def interrupt(self, reason: str) -> None:
        """End motion here and now, and the episode with it; what it waits for a person for, it goes on to wait for."""
        with self.lock:
            self.bench.hold()
        self._end(Outcome.ABORTED, reason)
        if self.stage is not Stage.HELD:
            self._go(Stage.WAITING)

    def reset(self) -> None:
        """A person (or who stands in for one) set the scene right: go home, lay out the next scene."""
        self._end(Outcome.ABORTED, "the scene was reset")
        self.needs_reset, self.is_being_reset = "", True
        self._go(Stage.RETURNING)

    def turn(self, fault: Fault, seconds: float, now: float) -> None:
        """Turn a knob on."""
        if fault is Fault.BLOCK_OFF:
            with self.lock:
                self.bench.knock_off()
            return
        self.knobs.turn_on(fault, seconds, now)
        self._fit()

    def turn_back(self, faults: Sequence[Fault]) -> None:
        """Turn knobs off."""
        for fault in faults:
            self.knobs.turn_off(fault)
        self._fit()

    def expire(self, now: float) -> None:
        """Turn off what lasted long enough."""
        if self.knobs.expire(now):
            self._fit()

    def _fit(self) -> None:
        with self.lock:
            self.bench.is_stalled = Fault.ACTUATOR_STALL in self.knobs
            self.bench.slip(on=Fault.GRIPPER_SLIP in self.knobs)

    # What it says of itself.

    @property
    def driver(self) -> Driver:
        """What decides the actions now."""
        if self.stage is not Stage.RUNNING:
            return Driver.NOBODY
        return Driver.EXPERT if self.skill is None else Driver.POLICY

    @property
    def skill_name(self) -> str:
        """The skill of this or the last episode."""
        return EXPERT if self.skill is None else self.skill.name

    @property
    def mode(self) -> Mode:
        """Who moves it now."""
        match self.stage:
            case Stage.RUNNING | Stage.SHOWING:
                return Mode.AUTONOMOUS
            case Stage.RETURNING:
                return Mode.RESETTING if self.is_being_reset else Mode.AUTONOMOUS
            case Stage.HELD:
                return self.held_mode
        return Mode.HOLD

    @property
    def activity(self) -> str:
        """The phase of the task as it looks from outside, or what it does between two episodes."""
        if self.stage is Stage.RUNNING:
            return str(phase(self.sight))
        if self.stage is Stage.SHOWING:
            return self.said
        return str(self.stage)
