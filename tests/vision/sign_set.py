"""A double-six set with symbols instead of pips, and its named doubles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibration.tiles.learning import FaceUpTiles, SetPictures, examine_set
from lab.render.looks import CLASSIC
from lab.render.paint import RenderedPicture
from lab.training.pips import true_halves
from lab.training.tables import true_pips, truth_poses
from vision.networks.network import UP
from vision.poses import half_centers
from vision.reader.custom_set import Views
from vision.reader.reader import Reader

_SQUARE = ((-0.6, -0.6), (0.6, -0.6), (0.6, 0.6), (-0.6, 0.6))
_TRIANGLE = ((0.0, -0.7), (0.7, 0.6), (-0.7, 0.6))
_DIAMOND = ((0.0, -0.8), (0.45, 0.0), (0.0, 0.8), (-0.45, 0.0))
_UPRIGHT = ((-0.15, -0.7), (0.15, -0.7), (0.15, 0.7), (-0.15, 0.7))
_LEVEL = ((-0.7, -0.15), (0.7, -0.15), (0.7, 0.15), (-0.7, 0.15))
_ROOF = ((-0.7, 0.1), (0.0, -0.7), (0.7, 0.1))
_BOWL = ((-0.7, 0.25), (0.7, 0.25), (0.3, 0.7), (-0.3, 0.7))
SHAPES = replace(
    CLASSIC,
    numerals=0,
    signs=((_SQUARE,), (_TRIANGLE,), (_DIAMOND,), (_UPRIGHT, _LEVEL), (_ROOF, _BOWL), (_ROOF,), (_LEVEL,)),
)


def true_tiles(seen: FaceUpTiles, rendered: RenderedPicture) -> np.ndarray:
    """Return the true pips of detected tiles, shape (N, 2). Fails if a tile does not exist."""
    poses, faces = truth_poses(rendered.truth)
    indices = true_halves(half_centers(seen.poses), poses[faces == UP])
    assert (indices >= 0).all()
    return true_pips(rendered.truth).ravel()[indices].reshape(-1, 2)


VIEWS = 15
"""A quarter of the usual views of each tile: the time of a fit is in proportion to them."""


def examine(rendered: RenderedPicture, reader: Reader) -> SetPictures:
    """Detect the tiles of a set, and keep a few of their views."""
    shown = examine_set([rendered.image], reader)
    return replace(shown, views=Views(shown.views.seen[:VIEWS], shown.views.logs[:VIEWS], shown.views.pictures))


def named_doubles(pips: np.ndarray) -> dict[int, tuple[int, int]]:
    return {index: (first, second) for index, (first, second) in enumerate(pips.tolist()) if first == second}
