"""Eye and view angles to matrices: plain arithmetic, no OpenGL.

Everything is relative to the eye, so a picture is as exact far from the world's origin as at it. The picture is drawn
upside down, since OpenGL reads pictures from the bottom row up: what is read back is upright.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from oresight.craftenv.config import TAN_HALF_FOV
from oresight.craftenv.sim.angles import cosine, direction, sine

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
    # Component by component: for three numbers at a time numpy takes longer than they do.
    x, y, z = direction(yaw_counts, pitch_counts)
    right_x, right_z = -cosine(yaw_counts), -sine(yaw_counts)
    up_x, up_y, up_z = -right_z * y, right_z * x - right_x * z, right_x * y  # right x forward
    tall = TAN_HALF_FOV
    wide = TAN_HALF_FOV * width / height
    scale = (FAR_BLOCKS + NEAR_BLOCKS) / (FAR_BLOCKS - NEAR_BLOCKS)
    clip_from_camera = (
        (right_x / wide, 0.0, right_z / wide, 0.0),
        (-up_x / tall, -up_y / tall, -up_z / tall, 0.0),
        (x * scale, y * scale, z * scale, -NEAR_BLOCKS * (scale + 1.0)),
        (x, y, z, 0.0),
    )
    ray_from_clip = (
        (right_x * wide, -up_x * tall, x),
        (0.0, -up_y * tall, y),
        (right_z * wide, -up_z * tall, z),
    )
    axes = ((right_x / wide, 0.0, right_z / wide), (up_x / tall, up_y / tall, up_z / tall), (x, y, z))
    return Camera(
        eye=eye,
        clip_from_camera=np.array(clip_from_camera, dtype=np.float32),
        ray_from_clip=np.array(ray_from_clip, dtype=np.float32),
        axes=np.array(axes, dtype=np.float64),
        pixel_blocks=2.0 * TAN_HALF_FOV / height,
    )
