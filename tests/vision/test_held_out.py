"""Held-out halves: usual tables, halves labelled as the reader turns them, and figures that can be checked by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.vision.tables import CAMERA, lay
from vision.finder import load_finder
from vision.halves import load_halves
from vision.heads import Head, load_heads
from vision.pyramid import build_pyramid
from vision.render.look_types import PipKind, TileLook
from vision.render.looks import CLASSIC, FELT, LAMP
from vision.render.paint import Rendered, render
from vision.render.scene import PlacedTile, Scene
from vision.training import held_out
from vision.training.held_out import Halves, draw_usual, draw_usual_scene, figures_of, join_halves
from vision.training.legible import legible_halves
from vision.training.samples import true_pips, truth_poses


def scene_with(tiles: list[PlacedTile], look: TileLook = CLASSIC) -> tuple[Scene, Rendered]:
    scene = Scene(tuple(tiles), look, FELT, LAMP, CAMERA)
    return scene, render(scene, np.random.default_rng(3))


def test_usual_tables_are_not_small_nor_seen_from_a_seat() -> None:
    cameras = [draw_usual_scene(np.random.default_rng(seed)).camera for seed in range(25)]
    assert all(1.0 <= camera.px_per_mm <= 3.0 for camera in cameras)
    assert all(camera.tilt_rad <= math.radians(25) + 1e-9 for camera in cameras)
    assert max(camera.tilt_rad for camera in cameras) > math.radians(10)


def test_halves_that_were_found_are_labelled_with_their_own_pips(monkeypatch: pytest.MonkeyPatch) -> None:
    scene, rendered = scene_with([lay(0, 6, -60, -30, 20), lay(5, 1, 60, 30, 130)])
    monkeypatch.setattr(held_out, "draw_usual_scene", lambda _: scene)
    monkeypatch.setattr(held_out, "render", lambda *_: rendered)
    got = draw_usual(np.random.default_rng(0), load_finder(), load_halves(), heads=load_heads())
    assert sorted(got.pips.tolist()) == [0, 1, 5, 6]
    assert got.legible.all()
    poses, _ = truth_poses(rendered.truth)
    exact = load_halves().describe(build_pyramid(rendered.image), poses)
    pips = true_pips(rendered.truth).T.ravel()
    for seen, label in zip(got.features.astype(np.float32), got.pips, strict=True):
        likeness = [float(np.corrcoef(seen, one)[0, 1]) for one in exact]
        assert pips[int(np.argmax(likeness))] == label


def test_pips_that_cannot_be_told_from_the_face_are_not_legible() -> None:
    shown, _ = legible_of(CLASSIC)
    assert shown.tolist() == [[True, True], [True, True]]
    drowned = replace(CLASSIC, pip_bgr=(CLASSIC.face_bgr,) * len(CLASSIC.pip_bgr), pip_kind=PipKind.FLAT)
    hidden, pips = legible_of(drowned)
    assert hidden[pips == 0].all()  # a blank half shows all it has
    assert not hidden[pips > 0].any()


def legible_of(look: TileLook) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which halves of 0-6 and 5-1 a picture shows, and their pips."""
    scene, rendered = scene_with([lay(0, 6, -60, -30, 20), lay(5, 1, 60, 30, 130)], look)
    return legible_halves(scene, rendered), true_pips(rendered.truth)


def halves(features: NDArray[np.float64], pips: list[int], legible: list[bool]) -> Halves:
    return Halves(features.astype(np.float16), np.array(pips), np.array(legible))


def test_figures_by_hand() -> None:
    # With light this head says 1 and is sure; without, it takes 0 for a little likelier than all else.
    weight = np.zeros((1, 19), np.float32)
    weight[0, 1] = 100.0
    bias = np.zeros(19, np.float32)
    bias[0] = 0.5
    head = Head(np.zeros(1, np.float32), np.ones(1, np.float32), (weight,), (bias,))
    seen = halves(np.array([[1.0], [1], [1], [0], [0]]), [1, 1, 2, 0, 7], [True, True, True, True, False])
    assert figures_of(head, seen) == {
        "usual_halves": 5,
        "usual_halves_misread": 0.4,
        "usual_halves_legible": 0.8,
        "usual_halves_misread_where_legible": 0.25,
        "usual_halves_sure": 0.6,
        "usual_halves_misread_where_sure": pytest.approx(1 / 3, abs=1e-5),
    }


def test_halves_are_joined_in_order() -> None:
    seen = join_halves([halves(np.ones((2, 4)), [3, 4], [True, False]), halves(np.zeros((1, 4)), [5], [True])])
    assert seen.pips.tolist() == [3, 4, 5]
    assert seen.features[:, 0].tolist() == [1, 1, 0]
    assert seen.legible.tolist() == [True, False, True]
