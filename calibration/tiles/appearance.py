"""Measure the appearance of a tile set: colours, bar and size, from tiles cut out of a picture."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.lens.model import Lens
from calibration.table.table import Table
from calibration.tiles.learning import LearningResult
from vision.geometry.poses import Poses, corners
from vision.networks.tile_sheet import cut_cells, tile_mask

RgbTriple = tuple[int, int, int]
"""Red, green and blue of a colour on a screen, each 0 to 255."""

# In CIE76: what differs less from the face is no pip; a bar is fainter, but it is there on all tiles.
_PIP_DIFFERS, _BAR_DIFFERS = 8.0, 5.0
# Of a half's pixels, the share that differ most from the face: a single pip covers twice that.
_PIP_SHARE = 0.03
_COLORFUL = 25.0


class PipColors(StrEnum):
    """What colours the pips of a set have."""

    DARK = "dark"
    LIGHT = "light"
    COLORED = "coloured"


class BarSeen(StrEnum):
    """What is seen between the halves."""

    NONE = "none"
    LINE = "line"
    PIN = "pin"


@dataclass(frozen=True, slots=True)
class SetLook:
    """How a set looks, in the light it was shown in.

    Attributes:
        face_rgb: Colour of the face, 0 to 255.
        pips_rgb: Colour of the pips of each number from 1 on; None for one that was not shown or is not seen.
        pips: What colours that makes.
        bar: What is between the halves.
        length_to_width: How many times as long as wide a tile is, seen from above.
        size_mm: Length and width, where the table was measured before; else None.
    """

    face_rgb: RgbTriple
    pips_rgb: tuple[RgbTriple | None, ...]
    pips: PipColors
    bar: BarSeen
    length_to_width: float
    size_mm: tuple[float, float] | None = None


def look_of(learned: LearningResult, size_mm: tuple[float, float] | None) -> SetLook:
    """Return how a set looks; *size_mm* is length and width, where they are known."""
    sheet, pips, poses = learned.sheet, learned.pips, np.concatenate([one.poses for one in learned.seen])
    lab = cv2.cvtColor(cut_cells(sheet).reshape(-1, 1, 3).astype(np.float32) / 255, cv2.COLOR_BGR2LAB)
    cells = lab.reshape(*cut_cells(sheet).shape)
    faces = np.array([np.median(cell[tile_mask(0.0, 0.85)], axis=0) for cell in cells])
    face = np.median(faces, axis=0)
    # Tiles lie in more or less light: what a pip differs from its own face is added to the usual face.
    away = cells - faces[:, None, None]
    marks = [_mark_of(away, pips, number) for number in range(1, learned.max_pips + 1)]
    lengths = np.linalg.norm(poses[:, 2:4], axis=1) / np.linalg.norm(poses[:, 4:6], axis=1)
    return SetLook(
        _rgb(face),
        tuple(None if mark is None else _rgb(face + mark) for mark in marks),
        _kind(face, [mark for mark in marks if mark is not None]),
        _bar(away),
        round(float(np.median(lengths)), 2),
        size_mm,
    )


def tile_size_mm(poses: Poses, table: Table, lens: Lens) -> tuple[float, float]:
    """Return length and width of tiles, their medians, by the scale of a measured table."""
    at_mm = table.tops_to_table(corners(poses).reshape(-1, 2), lens).reshape(-1, 4, 2)
    edges = np.linalg.norm(at_mm - np.roll(at_mm, -1, axis=1), axis=2)
    length, width = np.median(edges[:, [0, 2]]), np.median(edges[:, [1, 3]])
    return round(float(length), 1), round(float(width), 1)


def _mark_of(away: NDArray[np.float32], pips: NDArray[np.int64], number: int) -> NDArray[np.float64] | None:
    """Return what the pips of a number differ from the face in Lab, shape (3,), or None where none are seen."""
    seen = [
        _strongest(away[tile][tile_mask(-0.5 if half == 0 else 0.5, 0.75, length=0.38)])
        for tile, half in np.argwhere(pips == number).tolist()
    ]
    if not seen:
        return None
    mark = np.median(np.array(seen), axis=0)
    return mark if np.linalg.norm(mark) >= _PIP_DIFFERS else None


def _strongest(away: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the mean of the pixels that differ most; *away* has shape (P, 3)."""
    far = np.linalg.norm(away, axis=1)
    return np.asarray(away[far >= np.quantile(far, 1 - _PIP_SHARE)].mean(axis=0), np.float64)


def _kind(face: NDArray[np.float64], marks: list[NDArray[np.float64]]) -> PipColors:
    if not marks:
        return PipColors.DARK
    colors = face + np.array(marks)
    if np.median(np.hypot(colors[:, 1], colors[:, 2])) > _COLORFUL or np.ptp(colors[:, 1:], axis=0).max() > _COLORFUL:
        return PipColors.COLORED
    return PipColors.DARK if np.median(colors[:, 0]) < face[0] else PipColors.LIGHT


def _bar(away: NDArray[np.float32]) -> BarSeen:
    """Return what all tiles have in their middle."""
    usual = np.linalg.norm(np.median(away, axis=0), axis=2)
    middle = tile_mask(0.0, 0.25, length=0.05)
    line = np.quantile(usual[tile_mask(0.0, 0.55, length=0.05) & ~middle], 0.75)  # it is thinner than what is looked at
    if line >= _BAR_DIFFERS:
        return BarSeen.LINE
    return BarSeen.PIN if np.quantile(usual[middle], 0.75) >= _BAR_DIFFERS else BarSeen.NONE


def _rgb(lab: NDArray[Any]) -> RgbTriple:
    bgr = cv2.cvtColor(np.asarray(lab, np.float32).reshape(1, 1, 3), cv2.COLOR_LAB2BGR).ravel()
    blue, green, red = (int(one) for one in np.clip(np.rint(bgr * 255), 0, 255))
    return red, green, blue
