"""Tests of rendered tables for learning: illegible tiles are excluded, and pips match the poses."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lab.render.looks import CLASSIC, FELT, LAMP
from lab.render.paint import render
from lab.render.scene import PipKind, PlacedTile, Scene, TileLook
from lab.training import tables
from lab.training.tables import LearningTable, draw_learning_table, table_of
from tests.vision.tables import CAMERA, lay
from vision.networks.network import DOWN, UP
from vision.poses import half_centers

# Pips in the colour of the face are illegible.
INVISIBLE = replace(CLASSIC, pip_bgr=(CLASSIC.face_bgr,) * len(CLASSIC.pip_bgr), pip_kind=PipKind.FLAT)


def scene_with(*tiles: PlacedTile, look: TileLook = CLASSIC) -> Scene:
    return Scene(tiles, look, FELT, LAMP, CAMERA, more_looks=(INVISIBLE,))


def drawn(scene: Scene) -> LearningTable:
    return table_of(scene, np.random.default_rng(3))


def invisible(first: int, second: int, x_mm: float, y_mm: float, degrees: float) -> PlacedTile:
    return replace(lay(first, second, x_mm, y_mm, degrees), look=1)


def shown(table: LearningTable) -> list[tuple[int, ...]]:
    """Return the pips of the face-up tiles."""
    return [tuple(pair) for pair in table.pips.tolist()]


def test_pips_and_faces_are_those_of_the_poses() -> None:
    scene = scene_with(lay(3, 5, -60, -30, 200), PlacedTile(None, (0, 90), 1.0), lay(0, 6, 70, 40, 75), lay(2, 1, 0, 0))
    table = drawn(scene)
    assert sorted(table.faces.tolist()) == [UP, UP, UP, DOWN]
    assert len(table.pips) == 3
    truth = [half for tile in render(scene, np.random.default_rng(3)).truth.tiles for half in tile.halves]
    for centers, pips in zip(half_centers(table.poses[table.faces == UP]), table.pips.tolist(), strict=True):
        nearest = [min(truth, key=lambda half: math.dist(half.center_px, center)) for center in centers]
        assert [half.pips for half in nearest] == pips
    assert table.unread_px == ()


def test_a_tile_with_illegible_pips_is_excluded() -> None:
    table = drawn(scene_with(lay(3, 5, -60, -30, 200), invisible(4, 2, 70, 40, 75), lay(2, 1, 0, 0)))
    assert sorted(shown(table)) == [(2, 1), (3, 5)]
    assert table.faces.tolist() == [UP, UP]
    (outline,) = table.unread_px
    at_px = np.array([CAMERA.width_px, CAMERA.height_px]) / 2 + CAMERA.px_per_mm * np.array([70, 40])
    assert math.dist(outline.mean(axis=0), at_px) < 5.0
    assert outline.shape == (4, 2)


def test_a_single_illegible_half_excludes_a_tile_but_blanks_and_backs_are_legible() -> None:
    back = replace(PlacedTile(None, (0, 90), 1.0), look=1)
    table = drawn(scene_with(invisible(0, 0, -60, -30, 200), invisible(0, 2, 70, 40, 75), back))
    assert shown(table) == [(0, 0)]
    assert sorted(table.faces.tolist()) == [UP, DOWN]
    assert len(table.unread_px) == 1


def test_with_all_tiles_the_table_reports_the_legible_halves() -> None:
    scene = scene_with(lay(3, 5, -60, -30, 200), invisible(4, 2, 70, 40, 75), lay(2, 1, 0, 0))
    table = table_of(scene, np.random.default_rng(3), only_legible=False)
    legible = dict(zip(shown(table), table.legible.tolist(), strict=True))
    assert legible == {(3, 5): [True, True], (4, 2): [False, False], (2, 1): [True, True]}
    assert table.unread_px == ()
    assert drawn(scene).legible.all()


def test_cut_off_tiles_are_excluded() -> None:
    edge_mm = CAMERA.width_px / CAMERA.px_per_mm / 2
    table = drawn(scene_with(lay(3, 5, -60, -30, 200), lay(1, 1, edge_mm, 0)))
    assert shown(table) == [(3, 5)]
    assert len(table.unread_px) == 1


def test_handpainted_pips_are_displaced_but_legible() -> None:
    table = drawn(scene_with(lay(3, 5, -60, -30, 200), look=replace(CLASSIC, pip_jitter=0.14)))
    assert shown(table) == [(3, 5)]
    assert table.unread_px == ()


def test_an_empty_table_gives_only_its_image() -> None:
    table = drawn(scene_with())
    assert (table.poses.shape, table.faces.shape, table.pips.shape) == ((0, 6), (0,), (0, 2))
    assert table.image.shape == (CAMERA.height_px, CAMERA.width_px, 3)


def test_usual_and_foreign_tables_are_about_equally_frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn_kinds: list[str] = []

    def recording(name: str) -> object:
        def draw(_: np.random.Generator, **options: object) -> Scene:
            assert options == {"max_pips": 9, "size_px": (640, 480), "tile_side_px": (9.0, 50.0)}
            drawn_kinds.append(name)
            return scene_with()

        return draw

    monkeypatch.setattr(tables, "random_scene", recording("usual"))
    monkeypatch.setattr(tables, "draw_foreign_scene", recording("foreign"))
    monkeypatch.setattr(tables, "table_of", lambda *_, only_legible: only_legible)
    rng = np.random.default_rng(1)
    for _ in range(400):
        draw_learning_table(rng, max_pips=9, size_px=(640, 480), tile_side_px=(9.0, 50.0))
    assert 0.4 < drawn_kinds.count("foreign") / 400 < 0.7


def test_equal_seeds_draw_equal_tables() -> None:
    first, second, other = (
        draw_learning_table(np.random.default_rng(seed), max_pips=6, size_px=(480, 360), tile_side_px=(14.0, 40.0))
        for seed in (5, 5, 6)
    )
    assert (first.image == second.image).all()
    assert (first.poses == second.poses).all()
    assert first.pips.tolist() == second.pips.tolist()
    assert first.poses.shape != other.poses.shape or (first.poses != other.poses).any()
