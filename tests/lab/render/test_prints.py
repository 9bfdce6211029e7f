"""Tests of prints, table edges, floors and the horizon."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from lab.packages import MissingPackagesError, files_of
from lab.render.clutter import EVERYDAY, draw_clutter
from lab.render.faces import OVERHEAD_GLINT, Texture, grid_of, marked, paint_face
from lab.render.layouts import random_scene, visible_area
from lab.render.looks import CLASSIC, FELT
from lab.render.paint import draw_floor, render
from lab.render.placements import Area
from lab.render.prints import PRINTS, rounded_outline
from lab.render.scene import CameraLook, ClutterKind, Floor, PlacedTile, Scene, TableKind, TileLook, TileMark
from lab.render.tabletop import find_photographs, paint_table, photographed, require_photographs, ruled
from lab.render.view import view_of
from tests.lab.render.flat import EVEN, GREEN, RED
from vision.arrays import Image

OVERHEAD = CameraLook(640, 480, px_per_mm=1.5)
OBLIQUE = CameraLook(640, 480, px_per_mm=1.0, tilt_rad=1.13, fov_rad=1.2, roll_rad=0.05)
EMPTY = Scene((), RED, GREEN, EVEN, OVERHEAD)
BLUE = replace(GREEN, base_bgr=(200.0, 0.0, 0.0), second_bgr=(200.0, 0.0, 0.0))
SQUARE = ((150.0, 100.0), (-150.0, 100.0), (-150.0, -100.0), (150.0, -100.0))
FLOOR = Floor(BLUE, SQUARE, drop=0.5, rim_bgr=(0.0, 0.0, 255.0), rim_mm=30.0)


def _image(scene: Scene) -> Image:
    return render(scene, np.random.default_rng(0)).image


@pytest.mark.parametrize("kind", PRINTS)
@pytest.mark.parametrize("seed", range(3))
def test_a_print_has_a_pattern_and_stays_within_its_outline(kind: ClutterKind, seed: int) -> None:
    rng = np.random.default_rng(seed)
    (thing,) = draw_clutter(rng, Area(1.0, 1.0), CLASSIC, (), 1, kinds=(kind,))
    camera = replace(OVERHEAD, px_per_mm=500 / thing.length_mm)
    empty = replace(EMPTY, camera=camera)
    image = _image(replace(empty, clutter=(thing,)))
    view = view_of(camera)
    edge = PlacedTile(None, thing.center_mm, thing.theta_rad).to_table(
        rounded_outline(thing.length_mm, thing.width_mm, 0.0)
    )
    extent = np.concatenate([view.project(edge, height_mm) for height_mm in (0.0, thing.height_mm)])
    inside = np.zeros(image.shape[:2], np.uint8)
    cv2.fillConvexPoly(inside, cv2.convexHull(np.round(extent).astype(np.int32)), 1)
    changed = (image != _image(empty)).any(axis=-1)
    assert not (changed & (cv2.dilate(inside, np.ones((5, 5))) == 0)).any()
    assert changed[inside > 0].mean() > 0.9
    assert image[inside > 0].std() > 8.0, "the print has a single colour"


def test_everyday_clutter_is_unchanged_by_the_addition_of_prints() -> None:
    kinds = "coin pen phone paper card die glass printed_tile standing_tile picture mug"
    assert [kind.value for kind in EVERYDAY] == kinds.split()
    things = draw_clutter(np.random.default_rng(0), Area(600.0, 450.0), CLASSIC, (), 40)
    assert (
        " ".join(thing.kind.value for thing in things[:6]) == "picture printed_tile printed_tile coin standing_tile pen"
    )
    assert things[5].center_mm[0] == pytest.approx(-231.816, abs=1e-3)
    assert not {thing.kind for thing in things} & set(PRINTS)


@pytest.mark.parametrize("seed", range(30))
def test_the_extent_of_usual_tables_is_that_of_the_image(seed: int) -> None:
    camera = random_scene(np.random.default_rng(seed), size_px=(320, 240)).camera
    view = view_of(camera)
    frame = np.array([[[0, 0], [320, 0], [320, 240], [0, 240]]], dtype=np.float64)
    plain = cv2.perspectiveTransform(frame, np.linalg.inv(view.plane(0.0)))[0]
    assert (view.frame_mm(320, 240, 0.0) == plain).all()


@pytest.mark.parametrize("camera", [OVERHEAD, replace(OVERHEAD, tilt_rad=0.9), replace(OBLIQUE, px_per_mm=1.5)])
def test_a_floor_changes_only_the_region_outside_the_table(camera: CameraLook) -> None:
    tiles = (PlacedTile((3, 5), (-80.0, -50.0), 0.4), PlacedTile(None, (70.0, 60.0), -2.0))
    scene = replace(EMPTY, tiles=tiles, camera=camera)
    without, with_floor = _image(scene), _image(replace(scene, floor=FLOOR))
    inside = np.zeros(without.shape[:2], np.uint8)
    outline = np.round(view_of(camera).project(np.array(SQUARE), 0.0)).astype(np.int32)
    cv2.fillConvexPoly(inside, outline, 1)
    changed = (without != with_floor).any(axis=-1)
    assert not changed[cv2.erode(inside, np.ones((5, 5))) > 0].any()
    beyond = cv2.dilate(inside, np.ones((5, 5))) == 0
    for placed in tiles:  # tiles rise above the far edge
        top = view_of(camera).project(placed.to_table(np.array([[0.0, 0.0]])), RED.thickness_mm)[0]
        assert not changed[round(float(top[1])), round(float(top[0]))]
    assert changed[beyond].mean() > 0.9


def test_the_rim_is_visible_only_at_the_near_side() -> None:
    camera = replace(OVERHEAD, px_per_mm=1.2, tilt_rad=0.8)
    image = _image(replace(EMPTY, camera=camera, floor=FLOOR))
    view = view_of(camera)
    near = view.project(np.array([[0.0, 100.0]]), -15.0)[0]
    far = view.project(np.array([[0.0, -100.0]]), 0.0)[0]
    assert image[round(near[1]), round(near[0]), 2] > 150
    assert image[round(far[1]) - 6, round(far[0]), 2] < 40
    assert image[round(far[1]) - 6, round(far[0]), 0] > 50, "no floor beyond the far edge"


@pytest.mark.parametrize("kind", [kind for kind in TableKind if kind is not TableKind.PHOTOGRAPH])
@pytest.mark.parametrize("tilt_rad", [1.0, 1.13, 1.35])
def test_renders_a_view_with_a_horizon(kind: TableKind, tilt_rad: float) -> None:
    camera = replace(OBLIQUE, tilt_rad=tilt_rad)
    view = view_of(camera)
    extent = view.frame_mm(camera.width_px, camera.height_px, 0.0)
    assert np.isfinite(extent).all()
    assert np.abs(extent).max() < 12_000
    look = replace(FELT, kind=kind)
    picture = paint_table(look, view, camera.width_px, camera.height_px, np.random.default_rng(0))
    assert picture.shape == (480, 640, 3)
    area = visible_area(camera)
    assert 50 < area.width_mm < 2000
    floor = draw_floor(np.random.default_rng(1), area)
    assert _image(Scene((), RED, look, EVEN, camera, floor=floor)).shape == (480, 640, 3)


def test_there_is_no_table_above_the_horizon() -> None:
    camera = replace(OBLIQUE, tilt_rad=1.35, roll_rad=0.0)
    image = _image(replace(EMPTY, camera=camera))
    assert (image[300:] == (0, 200, 0)).all()
    assert (np.abs(image[:40].astype(int) - (0, 200, 0)).max(axis=-1) > 30).mean() > 0.9


@pytest.mark.parametrize("seed", range(60))
def test_a_drawn_table_outline_is_convex_and_contains_its_tiles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    area = Area(600.0, 450.0)
    centers = [(float(x), float(y)) for x, y in rng.uniform(-0.5, 0.5, (12, 2)) * (600.0, 450.0)]
    floor = draw_floor(rng, area, centers, margin_mm=48.0)
    assert all(floor.margin_mm(center) >= 47.9 for center in centers)
    along = np.diff(np.array([*floor.outline_mm, *floor.outline_mm[:2]]), axis=0)
    turns = along[:-1, 0] * along[1:, 1] - along[:-1, 1] * along[1:, 0]
    assert (turns > -1e-6).all()
    assert floor.margin_mm((20_000.0, 0.0)) < 0


def test_some_tables_are_round_and_all_have_limited_size() -> None:
    floors = [draw_floor(np.random.default_rng(seed), Area(600.0, 450.0)) for seed in range(60)]
    assert {len(floor.outline_mm) for floor in floors} == {4, 28, 72}
    assert all(min(-floor.margin_mm((x, y)) for x in (-400, 400) for y in (-300, 300)) < 4000 for floor in floors)
    assert max(math.dist((0, 0), corner) for floor in floors for corner in floor.outline_mm) < 5000


def test_rejects_invalid_floors() -> None:
    with pytest.raises(ValueError, match="outline_mm: expected at least 3"):
        Floor(BLUE, SQUARE[:2])
    with pytest.raises(ValueError, match="drop: expected 0 to 1"):
        Floor(BLUE, SQUARE, drop=1.5)


def test_only_the_table_reflects_light() -> None:
    light = replace(EVEN, glare=1.0, glare_stretch=8.0)
    matte = replace(EMPTY, light=light, floor=FLOOR)
    changed = (_image(matte) != _image(replace(matte, table=replace(GREEN, gloss=1.0)))).any(axis=-1)
    assert changed[100:380, 110:530].any()
    assert not changed[:80].any()
    assert not changed[:, :80].any()


# Tests of marks on tiles and of photographed table tops.


SCALE = 5.0
YELLOW = (0.0, 220.0, 220.0)


def painted(look: TileLook, pips: tuple[int, int] | None = (0, 0), seed: int = 1) -> Texture:
    return paint_face(grid_of(look, SCALE), look, pips, OVERHEAD_GLINT, 1.0, np.random.default_rng(seed))


def yellow_at(texture: Texture, x: float, y: float) -> bool:
    """Return True if a face is yellow at a place from -1 to 1 along and across the tile."""
    height, width = texture.shape[:2]
    row, column = round((height + y * RED.width_mm * SCALE) / 2), round((width + x * RED.length_mm * SCALE) / 2)
    return bool(texture[row, column, 1] > 150)


@pytest.mark.parametrize(("x", "y"), [(-0.5, 0.6), (0.5, -0.6), (0.8, 0.0)])
def test_a_disc_is_painted_at_its_place_only(x: float, y: float) -> None:
    face = painted(replace(RED, marks=(TileMark(x, y, 0.1, YELLOW),)))
    assert yellow_at(face, x, y)
    assert not yellow_at(face, x + 0.15, y)
    assert not yellow_at(painted(RED), x + 0.02, y + 0.1)


def test_a_ring_is_hollow_and_letters_have_ink() -> None:
    ring = painted(replace(RED, marks=(TileMark(0.5, 0.0, 0.3, YELLOW, hollow=0.7),)))
    assert not yellow_at(ring, 0.5, 0.0)
    assert yellow_at(ring, 0.5, 0.51)
    letters = painted(replace(RED, marks=(TileMark(0.5, 0.0, 0.2, YELLOW, text="MI"),)))
    assert 100 < (letters[..., 1] > 150).sum() < 0.2 * letters[..., 1].size


def test_back_marks_are_on_backs_only() -> None:
    look = replace(RED, back_marks=(TileMark(0.5, 0.0, 0.2, YELLOW),))
    assert yellow_at(painted(look, None), 0.5, 0.0)
    assert not yellow_at(painted(look), 0.5, 0.0)


@pytest.mark.parametrize("look", [replace(RED, cracks=4.0), replace(RED, blobs=4.0), replace(RED, streaks=4.0)])
def test_faults_differ_between_tiles_and_stay_on_the_tile(look: TileLook) -> None:
    first, second, plain = painted(look), painted(look, seed=2), painted(RED)
    assert (first != plain).any()
    assert (first != second).any()
    assert not first[plain[..., 3] == 0].any()


def test_a_worn_bar_has_gaps() -> None:
    def bar_px(look: TileLook) -> int:
        return int((painted(look)[..., 0] > 150).sum())

    assert 0 < bar_px(replace(RED, bar_worn=0.9)) < 0.9 * bar_px(RED)


def test_random_marks_leave_room_for_the_pips() -> None:
    looks = [marked(np.random.default_rng(seed), RED) for seed in range(60)]
    marks = [mark for look in looks for mark in look.marks]
    assert all(
        abs(mark.x) <= 1 and abs(mark.y) <= 1 for mark in (*marks, *(m for look in looks for m in look.back_marks))
    )
    assert max(mark.size for mark in marks) < 0.13
    assert sum(bool(look.marks) for look in looks) > 20
    assert sum(bool(look.back_marks) for look in looks) > 30
    assert marked(np.random.default_rng(3), RED) == looks[3]


def test_ruled_paper_has_lines_at_its_pitch() -> None:
    paper = replace(GREEN, kind=TableKind.RULED, base_bgr=(250.0, 250.0, 250.0), second_bgr=(0.0, 0.0, 0.0))
    picture = ruled(replace(paper, pattern_mm=10.0), (200, 300), 2.0, np.random.default_rng(1))
    lines = np.nonzero((picture[..., 0] < 100).mean(axis=1) > 0.9)[0]
    starts = lines[np.diff(lines, prepend=-9) > 1]
    assert np.diff(starts) == pytest.approx([20] * 9, abs=1)


def test_a_photographed_table_shows_its_photograph(tmp_path: Path) -> None:
    picture = np.zeros((90, 60, 3), np.uint8)
    picture[:] = (10, 20, 200)
    path = tmp_path / "a.png"
    cv2.imwrite(str(path), picture)
    look = replace(GREEN, kind=TableKind.PHOTOGRAPH, photograph=path)
    table = photographed(look, (70, 110), 0.3, np.random.default_rng(1))
    assert table.shape == (70, 110, 3)
    assert (table == (10, 20, 200)).all()


def test_a_photographed_table_needs_a_readable_photograph(tmp_path: Path) -> None:
    rng, look = np.random.default_rng(1), replace(GREEN, kind=TableKind.PHOTOGRAPH)
    with pytest.raises(ValueError, match="needs one"):
        photographed(look, (70, 110), 0.3, rng)
    with pytest.raises(OSError, match="reinstall"):
        photographed(replace(look, photograph=tmp_path / "none.jpg"), (70, 110), 0.3, rng)


def test_missing_packages_are_named(tmp_path: Path) -> None:
    with pytest.raises(MissingPackagesError, match="apt install mate-backgrounds redeclipse-data"):
        require_photographs(tmp_path)
    assert find_photographs(tmp_path) == ()
    folder = tmp_path / "backgrounds/mate/nature"
    folder.mkdir(parents=True)
    files_of.cache_clear()
    (folder / "b.jpg").touch()
    with pytest.raises(MissingPackagesError, match=r"apt install redeclipse-data$"):
        require_photographs(tmp_path)
