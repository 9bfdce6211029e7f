"""Labelled patches from rendered tables: what the finder proposes there, chance, and truth moved a little."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.candidates import Candidates
from vision.heads import DOWN, NOTHING, UP, ReaderHeads
from vision.patches import PatchGrid, features, sample, tile_grid
from vision.poses import Poses, corners, deltas_between, empty_poses, move, moved, sides_px, turned_round, upright_poses
from vision.pyramid import Level, build_pyramid
from vision.reading import Face, OutlinePx, Reading, SeenTile
from vision.render.layouts import draw_scene
from vision.render.paint import render
from vision.training.collect import Networks

# How often a scene's set goes up to each number: small sets are what most people have.
SETS_DRAWN = {6: 0.4, 9: 0.15, 12: 0.25, 15: 0.12, 18: 0.08}
# Corner errors in sides: below the first it is the tile, above the second it is not, between it is not taught.
_IS_TILE = (0.2, 0.35)
# The pose head is taught to mend errors up to this.
_MENDABLE = 0.6
_MAX_NOTHING_PER_SCENE = 50
_MAX_VIEWS_PER_TILE = 3
_MAX_MENDABLE_PER_SCENE = 70
# Halves are seen through poses wrong by so much, and through those that the reader itself finds: half of those are
# wrong by less than 0.05 sides at their worst corner, one in a hundred by more than 0.17.
_PIP_SPREADS = (0.03, 0.1)
# Sets above this show numbers that few tables have: their halves are seen twice as often.
_COMMON_SETS = 9
_ANYWHERE_PER_SCENE = 25
_READER_ROUNDS = 2


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSamples:
    """The samples from which the heads learn.

    Attributes:
        tile_features, tile_class: Shape (N, F) float16 and (N,), classes NOTHING, UP, DOWN.
        pose_features, pose_deltas: Shape (M, F) float16 and (M, 6), what `move` needs.
        half_features, half_pips: What the half network says, shape (K, G) float16, and shape (K,).
    """

    tile_features: NDArray[np.float16]
    tile_class: NDArray[np.int64]
    pose_features: NDArray[np.float16]
    pose_deltas: NDArray[np.float32]
    half_features: NDArray[np.float16]
    half_pips: NDArray[np.int64]


def join_samples(parts: list[TrainingSamples]) -> TrainingSamples:
    """Return all samples of *parts* in order."""
    return TrainingSamples(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in TrainingSamples.__slots__)
    )


def draw_samples(
    rng: np.random.Generator, networks: Networks, *, max_pips: int, heads: ReaderHeads | None
) -> TrainingSamples:
    """Render one random table and return its samples.

    Args:
        rng: Where all chance comes from.
        networks: What proposes tiles, and what looks at halves.
        max_pips: The highest number of the set.
        heads: Heads of an earlier round: what they still take for tiles is taught; None in the first round.
    """
    width = int(rng.integers(640, 1400))
    scene = draw_scene(rng, max_pips=max_pips, size_px=(width, width * 3 // 4))
    rendered = render(scene, rng)
    levels = build_pyramid(rendered.image)
    poses, faces = truth_poses(rendered.truth)
    found = networks.finder.find(levels)
    mended = empty_poses()
    if heads is not None:
        mended = Candidates(heads, networks.finder).mended(levels, found.poses, rounds=_READER_ROUNDS)[0]
    near = np.concatenate([found.poses, mended, _anywhere(rng, poses, levels[0].full_size_px)])
    near = near[~_near_any(near, rendered.unread_px)]
    slight = np.concatenate([moved(rng, poses, 0.05), moved(rng, poses, 0.03), _wrong_on_purpose(rng, poses)])
    tile_poses, tile_class = _drawn(rng, np.concatenate([near, slight]), poses, faces)
    wide = np.concatenate([moved(rng, poses, 0.14), moved(rng, poses, 0.14), moved(rng, poses, 0.05)])
    mendable, deltas = _mendable(rng, np.concatenate([wide, tile_poses]), poses)
    spreads = _PIP_SPREADS * (1 if max_pips <= _COMMON_SETS else 2)
    seen, which = _views_of_halves(rng, poses[faces == UP], mended, spreads)
    return TrainingSamples(
        _features(levels, tile_poses, tile_grid()),
        tile_class,
        _features(levels, mendable, tile_grid()),
        deltas.astype(np.float32),
        networks.halves.describe(levels, seen).astype(np.float16),
        true_pips(rendered.truth)[which].T.ravel(),
    )


def true_pips(truth: Reading) -> NDArray[np.int64]:
    """Return the pips of both halves of the true tiles that lie face up, shape (N, 2)."""
    return np.array([[half.pips for half in tile.halves] for tile in truth.tiles if tile.halves], np.int64).reshape(
        -1, 2
    )


def truth_poses(truth: Reading) -> tuple[Poses, NDArray[np.int64]]:
    """Return the poses, shape (N, 6), and classes, shape (N,), of true tiles; half 0 lies towards -u."""
    rows = [_pose_of(tile) for tile in truth.tiles]
    faces = [UP if tile.face is Face.UP else DOWN for tile in truth.tiles]
    return np.array(rows, np.float64).reshape(-1, 6), np.array(faces, np.int64)


def _pose_of(tile: SeenTile) -> NDArray[np.float64]:
    """Return the affine pose nearest to an outline: through the middles of its edges."""
    outline = np.array(tile.corners_px)
    edges = (outline + np.roll(outline, -1, axis=0)) / 2  # top, right, bottom, left as seen from the top left
    first = 1 if np.hypot(*(edges[1] - edges[3])) > np.hypot(*(edges[0] - edges[2])) else 2
    end = edges[first]
    if tile.halves:
        away = np.array(tile.halves[1].center_px) - np.array(tile.halves[0].center_px)
        if np.dot(end - outline.mean(axis=0), away) < 0:
            first = (first + 2) % 4
    u = (edges[first] - edges[(first + 2) % 4]) / 2
    v = (edges[(first + 1) % 4] - edges[(first + 3) % 4]) / 2
    return np.concatenate([outline.mean(axis=0), u, v])


def corner_errors(poses: Poses, truth: Poses) -> tuple[NDArray[np.float64], NDArray[np.intp], Poses]:
    """Return for each pose the error to the nearest true tile, which one that is, and it turned as the pose is.

    The error is the largest distance of two corners, in sides of the true tile.
    """
    if not len(truth):
        return np.full(len(poses), np.inf), np.zeros(len(poses), np.intp), poses.copy()
    turned = turned_round(truth)
    both = np.concatenate([truth, turned])
    gaps = np.linalg.norm(corners(poses)[:, None] - corners(both)[None], axis=-1).max(axis=-1) / sides_px(both)
    nearest = gaps.argmin(axis=1)
    return gaps[np.arange(len(poses)), nearest], nearest % len(truth), both[nearest]


def with_half_0_first(poses: Poses, target: Poses, truth: Poses) -> Poses:
    """Return poses, shape (N, 6), so that half 0 of each is that of its true tile.

    Args:
        poses: What was found.
        target: The true tiles turned as the poses are, see `corner_errors`.
        truth: The true tiles.
    """
    same = (target[:, 2:4] * truth[:, 2:4]).sum(axis=1) > 0
    return np.where(same[:, None], poses, turned_round(poses))


def _drawn(
    rng: np.random.Generator, poses: Poses, truth: Poses, faces: NDArray[np.int64]
) -> tuple[Poses, NDArray[np.int64]]:
    """Return some of the poses with their classes, not too many of any tile nor of nothing.

    Below the first of `_IS_TILE` a pose is the tile, above the second it is nothing, between it is left out.
    """
    error, nearest, _ = corner_errors(poses, truth)
    classes = np.where(error < _IS_TILE[0], faces[nearest] if len(faces) else NOTHING, NOTHING)
    mixed = rng.permutation(np.nonzero((error < _IS_TILE[0]) | (error > _IS_TILE[1]))[0])
    nothing = mixed[classes[mixed] == NOTHING][:_MAX_NOTHING_PER_SCENE]
    tiles = mixed[classes[mixed] != NOTHING]
    kept = np.concatenate([nothing, *(tiles[nearest[tiles] == k][:_MAX_VIEWS_PER_TILE] for k in range(len(truth)))])
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


def _near_any(poses: Poses, outlines_px: tuple[OutlinePx, ...]) -> NDArray[np.bool_]:
    """Return which poses lie on or beside one of the outlines, shape (N,)."""
    near = np.zeros(len(poses), bool)
    for outline in outlines_px:
        points = np.array(outline)
        middle = points.mean(axis=0)
        radius = np.linalg.norm(points - middle, axis=1).max()
        near |= np.linalg.norm(poses[:, :2] - middle, axis=1) < radius + sides_px(poses)
    return near


def _mendable(rng: np.random.Generator, poses: Poses, truth: Poses) -> tuple[Poses, NDArray[np.float64]]:
    """Return some of the poses that are near a true tile and what moves them onto it."""
    error, _, target = corner_errors(poses, truth)
    near = rng.permutation(np.nonzero(error < _MENDABLE)[0])[:_MAX_MENDABLE_PER_SCENE]
    return poses[near], deltas_between(poses[near], target[near])


def _features(levels: tuple[Level, ...], poses: Poses, grid: PatchGrid) -> NDArray[np.float16]:
    return features(sample(levels, poses, grid), grid).astype(np.float16)


def _views_of_halves(
    rng: np.random.Generator, truth: Poses, mended: Poses, spreads: tuple[float, ...]
) -> tuple[Poses, NDArray[np.intp]]:
    """Return poses through which the halves of true tiles are seen, shape (N, 6), and of which tile each is.

    They are the true ones moved once by each of *spreads*, and one for each tile that *mended* found.
    """
    error, nearest, target = corner_errors(mended, truth)
    found = rng.permutation(np.nonzero(error < _IS_TILE[1])[0])
    found = found[np.unique(nearest[found], return_index=True)[1]]
    seen = with_half_0_first(mended[found], target[found], truth[nearest[found]])
    views = [moved(rng, truth, spread) for spread in spreads]
    each = np.arange(len(truth))
    return np.concatenate([*views, seen]), np.concatenate([*[each] * len(spreads), nearest[found]])
