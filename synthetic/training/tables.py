"""Rendered tables for training: 45 % from usual scenes, 55 % like other people's photos."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from synthetic.render.foreign import draw_foreign_scene
from synthetic.render.layouts import random_scene
from synthetic.render.paint import render
from synthetic.render.scene import Scene
from synthetic.training.legible import legible_halves
from synthetic.training.truth import true_pips, truth_poses
from vision.arrays import Image, Points
from vision.geometry.poses import Poses, corners
from vision.networks.refiner import UP

# Probability of each highest number. Most people have small sets.
SETS_DRAWN = {6: 0.4, 9: 0.15, 12: 0.25, 15: 0.12, 18: 0.08}
_FOREIGN = 0.55


@dataclass(frozen=True, slots=True, eq=False)
class LearningTable:
    """A rendered table and its labels.

    Attributes:
        image: BGR, shape (H, W, 3).
        poses: Poses of the readable tiles, shape (N, 6). Half 0 is towards -u.
        faces: `vision.networks.refiner.UP` or `DOWN` for each pose, shape (N,).
        pips: Numbers of the face-up tiles in order, shape (M, 2).
        legible: True for halves whose pips a person could count, shape (M, 2).
        unread_px: Outlines of tiles that are cut off, covered, on edge, overexposed or too dark. Training ignores
            these areas.
    """

    image: Image
    poses: Poses
    faces: NDArray[np.int64]
    pips: NDArray[np.int64]
    legible: NDArray[np.bool_]
    unread_px: tuple[Points, ...]


def draw_max_pips(rng: np.random.Generator) -> int:
    """Return a random highest number of the set."""
    return int(rng.choice(list(SETS_DRAWN), p=list(SETS_DRAWN.values())))


def draw_learning_table(
    rng: np.random.Generator,
    *,
    max_pips: int,
    size_px: tuple[int, int],
    tile_side_px: tuple[float, float],
    only_legible: bool = True,
) -> LearningTable:
    """Return a random rendered table. See `synthetic.render.foreign.draw_foreign_scene` and `table_of`."""
    draw = draw_foreign_scene if rng.random() < _FOREIGN else random_scene
    scene = draw(rng, max_pips=max_pips, size_px=size_px, tile_side_px=tile_side_px)
    return table_of(scene, rng, only_legible=only_legible)


def table_of(scene: Scene, rng: np.random.Generator, *, only_legible: bool = True) -> LearningTable:
    """Render a scene. By default, tiles with illegible pips become unread areas."""
    rendered = render(scene, rng)
    poses, faces = truth_poses(rendered.truth)
    unread = [np.array(outline) for outline in rendered.unread_px]
    shown, pips = np.ones(len(poses), bool), true_pips(rendered.truth)
    # The exact positions of jittered pips are not stored, so legibility cannot be measured.
    legible = np.ones(pips.shape, bool) if scene.tile.pip_jitter > 0 else legible_halves(scene, rendered)
    if only_legible:
        shown[faces == UP] = is_legible = legible.all(axis=1)
        pips, legible = pips[is_legible], legible[is_legible]
        unread += list(corners(poses[~shown]))
    return LearningTable(rendered.image, poses[shown], faces[shown], pips, legible, tuple(unread))
