"""Pictures of benches, drawn in memory by one OpenGL context for all of them, with name, time and "simulated" burnt in.

Open it, use it and close it on one thread: the context belongs to that thread, and one that is not closed complains at exit.
"""

import io
import time

import mujoco
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from workers.sims.bench import Bench

WIDTH, HEIGHT = 320, 240
QUALITY = 72
_STRIP = 15  # pixels at the bottom that carry the words
_MOST_SHAPES = 80
Pixels = npt.NDArray[np.uint8]


class NoPictures(RuntimeError):
    """Pictures cannot be drawn on this machine; the message says what is missing."""


class Photographer:
    """Draws any bench from its camera."""

    def __init__(self) -> None:
        """Raises NoPictures."""
        try:
            self._context = mujoco.GLContext(WIDTH, HEIGHT)
        except Exception as error:  # PyOpenGL raises what it likes
            raise NoPictures("libosmesa6 is missing: no pictures of simulated arms") from error
        self._context.make_current()
        self._rect = mujoco.MjrRect(0, 0, WIDTH, HEIGHT)
        self._options = mujoco.MjvOption()
        self._camera = mujoco.MjvCamera()
        self._pixels: Pixels = np.empty((HEIGHT, WIDTH, 3), dtype=np.uint8)
        self._scene: mujoco.MjvScene | None = None
        self._drawing: mujoco.MjrContext | None = None

    def look(self, bench: Bench) -> None:
        """Take in where everything is: quick, and the only part during which the bench must not move."""
        if self._scene is None:
            self._open(bench.model)
        mujoco.mjv_updateScene(
            bench.model, bench.data, self._options, None, self._camera, mujoco.mjtCatBit.mjCAT_ALL, self._scene
        )

    def draw(self) -> Pixels:
        """What was last looked at, as rows from the top; the array is used again by the next call."""
        mujoco.mjr_render(self._rect, self._scene, self._drawing)
        mujoco.mjr_readPixels(self._pixels, None, self._rect, self._drawing)
        return self._pixels[::-1]

    def close(self) -> None:
        """Let go of the context."""
        if self._drawing is not None:
            self._drawing.free()
        self._context.free()

    def _open(self, model: mujoco.MjModel) -> None:
        # All benches are of one model: their shapes and materials are the same for the context.
        self._scene = mujoco.MjvScene(model, _MOST_SHAPES)
        self._drawing = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._drawing)
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        self._camera.fixedcamid = model.camera("bench").id


class Printer:
    """Burns name and time into a picture and makes a JPEG of it. A still arm's pictures differ by their clock."""

    def __init__(self) -> None:
        self._font = ImageFont.load_default(11)
        self._names: dict[str, Image.Image] = {}

    def jpeg(self, pixels: Pixels, name: str, at_ms: int) -> bytes:
        """The picture with its words, as a JPEG file."""
        picture = Image.fromarray(np.ascontiguousarray(pixels))
        strip = self._strip(name).copy()
        clock = time.strftime("%H:%M:%S", time.gmtime(at_ms / 1000)) + f".{at_ms % 1000 // 100} UTC"
        ImageDraw.Draw(strip).text((WIDTH - 6, 1), clock, font=self._font, fill=(232, 234, 236), anchor="ra")
        picture.paste(strip, (0, HEIGHT - _STRIP))
        return _encoded(picture)

    def black(self) -> bytes:
        """What a camera without light sends."""
        return _encoded(Image.new("RGB", (WIDTH, HEIGHT)))

    def _strip(self, name: str) -> Image.Image:
        if name not in self._names:
            strip = Image.new("RGB", (WIDTH, _STRIP), (22, 25, 29))
            draw = ImageDraw.Draw(strip)
            draw.text((6, 1), f"{name}  simulated", font=self._font, fill=(232, 234, 236))
            self._names[name] = strip
        return self._names[name]


def _encoded(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=QUALITY)
    return file.getvalue()
