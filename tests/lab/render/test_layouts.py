"""Tests of layouts: tiles do not overlap, and joins have equal numbers."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from lab.render.clutter import draw_clutter, printed_border
from lab.render.cover import bones_of, outlines_px
from lab.render.layouts import (
    draw_foreign_scene,
    draw_reach,
    mixed_layout,
    random_scene,
    standing_hands,
    two_sets,
    with_stacks,
)
from lab.render.looks import CLASSIC, OVERHEAD, draw_seat_camera
from lab.render.paint import render
from lab.render.placements import (
    Area,
    Arms,
    Arrangement,
    blocks,
    chain,
    fits,
    is_free,
    outline_mm,
    outlines_overlap,
    random_hand,
    scatter,
    starter,
)
from lab.render.prints import PRINTS
from lab.render.scene import ClutterKind, PlacedTile, Reach, Scene
from lab.render.view import view_of

AREA = Area(600.0, 450.0)


def _overlapping(layout: Arrangement, allowed_mm: float = 0.0) -> list[tuple[int, int]]:
    return [
        (a, b)
        for a, b in itertools.combinations(range(len(layout.tiles)), 2)
        if outlines_overlap(
            outline_mm(layout.tiles[a], CLASSIC, -allowed_mm / 2), outline_mm(layout.tiles[b], CLASSIC, -allowed_mm / 2)
        )
    ]


def _assert_equal_numbers_meet(layout: Arrangement) -> None:
    for join in layout.joins:
        a, b = layout.tiles[join.a].pips, layout.tiles[join.b].pips
        assert a is not None
        assert b is not None
        assert a[join.a_half or 0] == b[join.b_half or 0]


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
    _assert_equal_numbers_meet(layout)
    for join in layout.joins:
        a, b = layout.tiles[join.a], layout.tiles[join.b]
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
    assert any(join.a_half is None for join in joins)
    assert any(join.b_half is None for join in joins)
    assert max(Counter(join.a for join in layout.joins).most_common(1)[0][1] for layout in layouts) >= 3


def test_a_mixed_layout_has_tiles_beside_the_game_without_overlap() -> None:
    rng = np.random.default_rng(5)
    layout = mixed_layout(rng, 18, 6, AREA, CLASSIC)
    assert len(layout.tiles) > len(layout.joins) + 1
    assert not _overlapping(layout, allowed_mm=0.8)


@pytest.mark.parametrize("draw", [random_scene, draw_foreign_scene])
@pytest.mark.parametrize("max_pips", [6, 9, 12, 15, 18])
def test_scenes_use_their_set(draw: Callable[..., Scene], max_pips: int) -> None:
    rng = np.random.default_rng(max_pips)
    tiles = [tile for _ in range(8) for tile in draw(rng, max_pips=max_pips).tiles]
    assert 0.7 * max_pips < max(pip for tile in tiles if tile.pips for pip in tile.pips) <= max_pips


# Tests of layouts from games: starters with six arms, stacks, and hands around the table.


GAME_AREA = Area(800.0, 600.0)


@pytest.mark.parametrize("arms", Arms)
@pytest.mark.parametrize("seed", range(5))
def test_a_starter_has_up_to_six_arms_with_matching_numbers(arms: Arms, seed: int) -> None:
    rng = np.random.default_rng(seed)
    layout = starter(rng, 20, 15, Area(1000, 1000), CLASSIC, arms=arms, theta_rad=rng.uniform(-3, 3))
    assert not _overlapping(layout, allowed_mm=0.8)
    _assert_equal_numbers_meet(layout)
    first = [join for join in layout.joins if join.a == 0]
    assert 3 <= len(first) <= 6
    assert all(join.a_half is None for join in first)
    for join in first:
        placed = layout.tiles[join.b]
        assert placed.pips is not None
        reach = CLASSIC.width_mm if placed.pips[0] == placed.pips[1] else CLASSIC.length_mm
        distance_mm = math.dist(placed.center_mm, layout.tiles[0].center_mm)
        assert distance_mm < reach / 2 + math.hypot(CLASSIC.length_mm, CLASSIC.width_mm) / 2 + 13


def test_corner_arms_are_at_an_angle() -> None:
    rng = np.random.default_rng(1)
    layouts = [starter(rng, 7, 15, Area(1000, 1000), CLASSIC, arms=Arms.CORNERS) for _ in range(8)]
    angles = [
        abs(math.remainder(layout.tiles[join.b].theta_rad, math.pi / 2))
        for layout in layouts
        for join in layout.joins
        if join.a == 0
    ]
    assert sum(angle > 0.35 for angle in angles) > 0.4 * len(angles)
    assert any(angle < 0.1 for angle in angles)


def test_stacks_and_second_sets_keep_pips_and_joins() -> None:
    rng = np.random.default_rng(0)
    layout = chain(rng, 14, 6, GAME_AREA, CLASSIC)
    stacked = with_stacks(rng, layout, CLASSIC, 1)
    assert len(stacked.tiles) > len(layout.tiles)
    for tile in stacked.tiles[len(layout.tiles) :]:
        (below,) = (other for other in layout.tiles if math.dist(tile.center_mm, other.center_mm) < 3)
        assert (tile.pips, tile.height_mm, tile.look) == (below.pips, CLASSIC.thickness_mm, 1)
        assert abs(tile.theta_rad - below.theta_rad) < 0.15
    two = two_sets(rng, layout)
    assert {tile.look for tile in two.tiles} == {0, 1}
    assert [tile.pips for tile in two.tiles] == [tile.pips for tile in layout.tiles]
    assert two.joins == layout.joins


def test_a_right_hand_has_its_thumb_on_the_left() -> None:
    """A hand from below points up in the image. Its thumb, the last bone, is left of its middle finger."""
    for is_left in (False, True):
        bones = bones_of(Reach((0.0, 0.0), -math.pi / 2, 10.0, (100.0, 120.0, 180.0), is_left=is_left))
        assert (bones[-1].end_mm[0] < -20) == (not is_left)
        assert bones[0].start_mm[1] > 1000
        tips = [bone.end_mm for bone in bones]
        assert min(math.dist(tip[:2], (0.0, 0.0)) for tip in tips) < 1e-6


def test_a_hand_never_enters_from_behind_the_camera() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        camera = draw_seat_camera(rng, width_px=640, height_px=480, px_per_mm=1.6, largest_tilt_rad=1.0)
        for outline in outlines_px(draw_reach(rng, GAME_AREA, CLASSIC), view_of(camera)):
            assert np.isfinite(outline).all()
            assert np.abs(outline).max() < 20_000


def test_standing_tiles_face_outwards_and_keep_clear_of_the_game() -> None:
    rng = np.random.default_rng(0)
    game = (PlacedTile((1, 2), (0.0, 0.0), 0.0),)
    things = [thing for _ in range(5) for thing in standing_hands(rng, GAME_AREA, CLASSIC, game, 9)]
    assert len(things) > 10
    assert {thing.kind for thing in things} == {ClutterKind.STANDING_TILE}
    for thing in things:
        normal = (-math.sin(thing.theta_rad), math.cos(thing.theta_rad))
        assert normal[0] * thing.center_mm[0] + normal[1] * thing.center_mm[1] > 0
        assert thing.pips is not None
        assert is_free(PlacedTile(None, thing.center_mm, thing.theta_rad), game, CLASSIC)


def test_every_kind_of_clutter_is_drawn_clear_of_tiles() -> None:
    rng = np.random.default_rng(0)
    game = (PlacedTile((1, 2), (0.0, 0.0), 0.0),)
    things = draw_clutter(rng, GAME_AREA, CLASSIC, game, 500, kinds=tuple(ClutterKind))
    assert {thing.kind for thing in things} == set(ClutterKind)
    assert all(is_free(PlacedTile(None, thing.center_mm, thing.theta_rad), game, CLASSIC) for thing in things)


def test_a_printed_border_runs_around_the_area() -> None:
    things = printed_border(np.random.default_rng(0), GAME_AREA, CLASSIC, 6)
    assert len(things) > 40
    for thing in things:
        x, y = abs(thing.center_mm[0]), abs(thing.center_mm[1])
        assert x == pytest.approx(400, abs=1) or y == pytest.approx(300, abs=1)


def test_a_seat_camera_is_oblique() -> None:
    rng = np.random.default_rng(0)
    tilts = [
        draw_seat_camera(rng, width_px=640, height_px=480, px_per_mm=1.6, largest_tilt_rad=0.9).tilt_rad
        for _ in range(20)
    ]
    assert 0.5 <= min(tilts) <= max(tilts) == 0.9
    assert OVERHEAD.tilt_rad == 0.0


# Tests of scenes like other people's photographs: oblique views, light on light, table edges, seeds.


COUNT = 120


@cache
def scenes() -> tuple[Scene, ...]:
    return tuple(draw_foreign_scene(np.random.default_rng(seed), size_px=(640, 480)) for seed in range(COUNT))


def is_alike(scene: Scene) -> bool:
    """Check that the table has nearly the colour of the faces."""
    return bool(np.abs(np.subtract(scene.table.base_bgr, scene.tile.face_bgr)).max() < 60)


def is_light(scene: Scene) -> bool:
    return min(scene.tile.face_bgr) > 140


@pytest.mark.slow
def test_the_same_seed_draws_the_same_scene() -> None:
    repeated = [draw_foreign_scene(np.random.default_rng(seed), size_px=(640, 480)) for seed in range(5)]
    assert repeated == list(scenes()[:5])
    assert len({scene.camera.tilt_rad for scene in scenes()}) == COUNT


@pytest.mark.parametrize("tilt_rad", [(0.0, 0.3), (0.2, 0.6), (0.6, 0.9), (1.0, 1.135)])
def test_the_camera_tilt_is_in_the_requested_range(tilt_rad: tuple[float, float]) -> None:
    tilts = [draw_foreign_scene(np.random.default_rng(seed), tilt_rad=tilt_rad).camera.tilt_rad for seed in range(30)]
    assert tilt_rad[0] <= min(tilts) <= sum(tilt_rad) / 2 < max(tilts) <= tilt_rad[1]


def test_most_cameras_are_oblique_and_some_overhead() -> None:
    assert 0.75 < np.mean([scene.camera.tilt_rad > 0.44 for scene in scenes()]) < 1.0
    assert max(scene.camera.tilt_rad for scene in scenes()) > 1.0


def test_tile_sizes_are_in_the_requested_range() -> None:
    drawn = [draw_foreign_scene(np.random.default_rng(seed), tile_side_px=(20.0, 40.0)) for seed in range(30)]
    sides_px = [scene.camera.px_per_mm * scene.tile.width_mm for scene in drawn]
    assert 20.0 <= min(sides_px) < max(sides_px) / 1.5 <= 40.0 / 1.5


def test_some_tables_have_an_edge_and_all_tiles_are_on_the_table() -> None:
    with_edge = [scene for scene in scenes() if scene.floor is not None]
    assert 0.2 < len(with_edge) / COUNT < 0.5
    for scene in with_edge:
        assert scene.floor is not None
        for placed in scene.tiles:
            margins_mm = [scene.floor.margin_mm((x, y)) for x, y in outline_mm(placed, scene.tile).tolist()]
            assert min(margins_mm) > 0
        assert all(scene.floor.margin_mm(thing.center_mm) > 0 for thing in scene.clutter)


def test_low_contrast_tables_are_much_more_frequent_than_usual() -> None:
    usual = [random_scene(np.random.default_rng(seed), size_px=(640, 480)) for seed in range(COUNT)]
    for light in (True, False):
        count, usual_count = (
            sum(is_alike(scene) and is_light(scene) is light for scene in drawn) for drawn in (scenes(), usual)
        )
        assert count > COUNT * 0.15
        assert count > 1.4 * usual_count


def is_painted(scene: Scene) -> bool:
    return bool(scene.tiles) and all(scene.look_of(placed).placed_pips for placed in scene.tiles)


def test_every_unusual_feature_occurs_sometimes_but_not_always() -> None:
    features = {
        "off their places": [scene.tile.pip_jitter > 0 for scene in scenes()],
        "painted by hand": [bool(scene.more_looks) and is_painted(scene) for scene in scenes()],
        "on paper": [scene.tile.thickness_mm <= 1.5 for scene in scenes()],
        "prints": [any(item.kind in PRINTS for item in scene.clutter) for scene in scenes()],
        "hardly a shadow": [scene.light.shadow < 0.25 for scene in scenes()],
        "far too bright or too dim": [not 0.5 <= scene.light.exposure <= 1.5 for scene in scenes()],
    }
    assert {name: 0.02 < np.mean(flags) < 0.8 for name, flags in features.items()} == dict.fromkeys(features, True)
    assert all(scene.tile.numerals is None for scene in scenes() if scene.tile.pip_jitter > 0)


def test_handpainted_pips_have_the_right_count_without_overlap_and_vary() -> None:
    painted = [scene for scene in scenes() if is_painted(scene)]
    for scene in painted:
        sixes = set()
        for placed in scene.tiles:
            look = scene.look_of(placed)
            assert look.numerals is None
            assert [len(pips) for pips in look.placed_pips] == list(range(10))
            sixes.add(look.placed_pips[6])
            for pips in look.placed_pips:
                for index, pip in enumerate(pips):
                    assert max(abs(pip.x), abs(pip.y)) + pip.radius <= 0.931
                    gaps = [np.hypot(pip.x - other.x, pip.y - other.y) for other in pips[:index]]
                    assert all(gap > pip.radius + other.radius for gap, other in zip(gaps, pips[:index], strict=True))
        assert len(sixes) == len(scene.tiles)


@pytest.mark.slow
def test_foreign_scenes_can_be_rendered_and_follow_from_the_seed() -> None:
    tile_count = 0
    for seed in range(4):
        scene = draw_foreign_scene(np.random.default_rng(seed), size_px=(320, 240), tile_side_px=(12.0, 30.0))
        rendered = render(scene, np.random.default_rng(seed))
        assert rendered.image.shape == (240, 320, 3)
        assert (render(scene, np.random.default_rng(seed)).image == rendered.image).all()
        for tile in rendered.truth.tiles:
            assert 0 <= tile.center_px[0] < 320
            assert 0 <= tile.center_px[1] < 240
            tile_count += 1
    assert tile_count > 20
