"""The least that a picture can cost: one quad over the whole of it, textured, and read back as RGB.

Drawn in the context that our renderer uses, into a framebuffer of the same kind, read back by the same code.
"""

from ctypes import byref, c_uint
from typing import Any

import numpy as np
import numpy.typing as npt

from oresight.craftenv.render import context as gl_context
from oresight.craftenv.render.framebuffer import Framebuffer
from oresight.craftenv.render.programs import Program

_TEXTURE_PX = 256

_VERTEX = """#version 330 core
out vec2 place;
void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    place = corner;
    gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
}
"""

_FRAGMENT = """#version 330 core
uniform sampler2D picture;
in vec2 place;
out vec4 colour;
void main() { colour = texture(picture, place * 8.0); }
"""


class Quad:
    """Draws the quad."""

    def __init__(self, width: int, height: int) -> None:
        self._context = gl_context.acquire(None)
        self._names = gl_context.GLNames()
        with self._context.current() as gl:
            self._frame = Framebuffer(gl, self._names, width, height, holds_names=False)
            self._program = Program(gl, _VERTEX, _FRAGMENT, ("picture",))
            self._texture = _texture(gl)
            array = c_uint()
            gl.glGenVertexArrays(1, byref(array))
            self._array = int(array.value)

    def draw(self) -> npt.NDArray[np.uint8]:
        """Draw it and return uint8[height, width, 3]."""
        with self._context.current() as gl:
            self._frame.bind(gl)
            gl.glDisable(gl.GL_DEPTH_TEST)
            gl.glDisable(gl.GL_BLEND)
            gl.glUseProgram(self._program.name)
            gl.glActiveTexture(gl.GL_TEXTURE0)
            gl.glBindTexture(gl.GL_TEXTURE_2D, self._texture)
            gl.glBindSampler(0, 0)
            gl.glBindVertexArray(self._array)
            gl.glDrawArrays(gl.GL_TRIANGLE_STRIP, 0, 4)
            return self._frame.read_rgb(gl)


def _texture(gl: Any) -> int:
    name = c_uint()
    gl.glGenTextures(1, byref(name))
    gl.glBindTexture(gl.GL_TEXTURE_2D, name.value)
    steps = np.arange(_TEXTURE_PX, dtype=np.uint32)
    pixels = np.ascontiguousarray((steps[:, None] * 40503 ^ steps[None, :] * 30011).astype(np.uint32))
    side, kind = _TEXTURE_PX, gl.GL_UNSIGNED_BYTE
    gl.glTexImage2D(gl.GL_TEXTURE_2D, 0, gl.GL_RGBA8, side, side, 0, gl.GL_RGBA, kind, pixels.ctypes.data)
    for key in (gl.GL_TEXTURE_MIN_FILTER, gl.GL_TEXTURE_MAG_FILTER):
        gl.glTexParameteri(gl.GL_TEXTURE_2D, key, gl.GL_NEAREST)
    return int(name.value)
