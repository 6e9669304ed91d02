"""The committed textures are what the script draws, and the ores keep their distance from everything else."""

import colorsys

import numpy as np
import pytest
from PIL import Image

from oresight import assets
from oresight.assets.make_textures import draw_all
from oresight.craftenv.blocks import BLOCKS

ORES = ("coal_ore", "iron_ore", "gold_ore", "diamond_ore")
NAMES = {name for kind in BLOCKS.values() for name in (kind.top, kind.side, kind.bottom) if name}


def hue_and_saturation(name: str) -> tuple[float, float]:
    red, green, blue = draw_all()[name][..., :3].reshape(-1, 3).mean(axis=0) / 255.0
    hue, saturation, _ = colorsys.rgb_to_hsv(red, green, blue)
    return hue * 360.0, saturation


def test_every_texture_of_the_block_table_is_drawn_and_committed() -> None:
    files = {file.stem for file in assets.path("textures").glob("*.png")}
    assert set(draw_all()) == files == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_drawing_again_gives_the_committed_pixels(name: str) -> None:
    drawn = draw_all()[name]
    with Image.open(assets.path("textures", f"{name}.png")) as picture:
        assert picture.mode == "RGBA"
        np.testing.assert_array_equal(np.asarray(picture), drawn)
    assert drawn.shape == (16, 16, 4)


@pytest.mark.parametrize("name", sorted(NAMES - {"water", "torch"}))
def test_full_blocks_are_opaque(name: str) -> None:
    assert (draw_all()[name][..., 3] == 255).all()


@pytest.mark.parametrize("name", ["stone", "grass_top", "dirt", "sand"])
def test_ground_is_calm(name: str) -> None:
    assert draw_all()[name][..., :3].astype(float).std(axis=(0, 1)).max() < 11.0


@pytest.mark.parametrize("name", ORES)
def test_an_ore_covers_a_good_share_of_the_stone(name: str) -> None:
    textures = draw_all()
    difference = np.abs(textures[name].astype(int) - textures["stone"]).sum(axis=2)
    assert 0.33 < (difference > 60).mean() < 0.47


@pytest.mark.parametrize("name", ORES[1:])
def test_a_coloured_ore_shrunk_to_one_pixel_has_a_hue_of_its_own(name: str) -> None:
    hue, saturation = hue_and_saturation(name)
    assert saturation > 0.25
    for other in NAMES - {name}:
        other_hue, other_saturation = hue_and_saturation(other)
        apart = abs(hue - other_hue)
        assert other_saturation < 0.1 or min(apart, 360.0 - apart) > 7.0 or abs(saturation - other_saturation) > 0.2
