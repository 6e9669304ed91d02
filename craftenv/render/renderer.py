"""Draws a world as a person in it sees it, into a framebuffer of its own.

A picture depends on its arguments alone: nothing is carried from one to the next but meshes and buffers. The renderer
only reads the world; nothing it does can change what happens in it.
"""

import math
from collections.abc import Sequence
from ctypes import c_float
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from oresight.craftenv.blocks import BLOCKS, Block
from oresight.craftenv.config import CHUNK, HEIGHT, WORLD_SPAN
from oresight.craftenv.render import context as gl_context
from oresight.craftenv.render.buffers import OutlineBuffer, QuadBuffer
from oresight.craftenv.render.camera import Camera, look
from oresight.craftenv.render.coverage import DrawList
from oresight.craftenv.render.framebuffer import NO_NAME, Framebuffer
from oresight.craftenv.render.hud import Hud, Stack
from oresight.craftenv.render.layout import SLOTS, WATER_DROP
from oresight.craftenv.render.programs import Program, library
from oresight.craftenv.render.store import ChunkStore, WorldView
from oresight.craftenv.render.target import cracks, outline
from oresight.craftenv.render.visibility import SeenRooms, find_rooms_in_view

SMALLEST = (64, 48)
LARGEST = (1920, 1080)

_NORMALS = np.array([(-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)], dtype=np.int64)

Vector = tuple[float, float, float]
Colour = tuple[float, float, float]


@dataclass(frozen=True)
class Air:
    """What one looks through: colours from 0 to 1, and the distances at which fog begins and hides everything."""

    low_sky: Colour
    high_sky: Colour
    fog_start_blocks: float
    fog_end_blocks: float

    def fog_curve(self) -> tuple[float, float]:
        """Return (a, b): fog is a * distance squared + b, cut to 0..1. No root is drawn for any pixel."""
        scale = 1.0 / (self.fog_end_blocks**2 - self.fog_start_blocks**2)
        return scale, -(self.fog_start_blocks**2) * scale


# Quads reach this much over their edges, so that no pixel stays open between neighbours.
_OVERLAP_PX = 1.0 / 64.0

# Fog is worked out at the corners of merged faces, up to 16 blocks apart, and rises early in between by at most what
# corresponds to two blocks: starting at 50 keeps everything nearer than 48 blocks clear.
OPEN_AIR = Air((0.76, 0.86, 0.96), (0.36, 0.58, 0.93), 50.0, 70.0)
UNDER_WATER = Air((0.10, 0.24, 0.48), (0.12, 0.30, 0.56), 2.0, 40.0)


@dataclass(frozen=True)
class FacePicture:
    """Which face each pixel shows, for checks.

    Attributes:
        face: int8[height, width], 0 to 5 (-x, +x, -y, +y, -z, +z), -1 where there is only sky.
        block: int64[height, width, 3], x, y and z of the block; 0 where there is only sky.
    """

    face: npt.NDArray[np.int8]
    block: npt.NDArray[np.int64]

    def pixels_of(self, block: tuple[int, int, int], face: int) -> int:
        """Count the pixels that show one face."""
        return int(np.count_nonzero((self.face == face) & np.all(self.block == block, axis=-1)))


