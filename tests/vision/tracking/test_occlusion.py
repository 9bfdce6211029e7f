"""What covers the table: hands, and not the tiles that came or went."""

from __future__ import annotations

import numpy as np

from tests.vision.seen import seen_tile
from vision.arrays import Mask
from vision.reading import SeenTile
from vision.tracking.changes import PictureDifference
from vision.tracking.occlusion import covered, overlooked

STILL = np.eye(2, 3)
TILE = seen_tile(3, 5, x_px=200, y_px=100)  # 40 x 20 px


def nothing() -> Mask:
    return np.zeros((240, 320), bool)


def of_tile(tile: SeenTile, scale: float = 1.0) -> tuple[slice, slice]:
    xs, ys = zip(*tile.corners_px, strict=True)
    return slice(int(min(ys) / scale), int(max(ys) / scale)), slice(int(min(xs) / scale), int(max(xs) / scale))


def test_a_tile_that_came_covers_nothing() -> None:
    mask = nothing()
    mask[of_tile(TILE)] = True
    assert not covered(PictureDifference(mask, STILL, 1.0), [TILE]).any()


def test_tiles_in_a_row_that_came_together_cover_nothing() -> None:
    row = [seen_tile(1, 2, x_px=100 + 41 * i, y_px=100) for i in range(4)]
    mask = nothing()
    for tile in row:
        mask[of_tile(tile)] = True
    assert not covered(PictureDifference(mask, STILL, 1.0), row).any()


def test_a_hand_covers_with_what_it_holds() -> None:
    mask = nothing()
    mask[95:240, 190:250] = True
    mask[of_tile(TILE)] = True
    hand = covered(PictureDifference(mask, STILL, 1.0), [TILE])
    assert hand[100, 200]
    assert hand[200, 220]
    assert not hand[:80].any()
    assert not hand[:, :170].any()


def test_a_hand_whose_outline_is_broken_is_one_hand() -> None:
    mask = nothing()
    mask[95:150, 100:140] = True
    mask[156:240, 100:140] = True
    hand = covered(PictureDifference(mask, STILL, 1.0), [TILE])
    assert hand[153, 120]


def test_a_coin_or_a_shadow_of_its_size_covers_nothing() -> None:
    mask = nothing()
    mask[20:45, 20:45] = True
    assert not covered(PictureDifference(mask, STILL, 1.0), [TILE]).any()


def test_tiles_are_in_pixels_of_the_full_picture() -> None:
    large = seen_tile(3, 5, x_px=400, y_px=200, side_px=40)
    mask = nothing()
    mask[of_tile(large, scale=2.0)] = True
    mask[20:240, 20:90] = True
    hand = covered(PictureDifference(mask, STILL, 2.0), [large])
    assert hand[100, 50]
    assert not hand[100, 200]


def test_where_no_tile_is_known_nothing_can_be_told() -> None:
    mask = nothing()
    mask[20:240, 20:90] = True
    assert not covered(PictureDifference(mask, STILL, 1.0), []).any()


def test_what_is_as_large_as_a_tile_and_none_was_seen_there_was_overlooked() -> None:
    mask = nothing()
    mask[of_tile(seen_tile(1, 2, x_px=100))] = True
    found = overlooked(PictureDifference(mask, STILL, 1.0), [TILE], nothing())
    assert found[100, 100]
    assert not found[:, 150:].any()


def test_a_tile_that_lies_against_a_known_one_was_overlooked_too() -> None:
    mask = nothing()
    mask[of_tile(seen_tile(1, 2, x_px=241))] = True
    assert overlooked(PictureDifference(mask, STILL, 1.0), [TILE], nothing())[100, 245]


def test_a_tile_that_was_seen_was_not_overlooked() -> None:
    mask = nothing()
    mask[of_tile(TILE)] = True
    assert not overlooked(PictureDifference(mask, STILL, 1.0), [TILE], nothing()).any()


def test_the_first_tile_may_be_overlooked_where_none_is_known() -> None:
    mask = nothing()
    mask[of_tile(TILE)] = True
    assert overlooked(PictureDifference(mask, STILL, 1.0), [], nothing()).any()


def test_specks_and_what_a_hand_covers_were_not_overlooked() -> None:
    mask = nothing()
    mask[20:24, 20:24] = True
    mask[of_tile(seen_tile(1, 2, x_px=100))] = True
    hand = nothing()
    hand[60:140, 60:140] = True
    assert not overlooked(PictureDifference(mask, STILL, 1.0), [TILE], hand).any()
