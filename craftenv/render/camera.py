"""Eye and view angles to matrices: plain arithmetic, no OpenGL.

Everything is relative to the eye, so a picture is as exact far from the world's origin as at it. The picture is drawn
upside down, since OpenGL reads pictures from the bottom row up: what is read back is upright.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from craftenv.config import TAN_HALF_FOV
from craftenv.sim.angles import cosine, direction, sine

NEAR_BLOCKS = 0.05
FAR_BLOCKS = 160.0


@dataclass(frozen=True)
class Camera:
    """One view.

    Attributes:
        eye: Its place, in blocks.
        clip_from_camera: float32[4, 4], from places relative to the eye to clip space, picture upside down.
        ray_from_clip: float32[3, 3], from (x, y, 1) of clip space to a direction.
        axes: float64[3, 3], to the right, up and forward, the first two stretched so that a place p is in the picture
            when both axes[0] @ p and axes[1] @ p lie within plus or minus axes[2] @ p.
        pixel_blocks: Height in blocks of one pixel at a distance of one block.
    """

    eye: tuple[float, float, float]
    clip_from_camera: npt.NDArray[np.float32]
    ray_from_clip: npt.NDArray[np.float32]
    axes: npt.NDArray[np.float64]
    pixel_blocks: float


def look(eye: tuple[float, float, float], yaw_counts: int, pitch_counts: int, width: int, height: int) -> Camera:
    """Return the view from a place under angles in counts (see the conventions in `craftenv.sim.angles`)."""
    forward = np.array(direction(yaw_counts, pitch_counts))
    right = np.array([-cosine(yaw_counts), 0.0, -sine(yaw_counts)])
    # right x forward, written out: numpy's cross takes longer than all the rest here.
    x, y, z = forward
    up = np.array([-right[2] * y, right[2] * x - right[0] * z, right[0] * y])
    tall = TAN_HALF_FOV
    wide = TAN_HALF_FOV * width / height
    depth_scale = (FAR_BLOCKS + NEAR_BLOCKS) / (FAR_BLOCKS - NEAR_BLOCKS)
    clip = np.zeros((4, 4))
    clip[0, :3] = right / wide
    clip[1, :3] = -up / tall
    clip[2, :3] = forward * depth_scale
    clip[2, 3] = -NEAR_BLOCKS * (depth_scale + 1.0)
    clip[3, :3] = forward
    return Camera(
        eye=eye,
        clip_from_camera=clip.astype(np.float32),
        ray_from_clip=np.stack([right * wide, -up * tall, forward], axis=1).astype(np.float32),
        axes=np.stack([right / wide, up / tall, forward]),
        pixel_blocks=2.0 * TAN_HALF_FOV / height,
    )
