"""Pips sit where real sets have them, apart from each other and inside their half."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vision.render.face_grid import pip_places_mm
from vision.render.looks import CLASSIC
from vision.render.patterns import MAX_PIPS, largest_radius, pip_centers, style_count

ALL_STYLES = [(pips, style) for pips in range(MAX_PIPS + 1) for style in range(style_count(pips))]


@pytest.mark.parametrize(("pips", "style"), ALL_STYLES)
def test_a_half_has_exactly_its_pips_apart_and_inside(pips: int, style: int) -> None:
    centers = pip_centers(pips, style)
    assert centers.shape == (pips, 2)
    radius = largest_radius(centers)
    assert radius > 0.07
    assert (np.abs(centers) + radius <= 1.0).all()
    for index in range(pips):
        others = np.delete(centers, index, axis=0)
        assert (np.linalg.norm(others - centers[index], axis=1) > 2 * radius).all()


@pytest.mark.parametrize(("pips", "style"), ALL_STYLES)
def test_every_arrangement_looks_the_same_after_half_a_turn(pips: int, style: int) -> None:
    centers = np.round(pip_centers(pips, style), 9)
    assert {(x, y) for x, y in centers + 0.0} == {(x, y) for x, y in -centers + 0.0}


def test_the_common_six_has_its_threes_away_from_the_bar() -> None:
    centers = pip_centers(6, 0)
    assert len(np.unique(centers[:, 0])) == 2
    assert len(np.unique(centers[:, 1])) == 3
    assert len(np.unique(pip_centers(6, 1)[:, 0])) == 3


def test_staggered_columns_reach_less_far_than_the_outer_ones() -> None:
    """The eight as a ring has rows of three; staggered, its inner two lie between them."""
    ring, staggered = pip_centers(8, 0), pip_centers(8, 4)
    assert len(np.unique(np.round(ring[:, 1], 6))) == 3
    assert len(np.unique(np.round(staggered[:, 1], 6))) == 5


def test_two_and_three_come_on_either_diagonal() -> None:
    for pips in (2, 3):
        slopes = {float(np.sign((pip_centers(pips, style)[:2].prod(axis=1)).sum())) for style in (0, 1)}
        assert slopes == {-1.0, 1.0}


def test_styles_of_a_number_differ() -> None:
    for pips in range(6, MAX_PIPS + 1):
        seen = {tuple(sorted(map(tuple, np.round(pip_centers(pips, s), 6).tolist()))) for s in range(style_count(pips))}
        assert len(seen) >= style_count(pips) - (pips in (8, 9, 16))  # a square is its own crosswise twin


@pytest.mark.parametrize(("pips", "style"), [(-1, 0), (19, 0), (6, 2), (0, 1)])
def test_unknown_arrangements_are_refused(pips: int, style: int) -> None:
    with pytest.raises(ValueError, match="expected 0 to"):
        pip_centers(pips, style)


def test_half_one_is_half_a_turn_of_half_zero_unless_mirrored() -> None:
    first, radius_mm = pip_places_mm(CLASSIC, 2, 0)
    assert np.allclose(first, [[-12 + 6.96, -6.96], [-12 - 6.96, 6.96]])
    assert radius_mm == pytest.approx(0.19 * 12)
    assert np.allclose(pip_places_mm(CLASSIC, 2, 1)[0], -first)
    mirrored = pip_places_mm(replace(CLASSIC, is_mirrored=True), 2, 1)[0]
    assert np.allclose(mirrored, first * [-1, 1])
