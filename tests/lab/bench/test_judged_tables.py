"""Tests of judging readings against the truth, tile by tile, and of the totals."""

from __future__ import annotations

import numpy as np
import pytest

from lab.bench.bait import Bait, bait_in
from lab.bench.foreign import difference, figures_of
from lab.bench.material.judged_tables import Figures, JudgedTable, JudgedTile, judge
from lab.training.tables import LearningTable
from vision.networks.network import DOWN, UP
from vision.poses import corners, half_centers, upright_poses
from vision.reading import Face, Half, Reading, SeenTile

IMAGE = np.full((300, 400, 3), 90, np.uint8)
SIDE_PX = 30.0


def seen(x: float, y: float, pips: tuple[int, int] | None, sure: float = 0.95, *, face: Face | None = None) -> SeenTile:
    """Return a tile along x with its first half on the left. Without pips it is face down."""
    pose = upright_poses(np.array([[x, y]]), np.zeros(1), np.array([2 * SIDE_PX]), np.array([SIDE_PX]))
    a, b, c, d = ((px, py) for px, py in corners(pose)[0].tolist())
    if pips is None:
        return SeenTile(face or Face.DOWN, (a, b, c, d), ())
    (left, right) = ((px, py) for px, py in half_centers(pose)[0].tolist())
    return SeenTile(Face.UP, (a, b, c, d), (Half(pips[0], sure, left), Half(pips[1], sure, right)))


def table(*tiles: tuple[float, float, tuple[int, int] | None], unread: tuple[SeenTile, ...] = ()) -> LearningTable:
    centers_px = np.array([(x, y) for x, y, _ in tiles]).reshape(-1, 2)
    long = np.full(len(tiles), 2 * SIDE_PX)
    shown = [pips for _, _, pips in tiles if pips is not None]
    return LearningTable(
        IMAGE,
        upright_poses(centers_px, np.zeros(len(tiles)), long, long / 2),
        np.array([DOWN if pips is None else UP for _, _, pips in tiles], np.int64),
        np.array(shown, np.int64).reshape(-1, 2),
        np.ones((len(shown), 2), bool),
        tuple(np.array(tile.corners_px) for tile in unread),
    )


def reading(*tiles: SeenTile) -> Reading:
    return Reading(400, 300, tiles, ())


def pips_read(tile: JudgedTile) -> list[int] | None:
    return None if tile.read is None else [half.pips for half in tile.read]


def test_a_reversed_tile_is_compared_half_by_half() -> None:
    reversed_tile = seen(100, 100, (2, 5))
    reversed_tile = SeenTile(Face.UP, reversed_tile.corners_px, (reversed_tile.halves[1], reversed_tile.halves[0]))  # type: ignore[misc]  # it has two
    (judged,) = judge(reading(reversed_tile), table((100, 100, (2, 5)))).tiles
    assert pips_read(judged) == [2, 5]
    assert judged.misread == ()
    (other,) = judge(reading(reversed_tile), table((100, 100, (2, 6)))).tiles
    assert [half.pips for half in other.misread] == [5]


def test_a_tile_is_silent_unless_found_or_reported_as_unsure() -> None:
    truth = table((100, 100, (1, 2)), (200, 100, (3, 4)), (300, 100, (5, 6)))
    judged = judge(reading(seen(104, 103, (1, 2)), seen(220, 110, None, face=Face.UNSURE)), truth)
    assert [tile.is_silent for tile in judged.tiles] == [False, False, True]
    assert [tile.is_unsure for tile in judged.tiles] == [False, True, False]
    assert judged.unsure_spare == 0


def test_a_detection_a_third_of_a_side_away_does_not_match() -> None:
    judged = judge(reading(seen(100, 100 + 0.36 * SIDE_PX, (1, 2))), table((100, 100, (1, 2))))
    assert pips_read(judged.tiles[0]) is None
    assert len(judged.spare) == 1


def test_a_tile_read_twice_is_found_once() -> None:
    judged = judge(reading(seen(100, 100, (1, 2)), seen(103, 100, (1, 3))), table((100, 100, (1, 2))))
    assert pips_read(judged.tiles[0]) == [1, 2]
    assert [tile.halves[1].pips for tile in judged.spare if tile.halves] == [3]


def test_detections_of_unreadable_tiles_are_ignored() -> None:
    hidden = seen(100, 100, (6, 6))
    unsure = seen(102, 100, None, face=Face.UNSURE)
    judged = judge(reading(seen(106, 97, (0, 0)), unsure), table(unread=(hidden,)))
    assert judged == JudgedTable(())
    assert judge(reading(seen(106, 97, (0, 0)), unsure), table()).unsure_spare == 1


def test_a_tile_with_the_wrong_face_is_a_false_positive() -> None:
    truth = table((100, 100, None), (200, 100, None), (300, 100, (1, 1)))
    judged = judge(reading(seen(100, 100, None), seen(200, 100, (0, 0)), seen(300, 100, None)), truth)
    assert (judged.backs, judged.backs_found) == (2, 1)
    assert len(judged.spare) == 2
    assert pips_read(judged.tiles[0]) is None


def test_figures_and_their_sums() -> None:
    truth = table(*((60.0 + 90 * index, 100.0, (1, 1)) for index in range(4)))
    read = reading(
        seen(60, 100, (1, 2), 0.995), seen(150, 100, (1, 2), 0.9), seen(240, 100, (1, 1)), seen(200, 250, (0, 0))
    )
    figures, twice = Figures(), Figures()
    judged = judge(read, truth)
    figures.add(judged.tiles, len(judged.spare))
    shares = ("75.00 %", "75.00 %", "6", "33.33 %", "33.33 %", "16.67 %", "0.00 %", "25.00 %")
    assert figures.cells() == ("4", *shares)
    twice.merge(figures)
    twice.merge(figures)
    assert twice.cells() == ("8", *shares[:2], "12", *shares[3:])
    assert Figures().cells() == ("0", "-", "-", "0", "-", "-", "-", "-", "-")


def test_small_tiles_have_separate_figures() -> None:
    small, large = (JudgedTile(side_px, (1, 1), None) for side_px in (11.9, 12.0))
    figures = figures_of(JudgedTable((small, large)), 44.9)
    assert {row: totals.tiles for row, totals in figures.items()} == {
        "all": 1,
        "35-45 degrees": 1,
        "below 12 px": 1,
        "12-20 px": 1,
    }


def test_colour_differences_are_perceptual() -> None:
    assert difference((0.0, 0.0, 0.0), (255.0, 255.0, 255.0)) == pytest.approx(100, abs=0.1)
    assert difference((40.0, 90.0, 200.0), (40.0, 90.0, 200.0)) == 0


def test_bait_is_counted_by_confidence() -> None:
    read = reading(
        seen(60, 60, (1, 1), 0.81),
        seen(150, 60, (1, 1), 0.8),
        seen(240, 60, None),
        seen(300, 200, None, face=Face.UNSURE),
    )
    assert bait_in(read) == Bait(pictures=1, taken_in=1, tiles=3, sure=1, down=1, unsure=1)
    assert bait_in(reading()) + bait_in(read) == Bait(pictures=2, taken_in=1, tiles=3, sure=1, down=1, unsure=1)
