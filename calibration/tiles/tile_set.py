"""Custom tile set as stored in a calibration: appearance, tiles, and weights to read them."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import resources
from typing import Any, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.errors import RefusedError
from calibration.lens.model import Lens
from calibration.table.table import Table
from calibration.tiles.labels import TileCount, count_tiles
from calibration.tiles.learning import LearningResult, custom_set_if_better, is_too_doubtful
from vision.geometry.poses import Poses, corners
from vision.networks.network import FEATURES, PICTURE_FEATURES
from vision.networks.tile_sheet import TileSheet, cut_cells, tile_mask
from vision.reader.custom_set import CustomSet, Exemplars, RecordedSet, Restraint, look
from vision.reader.reader import Reader

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


_JPEG_QUALITY = 92
# Models for which the weights of a custom set are valid.
_MODELS = ("pip_features.onnx", "pips.npz")
# Version of the weights. Since version 2 they include features of the pictures of halves.
_WEIGHTS_VERSION = b"2"


class StoredSet(Protocol):
    """Learned weights of a set in text form, such as `LearnedSet`."""

    @property
    def max_pips(self) -> int:
        """Highest number of the set."""

    @property
    def reader(self) -> str:
        """Checksum of the models for which the weights are valid."""

    @property
    def weights(self) -> str:
        """Weights as float16 in base64, row by row. "" if the shipped reader is used."""

    @property
    def believed(self) -> float:
        """Weight of the shipped classifier relative to the learned weights."""


@dataclass(frozen=True, slots=True)
class LearnedSet:
    """A learned tile set, as stored in a calibration.

    Attributes:
        max_pips: Highest number of the set.
        tiles: Labels of the tiles on the sheet, in order.
        sheet: Images of the tiles as JPEG in base64, for refitting.
        look: Colours, bar and size.
        reader: Checksum of the models for which the weights are valid.
        weights: Weights of `CustomSet` as float16 in base64, row by row. "" if the shipped reader is as good.
        strength, believed: Restraint used for fitting.
        misread: Shares of misread halves in views of held-out tiles, by the shipped reader and by the learned weights.
        doubtful: Number of tiles with doubtful labels.
    """

    max_pips: int
    tiles: tuple[tuple[int, int], ...]
    sheet: str
    look: SetLook
    reader: str
    weights: str
    strength: float
    believed: float
    misread: tuple[float, float]
    doubtful: int = 0

    def __post_init__(self) -> None:
        if not 6 <= self.max_pips <= 18:
            raise ValueError(f"max_pips: expected 6 to 18, got {self.max_pips}")
        if not all(0 <= pips <= self.max_pips for tile in self.tiles for pips in tile):
            raise ValueError(f"tiles: expected pips of 0 to {self.max_pips}")

    @property
    def is_too_doubtful(self) -> bool:
        """True if too many labels are doubtful to learn from them."""
        return is_too_doubtful(self.doubtful, len(self.tiles))

    @property
    def count(self) -> TileCount:
        """Missing and duplicate tiles."""
        return count_tiles(np.array(self.tiles, np.int64).reshape(-1, 2), self.max_pips)


def tile_set_of(learned: LearningResult, set_look: SetLook) -> LearnedSet:
    """Return a learning result in the form in which it is stored."""
    jpeg = cv2.imencode(".jpg", learned.sheet.image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])[1]
    return LearnedSet(
        learned.max_pips,
        tuple((first, second) for first, second in learned.pips.tolist()),
        base64.b64encode(jpeg.tobytes()).decode(),
        set_look,
        reader_checksum(),
        "" if learned.own_set is None else _as_text(learned.own_set.weights),
        learned.restraint.strength,
        learned.restraint.believed,
        _rounded(learned.misread),
        len(learned.doubtful),
    )


def refitted(stored: LearnedSet, reader: Reader) -> LearnedSet:
    """Return a set with weights for the shipped models.

    Weights for other models are fitted again, or dropped if too many labels are doubtful or the fit is no better than
    the shipped reader.

    Raises:
        RefusedError: If the stored images are damaged.
    """
    if stored.reader == reader_checksum():
        return stored
    if stored.is_too_doubtful:
        return replace(stored, reader=reader_checksum(), weights="")
    restraint = Restraint(stored.strength, stored.believed)
    views = look(
        decode_sheet(stored.sheet, len(stored.tiles)),
        reader.halves,
        reader.pips,
        stored.max_pips,
        np.random.default_rng(1),
    )
    own, shares = custom_set_if_better(views, np.array(stored.tiles, np.int64), restraint)
    weights = "" if own is None else _as_text(own.weights)
    return replace(stored, reader=reader_checksum(), weights=weights, misread=_rounded(shares))


def custom_set_of(stored: StoredSet) -> CustomSet | None:
    """Decode the weights of a set. None if the shipped reader is used.

    Raises:
        RefusedError: If the weights are damaged, or are for other models.
    """
    if stored.reader != reader_checksum():
        raise RefusedError("the tile set was learned with another version of the reader; calibrate it anew")
    if not stored.weights:
        return None
    try:
        weights = np.frombuffer(base64.b64decode(stored.weights, validate=True), np.float16).astype(np.float64)
        return CustomSet(weights.reshape(FEATURES + PICTURE_FEATURES + 1, stored.max_pips + 1), stored.believed)
    except (binascii.Error, ValueError) as error:
        raise RefusedError(f"the learned tile set is damaged ({error}); calibrate it anew") from None


def custom_reader(reader: Reader, stored: StoredSet) -> Reader:
    """Return *reader* with a set as learned. Unchanged if its *max_pips* exceeds that of the set.

    Raises:
        RefusedError: If the set is damaged, or is for other models.
    """
    if reader.max_pips is not None and reader.max_pips > stored.max_pips:
        return reader
    own, exemplars = custom_set_of(stored), None
    if isinstance(stored, RecordedSet) and stored.exemplars:
        try:
            exemplars = Exemplars.parse(stored.exemplars)
        except ValueError as error:
            raise RefusedError(f"the corrected tiles are damaged ({error})") from None
    max_pips = stored.max_pips if reader.max_pips is None else reader.max_pips
    return replace(reader, own_set=own, exemplars=exemplars, max_pips=max_pips)


def reader_checksum() -> str:
    """Return a checksum of the shipped models and the version of the weights: the start of a SHA-256."""
    files = resources.files("vision").joinpath("models")
    content = b"".join(files.joinpath(name).read_bytes() for name in _MODELS)
    return hashlib.sha256(content + _WEIGHTS_VERSION).hexdigest()[:16]


def decode_sheet(jpeg: str, count: int) -> TileSheet:
    """Decode a sheet of *count* tiles from JPEG in base64.

    Raises:
        RefusedError: If it is damaged.
    """
    try:
        image = cv2.imdecode(np.frombuffer(base64.b64decode(jpeg, validate=True), np.uint8), cv2.IMREAD_COLOR)
        return TileSheet(np.asarray(image, np.uint8), count)
    except (binascii.Error, ValueError, TypeError, cv2.error):
        raise RefusedError("the picture of the tile set is damaged; calibrate it anew") from None


def _rounded(shares: tuple[float, float]) -> tuple[float, float]:
    return round(shares[0], 5), round(shares[1], 5)


def _as_text(weights: NDArray[np.float64]) -> str:
    return base64.b64encode(weights.astype(np.float16).tobytes()).decode()
