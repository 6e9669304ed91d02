"""What scout sees in a picture: ore-coloured patches, which way and how far they are, and bare rock.

Needs OpenCV, and is therefore imported only where a picture is looked at. Knows colours, shapes and the camera, nothing
of the world behind the picture. Pictures are uint8[height, width, 3], RGB, of any size.
"""

import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from oresight.harness.protocols import Pixels

Mask = npt.NDArray[np.bool_]

# Everything below counts pixels of a picture 480 high; other sizes are scaled to it first.
HEIGHT_PX = 480
# The focal length of a camera with 70 degrees from top to bottom: half the height by the tangent of 35 degrees.
FOCAL_PX = HEIGHT_PX / 2.0 / 0.7002075382097097
# The hotbar shows pictures of what was mined, ores among them; what lies below this share of the height is ignored.
WORLD_SHARE = 0.88
# Sizes of flecks, from those of a far block to those of one at the feet, and over how many times its own size a fleck
# is joined to the next.
FLECK_SIZES_PX = (1, 5, 13, 31)
JOIN_FACTOR = 4
# The widest lines of the outline around the targeted block.
OUTLINE_PX = 4
# Fewer pixels of an ore's colour than this are chance mixtures at the edges of blocks.
MIN_PIXELS = 10
# A face has 16 texels a side.
FACE_TEXELS = 16.0
# Some 40 % of an ore's face has its colour. Half of that around a place means that it lies on the ore, not beside it:
# at its edge the neighbour covers half of what is looked at. Where the crosshair is already, less will do: a look away
# costs more than mining the neighbour, which is in the way anyhow.
AIM_SHARE = 0.2
CROSSHAIR_SHARE = 0.1
# Distances are estimates: with the crosshair on the ore, mining is tried from this many times as far.
TRY_FACTOR = 1.5
# Around each place the texels of such a window are counted; an eye is never nearer to a face than a shoulder's width.
WINDOW = (61, 61)
NEAREST_BLOCKS = 0.5
# A look turns 30 degrees and is worth about this much of a way.
LOOK_DEG = 30.0
LOOK_BLOCKS = 2.0
# What counts around the crosshair; half a face at arm's length.
CROSSHAIR_PX = 41
# The band around the middle row in which a wall shows.
BAND_PX = 40
# How many neighbouring texels differ: of the ground's textures, and of an ore's flecks as measured in pictures.
CHANGING_TEXELS = 0.75
CHANGING_FLECKS = 0.55
FAR_AWAY_BLOCKS = 48.0


@dataclass(frozen=True)
class Patch:
    """Neighbouring pixels with the colour of an ore, in pixels of a picture 480 high.

    Attributes:
        column: Of the place most full of ore, to the right from the picture's centre.
        row: Of that place, downwards from the picture's centre.
        pixels: How many pixels have the colour.
        blocks: Estimated distance from the eye.
    """

    column: float
    row: float
    pixels: int
    blocks: float


@dataclass(frozen=True)
class Aim:
    """Looks that would put the crosshair on an ore: turns to the right and tilts downwards, and how far it is."""

    turns: int
    tilts: int
    blocks: float


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
    texture shrunk to one pixel. Gold's and diamond's do not: a seam of grass and dirt shrinks to the hue of shrunk
    gold, leaves in the fog to that of shrunk diamond.

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
    flecks = _world_mask(picture, ore)
    if int(flecks.sum()) < MIN_PIXELS:
        return ()
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
        part = np.where(labels[box] == label, flecks[box], 0).astype(np.uint8)
        if int(part.sum()) >= MIN_PIXELS:
            patches.append(_patch(picture[box], part, top, left, picture.shape[1]))
    return tuple(sorted(patches, key=lambda patch: (-patch.pixels, patch.column, patch.row)))


def find_aim(picture: Pixels, ore: str, pitch_deg: float, turn_deg: float, tilt_deg: float, reach: float) -> Aim | None:
    """Find the fewest looks after which the crosshair is on an ore within reach, among those that stay in the picture.

    Args:
        picture: uint8[height, width, 3].
        ore: Which ore.
        pitch_deg: How far the view is tilted down.
        turn_deg: What one look turns.
        tilt_deg: What one look tilts.
        reach: How far away the ore may be, in blocks.
    """
    picture = at_standard_height(picture)
    mask = _world_mask(picture, ore)
    if int(mask.sum()) < MIN_PIXELS:
        return None
    blocks = _distances(picture, mask)
    share = cv2.blur(mask.astype(np.float64), (CROSSHAIR_PX, CROSSHAIR_PX), borderType=cv2.BORDER_CONSTANT)
    best: Aim | None = None
    for turns in (0, -1, 1):
        for tilts in (0, -1, 1, -2, 2):
            place = _in_picture(turns * turn_deg, pitch_deg + tilts * tilt_deg, pitch_deg)
            if place is None or abs(pitch_deg + tilts * tilt_deg) > 90.0:
                continue
            row, column = HEIGHT_PX // 2 + place[1], picture.shape[1] // 2 + place[0]
            if not (0 <= row < share.shape[0] and 0 <= column < share.shape[1]):
                continue
            here = turns == tilts == 0
            if share[row, column] < (CROSSHAIR_SHARE if here else AIM_SHARE):
                continue
            aim = Aim(turns, tilts, float(blocks[row, column]))
            if aim.blocks < reach * (TRY_FACTOR if here else 1.0) and (
                best is None or abs(turns) + abs(tilts) < abs(best.turns) + abs(best.tilts)
            ):
                best = aim
    return best


