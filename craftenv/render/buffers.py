"""The vertex buffers: refilled for every picture with what is visible."""

from ctypes import c_uint
from typing import Any

import numpy as np
import numpy.typing as npt

from oresight.craftenv.render.context import GLNames
from oresight.craftenv.render.target import OUTLINE_QUADS

# Indices have 16 bits; more quads than these are drawn in several calls.
_QUADS_A_CALL = (1 << 16) // 4


def _quad_indices(quads: int) -> npt.NDArray[np.uint16]:
    pattern = np.array([0, 1, 2, 0, 2, 3], dtype=np.uint32)
    return (np.arange(quads, dtype=np.uint32)[:, None] * 4 + pattern).astype(np.uint16)


class _Buffer:
    """A vertex array object with one vertex buffer and an index buffer for quads."""

    def __init__(self, gl: Any, names: GLNames, quads: int) -> None:
        array, buffers = c_uint(), (c_uint * 2)()
        gl.glGenVertexArrays(1, array)
        gl.glGenBuffers(2, buffers)
        self._array = int(array.value)
        self._vertices, indices = buffers
        names.vertex_arrays.append(self._array)
        names.buffers += [self._vertices, indices]
        order = _quad_indices(quads)
        gl.glBindVertexArray(self._array)
        gl.glBindBuffer(gl.GL_ELEMENT_ARRAY_BUFFER, indices)
        gl.glBufferData(gl.GL_ELEMENT_ARRAY_BUFFER, order.nbytes, order.ctypes.data, gl.GL_STATIC_DRAW)
        gl.glBindBuffer(gl.GL_ARRAY_BUFFER, self._vertices)
        gl.glEnableVertexAttribArray(0)

    def _fill(self, gl: Any, vertices: npt.NDArray[Any]) -> None:
        gl.glBindBuffer(gl.GL_ARRAY_BUFFER, self._vertices)
        gl.glBufferData(gl.GL_ARRAY_BUFFER, vertices.nbytes, vertices.ctypes.data, gl.GL_STREAM_DRAW)


class QuadBuffer(_Buffer):
    """Quads in the format of `craftenv.render.mesher`."""

    def __init__(self, gl: Any, names: GLNames) -> None:
        super().__init__(gl, names, _QUADS_A_CALL)
        gl.glVertexAttribIPointer(0, 2, gl.GL_UNSIGNED_INT, 8, None)

    def fill(self, gl: Any, vertices: npt.NDArray[np.uint32]) -> None:
        """Replace the contents by uint32[quads * 4, 2]."""
        gl.glBindVertexArray(self._array)
        self._fill(gl, vertices)

    def draw(self, gl: Any, first: int, quads: int) -> None:
        """Draw some of the quads with the program in use."""
        gl.glBindVertexArray(self._array)
        for start in range(first, first + quads, _QUADS_A_CALL):
            count = min(_QUADS_A_CALL, first + quads - start)
            gl.glDrawElementsBaseVertex(gl.GL_TRIANGLES, count * 6, gl.GL_UNSIGNED_SHORT, None, start * 4)


class OutlineBuffer(_Buffer):
    """The target's outline; see `craftenv.render.target.outline`."""

    def __init__(self, gl: Any, names: GLNames) -> None:
        super().__init__(gl, names, OUTLINE_QUADS)
        gl.glVertexAttribPointer(0, 3, gl.GL_FLOAT, gl.GL_FALSE, 12, None)

    def draw(self, gl: Any, vertices: npt.NDArray[np.float32]) -> None:
        """Draw an outline with the program in use."""
        gl.glBindVertexArray(self._array)
        self._fill(gl, vertices)
        gl.glDrawElements(gl.GL_TRIANGLES, OUTLINE_QUADS * 6, gl.GL_UNSIGNED_SHORT, None)
