"""One simulated bench: an arm, a block and a zone, moved by MuJoCo in steps of fixed length, the same for the same seed."""

import copy
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import mujoco
import numpy as np

from workers.sims.guard import carried_out
from workers.sims.kinematics import joints_at
from workers.sims.scenes import Scene, scene_of

CONTROL_S = 0.1  # one action
SUBSTEPS = 5  # of 20 ms each, so that a Stop ends motion within one of them and not after a whole action
PHYSICS_STEPS = 4  # of 5 ms in a substep
HOME = (0.30, 0.0, 0.22)
OPEN_M, CLOSED_M = 0.040, 0.004  # travel of one finger
_PRESS_M = 0.006  # how far into a block a held finger aims: 2.4 N, enough to carry it
MOVES_RAD_S, MOVES_M_S = 0.03, 0.02  # a joint or finger that is faster than this moves
_FLOOR_M = -0.1  # below this the block has left the bench
_JOINTS = ("yaw", "shoulder", "elbow", "wrist", "roll")
_PAD_FRICTION, _SLIPPERY = 1.2, 0.02
# The engine's own way is a file in whatever folder the process happens to stand in.
mujoco.set_mju_user_warning(logging.getLogger(__name__).warning)


@cache
def _model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(Path(__file__).with_name("bench.xml")))


@dataclass(frozen=True, slots=True)
class Sight:
    """What is true of a bench now. Metres, newtons; the policy sees part of it, and that not exactly."""

    tip: tuple[float, float, float]
    aimed: tuple[float, float, float]  # where the tip was told to be
    opening: float  # between the fingers
    grip_n: float
    closes: bool
    block: tuple[float, float, float]
    zone: tuple[float, float]
    uprightness: float  # 1 standing as laid, 0 on its side
    block_speed: float


