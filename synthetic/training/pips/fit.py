"""Train the pip classifier with scikit-learn, from a seed to arrays: `tallybone train pips`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from synthetic.render.patterns import MAX_PIPS
from synthetic.training.collect import Networks, collect
from synthetic.training.pips.held_out import draw_usual, misread_figures
from synthetic.training.pips.samples import PipSamples, draw_samples
from synthetic.training.processes import concatenated
from synthetic.training.tables import draw_max_pips
from vision.networks.pip_classifier import PipClassifier

_BATCH = 256
# Numbers of held-out tables and of held-out usual tables, relative to the training tables.
_HELD_OUT, _USUAL_HELD_OUT = 0.08, 0.16
_HIDDEN = (96,)
_SHARPNESS = np.geomspace(0.3, 3, 47)
# Candidate misreading rates. Glare and occlusion can turn a clear number into another.
_MISREAD = (0.0, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016)


def train_pip_classifier(
    *, seed: int, scenes: int, epochs: int, jobs: int, progress: Callable[[str, float], None]
) -> PipClassifier:
    """Render tables, train the pip classifier on them, and calibrate its probabilities on held-out tables.

    Args:
        seed: Random seed. The same seed gives the same classifier on the same machine.
        scenes: Number of training tables. 24 % more are rendered to calibrate and measure the classifier.
        epochs: Number of passes over the training halves.
        jobs: Number of rendering processes.
        progress: Called with a description of the current stage and its completed share.
    """

    def tables(stage: str, seed: int, count: int) -> PipSamples:
        return concatenated(list(collect(_draw_any_set, seed, max(1, count), jobs, partial(progress, stage))))

    learn = tables("rendering tables", seed, scenes)
    check = tables("rendering held-out tables", seed + 2, round(_HELD_OUT * scenes))
    head = fit_head(learn, check, seed, epochs, partial(progress, "training"))

    draw, usual_count = partial(draw_usual, head=head), max(1, round(_USUAL_HELD_OUT * scenes))
    halves = concatenated(list(collect(draw, seed + 3, usual_count, jobs, partial(progress, "reading usual tables"))))
    notes = {"seed": seed, "scenes": scenes, "epochs": epochs} | head.notes | misread_figures(halves)
    return replace(head, notes=notes)


def fit_head(
    learn: PipSamples, check: PipSamples, seed: int, epochs: int, progress: Callable[[float], None]
) -> PipClassifier:
    """Return a classifier fitted to *learn* and calibrated on *check*, with its error rates on *check* as notes."""
    head = _fit_classifier(learn.features, learn.pips, MAX_PIPS + 1, seed, epochs, progress)
    head = calibrated(head, head.outputs(check.features.astype(np.float32)), check.pips, misread=_MISREAD)
    return replace(head, notes=held_out_figures(head, check))


def held_out_figures(head: PipClassifier, check: PipSamples) -> dict[str, object]:
    """Return the error rates on held-out samples."""
    error = head.probabilities(check.features.astype(np.float32)).argmax(axis=1) != check.pips
    return {
        "pips_error": round(float(error.mean()), 5),
        "pips_error_to_6": round(float(error[check.pips <= 6].mean()), 5),
    }


def _draw_any_set(rng: np.random.Generator, networks: Networks) -> PipSamples:
    max_pips = draw_max_pips(rng)
    return draw_samples(rng, networks, max_pips=max_pips)


def _fit_classifier(
    features: NDArray[np.float16],
    labels: NDArray[np.int64],
    class_count: int,
    seed: int,
    epochs: int,
    progress: Callable[[float], None],
) -> PipClassifier:
    """Return a fitted classifier with *class_count* outputs, even for classes without labels."""
    mean, scale = _standard(features)
    network = MLPClassifier(hidden_layer_sizes=_HIDDEN)
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
    return PipClassifier(mean, scale, (*weights[:-1], last), (*biases[:-1], bias))


def _run(
    network: Any,
    features: NDArray[np.float32],
    labels: NDArray[Any],
    seed: int,
    epochs: int,
    progress: Callable[[float], None],
) -> None:
    """Fit in single epochs. The step size decays to a twentieth."""
    network.set_params(max_iter=1, warm_start=True, alpha=1e-4, batch_size=min(_BATCH, len(features)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for epoch in range(epochs):
            network.learning_rate_init = 1e-3 * 0.05 ** (epoch / max(1, epochs - 1))
            network.set_params(random_state=seed + epoch)  # shuffle differently in each epoch
            network.fit(features, labels)
            progress((epoch + 1) / epochs)


def _standard(features: NDArray[np.float16]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    mean = features.mean(axis=0, dtype=np.float32)
    scale = np.sqrt(((features.astype(np.float32) - mean) ** 2).mean(axis=0)) + 0.05
    return np.asarray(mean, np.float32), np.asarray(scale, np.float32)


def calibrated(
    head: PipClassifier, outputs: NDArray[np.float32], labels: NDArray[np.int64], *, misread: tuple[float, ...] = (0.0,)
) -> PipClassifier:
    """Return the classifier with the sharpness and misreading rate that fit held-out labels best.

    Args:
        head: Classifier that produced *outputs*.
        outputs: Outputs for held-out samples, shape (N, O).
        labels: Labels of these samples, shape (N,).
        misread: Candidate misreading rates.
    """

    def loss(candidate: PipClassifier) -> float:
        return float(-np.log(candidate.chances(outputs)[np.arange(len(labels)), labels] + 1e-9).mean())

    candidates = (replace(head, sharpness=float(sharpness), misread=m) for sharpness in _SHARPNESS for m in misread)
    return min(candidates, key=loss)
