"""Tests of camera motion estimation from the image. The grain of the cloth suffices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lab.render.looks import COLORED, WALNUT
from tests.vision.moving import CAMERA, HEIGHT_PX, WIDTH_PX, Bump, Clip, Moment, hand_at, lay
from tests.vision.tables import Looks
from vision.arrays import Image
from vision.tracking.camera_motion import (
    STRAIGHT_ON,
    Agreement,
    Alignment,
    AlignmentEstimate,
    Anchor,
    estimate_alignment,
)
from vision.tracking.settle import Side

SIZE = (WIDTH_PX, HEIGHT_PX)
WOOD = Looks(COLORED, WALNUT, camera=CAMERA)
TILES = (lay(3, 5, -60, -20, 20), lay(5, 5, -20, -18, 110), lay(5, 1, 20, -15, 20))
BUMPS: tuple[Bump, ...] = ((0.0, 0.0, 0.5), (45.0, -40.0, 2.0), (-30.0, 25.0, -4.5))


def seen(clip: Clip, bump: Bump, moment: Moment | None = None) -> tuple[Anchor, Image, Alignment]:
    """Return the anchor of the empty table, an image after a bump, and the true alignment."""
    anchor = Anchor.of(clip.film.picture(Moment()))
    image = clip.film.picture(replace(moment or Moment(), bump=bump))
    straight = np.vstack([clip.film.aim((0.0, 0.0, 0.0)), [0, 0, 1]])
    return anchor, image, Alignment.of(clip.film.aim(bump) @ np.linalg.inv(straight))


def error_px(found: AlignmentEstimate, truth: Alignment) -> float:
    return found.aim.farthest_px(truth, SIZE)


@pytest.mark.parametrize("looks", [Looks(camera=CAMERA), WOOD], ids=["felt", "walnut"])
def test_estimates_a_bump_over_an_empty_table_from_the_grain(looks: Looks) -> None:
    clip = Clip(looks, seed=2)
    for bump in BUMPS:
        anchor, image, truth = seen(clip, bump)
        found = estimate_alignment(anchor, image, STRAIGHT_ON)
        assert found.agreement is Agreement.MOVED
        assert error_px(found, truth) < 0.6


def test_new_tiles_and_a_hand_do_not_disturb_the_estimate() -> None:
    moment = Moment(TILES, (hand_at((90.0, 40.0), Side.RIGHT, 0.1),), gain=0.85)
    anchor, image, truth = seen(Clip(seed=2), (35.0, 20.0, -2.0), moment)
    found = estimate_alignment(anchor, image, STRAIGHT_ON)
    assert found.agreement is Agreement.MOVED
    assert error_px(found, truth) < 0.6


def test_noise_light_hands_and_tiles_are_no_camera_motion() -> None:
    moment = Moment(TILES, (hand_at((90.0, 40.0), Side.RIGHT, 0.1),), gain=1.15)
    anchor, image, _ = seen(Clip(seed=2, noise=4.0), (0.0, 0.0, 0.0), moment)
    assert estimate_alignment(anchor, image, STRAIGHT_ON).agreement is Agreement.STEADY


@pytest.mark.parametrize("seed", [2, 3])
def test_noise_along_the_wood_grain_is_no_camera_motion(seed: int) -> None:
    moment = Moment(TILES, (hand_at((90.0, 40.0), Side.RIGHT, 0.1),), gain=0.8)
    anchor, image, _ = seen(Clip(WOOD, seed=seed, noise=5.0), (0.0, 0.0, 0.0), moment)
    assert estimate_alignment(anchor, image, STRAIGHT_ON).agreement is Agreement.STEADY


def test_small_slips_do_not_accumulate_errors() -> None:
    clip, aim = Clip(seed=2), STRAIGHT_ON
    for step in range(1, 6):
        anchor, image, truth = seen(clip, (4.0 * step, -3.0 * step, 0.3 * step))
        aim = estimate_alignment(anchor, image, aim).aim
        assert aim.farthest_px(truth, SIZE) < 0.6


def test_a_camera_pointing_elsewhere_or_at_no_grain_does_not_align() -> None:
    anchor, image, _ = seen(Clip(seed=2), (0.0, 0.0, 0.0))
    other_view = np.ascontiguousarray(image[::-1, ::-1])
    assert estimate_alignment(anchor, other_view, STRAIGHT_ON) == AlignmentEstimate(Agreement.NONE, STRAIGHT_ON, 0)
    plain = np.full((HEIGHT_PX, WIDTH_PX, 3), 120, np.uint8)
    assert estimate_alignment(Anchor.of(plain), plain, STRAIGHT_ON).agreement is Agreement.NONE


def test_renewing_the_anchor_adds_new_objects() -> None:
    clip = Clip(seed=2)
    anchor = Anchor.of(clip.film.picture(Moment()))
    later = clip.film.picture(Moment(TILES))
    region = np.zeros((54, 96), np.bool_)
    region[:, :48] = True
    renewed = anchor.renewed(later, region)
    assert (renewed.grey[:, :470] == Anchor.of(later).grey[:, :470]).all()
    assert (renewed.grey[:, 490:] == anchor.grey[:, 490:]).all()
    assert anchor.renewed(later, np.zeros_like(region)) is anchor
