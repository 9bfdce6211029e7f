"""Measure the appearance of a tile set: colours, bar and size."""

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
"""Red, green and blue in sRGB, each from 0 to 255."""

# Minimum CIE76 difference from the face. A bar may be fainter than a pip, because it is averaged over all tiles.
_PIP_DIFFERS, _BAR_DIFFERS = 8.0, 5.0
# Share of a half's pixels, those that differ most from the face, used for pip colours. A single pip covers twice that.
_PIP_SHARE = 0.03
_COLORFUL = 25.0


class PipColors(StrEnum):
    """Kind of pip colours of a set."""

    DARK = "dark"
    LIGHT = "light"
    COLORED = "coloured"


class BarSeen(StrEnum):
    """Separator between the halves."""

    NONE = "none"
    LINE = "line"
    PIN = "pin"


@dataclass(frozen=True, slots=True)
class SetLook:
    """Appearance of a set, in the light of its pictures.

    Attributes:
        face_rgb: Colour of the face.
        pips_rgb: Colour of the pips of each number from 1. None if the number is missing or its pips are not visible.
        pips: Kind of pip colours.
        bar: Separator between the halves.
        length_to_width: Ratio of length to width.
        size_mm: Length and width. None if the table was not measured.
    """

    face_rgb: RgbTriple
    pips_rgb: tuple[RgbTriple | None, ...]
    pips: PipColors
    bar: BarSeen
    length_to_width: float
    size_mm: tuple[float, float] | None = None


def measure_look(learned: LearningResult, size_mm: tuple[float, float] | None) -> SetLook:
    """Measure the appearance of a set. *size_mm* is its length and width, if known."""
    sheet, pips, poses = learned.sheet, learned.pips, np.concatenate([picture.poses for picture in learned.seen])
    lab = cv2.cvtColor(cut_cells(sheet).reshape(-1, 1, 3).astype(np.float32) / 255, cv2.COLOR_BGR2LAB)
    cells = lab.reshape(*cut_cells(sheet).shape)
    faces = np.array([np.median(cell[tile_mask(0.0, 0.85)], axis=0) for cell in cells])
    face = np.median(faces, axis=0)
    # Lighting varies between tiles, so pip colours are measured relative to the face of their tile.
    differences = cells - faces[:, None, None]
    marks = [_pip_difference(differences, pips, number) for number in range(1, learned.max_pips + 1)]
    lengths = np.linalg.norm(poses[:, 2:4], axis=1) / np.linalg.norm(poses[:, 4:6], axis=1)
    return SetLook(
        _rgb(face),
        tuple(None if mark is None else _rgb(face + mark) for mark in marks),
        _kind(face, [mark for mark in marks if mark is not None]),
        _bar(differences),
        round(float(np.median(lengths)), 2),
        size_mm,
    )


def tile_size_mm(poses: Poses, table: Table, lens: Lens) -> tuple[float, float]:
    """Return the median length and width of tiles, by the scale of a measured table."""
    at_mm = table.tops_to_table(corners(poses).reshape(-1, 2), lens).reshape(-1, 4, 2)
    edges = np.linalg.norm(at_mm - np.roll(at_mm, -1, axis=1), axis=2)
    length, width = np.median(edges[:, [0, 2]]), np.median(edges[:, [1, 3]])
    return round(float(length), 1), round(float(width), 1)


def _pip_difference(
    differences: NDArray[np.float32], pips: NDArray[np.int64], number: int
) -> NDArray[np.float64] | None:
    """Return the median Lab difference of the pips of *number* from the face, shape (3,). None if not visible."""
    halves = [
        _strongest(differences[tile][tile_mask(-0.5 if half == 0 else 0.5, 0.75, length=0.38)])
        for tile, half in np.argwhere(pips == number).tolist()
    ]
    if not halves:
        return None
    mark = np.median(np.array(halves), axis=0)
    return mark if np.linalg.norm(mark) >= _PIP_DIFFERS else None


def _strongest(differences: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the mean of the 3 % of pixels with the largest differences. *differences* has shape (P, 3)."""
    sizes = np.linalg.norm(differences, axis=1)
    return np.asarray(differences[sizes >= np.quantile(sizes, 1 - _PIP_SHARE)].mean(axis=0), np.float64)


def _kind(face: NDArray[np.float64], marks: list[NDArray[np.float64]]) -> PipColors:
    if not marks:
        return PipColors.DARK
    colors = face + np.array(marks)
    if np.median(np.hypot(colors[:, 1], colors[:, 2])) > _COLORFUL or np.ptp(colors[:, 1:], axis=0).max() > _COLORFUL:
        return PipColors.COLORED
    return PipColors.DARK if np.median(colors[:, 0]) < face[0] else PipColors.LIGHT


def _bar(differences: NDArray[np.float32]) -> BarSeen:
    """Return the separator that all tiles have at their centre."""
    typical = np.linalg.norm(np.median(differences, axis=0), axis=2)
    middle = tile_mask(0.0, 0.25, length=0.05)
    # The third quartile, because a line is thinner than the mask.
    line = np.quantile(typical[tile_mask(0.0, 0.55, length=0.05) & ~middle], 0.75)
    if line >= _BAR_DIFFERS:
        return BarSeen.LINE
    return BarSeen.PIN if np.quantile(typical[middle], 0.75) >= _BAR_DIFFERS else BarSeen.NONE


def _rgb(lab: NDArray[Any]) -> RgbTriple:
    bgr = cv2.cvtColor(np.asarray(lab, np.float32).reshape(1, 1, 3), cv2.COLOR_LAB2BGR).ravel()
    blue, green, red = (int(value) for value in np.clip(np.rint(bgr * 255), 0, 255))
    return red, green, blue
