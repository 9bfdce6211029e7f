"""Tests of looks: every kind can be painted, and drawn looks vary as widely as real sets."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from lab.render.faces import OVERHEAD_GLINT, grid_of, paint_face
from lab.render.layouts import visible_area
from lab.render.looks import (
    CLASSIC,
    COLORED,
    FELT,
    LAMP,
    OVERHEAD,
    WALNUT,
    brightness,
    draw_camera_look,
    draw_light_look,
    draw_table_look,
    draw_tile_look,
)
from lab.render.paint import render
from lab.render.scene import BarKind, CameraLook, Clutter, ClutterKind, PipKind, PlacedTile, Scene, TableKind

SMALL = CameraLook(320, 240, px_per_mm=2.0, tilt_rad=0.4)
EMPTY = Scene((), CLASSIC, FELT, LAMP, SMALL)


def _image(scene: Scene) -> np.ndarray:
    return render(scene, np.random.default_rng(0)).image.astype(int)


@pytest.mark.parametrize("kind", [kind for kind in TableKind if kind is not TableKind.PHOTOGRAPH])
def test_every_table_covers_the_whole_image(kind: TableKind) -> None:
    table = replace(FELT, kind=kind, base_bgr=(90.0, 120.0, 150.0), second_bgr=(160.0, 150.0, 120.0))
    image = _image(replace(EMPTY, table=table))
    assert image.min(axis=(0, 1)).max() > 0
    assert (image.max(axis=-1) == 0).mean() < 0.01
    assert image.std() > 1


@pytest.mark.parametrize("kind", PipKind)
@pytest.mark.parametrize("pips", [1, 9])
def test_pips_of_every_kind_darken_only_their_half(kind: PipKind, pips: int) -> None:
    blank = _image(replace(EMPTY, tiles=(PlacedTile((0, 0), (0.0, 0.0), 0.0),)))
    look = replace(CLASSIC, pip_kind=kind)
    image = _image(replace(EMPTY, tile=look, tiles=(PlacedTile((pips, 0), (0.0, 0.0), 0.0),)))
    darker = (blank - image).sum(axis=-1) > 60
    assert darker[:, :155].sum() > 60 * pips
    assert not darker[:, 165:].any()


@pytest.mark.parametrize("kind", BarKind)
def test_every_bar_is_visible_only_in_the_middle(kind: BarKind) -> None:
    without_bar = replace(CLASSIC, bar_kind=BarKind.NONE)
    tiles = (PlacedTile((0, 0), (0.0, 0.0), 0.0),)
    changed = _image(replace(EMPTY, tile=replace(CLASSIC, bar_kind=kind), tiles=tiles)) != _image(
        replace(EMPTY, tile=without_bar, tiles=tiles)
    )
    columns = np.flatnonzero(changed.any(axis=(0, 2)))
    assert (len(columns) > 0) == (kind is not BarKind.NONE)
    assert ((columns > 148) & (columns < 172)).all()


@pytest.mark.parametrize("kind", ClutterKind)
def test_clutter_is_visible_but_is_no_tile(kind: ClutterKind) -> None:
    thing = Clutter(kind, (0.0, 0.0), 0.3, 40.0, 20.0, 6.0, (30.0, 60.0, 200.0))
    rendered = render(replace(EMPTY, clutter=(thing,)), np.random.default_rng(0))
    assert rendered.truth.tiles == ()
    changed = (rendered.image.astype(int) != _image(EMPTY)).any(axis=-1)
    assert changed[100:140, 130:190].mean() > 0.2
    assert not changed[:, :40].any()


@pytest.mark.slow
def test_numerals_differ_and_a_blank_stays_blank() -> None:
    for turns in range(4):
        look = replace(CLASSIC, numerals=turns)
        images = [
            _image(replace(EMPTY, tile=look, tiles=(PlacedTile((number, 0), (0.0, 0.0), 0.0),))) for number in range(19)
        ]
        for number in range(1, 19):
            changed = np.abs(images[number] - images[0]).sum(axis=-1) > 60
            assert changed[:, :157].sum() > 40
            assert not changed[:, 163:].any()
        others = [(np.abs(images[a] - images[b]).sum(axis=-1) > 60).sum() for a in range(19) for b in range(a)]
        assert min(others) > 20


def test_a_sign_covers_its_outlines_on_both_halves() -> None:
    left = ((-0.8, -0.5), (-0.2, -0.5), (-0.2, 0.5), (-0.8, 0.5))
    look = replace(CLASSIC, numerals=0, signs=((), (left,), (left, left)), bar_kind=BarKind.NONE)
    grid = grid_of(look, 6.0)

    def painted(pips: tuple[int, int]) -> np.ndarray:
        with_signs = paint_face(grid, look, pips, OVERHEAD_GLINT, 1.0, np.random.default_rng(1))
        blank = paint_face(grid, look, (0, 0), OVERHEAD_GLINT, 1.0, np.random.default_rng(1))
        return np.asarray((with_signs != blank).any(axis=2))

    first, second = painted((1, 0)), painted((0, 1))
    side_px = look.width_mm * 6.0
    assert first.sum() == pytest.approx(0.3 * 0.5 * side_px**2, rel=0.1)
    assert (first == np.rot90(second, 2)).mean() > 0.99, "signs must rotate with their half"
    assert (painted((2, 0)) == first).all(), "overlapping outlines must leave no hole"


def test_only_large_sets_have_numerals() -> None:
    rng = np.random.default_rng(0)
    assert all(draw_tile_look(rng, max_pips=9).numerals is None for _ in range(100))
    shares = [draw_tile_look(rng, max_pips=18).numerals is not None for _ in range(200)]
    assert 0.05 < np.mean(shares) < 0.25


def test_glare_bloom_fringes_folds_and_mirrors_change_the_image() -> None:
    plain = _image(EMPTY)
    tile = (PlacedTile((1, 2), (0.0, 0.0), 0.0),)
    bright = _image(replace(EMPTY, light=replace(LAMP, glare=0.6), table=replace(FELT, gloss=1.0)))
    assert bright.mean() > plain.mean() + 3
    folded = _image(replace(EMPTY, table=replace(FELT, folds=1.0)))
    assert np.abs(folded - plain).max() > 10
    lit = _image(replace(EMPTY, tiles=tile, camera=replace(SMALL, bloom=0.5)))
    assert lit.mean() > _image(replace(EMPTY, tiles=tile)).mean() + 0.3
    fringed = _image(
        replace(EMPTY, tiles=(PlacedTile((1, 2), (-60.0, -40.0), 0.0),), camera=replace(SMALL, fringe_px=3))
    )
    sharp = _image(replace(EMPTY, tiles=(PlacedTile((1, 2), (-60.0, -40.0), 0.0),)))
    assert np.array_equal(fringed[..., 1], sharp[..., 1])
    assert np.abs(fringed[..., 2] - sharp[..., 2]).max() > 40
    polished = _image(replace(EMPTY, tiles=tile, table=replace(FELT, mirror=0.6)))
    below = np.abs(polished - _image(replace(EMPTY, tiles=tile))).sum(axis=-1)[145:165, 120:200]
    assert (below > 60).sum() > 100


@pytest.mark.slow
def test_tile_looks_have_the_documented_frequencies() -> None:
    rng = np.random.default_rng(0)
    looks = [draw_tile_look(rng) for _ in range(600)]
    kinds: Counter[str] = Counter()
    for look in looks:
        pips_differ = len(set(look.pip_bgr[1:])) > 1
        light_face = min(look.face_bgr) > 110 and brightness(look.face_bgr) > 180
        if light_face and not pips_differ and brightness(look.pip_bgr[1]) < 60:
            kinds["white with black pips"] += 1
        elif light_face and pips_differ:
            kinds["coloured pips"] += 1
        elif brightness(look.face_bgr) < 60 and brightness(look.pip_bgr[1]) > 200:
            kinds["black with white pips"] += 1
    assert 0.33 < kinds["white with black pips"] / 600 < 0.52
    assert 0.18 < kinds["coloured pips"] / 600 < 0.32
    assert 0.08 < kinds["black with white pips"] / 600 < 0.25
    assert all(1.85 <= look.length_mm / look.width_mm <= 2.1 for look in looks)
    assert {look.pip_kind for look in looks} == set(PipKind)
    assert {look.bar_kind for look in looks} == set(BarKind)


def test_tables_lights_and_cameras_vary() -> None:
    rng = np.random.default_rng(1)
    assert {draw_table_look(rng).kind for _ in range(200)} == set(TableKind) - {TableKind.RULED, TableKind.PHOTOGRAPH}
    assert {draw_light_look(rng).glare > 0 for _ in range(30)} == {True, False}
    cameras = [draw_camera_look(rng, largest_tilt_rad=0.3) for _ in range(50)]
    assert max(camera.tilt_rad for camera in cameras) == 0.3
    assert {camera.lens == 0 for camera in cameras} == {True, False}


def test_the_visible_area_shrinks_with_tilt() -> None:
    level = visible_area(OVERHEAD)
    assert level.width_mm == pytest.approx(640 * 0.97, rel=0.05)
    assert visible_area(replace(OVERHEAD, tilt_rad=0.6)).width_mm < level.width_mm


def test_calm_looks_give_a_bright_readable_table() -> None:
    for look, table in ((CLASSIC, FELT), (COLORED, WALNUT)):
        image = _image(
            Scene(
                (PlacedTile((6, 3), (0.0, 0.0), 0.2),),
                look,
                table,
                LAMP,
                replace(OVERHEAD, width_px=320, height_px=240),
            )
        )
        assert image[110:130, 110:120].mean() > image[:20, :20].mean() + 40