class Bench:
    """An arm at its bench. Call `lay_out`, then for each action `aim` once and `advance` five times."""

    def __init__(self) -> None:
        self.model = copy.deepcopy(_model())  # its own: blocks and friction differ from bench to bench
        self.data = mujoco.MjData(self.model)
        self.scene = scene_of(0)
        self.is_stalled = False  # the shoulder's motor does not follow any more
        self._place = {name: int(self.model.joint(name).qposadr[0]) for name in (*_JOINTS, "finger_left", "block")}
        self._blocks = [int(self.model.geom(name).id) for name in ("cube", "tall")]
        self._pads = [int(self.model.geom(name).id) for name in ("pad_left", "pad_right")]
        self._tip = int(self.model.site("tip").id)
        self._mocap = {name: int(self.model.body(name).mocapid[0]) for name in ("zone", "block_shade", "hand_shade")}
        self._hand = slice(self._place["yaw"], self._place["yaw"] + 7)
        self._block = slice(self._place["block"], self._place["block"] + 7)
        self._block_velocity = int(self.model.joint("block").dofadr[0])
        self._hand_velocity = int(self.model.joint("yaw").dofadr[0])
        self._aimed = HOME
        self._closes = False
        self._from = np.zeros(7)
        self._to = np.zeros(7)
        self._part = SUBSTEPS
        self.lay_out(self.scene)

    def lay_out(self, scene: Scene) -> None:
        """Begin this scene: block and zone in their places, the arm at home with an open gripper, all at rest."""
        self.scene = scene
        self._shape_block(scene)
        mujoco.mj_resetData(self.model, self.data)
        pose = np.array([*joints_at(*HOME), OPEN_M, OPEN_M])
        self.data.qpos[self._hand] = pose
        half = scene.half[2] + 0.0002
        turn = (np.cos(scene.angle / 2), 0.0, 0.0, np.sin(scene.angle / 2))
        self.data.qpos[self._block] = (*scene.block, half, *turn)
        self.data.mocap_pos[self._mocap["zone"]] = (*scene.zone, 0.0)
        self._aimed, self._closes, self._part = HOME, False, SUBSTEPS
        self._from[:] = self._to[:] = pose
        self.data.ctrl[:] = pose
        self._shade()
        mujoco.mj_forward(self.model, self.data)

    def _shape_block(self, scene: Scene) -> None:
        # Both shapes are in the model; the one that is not wanted touches nothing and is not drawn.
        model, half = self.model, np.array(scene.half)
        for geom, is_wanted in zip(self._blocks, (not scene.is_tall, scene.is_tall), strict=True):
            model.geom_contype[geom] = model.geom_conaffinity[geom] = int(is_wanted)
            model.geom_rgba[geom, 3] = float(is_wanted)
        body = int(model.geom_bodyid[self._blocks[0]])
        squares = half * half
        model.body_inertia[body] = model.body_mass[body] / 3 * (squares.sum() - squares)

    def aim(self, action: Sequence[float]) -> None:
        """Take an action that the guard allowed; the motors are led there over the next five substeps."""
        self._aimed = carried_out(action, self._aimed)
        self._closes = action[3] < 0
        self._from[:] = self._to
        finger = CLOSED_M if self._closes else OPEN_M
        self._to[:] = (*joints_at(*self._aimed), finger, finger)
        self._part = 0

    def hold(self) -> None:
        """Stay where the joints are now, whatever was asked before; fingers that close go on pressing where they are."""
        pose = self.data.qpos[self._hand].copy()
        if self._closes:
            pose[5:] = np.maximum(pose[5:] - _PRESS_M, CLOSED_M)
        self._from[:] = self._to[:] = pose
        x, y, z = self.data.site_xpos[self._tip]
        self._aimed = (float(x), float(y), float(z))
        self._part = SUBSTEPS

    def advance(self) -> None:
        """Let 20 ms of simulated time pass."""
        if self._part < SUBSTEPS:
            self._part += 1
        goal = self._from + (self._to - self._from) * (self._part / SUBSTEPS)
        if self.is_stalled:
            goal[1] = self.data.ctrl[1]
        self.data.ctrl[:] = goal
        self._shade()
        mujoco.mj_step(self.model, self.data, PHYSICS_STEPS)

    def _shade(self) -> None:
        # No shadows are rendered (they cost several times the rest); two discs show what hangs over which place.
        x, y, z = self.data.qpos[self._block][:3]
        self.data.mocap_pos[self._mocap["block_shade"]] = (x + 0.004, y + 0.006, 0.0 if z > 0 else -1.0)
        self.data.mocap_pos[self._mocap["hand_shade"]] = (*self.data.site_xpos[self._tip][:2], 0.0)

    def slip(self, *, on: bool) -> None:
        """Make the fingers' pads slippery, or as they should be."""
        for pad in self._pads:
            self.model.geom_friction[pad, 0] = _SLIPPERY if on else _PAD_FRICTION

    def knock_off(self) -> None:
        """Push the block off the bench."""
        self.data.qpos[self._block][:3] = (0.70, 0.0, 0.03)
        self.data.qvel[self._block_velocity : self._block_velocity + 6] = 0

    def see(self) -> Sight:
        """What is true now."""
        data = self.data
        pose = data.qpos[self._block]
        x, y, z = data.site_xpos[self._tip].tolist()
        block = pose[:3].tolist()
        fingers = data.qpos[self._place["finger_left"] : self._place["finger_left"] + 2]
        grip = float(min(-data.actuator_force[5], -data.actuator_force[6]))
        return Sight(
            tip=(x, y, z),
            aimed=self._aimed,
            opening=float(fingers.sum()),
            grip_n=max(0.0, grip),
            closes=self._closes,
            block=(block[0], block[1], block[2]),
            zone=self.scene.zone,
            uprightness=float(1 - 2 * (pose[4] ** 2 + pose[5] ** 2)),
            block_speed=float(np.linalg.norm(data.qvel[self._block_velocity : self._block_velocity + 3])),
        )

    @property
    def joints(self) -> list[float]:
        """Angles of the five joints (rad)."""
        found: list[float] = self.data.qpos[self._hand][:5].tolist()
        return found

    @property
    def joint_speed(self) -> float:
        """How fast the fastest joint turns (rad/s)."""
        return float(np.abs(self.data.qvel[self._hand_velocity : self._hand_velocity + 5]).max())

    @property
    def moves(self) -> bool:
        """Whether a joint or a finger moves."""
        fingers = self.data.qvel[self._hand_velocity + 5 : self._hand_velocity + 7]
        return self.joint_speed > MOVES_RAD_S or float(np.abs(fingers).max()) > MOVES_M_S

    @property
    def torques(self) -> list[float]:
        """What the motors of the five joints give (N m)."""
        found: list[float] = self.data.actuator_force[:5].tolist()
        return found

    @property
    def is_sound(self) -> bool:
        """Whether all of the physics is still finite numbers."""
        return bool(np.isfinite(self.data.qpos).all() and np.isfinite(self.data.qvel).all())

    @property
    def is_block_off(self) -> bool:
        """Whether the block left the bench."""
        return bool(self.data.qpos[self._block][2] < _FLOOR_M)
