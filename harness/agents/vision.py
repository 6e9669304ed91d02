"""What scout sees in a picture: ore-coloured patches, which way and how far they are, and bare rock.

Needs OpenCV, and is therefore imported only where a picture is looked at. Knows colours, shapes and the camera, nothing
of the world behind the picture. Pictures are uint8[height, width, 3], RGB, of any size.
"""

import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from harness.protocols import Pixels

Mask = npt.NDArray[np.bool_]

# Everything below counts pixels of a picture 480 high; other sizes are scaled to it first.
HEIGHT_PX = 480
# The focal length of a camera with 70 degrees from top to bottom: half the height by the tangent of 35 degrees.
FOCAL_PX = HEIGHT_PX / 2.0 / 0.7002075382097097
# The hotbar shows pictures of what was mined, ores among them; what lies below this share of the height is no world.
WORLD_SHARE = 0.88
# Sizes of flecks, from those of a far block to those of one at the feet, and over how many times its own size a fleck is
# joined to the next.
FLECK_SIZES_PX = (1, 5, 13, 31)
JOIN_FACTOR = 4
# Fewer pixels of an ore's colour than this are chance mixtures at the edges of blocks.
MIN_PIXELS = 10
# A face has 16 texels a side, and an ore's typical fleck is 4 to 5 of them long.
FACE_TEXELS = 16.0
FLECK_TEXELS = 4.3
# Some 40 % of an ore's face has its colour. Half of that around the crosshair means that it points at the ore, not
# beside it: at its edge the neighbour covers half of what is looked at.
CROSSHAIR_SHARE = 0.2

# The band around the middle row in which a wall shows, and how many of a texture's neighbouring texels differ.
BAND_PX = 40
CHANGING_TEXELS = 0.75
FAR_AWAY_BLOCKS = 48.0


@dataclass(frozen=True)
class Patch:
    """Neighbouring pixels with the colour of an ore, in pixels of a picture 480 high.

    Attributes:
        column: Of the place most full of ore, to the right from the picture's centre.
        row: Of that place, downwards from the picture's centre.
        pixels: How many pixels have the colour.
        blocks: Estimated distance from the eye: what lies near has big flecks.
        under_crosshair: Whether the picture's centre is on the ore.
    """

    column: float
    row: float
    pixels: int
    blocks: float
    under_crosshair: bool


@dataclass(frozen=True)
class Bearing:
    """Where something is from the eye: degrees to the right of the view, and downwards from the level."""

    right_deg: float
    down_deg: float


def at_standard_height(picture: Pixels) -> Pixels:
    """Scale a picture to 480 rows."""
    height, width = picture.shape[:2]
    if height == HEIGHT_PX:
        return picture
    size = (max(1, round(width * HEIGHT_PX / height)), HEIGHT_PX)
    shrinks = height > HEIGHT_PX
    scaled = cv2.resize(picture, size, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_NEAREST)
    return np.asarray(scaled, dtype=np.uint8)


def bearing(column: float, row: float, pitch_deg: float) -> Bearing:
    """Turn a place in the picture (pixels from its centre) into a direction, for a view tilted down by `pitch_deg`."""
    pitch = math.radians(pitch_deg)
    forward = FOCAL_PX * math.cos(pitch) - row * math.sin(pitch)
    down = FOCAL_PX * math.sin(pitch) + row * math.cos(pitch)
    right = math.degrees(math.atan2(column, forward))
    return Bearing(right, math.degrees(math.atan2(down, math.hypot(column, forward))))


def ore_mask(picture: Pixels, ore: str) -> Mask:
    """Mark the pixels that have the colour of an ore.

    Only ratios between the channels are asked, so that shaded faces pass like bright ones. Iron's limits also take its
    texture shrunk to one pixel. Gold's and diamond's do not: a seam of grass and dirt shrinks to the hue of shrunk gold,
    leaves in the fog to that of shrunk diamond.

    Args:
        picture: uint8[height, width, 3].
        ore: ``coal_ore``, ``iron_ore``, ``gold_ore`` or ``diamond_ore``.

    Raises:
        ValueError: No such ore.
    """
    red, green, blue = (picture[..., channel].astype(np.int32) for channel in range(3))
    if ore == "iron_ore":  # salmon: red leads, green and blue are nearly alike (in dirt and wood they are not)
        lead = red - green
        return np.asarray((lead * 100 > red * 15) & (np.abs(green - blue) * 5 < lead * 2) & (red > 40))
    if ore == "gold_ore":  # yellow: red and green alike, blue far behind (in sand it is not)
        return np.asarray((blue * 100 < green * 45) & (np.abs(red - green) * 100 < red * 15) & (red > 50))
    if ore == "diamond_ore":  # cyan: green and blue alike, red far behind (in water and sky blue leads)
        return np.asarray((red * 100 < green * 72) & (np.abs(green - blue) * 100 < green * 12) & (green > 40))
    if ore == "coal_ore":  # near black, and no colour
        brightest = np.maximum(np.maximum(red, green), blue)
        darkest = np.minimum(np.minimum(red, green), blue)
        return np.asarray((brightest < 34) & (brightest - darkest < 9))
    raise ValueError(f"scout cannot look for {ore!r}; it knows coal_ore, iron_ore, gold_ore and diamond_ore")


