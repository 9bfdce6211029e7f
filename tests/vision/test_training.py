"""Training: what the heads are taught agrees with truth, and everything follows from the seed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.neural_network import MLPClassifier, MLPRegressor

from tests.vision.shapes import tile_at, tiles_at
from tests.vision.tables import CAMERA, Looks, lay, table_with
from vision.halves import load_halves
from vision.heads import DOWN, NOTHING, UP, Head, ReaderHeads
from vision.poses import Poses, deltas_between, empty_poses, half_centers, sides_px
from vision.pyramid import build_pyramid
from vision.reading import Face, Reading
from vision.render.scene import PlacedTile
from vision.training import fit, samples
from vision.training.collect import load_networks
from vision.training.fit import calibrated, fit_heads, train_heads
from vision.training.samples import (
    TrainingSamples,
    corner_errors,
    draw_samples,
    join_samples,
    truth_poses,
)

FIELDS = TrainingSamples.__slots__


def half_offsets(poses: Poses, truth: Reading) -> NDArray[np.float64]:
    """Return how far the halves of true poses lie from the true half centres, in sides: a check of conventions."""
    up = [i for i, tile in enumerate(truth.tiles) if tile.face is Face.UP]
    said = np.array([[half.center_px for half in truth.tiles[i].halves] for i in up]).reshape(-1, 2, 2)
    return np.asarray(
        np.linalg.norm(half_centers(poses[up]) - said, axis=-1).max(axis=-1, initial=0) / sides_px(poses[up])
    )


@pytest.fixture
def _threads() -> Iterator[None]:
    """Training tells OpenCV to use one thread; other tests are not to notice."""
    count = cv2.getNumThreads()
    yield
    cv2.setNumThreads(count)


@pytest.fixture(scope="module")
def drawn() -> TrainingSamples:
    """Two tables."""
    return join_samples(
        [draw_samples(np.random.default_rng(seed), load_networks(), max_pips=6, heads=None) for seed in (1, 2)]
    )


def test_a_true_pose_lies_on_the_tile_with_half_0_first() -> None:
    truth = table_with([lay(3, 5, -60, -30, 200), lay(0, 6, 70, 40, 75), PlacedTile(None, (0, 90), 1.0)]).truth
    poses, classes = truth_poses(truth)
    assert sorted(classes.tolist()) == [UP, UP, DOWN]
    for pose, kind, tile in zip(poses, classes, truth.tiles, strict=True):
        assert (kind == UP) == (tile.face is Face.UP)
        assert sides_px(pose[None])[0] == pytest.approx(24 * CAMERA.px_per_mm, rel=0.04)
        centers = half_centers(pose[None])[0]
        if tile.halves:
            for half in (0, 1):
                assert math.dist(centers[half], tile.halves[half].center_px) < 1.0
    assert half_offsets(poses, truth).max() < 0.03


def test_half_offsets_notice_swapped_halves() -> None:
    truth = table_with([lay(3, 5, -60, -30, 200)]).truth
    poses, _ = truth_poses(truth)
    assert half_offsets(poses * np.array([1, 1, -1, -1, -1, -1.0]), truth) == pytest.approx([1.0], abs=0.05)


def test_an_empty_table_has_no_poses() -> None:
    poses, classes = truth_poses(Reading(640, 480, (), ()))
    assert (poses.shape, classes.shape) == ((0, 6), (0,))


def test_corner_errors_by_hand() -> None:
    truth = tiles_at(tile_at(100, 100, side_px=20), tile_at(300, 100, side_px=10))
    poses = tiles_at(
        tile_at(103, 104, side_px=20),
        tile_at(100, 100, side_px=20, degrees=180),
        tile_at(300, 102, side_px=10),
        tile_at(100, 100, side_px=20, degrees=90),
    )
    errors, nearest, turned = corner_errors(poses, truth)
    assert errors == pytest.approx([0.25, 0, 0.2, math.sqrt(2.5)])
    assert nearest.tolist() == [0, 0, 1, 0]
    np.testing.assert_allclose(turned[1], poses[1], atol=1e-9)  # turned as the pose is


def test_without_true_tiles_every_error_is_infinite() -> None:
    errors, _, _ = corner_errors(tile_at(3, 4), empty_poses())
    assert errors.tolist() == [math.inf]


@pytest.mark.slow
def test_samples_have_what_the_heads_take(drawn: TrainingSamples) -> None:
    for name in FIELDS:
        values = getattr(drawn, name)
        assert len(values) > 0
        assert np.isfinite(values).all()
    assert len(drawn.tile_features) == len(drawn.tile_class)
    assert len(drawn.pose_features) == len(drawn.pose_deltas)
    assert len(drawn.half_features) == len(drawn.half_pips)
    assert {NOTHING, UP} <= set(drawn.tile_class.tolist()) <= {NOTHING, UP, DOWN}
    assert 0 <= drawn.half_pips.min() <= drawn.half_pips.max() <= 6
    assert np.abs(drawn.pose_deltas).max() < 2


def test_the_same_seed_draws_the_same_samples(drawn: TrainingSamples) -> None:
    again = draw_samples(np.random.default_rng(1), load_networks(), max_pips=6, heads=None)
    for name in FIELDS:
        values = getattr(again, name)
        assert (getattr(drawn, name)[: len(values)] == values).all()


@pytest.mark.slow
def test_another_seed_draws_others() -> None:
    first, second = (
        draw_samples(np.random.default_rng(seed), load_networks(), max_pips=6, heads=None) for seed in (3, 4)
    )
    assert first.half_pips.tolist() != second.half_pips.tolist()


def test_a_half_is_labelled_with_its_own_pips(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each sample must be what a half of the tile with its label shows, and not what the other half shows.
    rendered = table_with([lay(0, 6, -60, -30, 20), lay(5, 1, 60, 30, 130)], Looks(seed=3))
    monkeypatch.setattr(samples, "draw_scene", lambda *_, **__: None)
    monkeypatch.setattr(samples, "render", lambda *_: rendered)
    got = draw_samples(np.random.default_rng(0), load_networks(), max_pips=6, heads=None)
    assert sorted(got.half_pips.tolist()) == sorted([0, 6, 5, 1] * 2)
    exact, pips = exact_halves(rendered.image, rendered.truth)
    for seen, label in zip(got.half_features.astype(np.float32), got.half_pips, strict=True):
        likeness = [float(np.corrcoef(seen, one)[0, 1]) for one in exact]
        assert pips[int(np.argmax(likeness))] == label


def exact_halves(image: NDArray[np.uint8], truth: Reading) -> tuple[NDArray[np.float32], list[int]]:
    """What each half shows when looked at without error, and its pips, found by its centre."""
    poses, _ = truth_poses(truth)
    halves, pips = [h for tile in truth.tiles for h in tile.halves], []
    for half in (0, 1):
        for center in half_centers(poses)[:, half]:
            pips.append(min(halves, key=lambda h: math.dist(h.center_px, center)).pips)
    return load_halves().describe(build_pyramid(image), poses), pips


def test_pose_deltas_lead_onto_the_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    rendered = table_with([lay(0, 6, -60, -30, 20), lay(5, 1, 60, 30, 130)], Looks(seed=3))
    truth, _ = truth_poses(rendered.truth)
    asked: list[NDArray[np.float64]] = []

    def recorded(poses: NDArray[np.float64], targets: NDArray[np.float64]) -> NDArray[np.float64]:
        asked.append(corner_errors(targets, truth)[0])
        return deltas_between(poses, targets)

    monkeypatch.setattr(samples, "draw_scene", lambda *_, **__: None)
    monkeypatch.setattr(samples, "render", lambda *_: rendered)
    monkeypatch.setattr(samples, "deltas_between", recorded)
    got = draw_samples(np.random.default_rng(0), load_networks(), max_pips=6, heads=None)
    (errors,) = asked
    assert len(errors) == len(got.pose_deltas) > 4
    assert errors.max() < 1e-9


def made_up(rng: np.random.Generator, count: int = 400) -> TrainingSamples:
    """Samples that can be learned: each class is high in a column of its own."""

    def of_classes(classes: NDArray[np.int64], width: int) -> NDArray[np.float16]:
        values = rng.normal(0, 0.3, (count, width))
        values[np.arange(count), classes] += 1.5
        return values.astype(np.float16)

    tile = rng.integers(0, 3, count)
    pips = rng.choice([0, 2, 3, 6], count)  # nothing shows 1, 4 and 5
    deltas = rng.normal(0, 0.1, (count, 6)).astype(np.float32)
    poses = np.concatenate([deltas * 5, rng.normal(0, 0.1, (count, 2))], axis=1).astype(np.float16)
    return TrainingSamples(of_classes(tile, 5), tile, poses, deltas, of_classes(pips, 8), pips)


@pytest.fixture
def networks(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The networks of scikit-learn that the fit makes."""
    made: list[Any] = []

    def recorded(kind: Any) -> Any:
        def make(**options: Any) -> Any:
            made.append(kind(**options))
            return made[-1]

        return make

    monkeypatch.setattr(fit, "MLPClassifier", recorded(MLPClassifier))
    monkeypatch.setattr(fit, "MLPRegressor", recorded(MLPRegressor))
    return made


