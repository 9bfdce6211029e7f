"""Train the pip classifier with scikit-learn, from a seed to arrays, and measure it: `tallybone train pips`.

Samples are drawn with the shipped networks in several processes. Their number does not affect the results.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from lab.render.layouts import random_scene
from lab.render.paint import render
from lab.render.scene import MAX_PIPS, Scene
from lab.training.tables import (
    concatenated,
    corner_errors,
    draw_in_processes,
    draw_learning_table,
    draw_max_pips,
    legible_halves,
    true_pips,
    truth_poses,
    with_half_0_first,
)
from vision.arrays import Points
from vision.image.picture import build_pyramid
from vision.networks.detector import Detector, load_detector
from vision.networks.network import (
    UP,
    HardCaseClassifier,
    PipClassifier,
    PipFeatures,
    Refiner,
    load_hard_case_classifier,
    load_pip_features,
    load_refiner,
)
from vision.poses import Poses, half_centers, jittered, sides_px
from vision.reader.candidates import Candidates
from vision.reader.reader import Reader

_CHUNK = 8
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """The networks that the pip classifier builds on.

    Attributes:
        halves: Extracts pip features from halves.
    """

    detector: Detector
    refiner: Refiner
    halves: PipFeatures
    hard_cases: HardCaseClassifier


def load_networks() -> Networks:
    """Load the shipped networks."""
    return Networks(load_detector(), load_refiner(), load_pip_features(), load_hard_case_classifier())


def collect(
    draw: Callable[[np.random.Generator, Networks], T],
    seed: int,
    scenes: int,
    jobs: int,
    progress: Callable[[float], None],
) -> Iterator[T]:
    """Yield the sample of each table, in an order that does not depend on the number of processes.

    Args:
        draw: Picklable function that draws a table: a module-level function or a `partial` of one.
    """
    chunk, chunks = partial(_drawn_chunk, draw, seed, scenes), -(-scenes // _CHUNK)
    for part in draw_in_processes(chunk, chunks, jobs, progress):
        yield from part


def _drawn_chunk(draw: Callable[[np.random.Generator, Networks], T], seed: int, scenes: int, index: int) -> list[T]:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index,)))
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)  # the processes already share the cores
    try:
        with threadpool_limits(1):
            networks = load_networks()  # networks cannot be passed between processes
            return [draw(rng, networks) for _ in range(min(_CHUNK, scenes - index * _CHUNK))]
    finally:
        cv2.setNumThreads(threads)


# Spread of the pose errors of sampled halves, in sides. Halves are also sampled with the reader's own poses, whose
# largest corner error has a median of 0.05 sides and a 99th percentile of 0.17.
_PIP_SPREADS = (0.03, 0.1)
# Halves of larger sets are sampled twice as often, because their numbers are rare.
_COMMON_SETS = 9
_WIDTH_PX = (640, 1400)
# Range of the short side of tiles, relative to the width of the picture.
_SIDES = (0.016, 0.085)
_READER_ROUNDS = 2
# Maximum corner error, in sides, of a refined pose that matches a true tile.
_FOUND = 0.35


@dataclass(frozen=True, slots=True, eq=False)
class PipSamples:
    """Training samples of the pip classifier.

    Attributes:
        features: Pip features of each half, shape (N, F), float16.
        pips: Number of pips of each half, shape (N,).
    """

    features: NDArray[np.float16]
    pips: NDArray[np.int64]


def draw_samples(rng: np.random.Generator, networks: Networks, *, max_pips: int) -> PipSamples:
    """Render a random table and return its samples."""
    width = int(rng.integers(*_WIDTH_PX))
    sides_px = (width * _SIDES[0], width * _SIDES[1])
    table = draw_learning_table(rng, max_pips=max_pips, size_px=(width, width * 3 // 4), tile_side_px=sides_px)
    levels = build_pyramid(table.image)
    found = networks.detector.find(levels).poses
    refined, _ = Candidates(networks.detector, networks.refiner).refined(levels, found, rounds=_READER_ROUNDS)
    spreads = _PIP_SPREADS * (1 if max_pips <= _COMMON_SETS else 2)
    truth = table.poses[table.faces == UP]
    error, nearest, target = corner_errors(refined, truth)
    found = rng.permutation(np.nonzero(error < _FOUND)[0])
    found = found[np.unique(nearest[found], return_index=True)[1]]
    matched = with_half_0_first(refined[found], target[found], truth[nearest[found]])
    views = [jittered(rng, truth, spread) for spread in spreads]
    tiles = np.arange(len(truth))
    poses, tiles = np.concatenate([*views, matched]), np.concatenate([*[tiles] * len(spreads), nearest[found]])
    return PipSamples(networks.halves.describe(levels, poses).astype(np.float16), table.pips[tiles].T.ravel())


_SETS = (6, 9, 12, 15)
_PX_PER_MM = (1.0, 3.0)
_LARGEST_TILT_RAD = float(np.radians(25))
# Range of the short side of tiles, wider than `_PX_PER_MM` allows. Random scenes outside `_PX_PER_MM` are discarded and
# replaced.
_SIDES_PX = (18.0, 85.0)
# Maximum distance, in sides, of the halves of a reading from those of the true tile. Photos are judged with the same
# limit.
_MAX_DISTANCE = 0.35
_SURE = 0.99


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """Halves of true tiles that the reader detected.

    Attributes:
        predicted: Pips according to the reader, shape (N,).
        confidence: Confidence of the reader, 0 to 1, shape (N,).
        pips: True pips, shape (N,).
        legible: True for halves whose pips a person could count, shape (N,).
    """

    predicted: NDArray[np.int64]
    confidence: NDArray[np.float64]
    pips: NDArray[np.int64]
    legible: NDArray[np.bool_]


def draw_usual_scene(rng: np.random.Generator) -> Scene:
    """Return a random scene with a set up to double-15, 1 to 3 pixels per mm, and a tilt of at most 25 degrees.

    Looks, light, blur and noise are as difficult as in training.
    """
    max_pips = int(rng.choice(_SETS))
    while True:
        width_px = int(rng.integers(640, 1400))
        scene = random_scene(
            rng,
            max_pips=max_pips,
            size_px=(width_px, width_px * 3 // 4),
            tile_side_px=_SIDES_PX,
            largest_tilt_rad=_LARGEST_TILT_RAD,
        )
        if _PX_PER_MM[0] <= scene.camera.px_per_mm <= _PX_PER_MM[1]:
            return scene


def draw_usual(rng: np.random.Generator, networks: Networks, *, head: PipClassifier) -> Halves:
    """Render a usual table, read it with the complete reader, and return the halves of the detected true tiles."""
    scene = draw_usual_scene(rng)
    rendered = render(scene, rng)
    truth, faces = truth_poses(rendered.truth)
    reader = Reader(networks.detector, networks.refiner, networks.halves, head, networks.hard_cases)
    reading = reader.read(rendered.image)
    read = [half for tile in reading.tiles for half in tile.halves]
    which = true_halves(np.array([half.center_px for half in read]).reshape(-1, 2, 2), truth[faces == UP])
    found = which >= 0
    return Halves(
        np.array([half.pips for half in read], np.int64)[found],
        np.array([half.confidence for half in read], np.float64)[found],
        true_pips(rendered.truth).ravel()[which[found]],
        legible_halves(scene, rendered).ravel()[which[found]],
    )


def true_halves(centers: Points, truth: Poses) -> NDArray[np.intp]:
    """Match halves to true halves.

    Args:
        centers: Centres of the halves of each tile of a reading, shape (M, 2, 2).
        truth: Poses of the true tiles, shape (N, 6).

    Returns:
        For each half the index 2 * tile + half of its true half, or -1 without a match, shape (2 * M,).
    """
    if not len(truth) or not len(centers):
        return np.full(2 * len(centers), -1)
    real = half_centers(truth)
    orders = np.stack([real, real[:, ::-1]])  # both orders of the halves
    gaps = np.linalg.norm(centers[:, None, None] - orders[None], axis=-1).max(axis=-1) / sides_px(truth)
    turned, tile = np.divmod(gaps.reshape(len(centers), -1).argmin(axis=1), len(truth))
    which = 2 * tile[:, None] + np.where(turned[:, None] == 0, [0, 1], [1, 0])
    return np.where(gaps.reshape(len(centers), -1).min(axis=1)[:, None] < _MAX_DISTANCE, which, -1).ravel()


def misread_figures(halves: Halves) -> dict[str, object]:
    """Return misreading rates of all halves, of legible halves, and of halves read with high confidence."""
    wrong, sure = halves.predicted != halves.pips, halves.confidence >= _SURE
    return {
        "usual_halves": len(wrong),
        "usual_halves_misread": _share(wrong),
        "usual_halves_legible": _share(halves.legible),
        "usual_halves_misread_where_legible": _share(wrong[halves.legible]),
        "usual_halves_sure": _share(sure),
        "usual_halves_misread_where_sure": _share(wrong[sure]),
    }


def _share(which: NDArray[np.bool_]) -> float:
    return round(float(which.mean()), 5) if len(which) else 0.0


_BATCH = 256
# Numbers of held-out tables and of held-out usual tables, relative to the training tables.
_HELD_OUT = 0.08
_USUAL_HELD_OUT = 0.16
_HIDDEN = (96,)
_SHARPNESS = np.geomspace(0.3, 3, 47)
# Candidate misreading rates. Glare and occlusion can turn a clear number into another.
_MISREAD = (0.0, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016)


def train_pip_classifier(
    *, seed: int, scenes: int, epochs: int, jobs: int, progress: Callable[[str, float], None]
) -> PipClassifier:
    """Render tables, train the pip classifier on them, and calibrate its probabilities on held-out tables.

    Args:
        scenes: Number of training tables. 24 % more are rendered to calibrate and measure the classifier.
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
    error = head.probabilities(check.features.astype(np.float32)).argmax(axis=1) != check.pips
    notes: dict[str, object] = {"pips_error": _share(error), "pips_error_to_6": _share(error[check.pips <= 6])}
    return replace(head, notes=notes)


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
    mean = features.mean(axis=0, dtype=np.float32)
    scale = np.sqrt(((features.astype(np.float32) - mean) ** 2).mean(axis=0)) + 0.05
    mean, scale = np.asarray(mean, np.float32), np.asarray(scale, np.float32)
    network = MLPClassifier(hidden_layer_sizes=_HIDDEN)
    _run(network, ((features.astype(np.float32) - mean) / scale).astype(np.float32), labels, seed, epochs, progress)
    classes = np.asarray(network.classes_)
    weights, biases = (
        [np.asarray(w, np.float32) for w in network.coefs_],
        [np.asarray(b, np.float32) for b in network.intercepts_],
    )
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


def calibrated(
    head: PipClassifier, outputs: NDArray[np.float32], labels: NDArray[np.int64], *, misread: tuple[float, ...] = (0.0,)
) -> PipClassifier:
    """Return the classifier with the sharpness and misreading rate that fit held-out labels best.

    Args:
        head: Classifier that produced *outputs*.
        outputs: Outputs for held-out samples, shape (N, O).
        labels: Labels of these samples, shape (N,).
    """

    def loss(candidate: PipClassifier) -> float:
        return float(-np.log(candidate.chances(outputs)[np.arange(len(labels)), labels] + 1e-9).mean())

    candidates = (replace(head, sharpness=float(sharpness), misread=m) for sharpness in _SHARPNESS for m in misread)
    return min(candidates, key=loss)
