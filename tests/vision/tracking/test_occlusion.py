"""Tests of occlusion and of overlooked tiles."""

from __future__ import annotations

import numpy as np

from tests.vision.seen import seen_tile
from vision.arrays import Mask
from vision.reading import SeenTile
from vision.tracking.perception import covered, overlooked
from vision.tracking.tracks import PictureDifference

STILL = np.eye(2, 3)
TILE = seen_tile(3, 5, x_px=200, y_px=100)  # 40 x 20 px


def empty_mask() -> Mask:
    return np.zeros((240, 320), bool)


def tile_region(tile: SeenTile, scale: float = 1.0) -> tuple[slice, slice]:
    xs, ys = zip(*tile.corners_px, strict=True)
    return slice(int(min(ys) / scale), int(max(ys) / scale)), slice(int(min(xs) / scale), int(max(xs) / scale))


def test_new_tiles_coins_and_shadows_cover_nothing() -> None:
    row = [seen_tile(1, 2, x_px=100 + 41 * i, y_px=100) for i in range(4)]
    mask = empty_mask()
    for tile in row:
        mask[tile_region(tile)] = True
    assert not covered(PictureDifference(mask, STILL, 1.0), row).any()
    mask = empty_mask()
    mask[tile_region(TILE)] = True
    assert not covered(PictureDifference(mask, STILL, 1.0), [TILE]).any()
    mask = empty_mask()
    mask[20:45, 20:45] = True
    assert not covered(PictureDifference(mask, STILL, 1.0), [TILE]).any()
    mask = empty_mask()
    mask[20:240, 20:90] = True
    assert not covered(PictureDifference(mask, STILL, 1.0), []).any()


def test_a_hand_covers_its_region_including_a_held_tile() -> None:
    mask = empty_mask()
    mask[95:240, 190:250] = True
    mask[tile_region(TILE)] = True
    hand = covered(PictureDifference(mask, STILL, 1.0), [TILE])
    assert hand[100, 200]
    assert hand[200, 220]
    assert not hand[:80].any()
    assert not hand[:, :170].any()
    mask = empty_mask()
    mask[95:150, 100:140] = True
    mask[156:240, 100:140] = True
    hand = covered(PictureDifference(mask, STILL, 1.0), [TILE])
    assert hand[153, 120]
    large = seen_tile(3, 5, x_px=400, y_px=200, side_px=40)
    mask = empty_mask()
    mask[tile_region(large, scale=2.0)] = True
    mask[20:240, 20:90] = True
    hand = covered(PictureDifference(mask, STILL, 2.0), [large])
    assert hand[100, 50]
    assert not hand[100, 200]


def test_a_tile_sized_change_without_a_detection_is_overlooked() -> None:
    mask = empty_mask()
    mask[tile_region(seen_tile(1, 2, x_px=100))] = True
    found = overlooked(PictureDifference(mask, STILL, 1.0), [TILE], empty_mask())
    assert found[100, 100]
    assert not found[:, 150:].any()
    mask = empty_mask()
    mask[tile_region(seen_tile(1, 2, x_px=241))] = True
    assert overlooked(PictureDifference(mask, STILL, 1.0), [TILE], empty_mask())[100, 245]
    mask = empty_mask()
    mask[tile_region(TILE)] = True
    assert overlooked(PictureDifference(mask, STILL, 1.0), [], empty_mask()).any()


def test_detected_tiles_specks_and_covered_regions_are_not_overlooked() -> None:
    mask = empty_mask()
    mask[tile_region(TILE)] = True
    assert not overlooked(PictureDifference(mask, STILL, 1.0), [TILE], empty_mask()).any()
    mask = empty_mask()
    mask[20:24, 20:24] = True
    mask[tile_region(seen_tile(1, 2, x_px=100))] = True
    hand = empty_mask()
    hand[60:140, 60:140] = True
    assert not overlooked(PictureDifference(mask, STILL, 1.0), [TILE], hand).any()
