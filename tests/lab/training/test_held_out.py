"""Tests of held-out halves: usual tables, labels, legibility and error rates."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.render.look_types import PipKind, TileLook
from lab.render.looks import CLASSIC, FELT, LAMP
from lab.render.paint import RenderedPicture, render
from lab.render.scene import PlacedTile, Scene
from lab.training.pips import fit
from lab.training.pips.fit import (
    Halves,
    draw_usual,
    draw_usual_scene,
    load_networks,
    misread_figures,
    true_halves,
)
from lab.training.processes import concatenated
from lab.training.tables import legible_halves, true_pips, truth_poses
from tests.vision.tables import CAMERA, lay
from vision.networks.network import load_pip_classifier
from vision.poses import half_centers, sides_px


def scene_with(tiles: list[PlacedTile], look: TileLook = CLASSIC) -> tuple[Scene, RenderedPicture]:
    scene = Scene(tuple(tiles), look, FELT, LAMP, CAMERA)
    return scene, render(scene, np.random.default_rng(3))


def test_usual_tables_are_neither_small_nor_very_oblique() -> None:
    cameras = [draw_usual_scene(np.random.default_rng(seed)).camera for seed in range(25)]
    assert all(1.0 <= camera.px_per_mm <= 3.0 for camera in cameras)
    assert all(camera.tilt_rad <= math.radians(25) + 1e-9 for camera in cameras)
    assert max(camera.tilt_rad for camera in cameras) > math.radians(10)


def test_detected_halves_are_labelled_with_their_own_pips(monkeypatch: pytest.MonkeyPatch) -> None:
    scene, rendered = scene_with([lay(0, 6, -60, -30, 20), lay(5, 1, 60, 30, 130)])
    monkeypatch.setattr(fit, "draw_usual_scene", lambda _: scene)
    monkeypatch.setattr(fit, "render", lambda *_: rendered)
    halves_read = draw_usual(np.random.default_rng(0), load_networks(), head=load_pip_classifier())
    assert sorted(halves_read.pips.tolist()) == [0, 1, 5, 6]
    assert halves_read.legible.all()
    assert halves_read.predicted.tolist() == halves_read.pips.tolist()
    assert (halves_read.confidence > 0.9).all()


def test_detections_without_a_tile_have_no_true_halves() -> None:
    _, rendered = scene_with([lay(0, 6, -60, -30, 20), lay(5, 1, 60, 30, 130)])
    poses, _ = truth_poses(rendered.truth)
    centers = half_centers(poses)
    beside = centers + sides_px(poses)[:, None, None]
    detected = np.concatenate([beside[:1], centers[1:], centers[:1, ::-1]])
    assert true_halves(detected, poses).tolist() == [-1, -1, 2, 3, 1, 0]
    assert true_halves(detected, poses[:0]).tolist() == [-1] * 6
    assert true_halves(detected[:0], poses).tolist() == []


def test_pips_of_the_face_colour_are_not_legible() -> None:
    shown, _ = legible_of(CLASSIC)
    assert shown.tolist() == [[True, True], [True, True]]
    invisible = replace(CLASSIC, pip_bgr=(CLASSIC.face_bgr,) * len(CLASSIC.pip_bgr), pip_kind=PipKind.FLAT)
    hidden, pips = legible_of(invisible)
    assert hidden[pips == 0].all()  # a blank half is legible
    assert not hidden[pips > 0].any()


def legible_of(look: TileLook) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return the legibility and the pips of the halves of 0-6 and 5-1."""
    scene, rendered = scene_with([lay(0, 6, -60, -30, 20), lay(5, 1, 60, 30, 130)], look)
    return legible_halves(scene, rendered), true_pips(rendered.truth)


def halves(predicted: list[int], confidence: list[float], pips: list[int], legible: list[bool]) -> Halves:
    return Halves(np.array(predicted), np.array(confidence), np.array(pips), np.array(legible))


def test_misread_figures() -> None:
    predicted, sure = [1, 1, 1, 0, 0], [0.999, 0.99, 0.995, 0.6, 0.98]
    assert misread_figures(halves(predicted, sure, [1, 1, 2, 0, 7], [True, True, True, True, False])) == {
        "usual_halves": 5,
        "usual_halves_misread": 0.4,
        "usual_halves_legible": 0.8,
        "usual_halves_misread_where_legible": 0.25,
        "usual_halves_sure": 0.6,
        "usual_halves_misread_where_sure": pytest.approx(1 / 3, abs=1e-5),
    }


def test_concatenation_keeps_the_order() -> None:
    joined = concatenated([halves([3, 4], [0.5, 0.6], [3, 4], [True, False]), halves([6], [0.7], [5], [True])])
    assert joined.predicted.tolist() == [3, 4, 6]
    assert joined.confidence.tolist() == [0.5, 0.6, 0.7]
    assert joined.pips.tolist() == [3, 4, 5]
    assert joined.legible.tolist() == [True, False, True]
