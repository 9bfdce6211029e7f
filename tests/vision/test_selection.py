"""Tests of tile selection and of duplicate suppression."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vision.shapes import tile_at, tiles_at
from vision.poses import (
    Poses,
    corners,
    empty_poses,
    overlap_share,
    select_more_tiles,
    select_tiles,
    sides_px,
    suppress_duplicates,
)

MAX_OVERLAP = 0.15


@pytest.mark.parametrize(
    ("other", "share"),
    [
        (tile_at(0, 0, side_px=10), 1.0),
        (tile_at(0, 0, side_px=10, degrees=180), 1.0),
        (tile_at(10, 0, side_px=10), 0.5),
        (tile_at(0, 5, side_px=10), 0.5),
        (tile_at(20, 0, side_px=10), 0.0),
        (tile_at(200, 0, side_px=10), 0.0),
        (tile_at(2, 1, side_px=5), 1.0),  # inside
        (tile_at(0, 0, side_px=10, degrees=90), 0.5),  # a cross
        (tile_at(10, 5, side_px=10, degrees=90), 0.25),
    ],
)
def test_overlap_of_known_rectangles(other: Poses, share: float) -> None:
    first, second = corners(tile_at(0, 0, side_px=10))[0], corners(other)[0]
    assert overlap_share(first, second) == pytest.approx(share, abs=1e-5)
    assert overlap_share(second, first) == pytest.approx(share, abs=1e-5)


def test_a_degenerate_outline_overlaps_nothing() -> None:
    assert overlap_share(np.zeros((4, 2)), corners(tile_at(0, 0))[0]) == 0.0


@st.composite
def crowds(draw: st.DrawFn) -> tuple[Poses, list[float]]:
    """Draw a few crowded tiles with scores, some of them not positive."""
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, 60), st.integers(0, 60), st.integers(0, 11), st.integers(7, 14), st.integers(-1, 9)
            ),
            min_size=0,
            max_size=8,
        )
    )
    poses = [tile_at(x, y, side_px=side, degrees=15 * turn) for x, y, turn, side, _ in rows]
    return tiles_at(empty_poses(), *poses), [float(score) for *_, score in rows]


def best_sum(poses: Poses, scores: list[float]) -> float:
    """Return the highest sum of all non-overlapping subsets, by brute force."""
    outlines = corners(poses)
    conflicts = {
        (i, j)
        for i, j in itertools.combinations(range(len(poses)), 2)
        if overlap_share(outlines[i], outlines[j]) > MAX_OVERLAP
    }
    best = 0.0
    for mask in range(1 << len(poses)):
        subset = [i for i in range(len(poses)) if mask >> i & 1]
        if not any(pair in conflicts for pair in itertools.combinations(subset, 2)):
            best = max(best, sum(scores[i] for i in subset))
    return best


@settings(max_examples=40, deadline=None)
@given(crowds())
def test_the_selection_is_optimal_without_overlap_or_useless_tiles(crowd: tuple[Poses, list[float]]) -> None:
    poses, scores = crowd
    chosen = select_tiles(poses, np.array(scores))
    assert sum(scores[i] for i in chosen) == best_sum(poses, scores)
    outlines = corners(poses[chosen])
    assert all(overlap_share(a, b) <= MAX_OVERLAP for a, b in itertools.combinations(outlines, 2))
    assert all(scores[i] > 0 for i in chosen)
    assert chosen.tolist() == sorted(set(chosen.tolist()))


def test_good_tiles_win_over_one_across_them_and_may_touch() -> None:
    poses = tiles_at(tile_at(0, 0), tile_at(0, 20), tile_at(0, 10, degrees=90))
    assert select_tiles(poses, np.array([3.0, 3.0, 5.0])).tolist() == [0, 1]
    assert select_tiles(poses, np.array([2.0, 2.0, 5.0])).tolist() == [2]
    poses = tiles_at(tile_at(0, 0), tile_at(38, 0), tile_at(0, 18), tile_at(38, 18))
    assert select_tiles(poses, np.ones(4)).tolist() == [0, 1, 2, 3]


def test_selects_from_a_large_crowd_without_overlap() -> None:
    rng = np.random.default_rng(3)
    poses = tiles_at(*(tile_at(*rng.uniform(0, 120, 2), degrees=rng.uniform(0, 180)) for _ in range(120)))
    scores = rng.uniform(0.1, 5, 120)
    chosen = select_tiles(poses, scores)
    outlines = corners(poses[chosen])
    assert int(scores.argmax()) in chosen
    assert all(overlap_share(a, b) <= MAX_OVERLAP for a, b in itertools.combinations(outlines, 2))
    for left in set(range(120)) - set(chosen.tolist()):  # no free tile is left out
        assert any(overlap_share(corners(poses[[left]])[0], outline) > MAX_OVERLAP for outline in outlines)


def test_accepts_no_tiles_and_rejects_a_wrong_shape() -> None:
    assert select_tiles(empty_poses(), np.empty(0)).tolist() == []
    assert suppress_duplicates(empty_poses(), np.empty(0), max_count=5).tolist() == []
    with pytest.raises(ValueError, match=r"poses must have shape \(N, 6\)"):
        select_tiles(np.zeros((2, 5)), np.zeros(2))
    with pytest.raises(ValueError, match=r"poses must have shape \(N, 6\)"):
        suppress_duplicates(np.zeros((2, 5)), np.zeros(2), max_count=1)


def test_keeps_the_best_of_duplicates() -> None:
    poses = tiles_at(
        tile_at(100, 100, side_px=20, degrees=10),
        tile_at(104, 97, side_px=21, degrees=25),
        tile_at(98, 103, side_px=19, degrees=185),  # the same tile, rotated 180 degrees
        tile_at(300, 100, side_px=20, degrees=10),
    )
    assert suppress_duplicates(poses, np.array([0.5, 0.9, 0.7, 0.6]), max_count=9).tolist() == [1, 3]


@pytest.mark.parametrize(
    "other",
    [tile_at(108, 100), tile_at(100, 108), tile_at(100, 100, degrees=35), tile_at(100, 100, side_px=26)],
    ids=["beside", "below", "turned", "larger"],
)
def test_different_poses_are_all_kept_best_first(other: Poses) -> None:
    poses = tiles_at(tile_at(100, 100), other)
    assert suppress_duplicates(poses, np.array([0.2, 0.8]), max_count=9).tolist() == [1, 0]


@pytest.mark.parametrize("max_count", [1, 3, 10, 30])
def test_keeps_at_most_the_requested_number_of_best_poses(max_count: int) -> None:
    rng = np.random.default_rng(1)
    poses = tiles_at(*(tile_at(100 * (i % 5), 100 * (i // 5), degrees=7 * i) for i in range(20)))
    scores = rng.permutation(20) / 20
    kept = suppress_duplicates(poses, scores, max_count=max_count)
    assert kept.tolist() == np.argsort(-scores)[:max_count].tolist()


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_the_best_is_kept_without_duplicates(seed: int) -> None:
    rng = np.random.default_rng(seed)
    poses = tiles_at(
        *(tile_at(*rng.uniform(0, 60, 2), side_px=rng.uniform(15, 25), degrees=rng.uniform(0, 360)) for _ in range(40))
    )
    scores = rng.permutation(40) / 40
    kept = suppress_duplicates(poses, scores, max_count=40)
    assert kept[0] == scores.argmax()
    assert (np.diff(scores[kept]) < 0).all()
    assert not any(_are_duplicates(poses[[a]], poses[[b]]) for a, b in itertools.combinations(kept, 2))


def _are_duplicates(a: Poses, b: Poses) -> bool:
    """Check the definition in the docstring of `suppress_duplicates`. *a* is the better pose."""
    gap = np.abs(a[0, :2] - b[0, :2]).max() / sides_px(a)[0]
    turn = (math.atan2(a[0, 3], a[0, 2]) - math.atan2(b[0, 3], b[0, 2]) + math.pi / 2) % math.pi - math.pi / 2
    ratio = abs(math.log(sides_px(a)[0] / sides_px(b)[0]))
    return bool(gap < 0.33 and abs(turn) < math.radians(29.9) and ratio < 0.199)


def test_more_tiles_are_selected_only_beside_earlier_ones() -> None:
    poses = tiles_at(tile_at(0, 0, side_px=10), tile_at(10, 0, side_px=10), tile_at(60, 0, side_px=10))
    poses = tiles_at(poses, tile_at(60, 5, side_px=10), tile_at(200, 0, side_px=10))
    scores = np.array([1.0, 9.0, 2.0, 3.0, -1.0])
    assert select_more_tiles(np.array([0]), poses, scores).tolist() == [3]
    assert select_more_tiles(np.array([], np.intp), poses, scores).tolist() == [1, 3]
    assert select_more_tiles(np.array([4]), poses, np.zeros(5)).tolist() == []
