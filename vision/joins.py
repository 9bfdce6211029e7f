"""Which tiles touch as in a play: end to end, round a corner, or on the side of a crosswise double."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.poses import Poses, sides_px
from vision.reading import Join

# Real plays leave gaps of up to a quarter of a side, and tiles are read to within a tenth.
_MOST_GAP = 0.34
# How far past the edge of its neighbour the middle of an end may lie, and how far from square it may be turned.
_MOST_OVERHANG = 0.1
_MOST_SKEW_RAD = np.radians(25)
# The end of a tile on the side of a double counts as crosswise up to this far from the double's middle, in sides.
_CROSSWISE = 0.3


@dataclass(frozen=True, slots=True)
class _Contact:
    """An end of tile a that meets an edge of tile b: an end of it, or a side."""

    gap: float
    join: Join
    by_end: bool


def find_joins(poses: Poses, pips: NDArray[np.int64]) -> tuple[Join, ...]:
    """Return the joins between face-up tiles.

    A half has one end, and an end has one neighbour: the nearest with its number. The sides of a half have another.

    Args:
        poses: Shape (N, 6).
        pips: Shape (N, 2), of half 0 and 1; -1 for tiles that are face down.
    """
    contacts = sorted(_contacts(poses, pips), key=lambda contact: contact.gap)
    taken: set[tuple[int, int, bool]] = set()  # tile, half, whether its end
    pairs: set[tuple[int, int]] = set()
    joins = []
    for contact in contacts:
        join = contact.join
        pair = (min(join.a, join.b), max(join.a, join.b))
        used = {(join.a, join.a_half, True)} if join.a_half is not None else set()
        used |= {(join.b, join.b_half, contact.by_end)} if join.b_half is not None else set()
        if pair in pairs or taken & used:
            continue
        taken |= used
        pairs.add(pair)
        joins.append(join)
    return tuple(sorted(joins, key=lambda join: (join.a, join.b)))


def _contacts(poses: Poses, pips: NDArray[np.int64]) -> list[_Contact]:
    """Return every end that meets another tile with its number, with the gap in sides."""
    side = sides_px(poses)
    distance = np.linalg.norm(poses[:, None, :2] - poses[None, :, :2], axis=-1)
    face_up = (pips >= 0).all(axis=1)
    near = np.asarray(distance < 2.6 * np.maximum(side[:, None], side[None]))
    first, second = np.nonzero(near & np.outer(face_up, face_up) & ~np.eye(len(poses), dtype=bool))
    if not len(first):
        return []
    found: list[_Contact] = []
    for half, sign in ((0, -1.0), (1, 1.0)):
        outward = sign * poses[first, 2:4]
        offset = poses[first, :2] + outward - poses[second, :2]
        # The end's place in the half-axes of the other tile: u spans one side there, v half a side.
        axes = poses[second, 2:].reshape(-1, 2, 2)
        u, v = np.linalg.solve(axes.transpose(0, 2, 1), offset[..., None])[..., 0].T
        gap_u, gap_v = np.abs(u) - 1, (np.abs(v) - 1) / 2
        by_end = gap_u > gap_v
        gap = np.where(by_end, gap_u, gap_v)
        facing = np.where(by_end[:, None], -np.sign(u)[:, None] * axes[:, 0], -np.sign(v)[:, None] * axes[:, 1])
        square = (outward * facing).sum(axis=1) / np.linalg.norm(outward, axis=1) / np.linalg.norm(facing, axis=1)
        level = np.where(by_end, np.abs(v) <= 1 + 2 * _MOST_OVERHANG, np.abs(u) <= 1 + _MOST_OVERHANG)
        other_half = (u > 0).astype(np.int64)
        same = pips[first, half] == pips[second, other_half]
        is_double = pips[second, 0] == pips[second, 1]
        crosswise = ~by_end & is_double & (np.abs(u) < _CROSSWISE)
        for i in np.nonzero(level & same & (square > np.cos(_MOST_SKEW_RAD)) & (np.abs(gap) < _MOST_GAP))[0]:
            b_half = None if crosswise[i] else int(other_half[i])
            join = Join(int(first[i]), half, int(second[i]), b_half)
            found.append(_Contact(abs(float(gap[i])), join, bool(by_end[i])))
    return found
