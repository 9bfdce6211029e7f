"""Training samples of the refiner: patches of detector proposals, random positions, and displaced true tiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lab.training.processes import concatenated, draw_in_processes
from lab.training.tables import corner_errors, draw_learning_table, draw_max_pips, near_any
from vision.arrays import Image
from vision.image.picture import build_pyramid
from vision.networks.detector import Detector, load_detector
from vision.networks.network import NOTHING, load_refiner, sample, tile_grid
from vision.poses import Poses, deltas_between, empty_poses, jittered, move, sides_px, upright_poses
from vision.reader.candidates import Candidates

# Signs of a correction (`vision.poses.move`) after rotating its patch by half a turn, and after mirroring
# it across its long axis. Components are the centre, u and v, each along u and v.
_TURNED = np.array([-1, -1, 1, 1, 1, 1], np.float32)
_MIRRORED = np.array([1, -1, 1, -1, -1, 1], np.float32)
_NEGATIVE = 0.06
_STRENGTH, _NOISE = 0.2, 0.05


def augment(
    rng: np.random.Generator, inputs: NDArray[np.float32], corrections: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return randomly changed copies of network inputs, with matching corrections.

    Args:
        rng: Random generator.
        inputs: Shape (N, 3, rows, columns), from `vision.networks.network.contrasts`.
        corrections: Shape (N, 6).
    """
    inputs, corrections = inputs.copy(), corrections.copy()
    turned, mirrored = (rng.random(len(inputs)) < 0.5 for _ in range(2))
    inputs[turned] = inputs[turned, :, ::-1, ::-1]
    corrections[turned] *= _TURNED
    inputs[mirrored] = inputs[mirrored, :, ::-1]
    corrections[mirrored] *= _MIRRORED
    # Hues do not matter: rotate the green-red and blue-yellow channels about grey.
    turn = rng.uniform(-np.pi, np.pi, len(inputs)).astype(np.float32)[:, None, None]
    green_red, blue_yellow = inputs[:, 1].copy(), inputs[:, 2].copy()
    inputs[:, 1] = np.cos(turn) * green_red - np.sin(turn) * blue_yellow
    inputs[:, 2] = np.sin(turn) * green_red + np.cos(turn) * blue_yellow
    inputs[rng.random(len(inputs)) < _NEGATIVE, 0] *= -1
    inputs *= np.exp(rng.normal(0, _STRENGTH, len(inputs))).astype(np.float32)[:, None, None, None]
    noisy = rng.random(len(inputs)) < 0.3
    noise = rng.standard_normal(inputs[noisy].shape, np.float32)
    inputs[noisy] += noise * (_NOISE * rng.random(int(noisy.sum())).astype(np.float32)[:, None, None, None])
    return np.ascontiguousarray(inputs), corrections


# Limits of the corner error in sides. A pose with an error below the first is a tile, and one above the second is
# background. Poses in between are not used to train classes.
_IS_TILE = (0.2, 0.35)
# Maximum corner error, in sides, of poses that train corrections.
_CORRECTABLE = 0.6
_NOTHING_PER_SCENE, _VIEWS_PER_TILE, _CORRECTABLE_PER_SCENE = 50, 3, 40
_RANDOM_PER_SCENE = 20
_WIDTH_PX = (640, 1400)
# Range of the short side of tiles, relative to the width of the picture.
_SIDES = (0.014, 0.09)
_ROUNDS = 2
# Share of tables without tiles.
_BARE = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class RefinerSamples:
    """Patches of tile candidates.

    Attributes:
        patches: BGR, shape (N, rows * columns, 3), sampled with `vision.networks.network.tile_grid`.
        classes: `NOTHING`, `UP` or `DOWN`, shape (N,). -1 if the sample only trains the correction.
        corrections: Corrections for `vision.poses.move`, shape (N, 6). NaN if no tile is near.
    """

    patches: Image
    classes: NDArray[np.int64]
    corrections: NDArray[np.float32]