def standardised(head: Head, rows: NDArray[np.float16]) -> NDArray[np.float32]:
    return np.asarray((rows.astype(np.float32) - head.mean) / head.scale, np.float32)


def test_a_head_says_what_scikit_learn_says(networks: list[Any]) -> None:
    learn = made_up(np.random.default_rng(1))
    heads = fit_heads(learn, learn, seed=2, epochs=3, progress=lambda _: None)
    face, pips, pose = networks
    for head, network, rows in (
        (heads.face, face, learn.tile_features),
        (heads.pips, pips, learn.half_features),
    ):
        said = replace(head, sharpness=1.0).probabilities(rows.astype(np.float32))
        np.testing.assert_allclose(
            said[:, network.classes_], network.predict_proba(standardised(head, rows)), atol=1e-4
        )
    assert said.shape[1] == 19  # the reader counts on all numbers, also where a small training never shows some
    assert said[:, [1, 4, 5, *range(7, 19)]].max() < 1e-4  # never taught
    spread = learn.pose_deltas.std(axis=0) + 1e-6
    np.testing.assert_allclose(
        heads.pose.outputs(learn.pose_features.astype(np.float32)),
        network_outputs(pose, standardised(heads.pose, learn.pose_features)) * spread,
        atol=1e-4,
    )


