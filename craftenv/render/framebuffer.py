"""Where pictures are drawn and how they are read back."""

from ctypes import c_uint
from typing import Any

import numpy as np
import numpy.typing as npt

from oresight.craftenv.kernels import kernel
from oresight.craftenv.render.context import GLNames

NO_NAME = 0xFFFFFFFF


class Framebuffer:
    """A colour and a depth buffer of one size; the colours are RGBA bytes, or 32-bit names of faces."""

    def __init__(self, gl: Any, names: GLNames, width: int, height: int, *, holds_names: bool) -> None:
        self._width = width
        self._height = height
        self._holds_names = holds_names
        frame, buffers = c_uint(), (c_uint * 2)()
        gl.glGenFramebuffers(1, frame)
        gl.glGenRenderbuffers(2, buffers)
        self.name = int(frame.value)
        names.framebuffers.append(self.name)
        names.renderbuffers += list(buffers)
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self.name)
        for buffer, place, layout in (
            (buffers[0], gl.GL_COLOR_ATTACHMENT0, gl.GL_R32UI if holds_names else gl.GL_RGBA8),
            (buffers[1], gl.GL_DEPTH_ATTACHMENT, gl.GL_DEPTH_COMPONENT24),
        ):
            gl.glBindRenderbuffer(gl.GL_RENDERBUFFER, buffer)
            gl.glRenderbufferStorage(gl.GL_RENDERBUFFER, layout, width, height)
            gl.glFramebufferRenderbuffer(gl.GL_FRAMEBUFFER, place, gl.GL_RENDERBUFFER, buffer)
        state = gl.glCheckFramebufferStatus(gl.GL_FRAMEBUFFER)
        if state != gl.GL_FRAMEBUFFER_COMPLETE:
            raise RuntimeError(f"The driver takes no framebuffer of {width} x {height} (status {state:#x}).")
        self._pixels = np.empty((height, width), dtype=np.uint32)

    def bind(self, gl: Any) -> None:
        """Draw here from now on, and clear what was drawn before."""
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self.name)
        gl.glViewport(0, 0, self._width, self._height)
        gl.glDepthMask(gl.GL_TRUE)
        gl.glClear(gl.GL_DEPTH_BUFFER_BIT)
        # Pictures have no background to clear: what nothing else covers, the sky does.
        if self._holds_names:
            gl.glClearBufferuiv(gl.GL_COLOR, 0, (c_uint * 4)(NO_NAME, 0, 0, 0))

    def read_rgb(self, gl: Any) -> npt.NDArray[np.uint8]:
        """Return the colours as a new uint8[height, width, 3]."""
        self._read(gl, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE)
        image = np.empty((self._height, self._width, 3), dtype=np.uint8)
        _drop_alpha(self._pixels.reshape(-1).view(np.uint8), image.reshape(-1))
        return image

    def read_names(self, gl: Any) -> npt.NDArray[np.uint32]:
        """Return the names as a new uint32[height, width]."""
        self._read(gl, gl.GL_RED_INTEGER, gl.GL_UNSIGNED_INT)
        return self._pixels.copy()

    def _read(self, gl: Any, layout: int, kind: int) -> None:
        gl.glPixelStorei(gl.GL_PACK_ALIGNMENT, 4)
        gl.glReadPixels(0, 0, self._width, self._height, layout, kind, self._pixels.ctypes.data)


@kernel
def _drop_alpha(rgba: npt.NDArray[np.uint8], rgb: npt.NDArray[np.uint8]) -> None:
    for pixel in range(len(rgb) // 3):
        rgb[pixel * 3] = rgba[pixel * 4]
        rgb[pixel * 3 + 1] = rgba[pixel * 4 + 1]
        rgb[pixel * 3 + 2] = rgba[pixel * 4 + 2]
