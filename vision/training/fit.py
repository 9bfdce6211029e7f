"""Training of the reader's heads with scikit-learn, from a seed to arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor

from vision.heads import Head, ReaderHeads
from vision.render.patterns import MAX_PIPS
from vision.training.collect import Networks, collect
from vision.training.held_out import draw_usual, figures_of, join_halves
from vision.training.samples import SETS_DRAWN, TrainingSamples, draw_samples, join_samples

_BATCH = 256
# Further tables for each that the heads learn from: kept back, usual ones kept back.
_HELD_OUT, _USUAL_HELD_OUT = 0.08, 0.16
_FACE_HIDDEN, _PIPS_HIDDEN = (160,), (96,)
_SHARPNESS = np.geomspace(0.3, 3, 47)
# Of halves: glare and cover can turn a sure number into another.
_MISREAD = (0.0, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016)


def train_heads(
    *, seed: int, scenes: int, epochs: int, jobs: int, progress: Callable[[str, float], None]
) -> ReaderHeads:
    """Render tables, train the heads on them and calibrate their probabilities on tables kept back.

    Two rounds: a third of the tables for heads that find their way, then the rest, where what those heads wrongly
    take for tiles is taught as nothing.

    Args:
        seed: Everything follows from it; the same seed gives the same heads on the same machine.
        scenes: Number of tables to render in all.
        epochs: Passes over the samples for each head.
        jobs: Processes that render.
        progress: Called with what is being done and the share of it that is done.
    """

    def tables(what: str, seed: int, count: int, heads: ReaderHeads | None) -> TrainingSamples:
        draw = partial(_draw_any_set, heads=heads)
        return join_samples(list(collect(draw, seed, max(1, count), jobs, partial(progress, what))))

    first = max(1, scenes // 3)
    early = tables("rendering tables, first round", seed, first, None)
    heads = fit_heads(early, early, seed, max(2, epochs // 2), partial(progress, "first round"))
    late = tables("rendering tables, second round", seed + 1, scenes - first, heads)
    check = tables("rendering held-out tables", seed + 2, round(_HELD_OUT * scenes), heads)
    heads = fit_heads(join_samples([early, late]), check, seed, epochs, partial(progress, "second round"))

    draw, usual_count = partial(draw_usual, heads=heads), max(1, round(_USUAL_HELD_OUT * scenes))
    halves = join_halves(list(collect(draw, seed + 3, usual_count, jobs, partial(progress, "reading usual tables"))))
    notes = {"seed": seed, "scenes": scenes, "epochs": epochs} | heads.notes | figures_of(halves)
    return replace(heads, notes=notes)


def fit_heads(
    learn: TrainingSamples, check: TrainingSamples, seed: int, epochs: int, progress: Callable[[float], None]
) -> ReaderHeads:
    """Return heads fitted to *learn* and calibrated on *check*, with their figures on *check* as notes."""

    def part(index: int) -> Callable[[float], None]:
        return lambda share: progress((index + share) / 3)

    face = _fit_classifier(learn.tile_features, learn.tile_class, 3, _FACE_HIDDEN, seed, epochs, part(0))
    pips = _fit_classifier(learn.half_features, learn.half_pips, MAX_PIPS + 1, _PIPS_HIDDEN, seed, epochs, part(1))
    heads = ReaderHeads(
        calibrated(face, face.outputs(check.tile_features.astype(np.float32)), check.tile_class),
        _fit_pose(learn, seed, epochs, part(2)),
        calibrated(pips, pips.outputs(check.half_features.astype(np.float32)), check.half_pips, misread=_MISREAD),
        {},
    )
    return replace(heads, notes=held_out_figures(heads, check))


def held_out_figures(heads: ReaderHeads, check: TrainingSamples) -> dict[str, object]:
    """Return the error shares on rendered tables that were kept back."""
    face_said = heads.face.probabilities(check.tile_features.astype(np.float32))
    pips_said = heads.pips.probabilities(check.half_features.astype(np.float32))
    face_error, pips_error = face_said.argmax(axis=1) != check.tile_class, pips_said.argmax(axis=1) != check.half_pips
    left = check.pose_deltas - heads.pose.outputs(check.pose_features.astype(np.float32))
    return {
        "face_error": round(float(face_error.mean()), 5),
        "pips_error": round(float(pips_error.mean()), 5),
        "pips_error_to_6": round(float(pips_error[check.half_pips <= 6].mean()), 5),
        "pose_error_left": round(float(np.abs(left).mean() / np.abs(check.pose_deltas).mean()), 4),
    }


def _draw_any_set(rng: np.random.Generator, networks: Networks, *, heads: ReaderHeads | None) -> TrainingSamples:
    max_pips = int(rng.choice(list(SETS_DRAWN), p=list(SETS_DRAWN.values())))
    return draw_samples(rng, networks, max_pips=max_pips, heads=heads)


def _fit_classifier(
    features: NDArray[np.float16],
    labels: NDArray[np.int64],
    class_count: int,
    hidden: tuple[int, ...],
    seed: int,
    epochs: int,
    progress: Callable[[float], None],
) -> Head:
    """Return a head with classes from 0, those included that none of the labels names."""
    mean, scale = _standard(features)
    network = MLPClassifier(hidden_layer_sizes=hidden)
    _run(network, ((features.astype(np.float32) - mean) / scale).astype(np.float32), labels, seed, epochs, progress)
    classes = np.asarray(network.classes_)
    weights, biases = (
        [np.asarray(w, np.float32) for w in network.coefs_],
        [np.asarray(b, np.float32) for b in network.intercepts_],
    )
    if len(classes) == 2:  # scikit-learn keeps one output for two classes
        weights[-1] = np.column_stack([np.zeros_like(weights[-1]), weights[-1]])
        biases[-1] = np.concatenate([np.zeros_like(biases[-1]), biases[-1]])
    last, bias = np.zeros((weights[-1].shape[0], class_count), np.float32), np.full(class_count, -20, np.float32)
    last[:, classes], bias[classes] = weights[-1], biases[-1]
    return Head(mean, scale, (*weights[:-1], last), (*biases[:-1], bias))


def _fit_pose(learn: TrainingSamples, seed: int, epochs: int, progress: Callable[[float], None]) -> Head:
    mean, scale = _standard(learn.pose_features)
    spread = learn.pose_deltas.std(axis=0) + 1e-6
    network = MLPRegressor(hidden_layer_sizes=(160,))
    values = ((learn.pose_features.astype(np.float32) - mean) / scale).astype(np.float32)
    _run(network, values, (learn.pose_deltas / spread).astype(np.float32), seed, epochs, progress)
    weights, biases = (
        [np.asarray(w, np.float32) for w in network.coefs_],
        [np.asarray(b, np.float32) for b in network.intercepts_],
    )
    return Head(mean, scale, (*weights[:-1], weights[-1] * spread), (*biases[:-1], biases[-1] * spread))


def _run(
    network: Any,
    features: NDArray[np.float32],
    labels: NDArray[Any],
    seed: int,
    epochs: int,
    progress: Callable[[float], None],
) -> None:
    """Fit in single epochs, with a step size that falls to a twentieth."""
    network.set_params(max_iter=1, warm_start=True, alpha=1e-4, batch_size=min(_BATCH, len(features)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for epoch in range(epochs):
            network.learning_rate_init = 1e-3 * 0.05 ** (epoch / max(1, epochs - 1))
            network.set_params(random_state=seed + epoch)  # or every epoch would shuffle alike
            network.fit(features, labels)
            progress((epoch + 1) / epochs)


def _standard(features: NDArray[np.float16]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    mean = features.mean(axis=0, dtype=np.float32)
    scale = np.sqrt(((features.astype(np.float32) - mean) ** 2).mean(axis=0)) + 0.05
    return np.asarray(mean, np.float32), np.asarray(scale, np.float32)


def calibrated(
    head: Head, outputs: NDArray[np.float32], labels: NDArray[np.int64], *, misread: tuple[float, ...] = (0.0,)
) -> Head:
    """Return the head with the sharpness that gives held-out labels the highest likelihood (temperature scaling).

    Args:
        head: What gave the outputs.
        outputs: Shape (N, O), of what was kept back.
        labels: Shape (N,).
        misread: Shares of misreadings, of which the likeliest is taken too.
    """

    def loss(one: Head) -> float:
        return float(-np.log(one.chances(outputs)[np.arange(len(labels)), labels] + 1e-9).mean())

    tried = (replace(head, sharpness=float(sharpness), misread=m) for sharpness in _SHARPNESS for m in misread)
    return min(tried, key=loss)
