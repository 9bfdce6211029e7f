"""Usual tables that are kept back, as the reader sees them: how well it reads their pips."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.finder import Finder
from vision.halves import HalfNetwork
from vision.heads import UP, Head, ReaderHeads
from vision.poses import half_centers, sides_px
from vision.pyramid import build_pyramid
from vision.reader import Reader
from vision.render.layouts import draw_scene
from vision.render.paint import render
from vision.render.scene import Scene
from vision.training.legible import legible_halves
from vision.training.samples import corner_errors, true_pips, truth_poses, with_half_0_first

_SETS = (6, 9, 12, 15)
_PX_PER_MM = (1.0, 3.0)
_LARGEST_TILT_RAD = float(np.radians(25))
# Short sides of tiles that are drawn, wider than `_PX_PER_MM` makes them; what is outside is drawn again.
_SIDES_PX = (18.0, 85.0)
# Halves this near to true ones, in sides, are those that were found, as for the photographs.
_SAME_PLACE = 0.35
_SURE = 0.99


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """Halves of tiles that the reader found.

    Attributes:
        features: Shape (N, F) float16, what the half network says of them.
        pips: Shape (N,), what they show.
        legible: Shape (N,), whether a person could count them.
    """

    features: NDArray[np.float16]
    pips: NDArray[np.int64]
    legible: NDArray[np.bool_]


def draw_usual_scene(rng: np.random.Generator) -> Scene:
    """Return a table with a set up to double-15, at 1 to 3 pixels per mm, tilted by 25 degrees at most.

    All else, looks, light, blur and noise, is as hard as the tables that the heads learn from.
    """
    max_pips = int(rng.choice(_SETS))
    while True:
        width_px = int(rng.integers(640, 1400))
        scene = draw_scene(
            rng,
            max_pips=max_pips,
            size_px=(width_px, width_px * 3 // 4),
            tile_side_px=_SIDES_PX,
            largest_tilt_rad=_LARGEST_TILT_RAD,
        )
        if _PX_PER_MM[0] <= scene.camera.px_per_mm <= _PX_PER_MM[1]:
            return scene


def draw_usual(rng: np.random.Generator, finder: Finder, halves: HalfNetwork, *, heads: ReaderHeads) -> Halves:
    """Render a usual table, look for its tiles with the whole reader, and return the halves of those it found."""
    scene = draw_usual_scene(rng)
    rendered = render(scene, rng)
    poses, faces = truth_poses(rendered.truth)
    truth, pips, legible = poses[faces == UP], true_pips(rendered.truth), legible_halves(scene, rendered)
    levels = build_pyramid(rendered.image)
    seen, _, _ = Reader(heads, finder, halves).find_tiles(levels)
    _, nearest, target = corner_errors(seen, truth)
    gaps = np.linalg.norm(half_centers(seen) - half_centers(target), axis=-1).max(axis=-1, initial=0)
    found = gaps < _SAME_PLACE * sides_px(target) if len(truth) else np.zeros(len(seen), bool)
    nearest = nearest[found]
    described = halves.describe(levels, with_half_0_first(seen[found], target[found], truth[nearest]))
    return Halves(described.astype(np.float16), pips[nearest].T.ravel(), legible[nearest].T.ravel())


def join_halves(parts: list[Halves]) -> Halves:
    """Return all halves of *parts* in order."""
    return Halves(*(np.concatenate([getattr(part, name) for part in parts]) for name in Halves.__slots__))


def figures_of(head: Head, halves: Halves) -> dict[str, object]:
    """Return how often a pips head is wrong on halves that were found, and how far its confidence can be trusted."""
    chances = head.probabilities(halves.features.astype(np.float32))
    wrong, sure = chances.argmax(axis=1) != halves.pips, chances.max(axis=1) >= _SURE
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
