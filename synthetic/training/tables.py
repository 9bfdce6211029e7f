"""Rendered tables for training: usual scenes and ones like other people's photos, many with marks on the tiles."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from synthetic.library.packages import LIBRARY
from synthetic.render import colors
from synthetic.render.foreign import draw_bare_scene, draw_foreign_scene
from synthetic.render.layouts import random_scene
from synthetic.render.look_types import TableKind, TableLook
from synthetic.render.marks import marked
from synthetic.render.paint import render
from synthetic.render.scene import Scene
from synthetic.render.tabletop import find_photographs
from synthetic.training.truth import legible_halves, true_pips, truth_poses
from vision.arrays import Image, Points
from vision.geometry.poses import Poses, corners
from vision.networks.network import UP

# Probability of each highest number. Most people have small sets.
SETS_DRAWN = {6: 0.4, 9: 0.15, 12: 0.25, 15: 0.12, 18: 0.08}
_FOREIGN = 0.55
# Shares of tables whose tiles have marks, on photographed surfaces, and on ruled paper.
_MARKED, _PHOTOGRAPHED, _RULED = 0.4, 0.15, 0.05


@dataclass(frozen=True, slots=True, eq=False)
class LearningTable:
    """A rendered table and its labels.

    Attributes:
        image: BGR, shape (H, W, 3).
        poses: Poses of the readable tiles, shape (N, 6). Half 0 is towards -u.
        faces: `vision.networks.network.UP` or `DOWN` for each pose, shape (N,).
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
    bare: float = 0.0,
) -> LearningTable:
    """Return a random rendered table. See `synthetic.render.foreign.draw_foreign_scene` and `table_of`.

    Args:
        rng: Random generator.
        max_pips: Highest number of the set.
        size_px: Width and height of the picture.
        tile_side_px: Range of the short side of a tile.
        only_legible: Whether tiles with illegible pips become unread areas.
        bare: Share of tables with many objects, but without tiles.
    """
    if rng.random() < bare:
        scene = draw_bare_scene(rng, size_px=size_px, tile_side_px=tile_side_px)
    else:
        draw = draw_foreign_scene if rng.random() < _FOREIGN else random_scene
        scene = draw(rng, max_pips=max_pips, size_px=size_px, tile_side_px=tile_side_px)
    if rng.random() < _MARKED:
        looks = [marked(rng, look) for look in (scene.tile, *scene.more_looks)]
        scene = replace(scene, tile=looks[0], more_looks=tuple(looks[1:]))
    scene = replace(scene, table=_draw_other_table(rng, scene.table))
    return table_of(scene, rng, only_legible=only_legible)


def _draw_other_table(rng: np.random.Generator, look: TableLook) -> TableLook:
    """Return the look on another surface in some cases: photographed, if installed, or ruled paper."""
    kind, photographs = rng.random(), find_photographs(LIBRARY)
    if kind < _PHOTOGRAPHED and photographs:
        path = photographs[int(rng.integers(len(photographs)))]
        return replace(look, kind=TableKind.PHOTOGRAPH, photograph=path, folds=0.0)
    if _PHOTOGRAPHED < kind < _PHOTOGRAPHED + _RULED:
        paper = colors.from_hsv(rng.uniform(0, 1), rng.uniform(0, 0.15), rng.uniform(0.75, 1.0))
        ink = colors.mixed(paper, colors.any_color(rng), rng.uniform(0.2, 0.9))
        return replace(look, kind=TableKind.RULED, base_bgr=paper, second_bgr=ink, pattern_mm=rng.uniform(4, 12))
    return look


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