def find_ore(picture: Pixels, ore: str) -> tuple[Patch, ...]:
    """Find the patches of an ore, the largest first."""
    picture = at_standard_height(picture)
    mask = ore_mask(picture, ore)
    mask[int(HEIGHT_PX * WORLD_SHARE) :] = False
    if int(mask.sum()) < MIN_PIXELS:
        return ()
    flecks = mask.astype(np.uint8)
    joined = flecks.copy()
    # Big flecks lie far apart, small ones close together, so those that hold a square of some size are joined over a
    # way in proportion to it.
    for size in FLECK_SIZES_PX:
        square = np.ones((size, size), dtype=np.uint8)
        reach = np.ones((JOIN_FACTOR * size + 1,) * 2, dtype=np.uint8)
        joined |= cv2.dilate(cv2.morphologyEx(flecks, cv2.MORPH_OPEN, square), reach)
    count, labels, boxes, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    patches = []
    for label in range(1, count):
        left, top, width, height = (int(value) for value in boxes[label, :4])
        box = (slice(top, top + height), slice(left, left + width))
        inside = labels[box] == label
        part = np.where(inside, flecks[box], 0).astype(np.uint8)
        if int(part.sum()) >= MIN_PIXELS:
            blocks = _distance(picture[box].astype(np.int32), part.astype(bool))
            patches.append(_patch(part, blocks, top, left, picture.shape[1]))
    return tuple(sorted(patches, key=lambda patch: (-patch.pixels, patch.column, patch.row)))


def _patch(part: npt.NDArray[np.uint8], blocks: float, top: int, left: int, picture_width: int) -> Patch:
    face_px = FOCAL_PX / blocks
    # The place to aim at: where a window of half a face is fullest.
    window = max(3, int(face_px / 2.0) | 1)
    share = cv2.blur(part.astype(np.float32), (window, window), borderType=cv2.BORDER_CONSTANT)
    middle_row, middle_column = HEIGHT_PX // 2 - top, picture_width // 2 - left
    # Of several blocks the one nearest to the crosshair.
    rows, columns = np.ogrid[: share.shape[0], : share.shape[1]]
    nearness = 1.0 / (1.0 + np.hypot(rows - middle_row, columns - middle_column) / face_px)
    row, column = (int(value) for value in np.unravel_index(int(np.argmax(share * nearness)), share.shape))
    inside = 0 <= middle_row < share.shape[0] and 0 <= middle_column < share.shape[1]
    return Patch(
        column=float(column - middle_column),
        row=float(row - middle_row),
        pixels=int(part.sum()),
        blocks=blocks,
        under_crosshair=inside and float(share[middle_row, middle_column]) >= CROSSHAIR_SHARE,
    )


def _distance(colours: npt.NDArray[np.int32], inside: Mask) -> float:
    """Estimate how far a textured face is, in blocks: the nearer, the fewer of its pixels differ from their neighbours.

    A face seen from the side is foreshortened in one direction only, so the direction with fewer changes keeps the scale.
    """
    shares = []
    for axis in (0, 1):
        differs = np.abs(np.diff(colours, axis=axis)).max(axis=2) > 2
        counted = inside[1:] if axis == 0 else inside[:, 1:]
        shares.append(float(differs[counted].mean()) if counted.any() else 1.0)
    return max(0.5, min(shares) * FOCAL_PX / FACE_TEXELS / CHANGING_TEXELS)


def rock_shares(picture: Pixels) -> tuple[float, float, float]:
    """How much of the left, middle and right third of a picture is bare rock, 0 to 1 each."""
    small = _small(picture)
    brightest, darkest = small.max(axis=2), small.min(axis=2)
    return _thirds(((brightest - darkest) * 100 < brightest * 8) & (brightest > 40) & (brightest < 150))


def water_shares(picture: Pixels) -> tuple[float, float, float]:
    """How much of the left, middle and right third of a picture's lower half is water, 0 to 1 each."""
    small = _small(picture)
    lower = small[small.shape[0] // 2 :]
    red, green, blue = lower[..., 0], lower[..., 1], lower[..., 2]
    # Blue leads by far; in the sky red and green are not so far behind.
    return _thirds((blue * 100 > green * 125) & (red * 100 < blue * 70))


def free_blocks(picture: Pixels) -> tuple[float, float, float]:
    """How far the way is free at the height of the eyes, to the left, ahead and to the right; for a level view.

    The nearer a wall, the larger its texels and the fewer changes of colour from one row to the next. What rises to the
    eyes is no step to climb, so a near wall in this band is one to walk around.
    """
    scaled = at_standard_height(picture).astype(np.int32)
    band = scaled[HEIGHT_PX // 2 - BAND_PX : HEIGHT_PX // 2 + BAND_PX]
    changes = (np.abs(np.diff(band, axis=0)).max(axis=2) > 1).mean(axis=0)
    sky = ((band[..., 2] > 170) & (band[..., 2] > band[..., 0] + 15)).mean(axis=0) > 0.3
    blocks = np.where(sky, FAR_AWAY_BLOCKS, changes * FOCAL_PX / FACE_TEXELS / CHANGING_TEXELS)
    left, middle, right = (float(np.median(third)) for third in np.array_split(blocks, 3))
    return left, middle, right


def _small(picture: Pixels) -> npt.NDArray[np.int32]:
    """Every fourth pixel of the world's part of a picture; enough to count shares."""
    return at_standard_height(picture)[: int(HEIGHT_PX * WORLD_SHARE) : 4, ::4].astype(np.int32)


def _thirds(mask: Mask) -> tuple[float, float, float]:
    left, middle, right = (float(third.mean()) for third in np.array_split(mask, 3, axis=1))
    return left, middle, right
