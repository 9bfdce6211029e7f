"""Pip positions on a half, in the arrangements of real sets."""

from __future__ import annotations

import numpy as np

from vision.arrays import Points

MAX_PIPS = 18

# Columns of pips perpendicular to the bar, as the height of each column. Each layout is also used rotated by a quarter
# turn. The second value is the extent of the inner columns relative to the outer ones. 1 aligns their ends, and less
# staggers them.
_COLUMNS: dict[int, tuple[tuple[tuple[int, ...], float], ...]] = {
    6: (((3, 3), 1.0),),
    7: (((3, 1, 3), 1.0), ((2, 1, 1, 1, 2), 1.0)),
    8: (((3, 2, 3), 1.0), ((4, 4), 1.0), ((3, 2, 3), 0.5)),
    9: (((3, 3, 3), 1.0), ((4, 1, 4), 1.0)),
    10: (((4, 2, 4), 1.0), ((3, 4, 3), 1.0), ((5, 5), 1.0), ((4, 2, 4), 1 / 3)),
    11: (((4, 3, 4), 1.0), ((5, 1, 5), 1.0), ((4, 3, 4), 2 / 3), ((3, 5, 3), 1.0)),
    12: (((4, 4, 4), 1.0), ((5, 2, 5), 1.0), ((6, 6), 1.0)),
    13: (((5, 3, 5), 1.0), ((4, 5, 4), 1.0), ((4, 1, 3, 1, 4), 1.0), ((5, 3, 5), 0.5)),
    14: (((5, 4, 5), 1.0), ((4, 3, 3, 4), 1.0), ((5, 4, 5), 0.75)),
    15: (((5, 5, 5), 1.0), ((6, 3, 6), 1.0)),
    16: (((4, 4, 4, 4), 1.0), ((5, 6, 5), 1.0), ((6, 4, 6), 1.0), ((6, 4, 6), 0.6)),
    17: (((6, 5, 6), 1.0), ((4, 3, 3, 3, 4), 1.0), ((6, 5, 6), 0.8)),
    18: (((6, 6, 6), 1.0), ((4, 5, 5, 4), 1.0)),
}
# Outermost pip centre in half units, by the number of pips in a line. Estimated by eye from commercial sets.
_REACH = {1: 0.0, 2: 0.58, 3: 0.6, 4: 0.66, 5: 0.7, 6: 0.74}


def _few(pips: int, style: int) -> Points:
    """Return the arrangement of 0 to 5 pips. *style* selects the diagonal of 2 and 3."""
    reach = _REACH[2]
    slope = -1.0 if style == 1 else 1.0
    diagonal = [(-reach, -reach * slope), (reach, reach * slope)]
    square = [(-reach, -reach), (reach, -reach), (-reach, reach), (reach, reach)]
    centers = {0: [], 1: [], 2: diagonal, 3: diagonal, 4: square, 5: square}[pips]
    if pips % 2 == 1:
        centers = [*centers, (0.0, 0.0)]
    return np.array(centers, dtype=np.float64).reshape(-1, 2)


def _line(count: int, reach: float) -> Points:
    """Return *count* evenly spaced positions from -reach to reach, or 0 if *count* is 1."""
    return np.zeros(1) if count == 1 else np.linspace(-reach, reach, count)


def _in_columns(heights: tuple[int, ...], inner_reach: float) -> Points:
    """Return pip centres in columns of *heights*. *inner_reach* is the relative extent of the inner columns."""
    columns_x = _line(len(heights), _REACH[len(heights)])
    reach_y = _REACH[max(heights)]
    reaches = [reach_y * (1.0 if index in (0, len(heights) - 1) else inner_reach) for index in range(len(heights))]
    columns = [
        np.column_stack([np.full(height, column_x), _line(height, reach)])
        for column_x, height, reach in zip(columns_x, heights, reaches, strict=True)
    ]
    return np.concatenate(columns)


def style_count(pips: int) -> int:
    """Return the number of known arrangements of *pips*, 0 to 18."""
    if not 0 <= pips <= MAX_PIPS:
        raise ValueError(f"pips: expected 0 to {MAX_PIPS}, got {pips}")
    if pips in _COLUMNS:
        return 2 * len(_COLUMNS[pips])
    return 2 if pips in (2, 3) else 1


def pip_centers(pips: int, style: int) -> Points:
    """Return the centres of the pips on a half.

    Args:
        pips: 0 to 18.
        style: Index of the arrangement, 0 to ``style_count(pips) - 1``. Style 0 is the most common in commercial sets.
            From 6 pips on, even styles have columns along the tile and odd styles have them across.

    Returns:
        Shape (pips, 2), in half units: x along the bar and y away from it, each from -1 to 1 across the half.
    """
    if not 0 <= style < style_count(pips):
        raise ValueError(f"style of {pips} pips: expected 0 to {style_count(pips) - 1}, got {style}")
    if pips not in _COLUMNS:
        return _few(pips, style)
    centers = _in_columns(*_COLUMNS[pips][style // 2])
    return centers[:, ::-1].copy() if style % 2 == 1 else centers


def largest_radius(centers: Points) -> float:
    """Return the largest pip radius, in half units, that keeps pips at *centers* separate and inside their half."""
    if len(centers) == 0:
        return 1.0
    inside = 0.97 - float(np.abs(centers).max())
    if len(centers) == 1:
        return inside
    apart = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    return min(inside, 0.46 * float(apart[~np.eye(len(centers), dtype=bool)].min()))
