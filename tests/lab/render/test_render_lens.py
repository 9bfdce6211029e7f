"""Tests of the rendered camera: exposure like that of a Raspberry Pi camera, and lens bloom."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lab.render.lighting import add_light
from lab.render.looks import CLASSIC, FELT, LAMP
from lab.render.paint import render
from lab.render.scene import Scene
from lab.render.view import expose, take, view_of
from tests.vision.tables import CAMERA, lay
from vision.arrays import Image

AUTOMATIC = replace(CAMERA, metering=1.0, noise=0.0, jpeg_quality=None)
EVEN = np.full((240, 320, 3), 128, np.uint8)


def _light(picture: Image) -> np.ndarray:
    """Return the linear light of all pixels, 0 to 1, in ascending order."""
    return np.sort((picture[..., 1].ravel() / 255.0) ** 2.2)


@pytest.mark.parametrize("level", [20, 60, 100, 180, 240])
def test_a_uniform_table_is_exposed_to_mid_grey(level: int) -> None:
    exposed = expose(np.full((240, 320, 3), level, np.uint8), EVEN, LAMP, AUTOMATIC)
    assert _light(exposed).mean() == pytest.approx(0.2, abs=0.02)  # the brightest fiftieth raises the exposure slightly


@pytest.mark.parametrize("share", [0.02, 0.05, 0.2])
def test_white_on_black_is_not_overexposed(share: float) -> None:
    table = np.full((240, 320, 3), 12, np.uint8)
    table[:, : round(320 * share)] = 200
    exposed = expose(table, EVEN, LAMP, AUTOMATIC)
    assert _light(exposed)[-len(table) :].mean() == pytest.approx(0.8, abs=0.05)


def test_a_camera_without_metering_keeps_the_scene() -> None:
    table = np.full((240, 320, 3), 40, np.uint8)
    assert (expose(table, EVEN, LAMP, replace(AUTOMATIC, metering=0.0)) == table).all()


def test_black_pips_stay_black_on_white_tiles_on_a_dark_table() -> None:
    dark = replace(FELT, base_bgr=(9.0, 9.0, 9.0), second_bgr=(5.0, 5.0, 5.0), third_bgr=(12.0, 12.0, 12.0))
    tiles = tuple(lay(6, pips, 60 * (pips % 3) - 60, 60 * (pips // 3) - 60) for pips in range(9))
    rendered = render(Scene(tiles, CLASSIC, dark, LAMP, AUTOMATIC), np.random.default_rng(3))
    for tile in rendered.truth.tiles:
        x, y = np.array(tile.corners_px).T
        face = rendered.image[int(y.min()) : int(y.max()), int(x.min()) : int(x.max()), 1]
        assert np.percentile(face, 90) < 253
        assert np.percentile(face, 90) - np.percentile(face, 2) > 120


def test_lighting_above_white_is_preserved_until_exposure() -> None:
    table = np.full((240, 320, 3), 200, np.uint8)
    table[:, 160:] = 230
    exposed = expose(table, np.full_like(EVEN, 220), LAMP, AUTOMATIC)
    dark, bright = (float(exposed[120, x, 1]) for x in (80, 240))
    assert bright < 230
    assert bright / dark == pytest.approx(230 / 200, rel=0.03)


def _bloomed(picture: Image, share: float) -> Image:
    camera = replace(CAMERA, bloom=share, noise=0.0, blur_px=0.0, jpeg_quality=None)
    return take(picture, camera, view_of(camera), np.random.default_rng(1))


def test_bloom_spreads_light_without_adding_any() -> None:
    lamp = np.full((240, 320, 3), 10, np.uint8)
    lamp[100:140, 140:180] = 250
    bloomed = _bloomed(lamp, 0.1)
    assert 10 < bloomed[98, 160, 1] < 100, "no glow beside the lamp"
    assert 235 < bloomed[120, 160, 1] < 250
    assert _light(bloomed).sum() == pytest.approx(_light(lamp).sum(), rel=0.1)
    even = np.full((240, 320, 3), 180, np.uint8)
    assert (_bloomed(even, 0.1) == even).all()


def test_light_is_added_linearly_rather_than_as_grey_levels() -> None:
    grey = np.repeat(np.array([[0, 30, 120, 200, 250]], np.uint8)[..., None], 3, axis=2)
    lit = add_light(grey, np.array([[90, 40, 160, 150, 0]], np.uint8))
    assert lit[0, :, 0].tolist() == [90, 50, 200, 250, 250]
    assert (add_light(grey, np.full((1, 5), 255, np.uint8)) == 255).all()
