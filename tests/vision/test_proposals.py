"""Proposals: once the table is known, bars become tiles of the right size, and neighbours are looked for."""

from __future__ import annotations

import numpy as np
import pytest

from tests.vision.shapes import blank, fill, nearest_errors, tile_at, tiles_at
from vision.plane import Plane
from vision.poses import corners, empty_poses, to_image
from vision.proposals import beside, find_evidence, shaped_by_plane
from vision.pyramid import build_pyramid

# 40 px to a side, nothing tilted.
FLAT = Plane(np.diag([1 / 40, 1 / 40, 1.0]), 9)
NO_LINES = np.empty((0, 4))


def test_evidence_is_of_bars_and_of_regions() -> None:
    image = blank(400, 300)
    plain, barred = tile_at(100, 100, side_px=30, degrees=20), tile_at(280, 200, side_px=30, degrees=70)
    fill(image, corners(plain)[0], (230, 230, 230))
    bar = np.array([(-0.04, -0.8), (0.04, -0.8), (0.04, 0.8), (-0.04, 0.8)])
    fill(image, to_image(barred, bar)[0], (10, 10, 10))  # a face of the colour of the table
    evidence = find_evidence(build_pyramid(image))
    assert max(nearest_errors(tiles_at(plain, barred), evidence.poses)) < 0.35
    assert np.abs(evidence.lines[:, :2] - (280, 200)).max(axis=1).min() < 2


@pytest.mark.parametrize(("width_px", "height_px"), [(400, 300), (1, 1), (1, 3000)])
def test_a_plain_picture_is_no_evidence(width_px: int, height_px: int) -> None:
    evidence = find_evidence(build_pyramid(blank(width_px, height_px)))
    assert (evidence.lines.shape, evidence.poses.shape) == ((0, 4), (0, 6))


def test_neighbours_are_proposed_where_players_lay_them() -> None:
    known = tile_at(300, 200, side_px=40)
    ahead, back = tile_at(380, 200, side_px=40), tile_at(220, 200, side_px=40)
    crosswise, elbow = tile_at(360, 200, side_px=40, degrees=90), tile_at(320, 260, side_px=40, degrees=90)
    side_by_side = tile_at(300, 240, side_px=40)
    found = beside(FLAT, known)
    assert max(nearest_errors(tiles_at(ahead, back, crosswise, elbow, side_by_side), found)) < 0.01
    assert nearest_errors(known, found) > [0.4]


def test_places_that_are_taken_are_not_proposed() -> None:
    known = tiles_at(tile_at(300, 200, side_px=40), tile_at(380, 200, side_px=40))
    gaps = np.linalg.norm(beside(FLAT, known)[:, None, :2] - known[None, :, :2], axis=2)
    assert gaps.min() >= 20


def test_a_bar_becomes_a_tile_of_the_right_size_and_known_tiles_stay() -> None:
    known = tile_at(300, 200, side_px=40)
    bars = np.array(
        [
            (100.0, 100.0, 30.0, 0.0),  # level, so its tile stands upright
            (500.0, 100.0, 90.0, 0.0),  # far longer than a tile is wide
            (500.0, 300.0, 10.0, 0.0),  # far shorter
            (303.0, 202.0, 30.0, 0.0),  # on the known tile
        ]
    )
    found = shaped_by_plane(FLAT, bars, known)
    assert len(found) == 2
    expected = tiles_at(known, tile_at(100, 100, side_px=40, degrees=90))
    assert nearest_errors(expected, found) == pytest.approx([0, 0], abs=1e-6)


def test_nothing_known_gives_no_neighbours_and_no_bars_no_tiles() -> None:
    assert beside(FLAT, empty_poses()).shape == (0, 6)
    assert shaped_by_plane(FLAT, NO_LINES, empty_poses()).shape == (0, 6)
