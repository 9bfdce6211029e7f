"""Tests of the tables drawn for benchmarks: each has its intended features."""

from __future__ import annotations

import math
from dataclasses import replace

import cv2
import numpy as np
import pytest

from lab.bench import foreign, handmade
from lab.bench.foreign import LIKE, Kind, difference
from lab.bench.handmade import HIGHEST, KINDS, HandmadeKind, draw_handmade_looks
from lab.bench.material.marked_looks import Mark, paint_marks
from lab.render.cover import truth_of
from lab.render.layouts import THINGS, draw_bare_scene
from lab.render.paint import render
from lab.render.scene import CameraLook, ClutterKind, PlacedPip, PlacedTile, Scene
from lab.render.view import view_of
from tests.lab.render.flat import EVEN, GREEN, RED
from vision.reading import Face

EVERY_KIND = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


@EVERY_KIND
def test_handmade_pips_are_legible(kind: HandmadeKind) -> None:
    for look in draw_handmade_looks(kind, np.random.default_rng(3), 20):
        assert [len(pips) for pips in look.placed_pips] == list(range(HIGHEST + 1))
        for pips in look.placed_pips:
            for index, pip in enumerate(pips):
                assert max(abs(pip.x), abs(pip.y)) + pip.radius < 0.9
                assert max(math.hypot(x, y) for x, y in pip.outline) <= 1 + 1e-9
                assert all(
                    math.hypot(pip.x - other.x, pip.y - other.y) >= 1.2 * (pip.radius + other.radius)
                    for other in pips[:index]
                )


@EVERY_KIND
def test_handmade_tiles_are_all_different(kind: HandmadeKind) -> None:
    scene = handmade.draw_table(np.random.default_rng(5), kind)
    assert sorted(tile.look for tile in scene.tiles) == list(range(len(scene.tiles)))
    sixes = {scene.look_of(tile).placed_pips[6] for tile in scene.tiles}
    assert len(sixes) == len(scene.tiles)
    assert len({scene.look_of(tile).face_bgr for tile in scene.tiles}) == 1
    assert math.degrees(scene.camera.tilt_rad) <= 25


def test_placed_pips_are_painted_with_their_outlines() -> None:
    square = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))
    camera = CameraLook(400, 200, px_per_mm=8.0, fov_rad=0.05)

    def red_at(pip: PlacedPip, x_mm: float, y_mm: float) -> bool:
        look = RED if pip.radius == 0 else replace(RED, placed_pips=((), (pip,)), thickness_mm=0.1)
        image = render(
            Scene((PlacedTile((1, 0), (0.0, 0.0), 0.0),), look, GREEN, EVEN, camera), np.random.default_rng(0)
        )
        blue, green, red = image.image[round(100 + 8 * y_mm), round(200 + 8 * x_mm)].tolist()
        return bool(red > 150 and blue < 100 and green < 100)

    # Half 0 is on the left, with x down and y away from the bar: 6 mm from its centre at (-12, 0).
    assert not red_at(PlacedPip(0.5, 0.5, 0.2), -18.0, 6.0)
    assert red_at(PlacedPip(0.5, 0.5, 0.2), -12.0, 0.0)
    assert red_at(PlacedPip(0.5, 0.5, 0.2), -18.0 - 2.0, 6.0 - 2.0), "expected a round pip"
    assert not red_at(PlacedPip(0.5, 0.5, 0.2, square), -18.0 - 2.0, 6.0 - 2.0), "expected a square pip"


@pytest.mark.parametrize("kind", Kind)
def test_foreign_tables_match_their_kind(kind: Kind) -> None:
    for seed in range(6):
        scene = foreign.draw_table(np.random.default_rng(seed), kind)
        is_steep = math.degrees(scene.camera.tilt_rad) > 25
        is_like = difference(scene.tile.face_bgr, scene.table.base_bgr) < LIKE
        assert (is_steep, is_like) == (kind is not Kind.LIKE, kind is not Kind.STEEP)
        assert ClutterKind.PRINTED_TILE not in {thing.kind for thing in scene.clutter}


@pytest.mark.parametrize("mark", Mark)
def test_marks_are_drawn_on_tiles_only(mark: Mark) -> None:
    changed = 0
    for seed in range(2):
        scene = foreign.draw_marked_table(np.random.default_rng(seed), mark)
        scene = replace(scene, camera=replace(scene.camera, lens=0.0))
        view = view_of(scene.camera)
        truth = truth_of(scene, view)
        bare = np.full((scene.camera.height_px, scene.camera.width_px, 3), 100, np.uint8)
        marked = bare.copy()
        paint_marks(marked, scene, truth.tile_index, view, mark, np.random.default_rng(seed))
        is_changed = (marked != bare).any(axis=2)
        changed += int(is_changed.sum())
        for rendered in truth.shown:
            outline = np.array(rendered.tile.corners_px)
            if rendered.is_readable and (rendered.tile.face is Face.UP) != (mark is Mark.EMBLEM):
                around = outline.mean(axis=0) + 1.1 * (outline - outline.mean(axis=0))
                cv2.fillConvexPoly(is_changed, np.round(around).astype(np.int32), (0,))
        assert not is_changed.any()
    assert changed > 200


@pytest.mark.slow
def test_benches_have_all_kinds_of_objects_but_no_tiles() -> None:
    scenes = [draw_bare_scene(np.random.default_rng(seed)) for seed in range(60)]
    assert all(not scene.tiles for scene in scenes)
    assert {thing.kind for scene in scenes for thing in scene.clutter} == set(THINGS)
    assert any(scene.reaches for scene in scenes)
    assert any(scene.floor is not None for scene in scenes)
