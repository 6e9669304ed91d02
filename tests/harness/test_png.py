"""The fast PNG encoder: other programs read back exactly what was put in."""

import io

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from oresight.harness import png
from oresight.harness.png import encode_png


def _picture(width: int, height: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


@given(width=st.integers(1, 70), height=st.integers(1, 50), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_what_is_read_back_is_what_was_encoded(width: int, height: int, seed: int) -> None:
    pixels = _picture(width, height, seed)
    with Image.open(io.BytesIO(encode_png(pixels))) as image:
        assert image.mode == "RGB"
        assert np.array_equal(np.asarray(image), pixels)


def test_another_decoder_reads_the_same() -> None:
    pixels = _picture(64, 48, 7)
    decoded = cv2.imdecode(np.frombuffer(encode_png(pixels), np.uint8), cv2.IMREAD_COLOR)
    assert np.array_equal(decoded[:, :, ::-1], pixels)


@pytest.mark.parametrize("view", [np.s_[::-1], np.s_[:, ::-1], np.s_[:, :, ::-1], np.s_[::2, 1::3]])
def test_a_view_of_a_larger_picture_is_encoded_as_it_looks(view: object) -> None:
    pixels = _picture(40, 30, 3)[view]  # type: ignore[index]
    with Image.open(io.BytesIO(encode_png(pixels))) as image:
        assert np.array_equal(np.asarray(image), pixels)


def test_a_picture_that_cannot_change_is_encoded_once_for_all_who_ask() -> None:
    pixels = _picture(40, 30, 4)
    pixels.setflags(write=False)
    assert encode_png(pixels) is encode_png(pixels)


def test_a_picture_that_may_change_is_encoded_as_it_is_each_time() -> None:
    pixels = _picture(40, 30, 5)
    frozen_view = pixels[:]
    frozen_view.setflags(write=False)
    before = encode_png(frozen_view)
    pixels[:] = 0
    after = encode_png(frozen_view)
    assert after != before
    assert after == encode_png(np.zeros_like(pixels))


def test_nothing_is_kept_of_a_picture_that_is_gone() -> None:
    pixels = _picture(40, 30, 6)
    pixels.setflags(write=False)
    encode_png(pixels)
    key = id(pixels)
    assert key in png._encoded
    del pixels
    assert key not in png._encoded
