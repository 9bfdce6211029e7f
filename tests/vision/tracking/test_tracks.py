"""Tests of tracks: combined looks, turned and replaced tiles, and positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.vision.seen import seen_tile
from tests.vision.tables import lay, table_with
from vision.reading import Half, SeenTile
from vision.tracking.tracks import (
    Track,
    corner_distance,
    in_place_of,
    is_another,
    is_turned,
    looked_at,
    moved_tile,
    poses_of,
)


def unsure(tile: SeenTile, *chances: tuple[float, ...]) -> SeenTile:
    """Return the tile with other probabilities for its halves."""

    def with_chances(half: Half, chance: tuple[float, ...]) -> Half:
        best = int(np.argmax(chance))
        return replace(half, pips=best, confidence=chance[best], chances=chance)

    assert tile.halves
    first, second = (with_chances(half, chance) for half, chance in zip(tile.halves, chances, strict=True))
    return replace(tile, halves=(first, second))


def second_half(track: Track) -> Half:
    assert track.tile.halves
    return track.tile.halves[1]


SURE_THREE = (0.001, 0.001, 0.001, 0.997)
PROBABLY_TWO = (0.05, 0.05, 0.5, 0.4)
PROBABLY_THREE = (0.05, 0.05, 0.2, 0.7)


def test_looks_are_weighted_and_agreeing_ones_are_less_than_independent() -> None:
    tile = unsure(seen_tile(3, 3), SURE_THREE, PROBABLY_THREE)
    track = looked_at(Track(tile), tile)
    assert track.looks == 2
    confidence = second_half(track).confidence
    independent = 0.7**2 / (0.7**2 + 0.2**2 + 2 * 0.05**2)
    assert 0.7 < confidence < independent
    for _ in range(3):
        track = looked_at(track, tile)
    # Four looks are worth two independent ones, and five slightly more.
    assert confidence < independent < second_half(track).confidence < 0.97
    start = seen_tile(3, 3)
    track = Track(unsure(start, SURE_THREE, PROBABLY_TWO))
    assert second_half(track).pips == 2
    track = looked_at(track, unsure(start, SURE_THREE, PROBABLY_THREE))
    half = second_half(track)
    assert half.pips == 3
    assert half.second is not None
    assert half.second.pips == 2
    assert sum(half.chances) == pytest.approx(1)


def test_the_order_and_the_set_size_of_looks_do_not_matter() -> None:
    start = seen_tile(3, 3)
    first, second = unsure(start, SURE_THREE, PROBABLY_TWO), unsure(start, PROBABLY_THREE, PROBABLY_THREE)
    a, b = looked_at(Track(first), second), looked_at(Track(second), first)
    for half, again in zip(a.tile.halves, b.tile.halves, strict=True):
        assert half.chances == pytest.approx(again.chances)
    start = seen_tile(3, 3)
    nine = (0.02, 0.02, 0.02, 0.9, 0.04)
    track = looked_at(Track(unsure(start, SURE_THREE, PROBABLY_THREE)), unsure(start, nine, nine))
    assert [half.pips for half in track.tile.halves] == [3, 3]
    assert len(second_half(track).chances) == 5


def test_halves_are_matched_by_position_and_the_latest_position_wins() -> None:
    tile = unsure(seen_tile(3, 3), SURE_THREE, PROBABLY_TWO)
    assert tile.halves
    nudged = moved_tile(tile, np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]]))
    assert nudged.halves
    swapped = replace(nudged, halves=(nudged.halves[1], nudged.halves[0]))
    track = looked_at(Track(tile), swapped)
    assert track.tile.corners_px == nudged.corners_px
    assert [half.pips for half in track.tile.halves] == [2, 3]
    assert [half.center_px for half in track.tile.halves] == [half.center_px for half in swapped.halves]


def test_without_probabilities_the_more_confident_look_wins() -> None:
    tile = unsure(seen_tile(3, 3), SURE_THREE, PROBABLY_THREE)
    bare = replace(tile, halves=tuple(replace(half, chances=()) for half in tile.halves))  # type: ignore[arg-type]
    likely_two = unsure(seen_tile(3, 2), SURE_THREE, PROBABLY_TWO)
    for track in (looked_at(Track(bare), likely_two), looked_at(Track(likely_two), bare)):
        assert [half.pips for half in track.tile.halves] == [3, 3]
    assert not is_another(bare, tile)
    sure = seen_tile(3, 3)
    bare = replace(sure, halves=tuple(replace(half, chances=()) for half in sure.halves))  # type: ignore[arg-type]
    assert is_another(bare, seen_tile(3, 6))


def test_a_confident_tile_needs_no_more_looks_and_an_unsure_one_a_few() -> None:
    assert not Track(unsure(seen_tile(3, 3), SURE_THREE, SURE_THREE)).is_unsure
    even = (0.0, 0.0, 0.5, 0.5)
    track = Track(unsure(seen_tile(3, 3), SURE_THREE, even))
    looks = 0
    while track.is_unsure:
        track, looks = looked_at(track, unsure(seen_tile(3, 3), SURE_THREE, even)), looks + 1
    assert looks == 4
    assert not Track(seen_tile(None)).is_unsure


def test_distinguishes_a_turned_tile_from_another_and_from_a_misread_one() -> None:
    tile, turned, other = seen_tile(3, 5), seen_tile(5, 3), seen_tile(3, 6)
    assert is_turned(tile, turned)
    assert not is_turned(tile, tile)
    assert not is_turned(tile, other)
    assert not is_turned(seen_tile(4, 4), seen_tile(4, 4))
    assert [is_another(tile, seen) for seen in (tile, turned, other)] == [False, False, True]
    start = seen_tile(3, 2)
    assert not is_another(unsure(start, SURE_THREE, PROBABLY_TWO), unsure(start, SURE_THREE, PROBABLY_THREE))


@pytest.mark.parametrize("degrees", [0, 30, 90, 135, 180, 270, 300])
def test_the_pose_starts_at_half_0_in_any_orientation(degrees: float) -> None:
    # Regression: upright tiles were split lengthwise, so a counter on one half changed both.
    (tile,) = table_with([lay(3, 5, 0, 0, degrees)]).truth.tiles
    (pose,) = poses_of((tile,))
    away = np.array(tile.half_centers_px[1]) - np.array(tile.half_centers_px[0])
    assert float(pose[2:4] @ away) == pytest.approx(float(away @ away), rel=0.05)
    assert abs(float(pose[4:] @ away)) < 0.05 * float(away @ away)
    assert pose[2] * pose[5] - pose[3] * pose[4] > 0


def test_a_tile_takes_the_place_of_the_nearest_within_half_a_side() -> None:
    tile = seen_tile(1, 2)
    a, b, c, d = tile.corners_px
    assert corner_distance(tile, replace(tile, corners_px=(c, d, a, b))) == 0
    assert corner_distance(tile, seen_tile(1, 2, x_px=130)) == pytest.approx(1.5)
    here, near, far = seen_tile(3, 5), seen_tile(1, 2, x_px=106.0), seen_tile(3, 5, x_px=125.0)
    assert in_place_of(here, (far, near)) == 1
    assert in_place_of(here, (far,)) is None
    assert in_place_of(here, ()) is None
