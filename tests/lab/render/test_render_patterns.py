"""Tests of pip patterns: real arrangements, no overlap, within the half."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from lab.render.face_grid import grid_of, pip_places_mm
from lab.render.faces import OVERHEAD_GLINT, paint_face
from lab.render.look_types import BarKind, PlacedPip
from lab.render.looks import CLASSIC
from lab.render.patterns import MAX_PIPS, largest_radius, pip_centers, style_count
from tests.lab.render.flat import RED

ALL_STYLES = [(pips, style) for pips in range(MAX_PIPS + 1) for style in range(style_count(pips))]


@pytest.mark.parametrize(("pips", "style"), ALL_STYLES)
def test_a_half_has_the_right_number_of_pips_without_overlap(pips: int, style: int) -> None:
    centers = pip_centers(pips, style)
    assert centers.shape == (pips, 2)
    radius = largest_radius(centers)
    assert radius > 0.07
    assert (np.abs(centers) + radius <= 1.0).all()
    for index in range(pips):
        others = np.delete(centers, index, axis=0)
        assert (np.linalg.norm(others - centers[index], axis=1) > 2 * radius).all()


@pytest.mark.parametrize(("pips", "style"), ALL_STYLES)
def test_every_arrangement_has_rotational_symmetry(pips: int, style: int) -> None:
    centers = np.round(pip_centers(pips, style), 9)
    assert {(x, y) for x, y in centers + 0.0} == {(x, y) for x, y in -centers + 0.0}


def test_the_common_six_has_its_rows_of_three_along_the_tile() -> None:
    centers = pip_centers(6, 0)
    assert len(np.unique(centers[:, 0])) == 2
    assert len(np.unique(centers[:, 1])) == 3
    assert len(np.unique(pip_centers(6, 1)[:, 0])) == 3


def test_staggered_columns_are_offset_from_the_outer_ones() -> None:
    """The eight as a ring has rows of three. If staggered, its inner two pips are between the rows."""
    ring, staggered = pip_centers(8, 0), pip_centers(8, 4)
    assert len(np.unique(np.round(ring[:, 1], 6))) == 3
    assert len(np.unique(np.round(staggered[:, 1], 6))) == 5


def test_two_and_three_occur_on_both_diagonals() -> None:
    for pips in (2, 3):
        slopes = {float(np.sign((pip_centers(pips, style)[:2].prod(axis=1)).sum())) for style in (0, 1)}
        assert slopes == {-1.0, 1.0}


def test_styles_of_a_number_differ() -> None:
    for pips in range(6, MAX_PIPS + 1):
        seen = {tuple(sorted(map(tuple, np.round(pip_centers(pips, s), 6).tolist()))) for s in range(style_count(pips))}
        assert len(seen) >= style_count(pips) - (pips in (8, 9, 16))  # a square equals its crosswise variant


@pytest.mark.parametrize(("pips", "style"), [(-1, 0), (19, 0), (6, 2), (0, 1)])
def test_rejects_unknown_arrangements(pips: int, style: int) -> None:
    with pytest.raises(ValueError, match="expected 0 to"):
        pip_centers(pips, style)


def test_half_1_is_half_0_rotated_unless_mirrored() -> None:
    first, radii_mm = pip_places_mm(CLASSIC, 2, 0)
    assert np.allclose(first, [[-12 + 6.96, -6.96], [-12 - 6.96, 6.96]])
    assert radii_mm.tolist() == pytest.approx([0.19 * 12] * 2)
    assert np.allclose(pip_places_mm(CLASSIC, 2, 1)[0], -first)
    mirrored = pip_places_mm(replace(CLASSIC, is_mirrored=True), 2, 1)[0]
    assert np.allclose(mirrored, first * [-1, 1])


def test_placed_pips_replace_the_pattern_only_for_the_given_numbers() -> None:
    look = replace(CLASSIC, placed_pips=((), (PlacedPip(0.5, -0.25, 0.1),)))
    places_mm, radii_mm = pip_places_mm(look, 1, 0)
    assert places_mm.tolist() == [[-12 + 0.25 * 12, 0.5 * 12]]
    assert radii_mm.tolist() == pytest.approx([0.1 * 12])
    assert pip_places_mm(look, 1, 1)[0].tolist() == [[12 - 0.25 * 12, -0.5 * 12]]
    assert np.array_equal(pip_places_mm(look, 2, 0)[0], pip_places_mm(CLASSIC, 2, 0)[0])


def test_rejects_a_wrong_number_of_placed_pips() -> None:
    with pytest.raises(ValueError, match=r"placed_pips\[1\]: expected 1 pips, got 0"):
        replace(CLASSIC, placed_pips=((), ()))


SCALE = 6.0
PLAIN = replace(RED, bar_kind=BarKind.NONE)


def _spots(pips: tuple[int, int], jitter: float, seed: int) -> NDArray[np.bool_]:
    """Return a mask of the pips of a handpainted tile, seen from above."""
    look = replace(PLAIN, pip_jitter=jitter)
    texture = paint_face(grid_of(look, SCALE), look, pips, OVERHEAD_GLINT, 1.0, np.random.default_rng(seed))
    return np.asarray(texture[..., 1] > 100)  # faces have no green


@pytest.mark.parametrize("pips", [1, 3, 6, 12, 18])
@pytest.mark.parametrize("half", [0, 1])
def test_handpainted_pips_stay_on_their_half(pips: int, half: int) -> None:
    for seed in range(20):
        spots = _spots((pips, 0) if half == 0 else (0, pips), 0.14, seed)
        centre, beyond = spots.shape[1] // 2, round(0.4 * pip_places_mm(PLAIN, pips, half)[1][0] * SCALE)
        assert not (spots[:, centre + beyond :] if half == 0 else spots[:, : centre - beyond]).any()
        if pips <= 3:  # with more pips, some may touch
            assert cv2.connectedComponents(spots.astype(np.uint8))[0] - 1 == pips, "a pip is off the tile"


def test_handpainted_pips_are_displaced_and_uneven() -> None:
    even = _spots((5, 0), 0.0, 0)
    areas = []
    for seed in range(8):
        spots = _spots((5, 0), 0.06, seed)
        assert (spots != even).mean() > 0.01
        count, _, stats, _ = cv2.connectedComponentsWithStats(spots.astype(np.uint8))
        assert count - 1 == 5
        areas += stats[1:, cv2.CC_STAT_AREA].tolist()
    assert np.std(areas) > 0.05 * np.mean(areas)
