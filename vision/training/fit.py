"""Training of the reader's heads with scikit-learn, from a seed to arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor
from threadpoolctl import threadpool_limits

from vision.finder import load_finder
from vision.heads import Array, Head, ReaderHeads
from vision.render.patterns import MAX_PIPS
from vision.training.samples import SETS_DRAWN, Samples, draw_samples, join_samples

_CHUNK, _BATCH = 8, 256
_HELD_OUT = 0.08
_SHARPNESS = np.geomspace(0.3, 3, 47)

Progress = Callable[[str, float], None]


def train_heads(*, seed: int, scenes: int, epochs: int, jobs: int, progress: Progress) -> ReaderHeads:
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
    first = max(1, scenes // 3)
    early = join_samples(list(_collect(seed, first, jobs, None, partial(progress, "rendering tables, first round"))))
    heads = fit_heads(early, early, seed, max(2, epochs // 2), partial(progress, "first round"))
    late = join_samples(
        list(
            _collect(seed + 1, max(1, scenes - first), jobs, heads, partial(progress, "rendering tables, second round"))
        )
    )
    held_out = max(1, round(_HELD_OUT * scenes))
    check = join_samples(
        list(_collect(seed + 2, held_out, jobs, heads, partial(progress, "rendering held-out tables")))
    )
    heads = fit_heads(join_samples([early, late]), check, seed, epochs, partial(progress, "second round"))
    return replace(heads, notes={"seed": seed, "scenes": scenes, "epochs": epochs} | heads.notes)


def fit_heads(learn: Samples, check: Samples, seed: int, epochs: int, progress: Callable[[float], None]) -> ReaderHeads:
    """Return heads fitted to *learn* and calibrated on *check*, with their figures on *check* as notes."""

    def part(index: int) -> Callable[[float], None]:
        return lambda share: progress((index + share) / 3)

    face = _fit_classifier(learn.tile_features, learn.tile_class, 3, (160,), seed, epochs, part(0))
    pips = _fit_classifier(learn.half_features, learn.half_pips, MAX_PIPS + 1, (256,), seed, epochs, part(1))
    heads = ReaderHeads(
        calibrated(face, check.tile_features, check.tile_class),
        _fit_pose(learn, seed, epochs, part(2)),
        calibrated(pips, check.half_features, check.half_pips),
        {},
    )
    return replace(heads, notes=held_out_figures(heads, check))


def held_out_figures(heads: ReaderHeads, check: Samples) -> dict[str, object]:
    """Return the error shares on rendered tables that were kept back."""
    face_error = _error(heads.face, check.tile_features, check.tile_class)
    pips_error = _error(heads.pips, check.half_features, check.half_pips)
    left = check.pose_deltas - heads.pose.outputs(check.pose_features.astype(np.float32))
    return {
        "face_error": round(float(face_error.mean()), 5),
        "pips_error": round(float(pips_error.mean()), 5),
        "pips_error_to_6": round(float(pips_error[check.half_pips <= 6].mean()), 5),
        "pose_error_left": round(float(np.abs(left).mean() / np.abs(check.pose_deltas).mean()), 4),
    }


def _error(head: Head, features: NDArray[np.float16], labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.asarray(head.probabilities(features.astype(np.float32)).argmax(axis=1) != labels)


def _collect(
    seed: int, scenes: int, jobs: int, heads: ReaderHeads | None, progress: Callable[[float], None]
) -> Iterator[Samples]:
    """Yield the samples of *scenes* tables in order, whatever the number of processes."""
    sizes = [min(_CHUNK, scenes - start) for start in range(0, scenes, _CHUNK)]
    seeds = np.random.SeedSequence(seed).spawn(len(sizes))
    draw = partial(_samples_of_chunk, heads=heads)
    if jobs == 1:
        for done, (chunk, size) in enumerate(zip(seeds, sizes, strict=True)):
            yield draw(chunk, size)
            progress((done + 1) / len(seeds))
        return
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        for done, part in enumerate(pool.map(draw, seeds, sizes)):
            yield part
            progress((done + 1) / len(seeds))


def _samples_of_chunk(seed: np.random.SeedSequence, scenes: int, heads: ReaderHeads | None) -> Samples:
    import cv2

    rng = np.random.default_rng(seed)
    max_pips = rng.choice(list(SETS_DRAWN), size=scenes, p=list(SETS_DRAWN.values()))
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)  # the processes share the cores already
    try:
        with threadpool_limits(1):
            finder = load_finder()  # here, because no network goes from process to process
            drawn = [draw_samples(rng, max_pips=int(pips), finder=finder, heads=heads) for pips in max_pips]
            return join_samples(drawn)
    finally:
        cv2.setNumThreads(threads)


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


def _fit_pose(learn: Samples, seed: int, epochs: int, progress: Callable[[float], None]) -> Head:
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
    network: Any, features: Array, labels: NDArray[Any], seed: int, epochs: int, progress: Callable[[float], None]
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


def _standard(features: NDArray[np.float16]) -> tuple[Array, Array]:
    mean = features.mean(axis=0, dtype=np.float32)
    scale = np.sqrt(((features.astype(np.float32) - mean) ** 2).mean(axis=0)) + 0.05
    return np.asarray(mean, np.float32), np.asarray(scale, np.float32)


def calibrated(head: Head, features: NDArray[np.float16], labels: NDArray[np.int64]) -> Head:
    """Return the head with the sharpness that gives held-out labels the highest likelihood (temperature scaling)."""
    logits = head.outputs(features.astype(np.float32)).astype(np.float64)

    def loss(sharpness: float) -> float:
        values = logits * sharpness
        values -= values.max(axis=1, keepdims=True)
        return float(-(values[np.arange(len(labels)), labels] - np.log(np.exp(values).sum(axis=1))).mean())

    return Head(head.mean, head.scale, head.weights, head.biases, float(min(_SHARPNESS, key=loss)))
