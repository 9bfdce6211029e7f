"""Tests of layouts from games: starters with six arms, scripted plays, stacks, and hands around the table."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from lab.render.chains import Arms, ScriptedPlay, lay_plays, starter
from lab.render.clutter import draw_clutter, printed_border
from lab.render.layouts import draw_reach, standing_hands, two_sets, with_stacks
from lab.render.look_types import TileLook
from lab.render.looks import CLASSIC, OVERHEAD, draw_seat_camera
from lab.render.placements import Area, Arrangement, is_free, outline_mm, outlines_overlap
from lab.render.reaching import bones_of, outlines_px
from lab.render.scene import ClutterKind, PlacedTile, Reach
from lab.render.view import view_of
from vision.reading import Join

AREA = Area(800.0, 600.0)
# 6-6, plays at both its sides and a tip, a crosswise double at one of them, and a play at its far side.
GAME = (
    ScriptedPlay((6, 6)),
    ScriptedPlay((6, 4), host=0),
    ScriptedPlay((2, 6), host=0),
    ScriptedPlay((6, 1), host=0, host_half=1),
    ScriptedPlay((4, 4), host=1, host_half=1),
    ScriptedPlay((5, 4), host=4),
    ScriptedPlay((5, 5), host=5, host_half=0),
)


def _assert_apart(layout: Arrangement, look: TileLook = CLASSIC) -> None:
    on_table = [tile for tile in layout.tiles if tile.height_mm == 0]
    for a, b in itertools.combinations(on_table, 2):
        assert not outlines_overlap(outline_mm(a, look, -0.4), outline_mm(b, look, -0.4))


def _assert_equal_numbers_meet(layout: Arrangement) -> None:
    for join in layout.joins:
        a, b = layout.tiles[join.a].pips, layout.tiles[join.b].pips
        assert a is not None
        assert b is not None
        assert a[join.a_half or 0] == b[join.b_half or 0]


@pytest.mark.parametrize("arms", Arms)
@pytest.mark.parametrize("seed", range(5))
def test_a_starter_has_up_to_six_arms_with_matching_numbers(arms: Arms, seed: int) -> None:
    rng = np.random.default_rng(seed)
    layout = starter(rng, 20, 15, Area(1000, 1000), CLASSIC, arms=arms, theta_rad=rng.uniform(-3, 3))
    _assert_apart(layout)
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
    angles = []
    for _ in range(8):
        layout = starter(rng, 7, 15, Area(1000, 1000), CLASSIC, arms=Arms.CORNERS)
        for join in layout.joins:
            if join.a == 0:
                angles.append(abs(math.remainder(layout.tiles[join.b].theta_rad, math.pi / 2)))
    assert sum(angle > 0.35 for angle in angles) > 0.4 * len(angles)
    assert any(angle < 0.1 for angle in angles)


def test_places_scripted_plays_in_order() -> None:
    layout = lay_plays(np.random.default_rng(0), GAME, AREA, CLASSIC)
    assert [tile.pips for tile in layout.tiles] == [play.pips for play in GAME]
    assert layout.joins == (
        Join(0, None, 1, 0),
        Join(0, None, 2, 1),
        Join(0, 1, 3, 0),
        Join(1, 1, 4, None),
        Join(4, None, 5, 1),
        Join(5, 0, 6, None),
    )
    _assert_apart(layout)
    _assert_equal_numbers_meet(layout)
    crosswise = math.remainder(layout.tiles[4].theta_rad - layout.tiles[1].theta_rad, math.pi)
    assert abs(abs(crosswise) - math.pi / 2) < 0.1


def test_a_stacked_play_is_exactly_on_its_host() -> None:
    plays = (*GAME, ScriptedPlay((6, 1), host=3, is_stacked=True))
    layout = lay_plays(np.random.default_rng(0), plays, AREA, CLASSIC, stack_look=1)
    below, above = layout.tiles[3], layout.tiles[7]
    assert above.pips == below.pips
    assert above.height_mm == CLASSIC.thickness_mm
    assert above.look == 1
    assert math.dist(above.center_mm, below.center_mm) < 3.0
    assert abs(above.theta_rad - below.theta_rad) < 0.15


def test_the_arms_of_a_scripted_starter_join_its_side() -> None:
    plays = (ScriptedPlay((7, 7)), *(ScriptedPlay((7, pips), host=0) for pips in range(6)))
    layout = lay_plays(np.random.default_rng(3), plays, Area(1000, 1000), CLASSIC, arms=Arms.CORNERS)
    assert len(layout.tiles) == 7
    assert {(join.a, join.a_half) for join in layout.joins} == {(0, None)}
    _assert_apart(layout)


@pytest.mark.parametrize(
    "wrong", [ScriptedPlay((1, 2), host=0), ScriptedPlay((6, 3), host=1, host_half=0), ScriptedPlay((6, 3))]
)
def test_rejects_impossible_plays(wrong: ScriptedPlay) -> None:
    with pytest.raises(ValueError, match="play 2: expected"):
        lay_plays(np.random.default_rng(0), (*GAME[:2], wrong), AREA, CLASSIC)


def test_placing_stops_when_there_is_no_room() -> None:
    layout = lay_plays(np.random.default_rng(0), GAME, Area(80, 60), CLASSIC)
    assert 1 <= len(layout.tiles) < len(GAME)


def test_stacks_and_second_sets_keep_pips_and_joins() -> None:
    rng = np.random.default_rng(0)
    layout = lay_plays(rng, GAME, AREA, CLASSIC)
    stacked = with_stacks(rng, layout, CLASSIC, 1)
    for tile in stacked.tiles[len(GAME) :]:
        assert any(tile.pips == other.pips and math.dist(tile.center_mm, other.center_mm) < 3 for other in layout.tiles)
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
        for outline in outlines_px(draw_reach(rng, AREA, CLASSIC), view_of(camera)):
            assert np.isfinite(outline).all()
            assert np.abs(outline).max() < 20_000


def test_standing_tiles_face_outwards_and_keep_clear_of_the_game() -> None:
    rng = np.random.default_rng(0)
    game = (PlacedTile((1, 2), (0.0, 0.0), 0.0),)
    things = [thing for _ in range(5) for thing in standing_hands(rng, AREA, CLASSIC, game, 9)]
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
    things = draw_clutter(rng, AREA, CLASSIC, game, 500, kinds=tuple(ClutterKind))
    assert {thing.kind for thing in things} == set(ClutterKind)
    assert all(is_free(PlacedTile(None, thing.center_mm, thing.theta_rad), game, CLASSIC) for thing in things)


def test_a_printed_border_runs_around_the_area() -> None:
    things = printed_border(np.random.default_rng(0), AREA, CLASSIC, 6)
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