def _in_picture(right_deg: float, down_deg: float, pitch_deg: float) -> tuple[int, int] | None:
    """Turn a direction into a place in the picture (column, row from its centre), the reverse of `bearing`."""
    right, down, pitch = math.radians(right_deg), math.radians(down_deg), math.radians(pitch_deg)
    ahead = math.cos(down) * math.cos(right)
    forward = ahead * math.cos(pitch) + math.sin(down) * math.sin(pitch)
    if forward < 0.1:
        return None
    below = math.sin(down) * math.cos(pitch) - ahead * math.sin(pitch)
    return round(FOCAL_PX * math.cos(down) * math.sin(right) / forward), round(FOCAL_PX * below / forward)


def _world_mask(picture: Pixels, ore: str) -> npt.NDArray[np.uint8]:
    """Return the ore's pixels, 1 or 0, without the hotbar."""
    mask = ore_mask(picture, ore).astype(np.uint8)
    mask[int(HEIGHT_PX * WORLD_SHARE) :] = 0
    if ore == "coal_ore":
        # The outline of the targeted block is black too, but thin.
        mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((OUTLINE_PX + 1,) * 2, dtype=np.uint8))
    return np.asarray(mask, dtype=np.uint8)


def _patch(colours: Pixels, part: npt.NDArray[np.uint8], top: int, left: int, picture_width: int) -> Patch:
    blocks = _distances(colours, part)
    middle_row, middle_column = HEIGHT_PX // 2 - top, picture_width // 2 - left
    # Of a vein of several blocks the place that costs the least way and the least turning.
    rows, columns = np.ogrid[: part.shape[0], : part.shape[1]]
    off_deg = np.degrees(np.hypot(rows - middle_row, columns - middle_column) / FOCAL_PX)
    cost = np.where(part > 0, blocks / LOOK_BLOCKS + off_deg / LOOK_DEG, np.inf)
    row, column = (int(value) for value in np.unravel_index(int(np.argmin(cost)), cost.shape))
    # From a fleck there to the middle of the ore around it.
    face_px = FOCAL_PX / float(blocks[row, column])
    reach = max(1, int(face_px / 3.0))
    near = part[max(0, row - reach) : row + reach + 1, max(0, column - reach) : column + reach + 1]
    near_rows, near_columns = np.nonzero(near)
    row = max(0, row - reach) + int(near_rows.mean())
    column = max(0, column - reach) + int(near_columns.mean())
    return Patch(
        column=float(column - middle_column),
        row=float(row - middle_row),
        pixels=int(part.sum()),
        blocks=float(blocks[row, column]),
    )


def _distances(colours: Pixels, part: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Estimate for each place how far the ore there is: the nearer, the fewer pixels differ from their neighbours.

    A face seen from the side is foreshortened in one direction only; the one with fewer changes keeps the scale.
    """
    weight = cv2.blur(part.astype(np.float64), WINDOW, borderType=cv2.BORDER_CONSTANT)
    shares = []
    for axis in (0, 1):
        differs = np.zeros(part.shape, dtype=np.float64)
        change = np.abs(np.diff(colours.astype(np.int32), axis=axis)).max(axis=2) > 2
        differs[(slice(1, None), slice(None)) if axis == 0 else (slice(None), slice(1, None))] = change
        shares.append(cv2.blur(differs * part, WINDOW, borderType=cv2.BORDER_CONSTANT) / np.maximum(weight, 1e-9))
    blocks = np.minimum(shares[0], shares[1]) * FOCAL_PX / FACE_TEXELS / CHANGING_FLECKS
    return np.maximum(np.where(weight > 1e-9, blocks, FAR_AWAY_BLOCKS), NEAREST_BLOCKS)


def rock_shares(picture: Pixels) -> tuple[float, float, float]:
    """Return how much of the left, middle and right third of a picture is bare rock, 0 to 1 each."""
    small = _small(picture)
    brightest, darkest = small.max(axis=2), small.min(axis=2)
    return _thirds(((brightest - darkest) * 100 < brightest * 8) & (brightest > 40) & (brightest < 150))


def water_shares(picture: Pixels) -> tuple[float, float, float]:
    """Return how much of the left, middle and right third of a picture's lower half is water, 0 to 1 each."""
    small = _small(picture)
    lower = small[small.shape[0] // 2 :]
    red, green, blue = lower[..., 0], lower[..., 1], lower[..., 2]
    # Blue leads by far; in the sky red and green are not so far behind.
    return _thirds((blue * 100 > green * 125) & (red * 100 < blue * 70))


def free_blocks(picture: Pixels) -> tuple[float, float, float]:
    """Return how far the way is free at the height of the eyes, to the left, ahead and to the right; for a level view.

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
    """Return every fourth pixel of the world's part of a picture; enough to count shares."""
    return at_standard_height(picture)[: int(HEIGHT_PX * WORLD_SHARE) : 4, ::4].astype(np.int32)


def _thirds(mask: Mask) -> tuple[float, float, float]:
    left, middle, right = (float(third.mean()) for third in np.array_split(mask, 3, axis=1))
    return left, middle, right
