"""Crosshair and hotbar on plain pictures."""

import numpy as np
import numpy.typing as npt

from oresight.craftenv.blocks import Block
from oresight.craftenv.render.atlas import read_texture
from oresight.craftenv.render.hud import Hud

EMPTY = [(0, 0)] * 9


def picture(width: int, height: int, hotbar: list[tuple[int, int]], slot: int = 0) -> npt.NDArray[np.uint8]:
    image = np.full((height, width, 3), 100, dtype=np.uint8)
    Hud(width, height).draw(image, hotbar, slot)
    return image


def test_the_selected_slot_has_a_white_edge_where_another_has_none() -> None:
    for slot in range(9):
        row = picture(640, 480, EMPTY, slot)[-26]
        white = np.flatnonzero(np.all(row == 255, axis=-1))
        assert abs(white.mean() - (320 + (slot - 4) * 40)) < 2


def test_an_item_shows_its_texture_at_twice_its_size() -> None:
    image = picture(640, 480, [(Block.IRON_ORE, 1), *EMPTY[1:]], slot=8)
    expected = read_texture("iron_ore")[..., :3].repeat(2, axis=0).repeat(2, axis=1)
    found = [
        (top, left)
        for top in range(430, 450)
        for left in range(130, 160)
        if np.array_equal(image[top : top + 14, left : left + 32], expected[:14])
    ]
    assert len(found) == 1


def test_every_count_looks_different() -> None:
    shown = {picture(640, 480, [(Block.DIRT, count), *EMPTY[1:]]).tobytes() for count in range(1, 65)}
    assert len(shown) == 64


def test_an_empty_slot_shows_nothing_whatever_item_it_held() -> None:
    assert np.array_equal(picture(640, 480, [(Block.DIRT, 0), *EMPTY[1:]]), picture(640, 480, EMPTY))


def test_no_hotbar_is_an_empty_one() -> None:
    image = np.full((480, 640, 3), 100, dtype=np.uint8)
    Hud(640, 480).draw(image, None, 0)
    assert np.array_equal(image, picture(640, 480, EMPTY))


def test_the_crosshair_is_in_the_middle_and_shows_on_white_and_on_black() -> None:
    for ground in (0, 255):
        image = np.full((480, 640, 3), ground, dtype=np.uint8)
        Hud(640, 480).draw(image, EMPTY, 0)
        rows, columns = np.nonzero((image != ground).any(axis=-1)[:400])
        assert (rows.min() + rows.max() + 1) / 2 == 240
        assert (columns.min() + columns.max() + 1) / 2 == 320


def test_small_pictures_keep_most_of_the_view() -> None:
    for width, height in ((64, 48), (80, 60), (160, 120), (320, 240), (1920, 1080)):
        image = picture(width, height, [(Block.GOLD_ORE, 64)] * 9)
        assert (image != 100).any(axis=-1).mean() < 0.25


def test_a_drawn_hotbar_is_drawn_again_after_another() -> None:
    hud = Hud(640, 480)
    pictures = []
    for hotbar in ([(Block.DIRT, 1), *EMPTY[1:]], EMPTY, [(Block.DIRT, 1), *EMPTY[1:]]):
        image = np.zeros((480, 640, 3), dtype=np.uint8)
        hud.draw(image, hotbar, 0)
        pictures.append(image)
    assert np.array_equal(pictures[0], pictures[2])
    assert not np.array_equal(pictures[0], pictures[1])
