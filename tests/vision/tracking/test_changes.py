"""Tests of image differences: objects count; noise, light and camera bumps do not."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from lab.render.looks import FELT, WALNUT
from lab.render.paint import RenderedPicture
from lab.render.scene import TableLook
from lab.training.tables import truth_poses
from tests.vision.shapes import blank, fill, fill_circle, tile_at, tiles_at
from tests.vision.tables import CAMERA, Looks, lay, table_with
from vision.arrays import Image
from vision.poses import Poses, corners
from vision.tracking.tracks import PictureDifference, TablePicture, differences_between

STILL = np.eye(2, 3)
# Thresholds of Perception for new and for touched tiles (vision/tracking/perception.py).
NEW, TOUCHED = 0.4, 0.25
# Rendered wider than it is cropped, to allow camera bumps.
WIDE = replace(CAMERA, width_px=700, height_px=540)
TILES = (lay(3, 5, -60, -40, 20), lay(6, 1, 50, 30, 100), lay(2, 2, 70, -60, 0))


def change(before: Image, after: Image) -> PictureDifference:
    return differences_between(TablePicture.of(before), TablePicture.of(after))


def cropped(image: Image, shift_x_px: int = 0, shift_y_px: int = 0) -> Image:
    """Return a crop of a wide image. A shift simulates a camera bump."""
    top, left = 30 - shift_y_px, 30 - shift_x_px
    return np.ascontiguousarray(image[top : top + 480, left : left + 640])


def poses_of(rendered: RenderedPicture) -> Poses:
    """Return the poses of the true tiles, in their order."""
    return truth_poses(rendered.truth)[0]


def test_neither_an_equal_image_nor_a_table_without_corners_has_motion() -> None:
    image = table_with(TILES).image
    same = change(image, image)
    assert not same.mask.any()
    assert same.motion == pytest.approx(STILL, abs=0.01)
    image = blank(640, 480)
    other = image.copy()
    fill(other, corners(tile_at(300, 200, side_px=30))[0], (230, 230, 230))
    difference = change(image, other)
    assert (difference.motion == STILL).all()
    assert difference.share(tile_at(300, 200, side_px=30)) > [0.9]


@pytest.mark.parametrize("table", [FELT, WALNUT], ids=["felt", "walnut"])
def test_noise_is_no_difference(table: TableLook) -> None:
    looks = Looks(table=table)
    same = change(table_with(TILES, looks, frame=1).image, table_with(TILES, looks, frame=2).image)
    assert same.mask.mean() < 0.001


def test_a_placed_or_removed_tile_changes_both_halves() -> None:
    empty, full = table_with((), frame=1), table_with(TILES, frame=2)
    poses = poses_of(full)
    for difference in (change(empty.image, full.image), change(full.image, empty.image)):
        assert difference.share(poses).min() > 0.8


def test_only_the_place_of_the_new_tile_changes() -> None:
    before, after = table_with(TILES[:2], frame=1), table_with(TILES, frame=2)
    difference = change(before.image, after.image)
    old, both = poses_of(before), poses_of(after)
    assert difference.share(old).max() < TOUCHED
    assert difference.share(both).max() > NEW
    assert difference.mask.mean() < 0.05


@pytest.mark.parametrize("gain", [0.8, 0.9, 1.1, 1.2])
def test_exposure_is_no_difference(gain: float) -> None:
    before, after = table_with(TILES, frame=1), table_with(TILES, frame=2)
    brighter = cv2.convertScaleAbs(after.image, alpha=gain)
    difference = change(before.image, np.asarray(brighter, np.uint8))
    assert difference.share(poses_of(before)).max() < TOUCHED
    assert difference.mask.mean() < 0.03


@pytest.mark.parametrize("shift", [(3, 0), (-7, 5), (10, 10), (0, -10)])
@pytest.mark.parametrize("table", [FELT, WALNUT], ids=["felt", "walnut"])
def test_a_camera_bump_is_estimated_and_is_no_difference(shift: tuple[int, int], table: TableLook) -> None:
    looks = Looks(table=table, camera=WIDE)
    before = cropped(table_with(TILES, looks, frame=1).image)
    after = cropped(table_with(TILES, looks, frame=2).image, *shift)
    difference = change(before, after)
    assert difference.motion[:, 2] == pytest.approx(shift, abs=0.6)
    assert difference.motion[:, :2] == pytest.approx(np.eye(2), abs=0.01)
    assert difference.moved(np.array([[100.0, 200.0]]))[0] == pytest.approx((100 + shift[0], 200 + shift[1]), abs=1.0)
    # The border that came into view is unknown.
    inner = difference.mask[12:-12, 12:-12]
    assert inner.mean() < 0.01


def test_distinguishes_a_new_tile_from_a_bump() -> None:
    looks = Looks(camera=WIDE)
    before = cropped(table_with(TILES[:2], looks, frame=1).image)
    after = table_with(TILES, looks, frame=2)
    difference = change(before, cropped(after.image, 6, -4))
    poses, is_new = poses_of(after), np.array(after.tile_index) == 2
    poses[:, :2] += (6 - 30, -4 - 30)
    assert is_new.sum() == 1
    assert difference.share(poses[is_new]) > [NEW]
    assert difference.share(poses[~is_new]).max() < TOUCHED


def test_the_share_is_that_of_the_less_changed_half_in_full_resolution_pixels() -> None:
    mask = np.zeros((100, 100), bool)
    mask[:, 50:] = True
    difference = PictureDifference(mask, STILL, 1.0)
    poses = tiles_at(tile_at(20, 50), tile_at(50, 50), tile_at(80, 50), tile_at(50, 50, degrees=90))
    assert difference.share(poses).tolist() == [0.0, 0.0, 1.0, pytest.approx(0.5, abs=0.11)]
    mask = np.zeros((50, 50), bool)
    mask[30:, 30:] = True
    difference = PictureDifference(mask, STILL, 4.0)
    assert difference.share(tiles_at(tile_at(160, 160), tile_at(40, 40))).tolist() == [1.0, 0.0]
    difference = PictureDifference(np.zeros((50, 50), bool), STILL, 4.0)
    assert difference.share(tiles_at(tile_at(-500, 900), tile_at(1e7, 3))).tolist() == [0.0, 0.0]
    rotated = PictureDifference(np.zeros((5, 5), bool), np.array([[0.0, -1.0, 10.0], [1.0, 0.0, 20.0]]), 1.0)
    assert rotated.moved(np.array([[3.0, 4.0]])).tolist() == [[6.0, 23.0]]


def test_the_motion_of_a_large_image_is_in_full_resolution_pixels() -> None:
    rng = np.random.default_rng(0)
    image = blank(1400, 1080, (120, 120, 120))
    for x, y, radius in rng.uniform((0, 0, 6), (1400, 1080, 20), (150, 3)):
        grey = int(rng.integers(0, 255))
        fill_circle(image, np.array([x, y]), float(radius), (grey, grey, grey))
    moved = change(np.ascontiguousarray(image[50:1010, 50:1330]), np.ascontiguousarray(image[42:1002, 38:1318]))
    assert moved.scale == 2.0
    assert moved.motion[:, 2] == pytest.approx((12, 8), abs=0.6)


def test_rejects_an_image_of_another_size() -> None:
    with pytest.raises(ValueError, match="pictures must have the same size, but got ") as caught:
        change(blank(320, 240), blank(240, 320))
    assert "240" in str(caught.value)


@pytest.mark.parametrize(("width_px", "height_px"), [(1, 1), (1, 3000), (3000, 1), (30, 20)])
def test_compares_tiny_and_thin_images(width_px: int, height_px: int) -> None:
    dark, light = blank(width_px, height_px, (20, 20, 20)), blank(width_px, height_px, (200, 200, 200))
    assert not change(dark, dark).mask.any()
    assert not change(dark, light).mask.any()  # a uniform change of light


def test_the_bounding_box_ignores_specks() -> None:
    mask = np.zeros((90, 160), bool)
    mask[20:40, 50:90] = True
    mask[80, 10] = True
    assert PictureDifference(mask, STILL, 2.0).box_px == (100.0, 40.0, 180.0, 80.0)
    mask[20:40, 50:90] = False
    assert PictureDifference(mask, STILL, 2.0).box_px is None
