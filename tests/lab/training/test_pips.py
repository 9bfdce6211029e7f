"""Tests of training the pip classifier: samples, fit, calibration and reproducibility."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.neural_network import MLPClassifier

from lab.render.looks import CLASSIC, FELT, LAMP
from lab.render.paint import RenderedPicture, render
from lab.render.scene import PipKind, PlacedTile, Scene, TileLook
from lab.training import pips as pips_training
from lab.training.pips import (
    Halves,
    PipSamples,
    calibrated,
    draw_samples,
    draw_usual,
    draw_usual_scene,
    fit_head,
    load_networks,
    misread_figures,
    train_pip_classifier,
    true_halves,
)
from lab.training.tables import concatenated, legible_halves, table_of, true_pips, truth_poses
from tests.vision.tables import CAMERA, lay
from vision.image.picture import build_pyramid
from vision.networks.network import FEATURES, PipClassifier, load_pip_classifier, load_pip_features
from vision.poses import half_centers, sides_px


@pytest.mark.slow
def test_samples_follow_from_the_seed_with_the_shapes_the_classifier_needs() -> None:
    first, again, other = (draw_samples(np.random.default_rng(seed), load_networks(), max_pips=6) for seed in (1, 1, 2))
    assert first.features.shape == (len(first.pips), FEATURES)
    assert np.isfinite(first.features).all()
    assert 0 <= first.pips.min() <= first.pips.max() <= 6
    assert (first.features == again.features).all()
    assert first.pips.tolist() == again.pips.tolist() != other.pips.tolist()
    assert concatenated([first, other]).pips.tolist() == [*first.pips.tolist(), *other.pips.tolist()]


@pytest.mark.parametrize(("max_pips", "views"), [(6, 2), (12, 4)])
def test_a_half_is_labelled_with_its_own_pips(monkeypatch: pytest.MonkeyPatch, max_pips: int, views: int) -> None:
    # Each sample must match the half with its label, rather than the other half of the tile.
    tiles = (lay(0, 6, -60, -30, 20), lay(5, 1, 60, 30, 130))
    table = table_of(Scene(tiles, CLASSIC, FELT, LAMP, CAMERA), np.random.default_rng(3))
    monkeypatch.setattr(pips_training, "draw_learning_table", lambda *_, **__: table)
    drawn_samples = draw_samples(np.random.default_rng(0), load_networks(), max_pips=max_pips)
    # Jittered true poses, more of them for large sets, plus the pose detected by the reader.
    assert sorted(drawn_samples.pips.tolist()) == sorted([0, 6, 5, 1] * (views + 1))
    exact = load_pip_features().describe(build_pyramid(table.image), table.poses)
    pips = table.pips.T.ravel().tolist()
    for features, label in zip(drawn_samples.features.astype(np.float32), drawn_samples.pips, strict=True):
        similarity = [float(np.corrcoef(features, reference)[0, 1]) for reference in exact]
        assert pips[int(np.argmax(similarity))] == label


def synthetic_samples(rng: np.random.Generator, count: int = 400) -> PipSamples:
    """Return learnable samples: each number has a high value in its own column."""
    pips = rng.choice([0, 2, 3, 6], count)  # no sample shows 1, 4 or 5
    values = rng.normal(0, 0.3, (count, 8))
    values[np.arange(count), pips] += 1.5
    return PipSamples(values.astype(np.float16), pips)


@pytest.fixture
def networks(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Networks of scikit-learn created by the fit."""
    created: list[Any] = []

    def create(**options: Any) -> Any:
        created.append(MLPClassifier(**options))
        return created[-1]

    monkeypatch.setattr(pips_training, "MLPClassifier", create)
    return created


def test_the_classifier_agrees_with_scikit_learn(networks: list[Any]) -> None:
    learn = synthetic_samples(np.random.default_rng(1))
    classifier = fit_head(learn, learn, seed=2, epochs=3, progress=lambda _: None)
    (network,) = networks
    rows = learn.features.astype(np.float32)
    probabilities = replace(classifier, sharpness=1.0, misread=0.0).probabilities(rows)
    expected = network.predict_proba(((rows - classifier.mean) / classifier.scale).astype(np.float32))
    np.testing.assert_allclose(probabilities[:, network.classes_], expected, atol=1e-4)
    assert probabilities.shape[1] == 19  # the reader expects all numbers, even if a small training set lacks some
    assert probabilities[:, [1, 4, 5, *range(7, 19)]].max() < 1e-4  # not in the training set


@pytest.mark.slow
def test_fitting_learns_and_follows_from_the_seed() -> None:
    learn, check = synthetic_samples(np.random.default_rng(1)), synthetic_samples(np.random.default_rng(2))
    shares: list[float] = []
    first, again, other = (fit_head(learn, check, seed, 50, shares.append) for seed in (2, 2, 3))
    wrong = first.probabilities(check.features.astype(np.float32)).argmax(axis=1) != check.pips
    assert wrong.mean() < 0.1
    assert set(first.notes) == {"pips_error", "pips_error_to_6"}
    assert first.notes["pips_error"] == pytest.approx(wrong.mean(), abs=1e-4)
    assert all((a == b).all() for a, b in zip(first.weights, again.weights, strict=True))
    assert (first.notes, first.sharpness, first.misread) == (again.notes, again.sharpness, again.misread)
    assert (first.weights[0] != other.weights[0]).any()
    assert shares[:50] == sorted(shares[:50])
    assert shares[49] == 1.0


@pytest.mark.slow
def test_a_training_reports_its_figures_and_stages() -> None:
    reports: list[tuple[str, float]] = []
    trained = train_pip_classifier(
        seed=4, scenes=3, epochs=1, jobs=1, progress=lambda stage, share: reports.append((stage, share))
    )
    assert trained.notes.items() >= {"seed": 4, "scenes": 3, "epochs": 1}.items()
    assert {"pips_error", "usual_halves", "usual_halves_misread"} <= set(trained.notes)
    assert max(share for _, share in reports) == 1.0
    assert len({stage for stage, _ in reports}) >= 4


def test_calibration_corrects_overconfidence() -> None:
    rng = np.random.default_rng(3)
    logits = rng.normal(0, 1.5, (4000, 3))
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(3, p=row) for row in chances])
    zeros, ones, identity = np.zeros(3, np.float32), np.ones(3, np.float32), np.eye(3, dtype=np.float32)
    for factor in (0.5, 2.0):
        classifier = PipClassifier(zeros, ones, (identity * np.float32(factor),), (zeros,))
        assert calibrated(classifier, classifier.outputs(logits.astype(np.float32)), labels).sharpness == pytest.approx(
            1 / factor, rel=0.12
        )


def test_calibration_allows_for_misreadings_at_any_confidence() -> None:
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 19, 4000)
    read = np.where(rng.random(4000) < 0.01, rng.integers(0, 19, 4000), labels)
    zeros, ones, identity = np.zeros(19, np.float32), np.ones(19, np.float32), np.eye(19, dtype=np.float32)
    classifier = PipClassifier(zeros, ones, (identity,), (zeros,))
    outputs = 20 * np.eye(19, dtype=np.float32)[read]
    assert calibrated(classifier, outputs, labels, misread=(0.0, 0.001, 0.01, 0.1)).misread == 0.01


# Tests of held-out halves: usual tables, labels, legibility and error rates.


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
    monkeypatch.setattr(pips_training, "draw_usual_scene", lambda _: scene)
    monkeypatch.setattr(pips_training, "render", lambda *_: rendered)
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
