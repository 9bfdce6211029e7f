"""Training samples of the refiner: patches of detector proposals, random places, and displaced true tiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from synthetic.training.processes import concatenated, drawn_by_processes
from synthetic.training.tables import draw_learning_table, draw_max_pips
from synthetic.training.truth import corner_errors, near_any
from vision.arrays import Image
from vision.geometry.poses import Poses, deltas_between, empty_poses, jittered, move, sides_px, upright_poses
from vision.image.pyramid import build_pyramid
from vision.networks.detector import Detector, load_detector
from vision.networks.patches import sample, tile_grid
from vision.networks.refiner import NOTHING, load_refiner
from vision.reader.candidates import Candidates

# Corner errors in sides: below the first it is the tile, above the second it is not, between it is not taught.
_IS_TILE = (0.2, 0.35)
# Corrections are taught for errors up to this.
_MENDABLE = 0.6
_NOTHING_PER_SCENE, _VIEWS_PER_TILE, _MENDABLE_PER_SCENE = 50, 3, 40
_ANYWHERE_PER_SCENE = 20
_WIDTH_PX = (640, 1400)
# Short sides of tiles over the width of the picture.
_SIDES = (0.014, 0.09)
_ROUNDS = 2


@dataclass(frozen=True, slots=True, eq=False)
class RefinerSamples:
    """What may be tiles.

    Attributes:
        patches: Shape (N, rows * columns, 3), BGR, see `vision.networks.patches.tile_grid`.
        classes: Shape (N,), `NOTHING`, `UP` or `DOWN`; -1 where only the correction is taught.
        corrections: Shape (N, 6), what `vision.geometry.poses.move` needs; NaN where nothing is to be put right.
    """

    patches: Image
    classes: NDArray[np.int64]
    corrections: NDArray[np.float32]


def draw_refiner_samples(
    seed: int, scenes: int, jobs: int, progress: Callable[[float], None], *, earlier: Path | None
) -> RefinerSamples:
    """Return samples of rendered tables, the same for the same seed whatever the number of processes.

    Args:
        seed: Everything follows from it.
        scenes: Number of tables.
        jobs: Processes that render.
        progress: Called with the share that is done.
        earlier: Network of an earlier round, whose false positives become hard negatives; None in the first round.
    """
    return concatenated(list(drawn_by_processes(partial(draw_refiner_table, seed, earlier), scenes, jobs, progress)))


def draw_refiner_table(seed: int, earlier: Path | None, index: int) -> RefinerSamples:
    """Render one table and return its samples."""
    rng = np.random.default_rng([seed, index])
    max_pips = draw_max_pips(rng)
    width = int(rng.integers(*_WIDTH_PX))
    sides_px = (width * _SIDES[0], width * _SIDES[1])
    table = draw_learning_table(rng, max_pips=max_pips, size_px=(width, width * 3 // 4), tile_side_px=sides_px)
    levels = build_pyramid(table.image)
    found = _detector().find(levels).poses
    refined = empty_poses() if earlier is None else _candidates(earlier).refined(levels, found, rounds=_ROUNDS)[0]
    truth = table.poses
    near = np.concatenate([found, refined, _anywhere(rng, truth, levels[0].full_size_px)])
    near = near[~near_any(near, table.unread_px)]
    slight = np.concatenate([jittered(rng, truth, 0.05), jittered(rng, truth, 0.03), _wrong_on_purpose(rng, truth)])
    judged, classes = _drawn(rng, np.concatenate([near, slight]), truth, table.faces)
    wide = np.concatenate([jittered(rng, truth, spread) for spread in (0.14, 0.14, 0.05)])
    poses = np.concatenate([judged, wide[rng.permutation(len(wide))[:_MENDABLE_PER_SCENE]]])
    error, _, target = corner_errors(poses, truth)
    corrections = np.full((len(poses), 6), np.nan, np.float32)
    mendable = error < _MENDABLE
    corrections[mendable] = deltas_between(poses[mendable], target[mendable])
    classes = np.concatenate([classes, np.full(len(poses) - len(judged), -1)])
    return RefinerSamples(sample(levels, poses, tile_grid()), classes, corrections)


@cache
def _detector() -> Detector:
    """Return the shipped detector, once in each process."""
    return load_detector()


@cache
def _candidates(earlier: Path) -> Candidates:
    return Candidates(_detector(), load_refiner(earlier))


def _drawn(
    rng: np.random.Generator, poses: Poses, truth: Poses, faces: NDArray[np.int64]
) -> tuple[Poses, NDArray[np.int64]]:
    """Return some of the poses with their classes, not too many of any tile nor of nothing.

    Below the first of `_IS_TILE` a pose is the tile, above the second it is nothing, between it is left out.
    """
    error, nearest, _ = corner_errors(poses, truth)
    classes = np.where(error < _IS_TILE[0], faces[nearest] if len(faces) else NOTHING, NOTHING)
    mixed = rng.permutation(np.nonzero((error < _IS_TILE[0]) | (error > _IS_TILE[1]))[0])
    nothing = mixed[classes[mixed] == NOTHING][:_NOTHING_PER_SCENE]
    tiles = mixed[classes[mixed] != NOTHING]
    kept = np.concatenate([nothing, *(tiles[nearest[tiles] == k][:_VIEWS_PER_TILE] for k in range(len(truth)))])
    return poses[kept], classes[kept]


def _anywhere(rng: np.random.Generator, truth: Poses, size_px: tuple[int, int]) -> Poses:
    """Return poses that lie anywhere, as large as the tiles or less than twice so."""
    center = rng.uniform(0, 1, (_ANYWHERE_PER_SCENE, 2)) * size_px
    usual_px = float(np.median(sides_px(truth))) if len(truth) else 0.03 * max(size_px)
    short_px = usual_px * np.exp(rng.uniform(-0.6, 0.6, len(center)))
    return upright_poses(center, rng.uniform(0, np.pi, len(center)), 2 * short_px, short_px)


def _wrong_on_purpose(rng: np.random.Generator, truth: Poses) -> Poses:
    """Return poses that share much with a tile but are none: the mistakes a reader would make."""
    if not len(truth):
        return truth
    poses = truth[rng.integers(0, len(truth), len(truth))].copy()
    kind = rng.integers(0, 4, len(poses))
    shift = np.zeros((len(poses), 6))
    shift[:, 0] = np.where(kind == 0, rng.choice([-1.0, 1.0], len(poses)) * rng.uniform(0.6, 1.1, len(poses)), 0)
    shift[:, 1] = np.where(kind == 1, rng.choice([-1.0, 1.0], len(poses)) * rng.uniform(0.5, 1.2, len(poses)), 0)
    poses = move(poses, shift)
    turned = np.column_stack([poses[:, :2], poses[:, 4:6] * 2, -poses[:, 2:4] / 2])
    poses = np.where((kind == 2)[:, None], turned, poses)
    factor = np.where(kind == 3, rng.choice([0.5, 0.7, 1.4, 2.0], len(poses)), 1.0)
    poses[:, 2:] *= factor[:, None]
    return poses
