"""Custom tile set as stored in a calibration: appearance, tiles, and weights to read them."""

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
from calibration.tiles.learning import LearningResult, custom_set_if_better, is_too_doubtful
from vision.networks.pip_features import FEATURES, PICTURE_FEATURES
from vision.networks.tile_sheet import TileSheet
from vision.reader.custom_set import CustomSet, RecordedSet
from vision.reader.custom_set_fit import Restraint, look
from vision.reader.exemplars import Exemplars
from vision.reader.reader import Reader

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
    def eye(self) -> str:
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
        eye: Checksum of the models for which the weights are valid.
        weights: Weights of `CustomSet` as float16 in base64, row by row. "" if the shipped reader is as good.
        strength, believed: Restraint used for fitting.
        misread: Shares of misread halves in views of held-out tiles, by the shipped reader and by the learned weights.
        doubtful: Number of tiles with doubtful labels.
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
    if stored.eye == reader_checksum():
        return stored
    if stored.is_too_doubtful:
        return replace(stored, eye=reader_checksum(), weights="")
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
    return replace(stored, eye=reader_checksum(), weights=weights, misread=_rounded(shares))


def custom_set_of(stored: StoredSet) -> CustomSet | None:
    """Decode the weights of a set. None if the shipped reader is used.

    Raises:
        RefusedError: If the weights are damaged, or are for other models.
    """
    if stored.eye != reader_checksum():
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
