"""The user's own set of tiles as it is kept: what it looks like, its tiles, and how to read them."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass, replace
from importlib import resources
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.errors import RefusedError
from calibration.tiles.appearance import SetLook
from calibration.tiles.labels import TileCount, count_tiles
from calibration.tiles.learning import LearningResult, is_too_doubtful, own_set_if_better
from vision.networks.pip_features import FEATURES, PICTURE_FEATURES
from vision.networks.tile_sheet import TileSheet
from vision.reader.custom_set import CustomSet
from vision.reader.custom_set_fit import Restraint, look
from vision.reader.reader import Reader

_JPEG_QUALITY = 92
# What an own set was made with: with another network or head its weights mean nothing.
_EYE = ("pip_features.onnx", "pips.npz")
# The second way to learn: pictures of halves are weighed beside what the network says.
_WEIGHED = b"2"


class PackedSet(Protocol):
    """What was learned of a set, as text: see `LearnedSet`."""

    @property
    def max_pips(self) -> int:
        """Its highest number."""

    @property
    def eye(self) -> str:
        """Which network and head the weights belong to."""

    @property
    def weights(self) -> str:
        """As float16 in base64, row by row; empty where there are none."""

    @property
    def believed(self) -> float:
        """How far the shipped head counts beside them."""


@dataclass(frozen=True, slots=True)
class LearnedSet:
    """A set that Tallybone has learned from pictures, as the calibration keeps it.

    Attributes:
        max_pips: Its highest number.
        tiles: Pips of both halves of each tile on the sheet, in order.
        sheet: The tiles cut out, as JPEG in base64: what it takes to learn from them again.
        look: Colours, bar and size.
        eye: Which network and head the weights belong to.
        weights: Of `CustomSet`, as float16 in base64, row by row; empty where the shipped eye reads as well without.
        strength, believed: The restraint that they were fitted with.
        misread: Shares of halves in views of tiles that were kept back: by the shipped eye, and as learned.
        doubtful: How many tiles may be others than they were taken for.
    """

    max_pips: int
    tiles: tuple[tuple[int, int], ...]
    sheet: str
    look: SetLook
    eye: str
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
        """Whether so many tiles are in doubt that nothing was learned of them."""
        return is_too_doubtful(self.doubtful, len(self.tiles))

    @property
    def count(self) -> TileCount:
        """What is missing and what is there twice."""
        return count_tiles(np.array(self.tiles, np.int64).reshape(-1, 2), self.max_pips)


def tile_set_of(learned: LearningResult, set_look: SetLook) -> LearnedSet:
    """Return what is kept of what was learned."""
    packed = cv2.imencode(".jpg", learned.sheet.image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])[1]
    return LearnedSet(
        learned.max_pips,
        tuple((first, second) for first, second in learned.pips.tolist()),
        base64.b64encode(packed.tobytes()).decode(),
        set_look,
        eye_checksum(),
        "" if learned.own_set is None else _as_text(learned.own_set.weights),
        learned.restraint.strength,
        learned.restraint.believed,
        _rounded(learned.misread),
        len(learned.doubtful),
    )


def with_shipped_eye(kept: LearnedSet, reader: Reader) -> LearnedSet:
    """Return a set as the shipped eye reads it: fitted again to the kept tiles where the eye is another one now.

    Raises:
        RefusedError: If the kept tiles are damaged.
    """
    if kept.eye == eye_checksum():
        return kept
    if kept.is_too_doubtful:
        return replace(kept, eye=eye_checksum(), weights="")
    restraint = Restraint(kept.strength, kept.believed)
    views = look(_sheet_of(kept), reader.halves, reader.pips, kept.max_pips, np.random.default_rng(1))
    own, shares = own_set_if_better(views, np.array(kept.tiles, np.int64), restraint)
    weights = "" if own is None else _as_text(own.weights)
    return replace(kept, eye=eye_checksum(), weights=weights, misread=_rounded(shares))


def own_set_of(kept: PackedSet) -> CustomSet | None:
    """Return what reads a set, or None where the shipped eye alone does.

    Raises:
        RefusedError: If its weights are damaged, or belong to an eye that is not the shipped one.
    """
    if kept.eye != eye_checksum():
        raise RefusedError("the tile set was learned with another version of the eye; calibrate it anew")
    if not kept.weights:
        return None
    try:
        weights = np.frombuffer(base64.b64decode(kept.weights, validate=True), np.float16).astype(np.float64)
        return CustomSet(weights.reshape(FEATURES + PICTURE_FEATURES + 1, kept.max_pips + 1), kept.believed)
    except (binascii.Error, ValueError) as error:
        raise RefusedError(f"what was learned of the tile set is damaged ({error}); calibrate it anew") from None


def own_reader(reader: Reader, kept: PackedSet) -> Reader:
    """Return a reader that reads this set; the same one where a larger set is told, or nothing was learned.

    Raises:
        RefusedError: If what is kept is damaged, or belongs to another eye.
    """
    if reader.max_pips is not None and reader.max_pips > kept.max_pips:
        return reader
    own = own_set_of(kept)
    return replace(reader, own_set=own, max_pips=kept.max_pips if reader.max_pips is None else reader.max_pips)


def eye_checksum() -> str:
    """Return which network and head the package ships: the beginning of a SHA-256."""
    files = resources.files("vision").joinpath("models")
    read = b"".join(files.joinpath(name).read_bytes() for name in _EYE)
    return hashlib.sha256(read + _WEIGHED).hexdigest()[:16]


def _sheet_of(kept: LearnedSet) -> TileSheet:
    try:
        packed = np.frombuffer(base64.b64decode(kept.sheet, validate=True), np.uint8)
        image = cv2.imdecode(packed, cv2.IMREAD_COLOR)
        return TileSheet(np.asarray(image, np.uint8), len(kept.tiles))
    except (binascii.Error, ValueError, TypeError, cv2.error):
        raise RefusedError("the picture of the tile set is damaged; calibrate it anew") from None


def _rounded(shares: tuple[float, float]) -> tuple[float, float]:
    return round(shares[0], 5), round(shares[1], 5)


def _as_text(weights: NDArray[np.float64]) -> str:
    return base64.b64encode(weights.astype(np.float16).tobytes()).decode()
