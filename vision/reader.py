"""From a picture of a table to the tiles on it: propose, mend, score, choose the best set, read pips, find joins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.heads import DOWN, NOTHING, UP, ReaderHeads
from vision.joins import find_joins
from vision.odds import log_odds
from vision.patches import features, glance_grid, half_grid, sample, tile_grid
from vision.plane import find_plane
from vision.poses import Points, Poses, corners, empty_poses, half_centers, move
from vision.proposals import beside, find_evidence, shaped_by_plane
from vision.pyramid import Image, Level, build_pyramid
from vision.reading import Face, Half, PointPx, Reading, Tile
from vision.selection import choose, drop_repeats
from vision.sets import likely_max_pips

# Probabilities below these are not worth the next step; that of a real tile, still badly placed, is rarely lower.
_WORTH_A_LOOK, _WORTH_MENDING, _WORTH_CHOOSING = 0.03, 0.002, 0.1
_MOST_LOOKED_AT = 320
# How many are mended in each round: the first sorts out most, the others only what has become the same.
# What the plane proposes is nearly in place already.
_MENDED, _MENDED_ON_PLANE = (200, 180, 180), (120, 100)
# In log odds for each round of mending.
_MENDED_IS_BETTER = 3.0
# How often is looked again once the plane of the table is known.
_LOOKS_ON_PLANE = 2
# In log odds: what lies where a tile could be, rather than where something looks like one, must be surer.
_HEARSAY = 3.0

Filter = Callable[[Poses], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """The eye: reads single pictures at any scale.

    Attributes:
        heads: Trained heads, see `vision.heads.load_heads`.
        max_pips: The highest number of the set, 6 to 18, or None where it is not known.
    """

    heads: ReaderHeads
    max_pips: int | None = None

    def read(self, image: Image, plausible: Filter | None = None) -> Reading:
        """Return what lies on the table.

        Args:
            image: Shape (H, W, 3), BGR, upright.
            plausible: Says of poses, shape (N, 6), which can be tiles at all, shape (N,); None where all can.

        Raises:
            ValueError: If the image has another shape or type.
        """
        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
            raise ValueError(f"image must have shape (H, W, 3) and be uint8, but got {image.shape} {image.dtype}")
        levels = build_pyramid(image)
        poses, probabilities, chosen = self.judge(levels, plausible)
        order = chosen[np.lexsort((poses[chosen, 0], poses[chosen, 1]))]
        poses, faces = poses[order], UP + probabilities[order, UP:].argmax(axis=1)
        pips, confidence = self._read_pips(levels, poses)
        outlines, centers = corners(poses), half_centers(poses)
        tiles = tuple(_tile(outlines[i], centers[i], faces[i], pips[i], confidence[i]) for i in range(len(poses)))
        seen = np.where((faces == UP)[:, None], pips, -1)
        return Reading(image.shape[1], image.shape[0], tiles, find_joins(poses, seen))

    def judge(
        self, levels: tuple[Level, ...], plausible: Filter | None = None
    ) -> tuple[Poses, NDArray[np.float64], NDArray[np.intp]]:
        """Return all candidates, their probabilities of nothing, up and down, and which of them are the tiles.

        Looks once without knowing how the table lies, and again where tiles can be on the plane that the first show.

        Args:
            levels: Pyramid of the picture.
            plausible: Says which poses can be tiles at all; None where all can.

        Returns:
            Shapes (N, 6), (N, 3), and indices (M,).
        """
        evidence = find_evidence(levels)
        poses, probabilities = self.candidates(levels, _kept(evidence.poses, plausible))
        handicap, chosen = np.zeros(len(poses)), np.empty(0, np.intp)
        for look in range(_LOOKS_ON_PLANE + 1):
            if not len(poses):
                break
            before, sure = len(chosen), 1 - probabilities[:, NOTHING]
            plane = find_plane(poses, sure, levels[0].full_size_px)
            chosen = choose(poses, log_odds(sure) - plane.doubt(poses) - handicap)
            if look == _LOOKS_ON_PLANE or len(chosen) == before:
                break
            known = poses[chosen]
            for proposed, penalty in (
                (shaped_by_plane(plane, evidence.lines, known), 0.0),
                (beside(plane, known), _HEARSAY),
            ):
                more, judged = self.candidates(levels, _kept(proposed, plausible), _MENDED_ON_PLANE)
                poses, probabilities = np.concatenate([poses, more]), np.concatenate([probabilities, judged])
                handicap = np.concatenate([handicap, np.full(len(more), penalty)])
        return poses, probabilities, chosen

    def candidates(
        self, levels: tuple[Level, ...], proposed: Poses, mended: tuple[int, ...] = _MENDED
    ) -> tuple[Poses, NDArray[np.float64]]:
        """Return the proposals that may be tiles, mended, shape (M, 6), and their probabilities of each face, (M, 3).

        Mending can go wrong, so each pose on the way stays a candidate.

        Args:
            levels: Pyramid of the picture.
            proposed: Shape (N, 6).
            mended: How many are mended at most in each round.
        """
        poses = self._glanced(levels, proposed)
        visited, judged = [empty_poses()], [np.empty((0, 3))]
        for at_most in (*mended, 0):
            probabilities, deltas = self._looked_at(levels, poses)
            visited.append(poses)
            judged.append(probabilities)
            sure = 1 - probabilities[:, NOTHING]
            likely = np.nonzero(sure > _WORTH_MENDING)[0]
            moved = move(poses[likely], deltas[likely])
            poses = moved[drop_repeats(moved, sure[likely], at_most=at_most)] if at_most else empty_poses()
        every, all_judged = np.concatenate(visited), np.concatenate(judged)
        sure = 1 - all_judged[:, NOTHING]
        # Of equally sure poses the one that was mended more is the better placed.
        rounds = np.repeat(np.arange(len(visited)), [len(part) for part in visited])
        worth = np.nonzero(sure > _WORTH_CHOOSING)[0]
        ranked = log_odds(sure[worth]) + _MENDED_IS_BETTER * rounds[worth]
        kept = worth[drop_repeats(every[worth], ranked, at_most=len(worth))]
        return every[kept], all_judged[kept]

    def _glanced(self, levels: tuple[Level, ...], proposed: Poses) -> Poses:
        """Return the proposals that look like tiles at a first glance, without repeats."""
        grid = glance_grid()
        worth = self.heads.glance.probabilities(features(sample(levels, proposed, grid), grid))[:, 1].astype(np.float64)
        likely = np.nonzero(worth > _WORTH_A_LOOK)[0]
        return proposed[likely[drop_repeats(proposed[likely], worth[likely], at_most=_MOST_LOOKED_AT)]]

    def _looked_at(self, levels: tuple[Level, ...], poses: Poses) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the probabilities of nothing, face up and face down, (N, 3), and how to mend each pose, (N, 6)."""
        grid = tile_grid()
        seen = features(sample(levels, poses, grid), grid)
        return self.heads.face.probabilities(seen).astype(np.float64), self.heads.pose.outputs(seen).astype(np.float64)

    def _read_pips(self, levels: tuple[Level, ...], poses: Poses) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the pips of both halves and their probabilities, shape (N, 2) each, all halves in one batch."""
        grids = (half_grid(0), half_grid(1))
        batch = np.concatenate([features(sample(levels, poses, grid), grid) for grid in grids])
        probabilities = self.heads.pips.probabilities(batch).astype(np.float64)
        max_pips = likely_max_pips(probabilities) if self.max_pips is None else self.max_pips
        probabilities = probabilities[:, : max_pips + 1] + 1e-9
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        pips = probabilities.argmax(axis=1) if len(poses) else np.empty(0, np.int64)
        return pips.reshape(2, -1).T, probabilities.max(axis=1, initial=0).reshape(2, -1).T


def _kept(poses: Poses, plausible: Filter | None) -> Poses:
    """Return the poses that can be tiles at all."""
    return poses if plausible is None else poses[plausible(poses)]


def _tile(
    outline: Points,
    centers: Points,
    face: np.int64,
    pips: NDArray[np.int64],
    confidence: NDArray[np.float64],
) -> Tile:
    """Return one tile as plain values."""
    start = int(np.argmin(outline.sum(axis=1)))
    a, b, c, d = (_point(p) for p in np.roll(outline, -start, axis=0).tolist())
    if face == DOWN:
        return Tile(Face.DOWN, (a, b, c, d), ())
    first, second = (Half(int(pips[h]), float(confidence[h]), _point(centers[h].tolist())) for h in (0, 1))
    return Tile(Face.UP, (a, b, c, d), (first, second))


def _point(xy: list[float]) -> PointPx:
    return (xy[0], xy[1])
