"""Tests of layouts: tiles do not overlap, and joins have equal numbers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from lab.render.chains import chain
from lab.render.layouts import mixed_layout, random_scene
from lab.render.looks import CLASSIC
from lab.render.placements import (
    Area,
    Arrangement,
    blocks,
    fits,
    is_free,
    outline_mm,
    outlines_overlap,
    random_hand,
    scatter,
)
from lab.render.scene import PlacedTile

AREA = Area(600.0, 450.0)


def _overlapping(layout: Arrangement, allowed_mm: float = 0.0) -> list[tuple[int, int]]:
    return [
        (a, b)
        for a, b in itertools.combinations(range(len(layout.tiles)), 2)
        if outlines_overlap(
            outline_mm(layout.tiles[a], CLASSIC, -allowed_mm / 2), outline_mm(layout.tiles[b], CLASSIC, -allowed_mm / 2)
        )
    ]


def test_distinguishes_overlap_from_contact() -> None:
    tile = outline_mm(PlacedTile(None, (0, 0), 0.3), CLASSIC)
    normal = np.array([-math.sin(0.3), math.cos(0.3)])
    touching, inside = normal * 24.0, normal * 23.9
    assert not outlines_overlap(tile, outline_mm(PlacedTile(None, (touching[0], touching[1]), 0.3), CLASSIC))
    assert outlines_overlap(tile, outline_mm(PlacedTile(None, (inside[0], inside[1]), 0.3), CLASSIC))


@pytest.mark.parametrize("seed", range(4))
def test_scattered_tiles_keep_their_gap_and_fit_the_area(seed: int) -> None:
    rng = np.random.default_rng(seed)
    layout = scatter(rng, random_hand(rng, 28, 6), AREA, CLASSIC, gap_mm=2.0)
    assert len(layout.tiles) > 20
    assert not _overlapping(layout, allowed_mm=-2.0)
    assert all(fits(tile, AREA, CLASSIC) for tile in layout.tiles)


def test_blocks_are_packed_without_overlap() -> None:
    rng = np.random.default_rng(3)
    layout = blocks(rng, random_hand(rng, 12, 6), CLASSIC, columns=3, theta_rad=0.4, largest_gap_mm=1.0)
    assert len(layout.tiles) == 12
    assert not _overlapping(layout)
    for index, tile in enumerate(layout.tiles):
        others = layout.tiles[:index] + layout.tiles[index + 1 :]
        assert not is_free(tile, others, CLASSIC, gap_mm=1.5)


@pytest.mark.parametrize("theta_rad", [0.0, 0.7])
@pytest.mark.parametrize("step_mm", [0.0, 20.0, -30.0])
def test_each_row_of_a_block_is_shifted_by_the_step(step_mm: float, theta_rad: float) -> None:
    hand, rng = [(1, 2)] * 8, np.random.default_rng(3)
    layout = blocks(
        rng, hand, CLASSIC, columns=2, center_mm=(5.0, 9.0), theta_rad=theta_rad, largest_gap_mm=0.0, step_mm=step_mm
    )
    assert not _overlapping(layout)
    along, across = np.array([math.cos(theta_rad), math.sin(theta_rad)]), [-math.sin(theta_rad), math.cos(theta_rad)]
    centers = np.array([tile.center_mm for tile in layout.tiles]).reshape(4, 2, 2)
    assert np.diff(centers @ along, axis=0) == pytest.approx(np.full((3, 2), step_mm))
    assert np.diff(centers @ across, axis=0) == pytest.approx(np.full((3, 2), CLASSIC.width_mm))
    assert np.diff(centers @ along, axis=1) == pytest.approx(np.full((4, 1), CLASSIC.length_mm))
    assert centers.mean(axis=(0, 1)) == pytest.approx([5.0, 9.0])


@pytest.mark.parametrize("seed", range(12))
def test_a_chain_joins_equal_numbers_that_touch(seed: int) -> None:
    rng = np.random.default_rng(seed)
    layout = chain(rng, 14, 6, AREA, CLASSIC, largest_gap_mm=1.0)
    assert len(layout.joins) == len(layout.tiles) - 1
    assert not _overlapping(layout, allowed_mm=0.8)
    for join in layout.joins:
        a, b = layout.tiles[join.a], layout.tiles[join.b]
        assert a.pips is not None
        assert b.pips is not None
        assert a.pips[join.a_half or 0] == b.pips[join.b_half or 0]
        for tile, half in ((a, join.a_half), (b, join.b_half)):
            assert half is not None or (tile.pips is not None and tile.pips[0] == tile.pips[1])
        assert math.dist(_joined_point(a, join.a_half), _joined_point(b, join.b_half)) < 26.0
        assert outlines_overlap(outline_mm(a, CLASSIC, 0.8), outline_mm(b, CLASSIC, 0.8))


def _joined_point(tile: PlacedTile, half: int | None) -> tuple[float, float]:
    along = 0.0 if half is None else (-12.0 if half == 0 else 12.0)
    point = tile.to_table(np.array([[along, 0.0]]))[0]
    return (float(point[0]), float(point[1]))


def test_a_chain_uses_every_tile_of_the_set_once() -> None:
    layout = chain(np.random.default_rng(1), 28, 6, Area(2000, 2000), CLASSIC)
    used = [tuple(sorted(tile.pips)) for tile in layout.tiles if tile.pips is not None]
    assert len(used) > 15
    assert len(set(used)) == len(used)


def test_chains_have_elbows_crosswise_doubles_and_branches() -> None:
    rng = np.random.default_rng(0)
    layouts = [chain(rng, 20, 9, AREA, CLASSIC) for _ in range(10)]
    joins = [join for layout in layouts for join in layout.joins]
    ends = [end for layout in layouts for join in layout.joins for end in [(id(layout), join.a, join.a_half)]]
    assert any(join.a_half is None for join in joins)
    assert any(join.b_half is None for join in joins)
    per_tile = [sum(1 for other in ends if other[:2] == end[:2]) for end in ends]
    assert max(per_tile) >= 3


def test_a_mixed_layout_has_tiles_beside_the_game_without_overlap() -> None:
    rng = np.random.default_rng(5)
    layout = mixed_layout(rng, 18, 6, AREA, CLASSIC)
    assert len(layout.tiles) > len(layout.joins) + 1
    assert not _overlapping(layout, allowed_mm=0.8)


@pytest.mark.parametrize("max_pips", [6, 9, 12, 15, 18])
def test_scenes_use_their_set(max_pips: int) -> None:
    rng = np.random.default_rng(max_pips)
    pips = [
        pip for _ in range(6) for tile in random_scene(rng, max_pips=max_pips).tiles if tile.pips for pip in tile.pips
    ]
    assert max(pips) <= max_pips
    assert max(pips) > max_pips * 0.7