def draw_refiner_samples(
    seed: int, scenes: int, jobs: int, progress: Callable[[float], None], *, earlier: Path | None
) -> RefinerSamples:
    """Return samples of rendered tables, which depend on the seed but not on the number of processes.

    Args:
        seed: Random seed.
        scenes: Number of tables.
        jobs: Number of processes.
        progress: Called with the completed share.
        earlier: Network of an earlier round, whose false positives become hard negatives. None in the first round.
    """
    return concatenated(list(draw_in_processes(partial(draw_refiner_table, seed, earlier), scenes, jobs, progress)))


def draw_refiner_table(seed: int, earlier: Path | None, index: int) -> RefinerSamples:
    """Render a table and return its samples."""
    rng = np.random.default_rng([seed, index])
    max_pips = draw_max_pips(rng)
    width = int(rng.integers(*_WIDTH_PX))
    sides_px = (width * _SIDES[0], width * _SIDES[1])
    table = draw_learning_table(
        rng, max_pips=max_pips, size_px=(width, width * 3 // 4), tile_side_px=sides_px, bare=_BARE
    )
    levels = build_pyramid(table.image)
    found = _detector().find(levels).poses
    refined = empty_poses() if earlier is None else _candidates(earlier).refined(levels, found, rounds=_ROUNDS)[0]
    truth = table.poses
    proposals = np.concatenate([found, refined, _random_poses(rng, truth, levels[0].full_size_px)])
    proposals = proposals[~near_any(proposals, table.unread_px)]
    displaced = np.concatenate([jittered(rng, truth, 0.05), jittered(rng, truth, 0.03), _near_misses(rng, truth)])
    classified, classes = _select(rng, np.concatenate([proposals, displaced]), truth, table.faces)
    wide = np.concatenate([jittered(rng, truth, spread) for spread in (0.14, 0.14, 0.05)])
    poses = np.concatenate([classified, wide[rng.permutation(len(wide))[:_CORRECTABLE_PER_SCENE]]])
    error, _, target = corner_errors(poses, truth)
    corrections = np.full((len(poses), 6), np.nan, np.float32)
    correctable = error < _CORRECTABLE
    corrections[correctable] = deltas_between(poses[correctable], target[correctable])
    classes = np.concatenate([classes, np.full(len(poses) - len(classified), -1)])
    return RefinerSamples(sample(levels, poses, tile_grid()), classes, corrections)


@cache
def _detector() -> Detector:
    """Return the shipped detector, loaded once per process."""
    return load_detector()


@cache
def _candidates(earlier: Path) -> Candidates:
    return Candidates(_detector(), load_refiner(earlier))


def _select(
    rng: np.random.Generator, poses: Poses, truth: Poses, faces: NDArray[np.int64]
) -> tuple[Poses, NDArray[np.int64]]:
    """Return a random selection of poses and their classes, with a limit per tile and for background.

    Poses with a corner error between the two values of `_IS_TILE` are dropped.
    """
    error, nearest, _ = corner_errors(poses, truth)
    classes = np.where(error < _IS_TILE[0], faces[nearest] if len(faces) else NOTHING, NOTHING)
    shuffled = rng.permutation(np.nonzero((error < _IS_TILE[0]) | (error > _IS_TILE[1]))[0])
    nothing = shuffled[classes[shuffled] == NOTHING][:_NOTHING_PER_SCENE]
    tiles = shuffled[classes[shuffled] != NOTHING]
    selected = np.concatenate([nothing, *(tiles[nearest[tiles] == k][:_VIEWS_PER_TILE] for k in range(len(truth)))])
    return poses[selected], classes[selected]


def _random_poses(rng: np.random.Generator, truth: Poses, size_px: tuple[int, int]) -> Poses:
    """Return poses at random positions, 0.55 to 1.8 times as large as the median tile."""
    center = rng.uniform(0, 1, (_RANDOM_PER_SCENE, 2)) * size_px
    usual_px = float(np.median(sides_px(truth))) if len(truth) else 0.03 * max(size_px)
    short_px = usual_px * np.exp(rng.uniform(-0.6, 0.6, len(center)))
    return upright_poses(center, rng.uniform(0, np.pi, len(center)), 2 * short_px, short_px)


def _near_misses(rng: np.random.Generator, truth: Poses) -> Poses:
    """Return typical false positives: tiles shifted along or across, rotated by a quarter turn, or wrongly scaled."""
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
