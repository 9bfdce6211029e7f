"""Measure the accuracy of the reader's pips on held-out rendered tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from synthetic.render.layouts import random_scene
from synthetic.render.paint import render
from synthetic.render.scene import Scene
from synthetic.training.collect import Networks
from synthetic.training.legible import legible_halves
from synthetic.training.truth import true_pips, truth_poses
from vision.arrays import Points
from vision.geometry.poses import Poses, half_centers, sides_px
from vision.networks.pip_classifier import PipClassifier
from vision.networks.refiner import UP
from vision.reader.reader import Reader

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