def network_outputs(network: Any, rows: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.asarray(network.predict(rows), np.float64)


@pytest.mark.slow
def test_fitting_learns_and_says_how_well() -> None:
    learn, check = made_up(np.random.default_rng(1)), made_up(np.random.default_rng(2))
    heads = fit_heads(learn, check, seed=2, epochs=50, progress=lambda _: None)
    assert set(heads.notes) == {"face_error", "pips_error", "pips_error_to_6", "pose_error_left"}
    assert (
        heads.face.probabilities(check.tile_features.astype(np.float32)).argmax(axis=1) == check.tile_class
    ).mean() > 0.9
    assert heads.notes["face_error"] == pytest.approx(
        (heads.face.probabilities(check.tile_features.astype(np.float32)).argmax(axis=1) != check.tile_class).mean(),
        abs=1e-4,
    )


def test_the_same_seed_fits_the_same_heads() -> None:
    learn = made_up(np.random.default_rng(1))
    first, second, other = (fit_heads(learn, learn, seed, 2, lambda _: None) for seed in (5, 5, 6))
    assert_equal_heads(first, second)
    assert (first.face.weights[0] != other.face.weights[0]).any()


def test_progress_rises_to_its_end() -> None:
    learn = made_up(np.random.default_rng(1))
    shares: list[float] = []
    fit_heads(learn, learn, seed=5, epochs=2, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_calibration_corrects_a_head_that_is_too_sure() -> None:
    rng = np.random.default_rng(3)
    logits = rng.normal(0, 1.5, (4000, 3))
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(3, p=row) for row in chances])
    none, unit, identity = np.zeros(3, np.float32), np.ones(3, np.float32), np.eye(3, dtype=np.float32)
    for factor in (0.5, 2.0):
        head = Head(none, unit, (identity * np.float32(factor),), (none,))
        assert calibrated(head, head.outputs(logits.astype(np.float32)), labels).sharpness == pytest.approx(
            1 / factor, rel=0.12
        )


def test_calibration_allows_for_misreadings_however_sure_the_head_is() -> None:
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 19, 4000)
    said = np.where(rng.random(4000) < 0.01, rng.integers(0, 19, 4000), labels)
    none, unit, identity = np.zeros(19, np.float32), np.ones(19, np.float32), np.eye(19, dtype=np.float32)
    head = Head(none, unit, (identity,), (none,))
    outputs = 20 * np.eye(19, dtype=np.float32)[said]
    assert calibrated(head, outputs, labels, misread=(0.0, 0.001, 0.01, 0.1)).misread == 0.01


def assert_equal_heads(first: ReaderHeads, second: ReaderHeads) -> None:
    assert first.notes == second.notes
    for name in ("face", "pose", "pips"):
        one, two = getattr(first, name), getattr(second, name)
        assert (one.sharpness, one.misread) == (two.sharpness, two.misread)
        for a, b in zip(
            (one.mean, one.scale, *one.weights, *one.biases),
            (two.mean, two.scale, *two.weights, *two.biases),
            strict=True,
        ):
            assert (a == b).all()


@pytest.mark.slow
@pytest.mark.usefixtures("_threads")
def test_training_does_not_depend_on_the_number_of_processes() -> None:
    # The same seed twice, once in this process and once in two others.
    said: list[tuple[str, float]] = []
    one, two = (
        train_heads(seed=4, scenes=3, epochs=1, jobs=jobs, progress=lambda what, share: said.append((what, share)))
        for jobs in (1, 2)
    )
    assert_equal_heads(one, two)
    assert one.notes.items() >= {"seed": 4, "scenes": 3, "epochs": 1}.items()
    assert {"usual_halves", "usual_halves_misread"} <= set(one.notes)
    assert max(share for _, share in said) == 1.0
    assert len({what for what, _ in said}) >= 4