class Renderer:
    """Draws pictures of one size.

    Close it, or use it as a context manager; what it holds on the GPU is freed then.
    """

    def __init__(self, width: int = 640, height: int = 480, *, mode: gl_context.Mode | None = None) -> None:
        """Open a renderer; the first in a process makes the OpenGL context.

        Args:
            width: 64 to 1920 pixels.
            height: 48 to 1080 pixels.
            mode: None draws with the context that the process has, a headless one if it has none.

        Raises:
            ValueError: The size is out of range.
            OpenGLUnavailable: There is no OpenGL 3.3 here.
        """
        if not (SMALLEST[0] <= width <= LARGEST[0] and SMALLEST[1] <= height <= LARGEST[1]):
            raise ValueError(
                f"A picture of {width} x {height} was asked for; sizes from {SMALLEST[0]} x {SMALLEST[1]} to "
                f"{LARGEST[0]} x {LARGEST[1]} can be drawn."
            )
        self.width = width
        self.height = height
        self._context = gl_context.acquire(mode)
        self._names = gl_context.GLNames()
        self._free = self._context.free_with(self, self._names)
        self._closed = False
        self._hud = Hud(width, height)
        self._store = ChunkStore()
        self._seen = SeenRooms()
        self._draws = DrawList(width, height)
        self._origins = np.zeros((SLOTS, 3), dtype=np.float32)
        with self._context.current() as gl:
            self._library = library(self._context)
            self._picture = Framebuffer(gl, self._names, width, height, holds_names=False)
            self._faces: Framebuffer | None = None
            self._quads = QuadBuffer(gl, self._names)
            self._outline = OutlineBuffer(gl, self._names)

    def __enter__(self) -> "Renderer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free everything this renderer holds; closing twice does nothing."""
        if not self._closed:
            self._closed = True
            self._free()
            with self._context.current():
                pass  # entering frees what was given up

    @property
    def quads_drawn(self) -> int:
        """How many quads the last picture took."""
        return len(self._draws.shown) // 4

    def draw(
        self,
        world: WorldView,
        eye: Vector,
        yaw_counts: int,
        pitch_counts: int,
        *,
        target: tuple[int, int, int] | None = None,
        crack: float = 0.0,
        hotbar: Sequence[Stack] | None = None,
        slot: int = 0,
        hud: bool = True,
    ) -> npt.NDArray[np.uint8]:
        """Draw one picture.

        Args:
            world: Loaded around the eye (one chunk farther than DRAW_RADIUS_CHUNKS).
            eye: Its place (x, y, z), in blocks.
            yaw_counts: See `craftenv.sim.angles`.
            pitch_counts: Likewise; positive looks down.
            target: The block to outline, or None.
            crack: How far mining the target has come, 0 to 1.
            hotbar: Nine (item id, count), or None for an empty one.
            slot: The selected slot, 0 to 8.
            hud: Draw crosshair and hotbar.

        Returns:
            uint8[height, width, 3], RGB, top row first; it belongs to the caller.

        Raises:
            RuntimeError: The renderer is closed.
        """
        camera = self._camera(eye, yaw_counts, pitch_counts)
        with self._context.current() as gl:
            air = UNDER_WATER if _under_water(world, eye) else OPEN_AIR
            self._picture.bind(gl)
            self._prepare(gl, world, camera, air.fog_end_blocks)
            self._quads.fill(gl, self._draws.shown)
            self._draw_scene(gl, camera, air)
            if target is not None:
                self._draw_target(gl, world, camera, air, target, crack)
            self._draw_water(gl, camera, air)
            image = self._picture.read_rgb(gl)
        if hud:
            self._hud.draw(image, hotbar, slot)
        return image

    def draw_faces(self, world: WorldView, eye: Vector, yaw_counts: int, pitch_counts: int) -> FacePicture:
        """Draw which opaque face each pixel shows (see `draw` for the arguments); without fog and water."""
        camera = self._camera(eye, yaw_counts, pitch_counts)
        with self._context.current() as gl:
            if self._faces is None:
                self._faces = Framebuffer(gl, self._names, self.width, self.height, holds_names=True)
            self._faces.bind(gl)
            self._prepare(gl, world, camera, OPEN_AIR.fog_end_blocks)
            self._use(gl, self._library.names, camera, overlap_px=0.0)
            self._quads.fill(gl, self._draws.shown)
            self._quads.draw(gl, 0, self._draws.opaque)
            found = self._faces.read_names(gl)
        face = np.where(found == NO_NAME, np.int64(-1), (found >> 15 & 7).astype(np.int64)).astype(np.int8)
        slots = (found >> 18 & 255).astype(np.int64)
        chunk_x = world.slot_cx[slots >> 4, slots & 15]
        chunk_z = world.slot_cz[slots >> 4, slots & 15]
        inner = found.astype(np.int64)
        # The picture names the cell in front of the face, which is always in the face's own chunk.
        front = [chunk_x * CHUNK + (inner & 15), inner >> 8 & 127, chunk_z * CHUNK + (inner >> 4 & 15)]
        block = np.stack(front, axis=-1) - _NORMALS[face]
        block[face < 0] = 0
        return FacePicture(face, block)

    def _camera(self, eye: Vector, yaw_counts: int, pitch_counts: int) -> Camera:
        if self._closed:
            raise RuntimeError("This renderer is closed; open a new one to draw.")
        return look(eye, yaw_counts, pitch_counts, self.width, self.height)

    def _prepare(self, gl: Any, world: WorldView, camera: Camera, reach_blocks: float) -> None:
        """Bring the meshes up to date, find out what to draw of them, and set OpenGL up for the opaque part of it."""
        x, y, z = camera.eye
        self._store.sync(world, math.floor(x) >> 4, math.floor(z) >> 4)
        find_rooms_in_view(self._store.table, camera, reach_blocks, self._seen)
        self._draws.fill(self._store.table, camera, self._seen)
        # Subtracted in float64 before anything is cut down to float32.
        self._origins[:, 0] = world.slot_cx.reshape(-1) * float(CHUNK) - x
        self._origins[:, 1] = -y
        self._origins[:, 2] = world.slot_cz.reshape(-1) * float(CHUNK) - z
        gl.glEnable(gl.GL_DEPTH_TEST)
        gl.glDepthFunc(gl.GL_LEQUAL)
        gl.glDepthMask(gl.GL_TRUE)
        gl.glDisable(gl.GL_BLEND)
        gl.glDisable(gl.GL_CULL_FACE)  # what is turned away was left out already
        gl.glActiveTexture(gl.GL_TEXTURE0)
        gl.glBindTexture(gl.GL_TEXTURE_2D_ARRAY, self._library.tiles)

    def _use(self, gl: Any, program: Program, camera: Camera, overlap_px: float = _OVERLAP_PX) -> None:
        gl.glUseProgram(program.name)
        gl.glUniformMatrix4fv(program.at["clip_from_camera"], 1, gl.GL_TRUE, _floats(camera.clip_from_camera))
        gl.glUniform3fv(program.at["origin"], SLOTS, _floats(self._origins))
        gl.glUniform1f(program.at["overlap"], camera.pixel_blocks * overlap_px)

    def _draw_scene(self, gl: Any, camera: Camera, air: Air) -> None:
        found, draws = self._library, self._draws
        self._draw_sky(gl, camera, air)
        self._use(gl, found.opaque, camera)
        self._set_air(gl, found.opaque, air)
        gl.glBindSampler(0, found.plain)
        self._quads.draw(gl, 0, draws.large)
        gl.glBindSampler(0, found.smooth)
        self._quads.draw(gl, draws.large, draws.small)
        if draws.torches:
            self._use(gl, found.cut_out, camera)
            self._set_air(gl, found.cut_out, air)
            self._quads.draw(gl, draws.opaque, draws.torches)

    def _draw_sky(self, gl: Any, camera: Camera, air: Air) -> None:
        """Draw sky where it will show, and a little around it."""
        sky, draws = self._library.sky, self._draws
        gl.glDisable(gl.GL_DEPTH_TEST)
        gl.glUseProgram(sky.name)
        gl.glUniformMatrix3fv(sky.at["ray_from_clip"], 1, gl.GL_TRUE, _floats(camera.ray_from_clip))
        gl.glUniform1i(sky.at["columns"], draws.cell_columns)
        gl.glUniform2f(sky.at["cell_size"], 2.0 * draws.cell_px / self.width, 2.0 * draws.cell_px / self.height)
        gl.glUniform3f(sky.at["low_colour"], *air.low_sky)
        gl.glUniform3f(sky.at["high_colour"], *air.high_sky)
        for first, cells in draws.sky.tolist():
            gl.glDrawArrays(gl.GL_TRIANGLES, first * 6, cells * 6)
        gl.glEnable(gl.GL_DEPTH_TEST)

    def _set_air(self, gl: Any, program: Program, air: Air) -> None:
        gl.glUniform2f(program.at["fog_curve"], *air.fog_curve())
        gl.glUniform3f(program.at["fog_colour"], *air.low_sky)
        gl.glUniform1i(program.at["tiles"], 0)

    def _draw_target(
        self, gl: Any, world: WorldView, camera: Camera, air: Air, target: tuple[int, int, int], crack: float
    ) -> None:
        line = self._library.line
        gl.glEnable(gl.GL_BLEND)
        gl.glBlendFunc(gl.GL_SRC_ALPHA, gl.GL_ONE_MINUS_SRC_ALPHA)
        gl.glDepthMask(gl.GL_FALSE)
        gl.glEnable(gl.GL_POLYGON_OFFSET_FILL)
        gl.glPolygonOffset(-1.0, -2.0)
        if crack > 0.0:
            self._use(gl, self._library.cut_out, camera)
            self._set_air(gl, self._library.cut_out, air)
            self._quads.fill(gl, cracks(target, crack))
            self._quads.draw(gl, 0, 6)
            self._quads.fill(gl, self._draws.shown)
        gl.glUseProgram(line.name)
        gl.glUniformMatrix4fv(line.at["clip_from_camera"], 1, gl.GL_TRUE, _floats(camera.clip_from_camera))
        gl.glUniform4f(line.at["line_colour"], 0.02, 0.02, 0.03, 0.9)
        block = _block_at(world, *target)
        self._outline.draw(gl, outline(target, block, camera.eye, camera.pixel_blocks, self.height))
        gl.glDisable(gl.GL_POLYGON_OFFSET_FILL)
        gl.glDepthMask(gl.GL_TRUE)

    def _draw_water(self, gl: Any, camera: Camera, air: Air) -> None:
        if not self._draws.water:
            return
        water = self._library.water
        self._use(gl, water, camera, overlap_px=0.0)  # laid over each other, two edges would make a seam
        self._set_air(gl, water, air)
        gl.glEnable(gl.GL_BLEND)
        gl.glBlendFunc(gl.GL_SRC_ALPHA, gl.GL_ONE_MINUS_SRC_ALPHA)
        self._quads.draw(gl, self._draws.opaque + self._draws.torches, self._draws.water)


def _floats(array: npt.NDArray[np.float32]) -> Any:
    # Several times faster than a pointer from the array's own ctypes.
    return (c_float * array.size).from_buffer(array.data)


def _block_at(world: WorldView, x: int, y: int, z: int) -> int:
    if not 0 <= y < HEIGHT:
        return int(Block.AIR)
    return int(world.blocks[x & (WORLD_SPAN - 1), z & (WORLD_SPAN - 1), y])


def _under_water(world: WorldView, eye: Vector) -> bool:
    """Say whether the eye is in water, below its lowered surface where that is open."""
    x, y, z = (math.floor(value) for value in eye)
    if _block_at(world, x, y, z) != Block.WATER:
        return False
    above = Block(_block_at(world, x, y + 1, z))
    open_top = above != Block.WATER and not BLOCKS[above].opaque
    return not open_top or eye[1] - y < 1.0 - WATER_DROP / 16.0
