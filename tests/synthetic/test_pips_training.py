"""Training of the head that says pips: its samples agree with truth, and everything follows from the seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from synthetic.render.looks import CLASSIC, FELT, LAMP
from synthetic.render.scene import Scene
from synthetic.training.collect import load_networks
from synthetic.training.pips import fit, samples
from synthetic.training.pips.fit import calibrated, fit_head, train_pip_classifier
from synthetic.training.pips.samples import PipSamples, draw_samples
from synthetic.training.processes import concatenated
from synthetic.training.tables import table_of
from tests.vision.tables import CAMERA, lay
from vision.image.pyramid import build_pyramid
from vision.networks.pip_classifier import PipClassifier
from vision.networks.pip_features import FEATURES, load_pip_features

FIELDS = PipSamples.__slots__


@pytest.fixture
def _threads() -> Iterator[None]:
    """Training tells OpenCV to use one thread; other tests are not to notice."""
    count = cv2.getNumThreads()
    yield
    cv2.setNumThreads(count)


def drawn(seed: int) -> PipSamples:
    return draw_samples(np.random.default_rng(seed), load_networks(), max_pips=6)


@pytest.fixture(scope="module")
def two_tables() -> PipSamples:
    return concatenated([drawn(1), drawn(2)])


@pytest.mark.slow
def test_samples_have_what_the_head_takes(two_tables: PipSamples) -> None:
    assert two_tables.features.shape == (len(two_tables.pips), FEATURES)
    assert np.isfinite(two_tables.features).all()
    assert len(two_tables.pips) > 20
    assert 0 <= two_tables.pips.min() <= two_tables.pips.max() <= 6


@pytest.mark.slow
def test_the_same_seed_draws_the_same_samples(two_tables: PipSamples) -> None:
    again = drawn(1)
    assert len(again.pips) > 0
    for name in FIELDS:
        values = getattr(again, name)
        assert (getattr(two_tables, name)[: len(values)] == values).all()


@pytest.mark.slow
def test_another_seed_draws_others() -> None:
    assert drawn(3).pips.tolist() != drawn(4).pips.tolist()


@pytest.mark.parametrize(("max_pips", "views"), [(6, 2), (12, 4)])
def test_a_half_is_labelled_with_its_own_pips(monkeypatch: pytest.MonkeyPatch, max_pips: int, views: int) -> None:
    # Each sample must be what a half of the tile with its label shows, and not what the other half shows.
    tiles = (lay(0, 6, -60, -30, 20), lay(5, 1, 60, 30, 130))
    table = table_of(Scene(tiles, CLASSIC, FELT, LAMP, CAMERA), np.random.default_rng(3))
    monkeypatch.setattr(samples, "draw_learning_table", lambda *_, **__: table)
    got = draw_samples(np.random.default_rng(0), load_networks(), max_pips=max_pips)
    # The true places moved, more often for large sets, and the place where the reader finds each.
    assert sorted(got.pips.tolist()) == sorted([0, 6, 5, 1] * (views + 1))
    exact = load_pip_features().describe(build_pyramid(table.image), table.poses)
    pips = table.pips.T.ravel().tolist()
    for seen, label in zip(got.features.astype(np.float32), got.pips, strict=True):
        likeness = [float(np.corrcoef(seen, one)[0, 1]) for one in exact]
        assert pips[int(np.argmax(likeness))] == label


def made_up(rng: np.random.Generator, count: int = 400) -> PipSamples:
    """Samples that can be learned: each number is high in a column of its own."""
    pips = rng.choice([0, 2, 3, 6], count)  # nothing shows 1, 4 and 5
    values = rng.normal(0, 0.3, (count, 8))
    values[np.arange(count), pips] += 1.5
    return PipSamples(values.astype(np.float16), pips)


@pytest.fixture
def networks(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The networks of scikit-learn that the fit makes."""
    made: list[Any] = []

    def make(**options: Any) -> Any:
        made.append(MLPClassifier(**options))
        return made[-1]

    monkeypatch.setattr(fit, "MLPClassifier", make)
    return made


def test_a_head_says_what_scikit_learn_says(networks: list[Any]) -> None:
    learn = made_up(np.random.default_rng(1))
    head = fit_head(learn, learn, seed=2, epochs=3, progress=lambda _: None)
    (network,) = networks
    rows = learn.features.astype(np.float32)
    said = replace(head, sharpness=1.0, misread=0.0).probabilities(rows)
    expected = network.predict_proba(((rows - head.mean) / head.scale).astype(np.float32))
    np.testing.assert_allclose(said[:, network.classes_], expected, atol=1e-4)
    assert said.shape[1] == 19  # the reader counts on all numbers, also where a small training never shows some
    assert said[:, [1, 4, 5, *range(7, 19)]].max() < 1e-4  # never taught


@pytest.mark.slow
def test_fitting_learns_and_says_how_well() -> None:
    learn, check = made_up(np.random.default_rng(1)), made_up(np.random.default_rng(2))
    head = fit_head(learn, check, seed=2, epochs=50, progress=lambda _: None)
    wrong = head.probabilities(check.features.astype(np.float32)).argmax(axis=1) != check.pips
    assert wrong.mean() < 0.1
    assert set(head.notes) == {"pips_error", "pips_error_to_6"}
    assert head.notes["pips_error"] == pytest.approx(wrong.mean(), abs=1e-4)


def test_the_same_seed_fits_the_same_head() -> None:
    learn = made_up(np.random.default_rng(1))
    first, second, other = (fit_head(learn, learn, seed, 2, lambda _: None) for seed in (5, 5, 6))
    assert_equal(first, second)
    assert (first.weights[0] != other.weights[0]).any()


def test_progress_rises_to_its_end() -> None:
    learn = made_up(np.random.default_rng(1))
    shares: list[float] = []
    fit_head(learn, learn, seed=5, epochs=2, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_calibration_corrects_a_head_that_is_too_sure() -> None:
    rng = np.random.default_rng(3)
    logits = rng.normal(0, 1.5, (4000, 3))
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(3, p=row) for row in chances])
    none, unit, identity = np.zeros(3, np.float32), np.ones(3, np.float32), np.eye(3, dtype=np.float32)
    for factor in (0.5, 2.0):
        head = PipClassifier(none, unit, (identity * np.float32(factor),), (none,))
        assert calibrated(head, head.outputs(logits.astype(np.float32)), labels).sharpness == pytest.approx(
            1 / factor, rel=0.12
        )


def test_calibration_allows_for_misreadings_however_sure_the_head_is() -> None:
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 19, 4000)
    said = np.where(rng.random(4000) < 0.01, rng.integers(0, 19, 4000), labels)
    none, unit, identity = np.zeros(19, np.float32), np.ones(19, np.float32), np.eye(19, dtype=np.float32)
    head = PipClassifier(none, unit, (identity,), (none,))
    outputs = 20 * np.eye(19, dtype=np.float32)[said]
    assert calibrated(head, outputs, labels, misread=(0.0, 0.001, 0.01, 0.1)).misread == 0.01


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
    # The same seed twice, once in this process and once in two others.
    said: list[tuple[str, float]] = []
    one, two = (
        train_pip_classifier(
            seed=4, scenes=3, epochs=1, jobs=jobs, progress=lambda what, share: said.append((what, share))
        )
        for jobs in (1, 2)
    )
    assert_equal(one, two)
    assert one.notes.items() >= {"seed": 4, "scenes": 3, "epochs": 1}.items()
    assert {"pips_error", "usual_halves", "usual_halves_misread"} <= set(one.notes)
    assert max(share for _, share in said) == 1.0
    assert len({what for what, _ in said}) >= 4
