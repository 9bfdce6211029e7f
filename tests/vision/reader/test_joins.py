"""Tests of joins and contacts. Tiles have sides of 20 px; A is horizontal at (0, 0) with half 1 on the right."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.vision.shapes import tile_at, tiles_at
from vision.poses import Poses, empty_poses
from vision.reader.agreement import find_joins, find_touches
from vision.reading import Contact, Join

Pips = tuple[int, int]
Touch = frozenset[tuple[int, int | None]]

A = tile_at(0, 0)
AHEAD = tile_at(40, 0)  # its half 0 touches half 1 of A
DOWN = tile_at(10, 30, degrees=90)  # its half 0 touches the side of half 1 of A
CROSSWISE = tile_at(30, 0, degrees=90)  # its centre touches half 1 of A


def joins_and_contacts(poses: Poses, *pips: Pips, plays: float = 1.0) -> tuple[tuple[Join, ...], tuple[Contact, ...]]:
    """Return joins and contacts. Pips of -1 mean face down."""
    numbers = np.array(pips, np.int64).reshape(-1, 2)
    touches = find_touches(poses, np.asarray((numbers >= 0).all(axis=1)))
    return find_joins(touches, numbers, np.full(len(touches), plays))


def joined(poses: Poses, *pips: Pips) -> set[Touch]:
    """Return the joins, regardless of their order."""
    joins, _ = joins_and_contacts(poses, *pips)
    touches = [frozenset([(join.a, join.a_half), (join.b, join.b_half)]) for join in joins]
    assert len(set(touches)) == len(touches)
    return set(touches)


def touch(a: int, a_half: int | None, b: int, b_half: int | None) -> Touch:
    return frozenset([(a, a_half), (b, b_half)])


def transformed(matrix: NDArray[np.float64], poses: Poses) -> Poses:
    """Return the tiles after a linear map."""
    return np.asarray((poses.reshape(-1, 3, 2) @ matrix.T).reshape(-1, 6))


@pytest.mark.parametrize(
    ("other", "pips", "expected"),
    [
        (AHEAD, ((3, 5), (5, 2)), {touch(0, 1, 1, 0)}),
        (tile_at(40, 0, degrees=180), ((3, 5), (2, 5)), {touch(0, 1, 1, 1)}),
        (DOWN, ((3, 5), (5, 2)), {touch(0, 1, 1, 0)}),
        (DOWN, ((5, 5), (5, 2)), {touch(0, 1, 1, 0)}),
        (CROSSWISE, ((3, 5), (5, 5)), {touch(0, 1, 1, None)}),
        (CROSSWISE, ((5, 3), (5, 5)), set()),  # other numbers
        (AHEAD, ((3, 5), (4, 2)), set()),
        (DOWN, ((5, 3), (5, 2)), set()),
        (tile_at(0, 20), ((3, 5), (3, 5)), set()),  # parallel
        (tile_at(20, 20), ((3, 5), (5, 3)), set()),
        (AHEAD, ((-1, -1), (-1, -1)), set()),  # face down
        (AHEAD, ((3, 5), (-1, -1)), set()),
        (AHEAD, ((5, 5), (5, 5)), {touch(0, 1, 1, 0)}),  # a cycle of two would report the join from both sides
        (tile_at(40, 8), ((3, 5), (5, 2)), {touch(0, 1, 1, 0)}),
        (tile_at(40, 16), ((3, 5), (5, 2)), set()),  # too far aside
        (CROSSWISE, ((3, 13), (5, 5)), {touch(0, 1, 1, None)}),  # any double joins a thirteen
        (AHEAD, ((5, 5), (13, 2)), {touch(0, 1, 1, 0)}),
        (AHEAD, ((3, 5), (13, 2)), set()),
    ],
)
def test_two_tiles_join_by_places_and_numbers(other: Poses, pips: tuple[Pips, Pips], expected: set[Touch]) -> None:
    assert joined(tiles_at(A, other), *pips) == expected


def test_only_a_double_joins_at_its_centre() -> None:
    assert all(None not in dict(pair).values() for pair in joined(tiles_at(A, CROSSWISE), (3, 5), (5, 6)))


def test_both_sides_and_both_tips_of_a_spinner() -> None:
    double = tile_at(0, 0, degrees=90)
    left, right = tile_at(-30, 0), tile_at(30, 0)
    above, below = tile_at(0, -40, degrees=90), tile_at(0, 40, degrees=90)
    assert joined(tiles_at(double, left, right, above, below), (5, 5), (1, 5), (5, 2), (3, 5), (5, 4)) == {
        touch(0, None, 1, 1),
        touch(0, None, 2, 0),
        touch(0, 0, 3, 1),
        touch(0, 1, 4, 0),
    }


BESIDE = tile_at(9, 30, degrees=90)  # its half 0 touches the side of half 1 of A, nearer to the corner than the middle


def test_a_tile_beside_the_middle_joins_the_whole_double_if_the_line_goes_on() -> None:
    above = tile_at(-8, -30, degrees=90)
    assert joined(tiles_at(A, BESIDE), (5, 5), (5, 2)) == {touch(0, 1, 1, 0)}
    for further, pips in ((above, (1, 5)), (AHEAD, (5, 4))):
        joins = joined(tiles_at(A, BESIDE, further), (5, 5), (5, 2), pips)
        assert touch(0, None, 1, 0) in joins
        assert len(joins) == 2


@pytest.mark.parametrize(("gap_px", "count"), [(0, 1), (5, 1), (-3, 1), (10, 0), (40, 0)])
@pytest.mark.parametrize(
    ("second", "direction"),
    [(AHEAD, (1, 0)), (DOWN, (0, 1)), (CROSSWISE, (1, 0))],
    ids=["end to end", "elbow", "crosswise"],
)
def test_tiles_join_up_to_a_quarter_of_a_side_apart(
    second: Poses, direction: tuple[int, int], gap_px: float, count: int
) -> None:
    moved = second.copy()
    moved[0, :2] += np.array(direction) * gap_px
    assert len(joined(tiles_at(A, moved), (3, 5), (5, 5))) == count


def test_an_end_joins_only_its_nearest_neighbour() -> None:
    # Both touch half 1 of A, which has room for one tile.
    poses = tiles_at(A, tile_at(44, 2), tile_at(41, 0))
    assert joined(poses, (3, 5), (5, 2), (5, 1)) == {touch(0, 1, 2, 0)}
    poses = tiles_at(A, tile_at(41, 0), tile_at(44, 2))
    assert joined(poses, (3, 5), (5, 2), (5, 1)) == {touch(0, 1, 1, 0)}


def test_a_half_may_have_neighbours_at_its_end_and_both_sides() -> None:
    poses = tiles_at(A, AHEAD, DOWN)
    assert joined(poses, (3, 5), (5, 2), (5, 1)) == {touch(0, 1, 1, 0), touch(0, 1, 2, 0)}
    poses = tiles_at(A, DOWN, tile_at(10, -30, degrees=-90))
    assert joined(poses, (3, 5), (5, 2), (5, 1)) == {touch(0, 1, 1, 0), touch(0, 1, 2, 0)}


def test_finds_every_join_of_a_line() -> None:
    line = tiles_at(*(tile_at(41 * i, 0) for i in range(5)))
    pips = [(i, i + 1) for i in range(5)]
    assert joined(line, *pips) == {touch(i, 1, i + 1, 0) for i in range(4)}


@pytest.mark.parametrize(("degrees", "count"), [(15, 1), (-15, 1), (40, 0), (-40, 0)])
def test_a_tilted_tile_joins_only_if_nearly_square(degrees: float, count: int) -> None:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    tilted = tile_at(20 + 20 * c, 20 * s, degrees=degrees)  # the centres of both ends coincide
    assert len(joined(tiles_at(A, tilted), (3, 5), (5, 2))) == count


SCENES: dict[str, tuple[Poses, tuple[Pips, ...], Touch]] = {
    "end to end": (tiles_at(A, AHEAD), ((3, 5), (5, 2)), touch(0, 1, 1, 0)),
    "elbow": (tiles_at(A, DOWN), ((3, 5), (5, 2)), touch(0, 1, 1, 0)),
    "crosswise": (tiles_at(A, CROSSWISE), ((3, 5), (5, 5)), touch(0, 1, 1, None)),
    "tip": (tiles_at(A, AHEAD), ((5, 5), (5, 2)), touch(0, 1, 1, 0)),
}


@pytest.mark.parametrize("name", SCENES)
@settings(max_examples=40, deadline=None)
@given(theta_rad=st.floats(0, 2 * math.pi), scale=st.floats(0.4, 12), shift=st.floats(-3000, 3000))
def test_joins_are_invariant_to_rotation_scale_and_translation(
    name: str, theta_rad: float, scale: float, shift: float
) -> None:
    poses, pips, expected = SCENES[name]
    c, s = scale * math.cos(theta_rad), scale * math.sin(theta_rad)
    rotated = transformed(np.array([[c, -s], [s, c]]), poses)
    rotated[:, :2] += shift
    assert joined(rotated, *pips) == {expected}


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("degrees", range(0, 180, 30))
@pytest.mark.parametrize(
    "matrix",
    [((1, 0), (0, 0.75)), ((1, 0.2), (0, 0.9)), ((1, 0), (0, 0.4))],
    ids=["foreshortened", "sheared", "steep"],
)
def test_joins_are_found_in_oblique_views(
    name: str, degrees: float, matrix: tuple[tuple[float, float], tuple[float, float]]
) -> None:
    poses, pips, expected = SCENES[name]
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    assert joined(transformed(np.array(matrix) @ np.array([[c, -s], [s, c]]), poses), *pips) == {expected}


def test_no_tiles_and_single_tiles_have_no_joins() -> None:
    assert joined(empty_poses()) == set()
    assert joined(A, (5, 5)) == set()


def arm(degrees: float, x_px: float, y_px: float, gap_px: float = 0.0) -> Poses:
    """Return a tile whose half 0 starts at a point, at an angle."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return tile_at(x_px + (20 + gap_px) * c, y_px + (20 + gap_px) * s, degrees=degrees)


