"""Rendered tables that all networks learn from: as often as not as usual, else as cameras elsewhere see them."""

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

# How often a table's set goes up to each number: small sets are what most people have.
SETS_DRAWN = {6: 0.4, 9: 0.15, 12: 0.25, 15: 0.12, 18: 0.08}
_FOREIGN = 0.55


@dataclass(frozen=True, slots=True, eq=False)
class LearningTable:
    """A rendered table and what is to be learned of it.

    Attributes:
        image: Shape (H, W, 3), BGR.
        poses: Shape (N, 6), the tiles that can be read; half 0 lies towards -u.
        faces: Shape (N,), `vision.networks.refiner.UP` or `DOWN`.
        pips: Shape (M, 2), those of the tiles that lie face up, in their order.
        legible: Shape (M, 2), whether a person could count them.
        unread_px: Outlines of tiles that are cut off, covered, on edge, burnt out or in the dark: neither a tile nor
            nothing.
    """

    image: Image
    poses: Poses
    faces: NDArray[np.int64]
    pips: NDArray[np.int64]
    legible: NDArray[np.bool_]
    unread_px: tuple[Points, ...]


def draw_max_pips(rng: np.random.Generator) -> int:
    """Return the highest number of the set on a table."""
    return int(rng.choice(list(SETS_DRAWN), p=list(SETS_DRAWN.values())))


def draw_learning_table(
    rng: np.random.Generator,
    *,
    max_pips: int,
    size_px: tuple[int, int],
    tile_side_px: tuple[float, float],
    only_legible: bool = True,
) -> LearningTable:
    """Return a rendered table, see `synthetic.render.foreign.draw_foreign_scene` and `table_of`."""
    draw = draw_foreign_scene if rng.random() < _FOREIGN else random_scene
    scene = draw(rng, max_pips=max_pips, size_px=size_px, tile_side_px=tile_side_px)
    return table_of(scene, rng, only_legible=only_legible)


def table_of(scene: Scene, rng: np.random.Generator, *, only_legible: bool = True) -> LearningTable:
    """Return the picture of a scene, by default without the tiles of which nobody could count the pips."""
    rendered = render(scene, rng)
    poses, faces = truth_poses(rendered.truth)
    unread = [np.array(outline) for outline in rendered.unread_px]
    shown, pips = np.ones(len(poses), bool), true_pips(rendered.truth)
    # Where the painter's hand put the pips that are off their usual places is not kept.
    legible = np.ones(pips.shape, bool) if scene.tile.pip_jitter > 0 else legible_halves(scene, rendered)
    if only_legible:
        shown[faces == UP] = kept = legible.all(axis=1)
        pips, legible = pips[kept], legible[kept]
        unread += list(corners(poses[~shown]))
    return LearningTable(rendered.image, poses[shown], faces[shown], pips, legible, tuple(unread))
