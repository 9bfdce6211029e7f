"""Tests of training the pip classifier: samples, fit, calibration and reproducibility."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from lab.render.looks import CLASSIC, FELT, LAMP
from lab.render.scene import Scene
from lab.training.pips import fit
from lab.training.pips.fit import (
    PipSamples,
    calibrated,
    draw_samples,
    fit_head,
    load_networks,
    train_pip_classifier,
)
from lab.training.processes import concatenated
from lab.training.tables import table_of
from tests.vision.tables import CAMERA, lay
from vision.image.picture import build_pyramid
from vision.networks.network import FEATURES, PipClassifier, load_pip_features

FIELDS = PipSamples.__slots__


@pytest.fixture
def _threads() -> Iterator[None]:
    """Restore the thread count of OpenCV, which training sets to one."""
    count = cv2.getNumThreads()
    yield
    cv2.setNumThreads(count)


def drawn(seed: int) -> PipSamples:
    return draw_samples(np.random.default_rng(seed), load_networks(), max_pips=6)


@pytest.fixture(scope="module")
def two_tables() -> PipSamples:
    return concatenated([drawn(1), drawn(2)])


@pytest.mark.slow
def test_samples_have_the_shapes_the_classifier_needs(two_tables: PipSamples) -> None:
    assert two_tables.features.shape == (len(two_tables.pips), FEATURES)
    assert np.isfinite(two_tables.features).all()
    assert len(two_tables.pips) > 20
    assert 0 <= two_tables.pips.min() <= two_tables.pips.max() <= 6


@pytest.mark.slow
def test_equal_seeds_draw_equal_samples(two_tables: PipSamples) -> None:
    repeated = drawn(1)
    assert len(repeated.pips) > 0
    for name in FIELDS:
        values = getattr(repeated, name)
        assert (getattr(two_tables, name)[: len(values)] == values).all()


@pytest.mark.slow
def test_different_seeds_draw_different_samples() -> None:
    assert drawn(3).pips.tolist() != drawn(4).pips.tolist()


@pytest.mark.parametrize(("max_pips", "views"), [(6, 2), (12, 4)])
def test_a_half_is_labelled_with_its_own_pips(monkeypatch: pytest.MonkeyPatch, max_pips: int, views: int) -> None:
    # Each sample must match the half with its label, rather than the other half of the tile.
    tiles = (lay(0, 6, -60, -30, 20), lay(5, 1, 60, 30, 130))
    table = table_of(Scene(tiles, CLASSIC, FELT, LAMP, CAMERA), np.random.default_rng(3))
    monkeypatch.setattr(fit, "draw_learning_table", lambda *_, **__: table)
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

    monkeypatch.setattr(fit, "MLPClassifier", create)
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
def test_fitting_learns_and_reports_its_error() -> None:
    learn, check = synthetic_samples(np.random.default_rng(1)), synthetic_samples(np.random.default_rng(2))
    classifier = fit_head(learn, check, seed=2, epochs=50, progress=lambda _: None)
    wrong = classifier.probabilities(check.features.astype(np.float32)).argmax(axis=1) != check.pips
    assert wrong.mean() < 0.1
    assert set(classifier.notes) == {"pips_error", "pips_error_to_6"}
    assert classifier.notes["pips_error"] == pytest.approx(wrong.mean(), abs=1e-4)


def test_equal_seeds_fit_equal_classifiers() -> None:
    learn = synthetic_samples(np.random.default_rng(1))
    first, second, other = (fit_head(learn, learn, seed, 2, lambda _: None) for seed in (5, 5, 6))
    assert_equal(first, second)
    assert (first.weights[0] != other.weights[0]).any()


def test_progress_increases_to_its_end() -> None:
    learn = synthetic_samples(np.random.default_rng(1))
    shares: list[float] = []
    fit_head(learn, learn, seed=5, epochs=2, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


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


def assert_equal(first: PipClassifier, second: PipClassifier) -> None:
    assert (first.notes, first.sharpness, first.misread) == (second.notes, second.sharpness, second.misread)
    for a, b in zip(
        (first.mean, first.scale, *first.weights, *first.biases),
        (second.mean, second.scale, *second.weights, *second.biases),
        strict=True,
    ):
        assert (a == b).all()


@pytest.mark.slow
@pytest.mark.usefixtures("_threads")
def test_training_does_not_depend_on_the_number_of_processes() -> None:
    # The same seed twice, in this process and in two worker processes.
    reports: list[tuple[str, float]] = []
    sequential, parallel = (
        train_pip_classifier(
            seed=4, scenes=3, epochs=1, jobs=jobs, progress=lambda stage, share: reports.append((stage, share))
        )
        for jobs in (1, 2)
    )
    assert_equal(sequential, parallel)
    assert sequential.notes.items() >= {"seed": 4, "scenes": 3, "epochs": 1}.items()
    assert {"pips_error", "usual_halves", "usual_halves_misread"} <= set(sequential.notes)
    assert max(share for _, share in reports) == 1.0
    assert len({stage for stage, _ in reports}) >= 4
