"""Tests of the light check: glare and dark tiles are reported with their positions, good light is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.table.picture import MIN_CONTRAST, Trouble, examine_light
from lab.render.looks import CLASSIC, FELT, LAMP, OVERHEAD
from lab.render.paint import RenderedPicture, render
from lab.render.scene import PlacedTile, Scene
from vision.arrays import Image
from vision.reading import OutlinePx

CAMERA = replace(OVERHEAD, width_px=800, height_px=450, px_per_mm=1.6, noise=2.0)
PLACES = [(float(x), float(y)) for x in (-150, -50, 50, 150) for y in (-70, 70)]


def laid_in(exposure: float) -> RenderedPicture:
    light = replace(LAMP, exposure=exposure)
    placed = tuple(PlacedTile((6, at % 7), place, 0.3) for at, place in enumerate(PLACES))
    return render(Scene(placed, CLASSIC, FELT, light, CAMERA), np.random.default_rng(4))


@pytest.fixture(scope="module")
def good() -> RenderedPicture:
    return laid_in(0.8)


def outlines(rendered: RenderedPicture) -> list[OutlinePx]:
    return [tile.corners_px for tile in rendered.truth.tiles]


def with_glare(picture: Image, x_px: float, y_px: float, size_px: float) -> Image:
    down, across = np.mgrid[: picture.shape[0], : picture.shape[1]]
    light = 600 * np.exp(-((across - x_px) ** 2 + (down - y_px) ** 2) / (2 * size_px**2))
    lit: Image = np.clip(picture + light[..., None], 0, 255).astype(np.uint8)
    return lit


def test_good_light_has_no_warnings(good: RenderedPicture) -> None:
    found = examine_light(good.image, outlines(good))
    assert found.warnings == ()
    assert len(found.samples) == 8
    assert found.contrast is not None
    assert found.contrast[0] > 2 * MIN_CONTRAST


def test_glare_is_located_at_and_between_tiles(good: RenderedPicture) -> None:
    x, y = good.truth.tiles[3].center_px
    found = examine_light(with_glare(good.image, x, y, 10), outlines(good))
    assert [found.trouble_at(spot) for spot in found.samples].count(Trouble.GLARE) == 1
    assert found.trouble_at(found.samples[3]) is Trouble.GLARE
    assert "Glare in 1 place" in found.warnings[0]
    found = examine_light(with_glare(good.image, 400, 225, 12), outlines(good))
    ((x, y, radius),) = found.patches
    assert (x, y) == pytest.approx((400, 225), abs=3)
    assert 8 < radius < 30


def test_dark_tiles_have_too_little_contrast_and_bright_ones_no_glare() -> None:
    dark = laid_in(0.08)
    found = examine_light(dark.image, outlines(dark))
    assert {found.trouble_at(spot) for spot in found.samples} == {Trouble.DULL}
    assert "Too little contrast in 8 places" in found.warnings[0]
    bright = laid_in(1.6)
    found = examine_light(bright.image, outlines(bright))
    assert found.is_bright
    assert found.warnings == ()


def test_white_and_black_pictures_are_reported_without_tiles() -> None:
    assert "overexposed" in examine_light(np.full((90, 160, 3), 255, np.uint8), []).warnings[0]
    assert "too dark" in examine_light(np.full((90, 160, 3), 9, np.uint8), []).warnings[0]
    assert examine_light(np.full((90, 160, 3), 99, np.uint8), []).warnings == ()
    outside: OutlinePx = ((-50.0, -50.0), (-20.0, -50.0), (-20.0, -20.0), (-50.0, -20.0))
    assert examine_light(np.full((90, 160, 3), 99, np.uint8), [outside]).samples == ()