ARMS = (
    arm(90, 0, 10),
    arm(-90, 0, -10),
    arm(40, 20, 10, 4),
    arm(140, -20, 10, 8),
    arm(-40, 20, -10),
    arm(-140, -20, -10, 8),
)


def test_arms_at_a_long_side_join_the_starter_as_a_whole() -> None:
    pips = [(5, number) for number in (0, 1, 2, 3, 4, 6)]
    assert joined(tiles_at(A, *ARMS), (5, 5), *pips) == {touch(0, None, n, 0) for n in range(1, 7)}
    poses = tiles_at(A, arm(75, 12, 10), arm(105, -12, 10))
    assert joined(poses, (5, 5), (5, 1), (5, 2)) == {touch(0, None, 1, 0), touch(0, None, 2, 0)}
    assert joined(tiles_at(A, ARMS[2]), (3, 5), (5, 2)) == set()


def test_contacts_are_touching_tiles_that_are_no_play() -> None:
    assert joins_and_contacts(tiles_at(A, AHEAD), (3, 5), (4, 2))[1] in ((Contact(0, 1, 1, 0),), (Contact(1, 0, 0, 1),))
    assert joins_and_contacts(tiles_at(A, CROSSWISE), (3, 5), (4, 2))[1] == (Contact(0, 1, 1, None),)
    assert joins_and_contacts(tiles_at(A, AHEAD), (3, 5), (5, 2))[1] == ()
    joins, contacts = joins_and_contacts(tiles_at(A, AHEAD), (3, 5), (5, 2), plays=0.1)
    assert joins == ()
    assert len(contacts) == 1
    assert joins_and_contacts(tiles_at(A, tile_at(60, 0)), (3, 5), (4, 2))[1] == ()
