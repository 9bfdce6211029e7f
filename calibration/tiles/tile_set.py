"""Custom tile set as stored in a calibration: appearance, tiles, and weights to read them; and its corrections."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum, auto
from functools import reduce
from importlib import resources
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration import RefusedError
from calibration.lens.lens import Lens
from calibration.table.table import Table
from calibration.tiles.learning import LearningResult, TileCount, count_tiles, custom_set_if_better, is_too_doubtful
from vision.arrays import Image, softmax
from vision.networks.network import FEATURES, PICTURE_FEATURES
from vision.networks.tile_sheet import TileSheet, cut_cells, cut_out, tile_mask
from vision.poses import Poses, corners
from vision.reader.custom_set import CustomSet, Exemplars, RecordedSet, Restraint, Views, fit_exemplars, look
from vision.reader.reader import Reader

RgbTriple = tuple[int, int, int]
"""Red, green and blue in sRGB, each from 0 to 255."""

# Minimum CIE76 difference from the face. A bar may be fainter than a pip, because it is averaged over all tiles.
_PIP_DIFFERS = 8.0
_BAR_DIFFERS = 5.0
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
    """Appearance of a set, under the lighting of its pictures.

    Attributes:
        pips_rgb: Colour of the pips of each number from 1. None if the number is missing or its pips are not visible.
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
    halves = []
    for tile, half in np.argwhere(pips == number).tolist():
        pixels = differences[tile][tile_mask(-0.5 if half == 0 else 0.5, 0.75, length=0.38)]
        sizes = np.linalg.norm(pixels, axis=1)
        halves.append(pixels[sizes >= np.quantile(sizes, 1 - _PIP_SHARE)].mean(axis=0))
    if not halves:
        return None
    mark = np.median(np.array(halves), axis=0)
    return mark if np.linalg.norm(mark) >= _PIP_DIFFERS else None


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


def custom_set_of(stored: LearnedSet | RecordedSet) -> CustomSet | None:
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


def custom_reader(reader: Reader, stored: LearnedSet | RecordedSet) -> Reader:
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


# Maximum numbers of corrected tiles and of other tiles that a table keeps. The oldest are dropped.
_MAX_CORRECTED = 30
_MAX_OTHERS = 60
_VIEWS = 20
_HIGHEST = 18
# Minimum shares of the views of a half that an exemplar takes over for both to count as the same half, and for both to
# be too similar. Median distances, in reaches, below which halves look the same and similar, and minimum number of
# similar halves with other numbers for a number to be doubted.
_SAME_HALF = 0.5
_TOO_SIMILAR = 0.15
_HALF_EFFECT = 0.5
_SAME_LOOK = 0.65
_SIMILAR_LOOK = 0.7
_MAX_SIMILAR = 2
_FLOOR = 1e-9

TilePair = tuple[int, int]
"""Numbers of both halves of a tile."""


@dataclass(frozen=True, slots=True)
class ExampleTile:
    """A tile whose numbers are known.

    Attributes:
        pips: Numbers of its halves.
        read: Numbers that were read. They differ from *pips* if the players have corrected the tile.
        image: The tile, as JPEG in base64.
    """

    pips: TilePair
    read: TilePair
    image: str = ""

    def __post_init__(self) -> None:
        if not all(0 <= number <= _HIGHEST for number in (*self.pips, *self.read)):
            raise ValueError(f"expected pips of 0 to {_HIGHEST}, got {self.pips} and {self.read}")

    @property
    def name(self) -> str:
        """Players' name of the tile, such as "6-4"."""
        return f"{max(self.pips)}-{min(self.pips)}"

    @property
    def is_corrected(self) -> bool:
        """True if the tile was misread."""
        return self.pips != self.read


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A tile whose numbers are known, and its simulated views."""

    tile: ExampleTile
    views: Views


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """Examples of a table, and the exemplars learned from them.

    Attributes:
        examples: Corrected tiles and others that were read with confidence, oldest first.
        exemplars: Exemplars of the misread halves. None if there are none.
    """

    examples: tuple[Example, ...] = ()
    exemplars: Exemplars | None = None


class LessonResult(Enum):
    """Result of learning a correction."""

    LEARNED = auto()
    HARMFUL = auto()
    CONTRADICTORY = auto()


@dataclass(frozen=True, slots=True, eq=False)
class TileCorrection:
    """A correction of a tile that lies on the table.

    Attributes:
        image: Picture, shape (H, W, 3), BGR.
        poses: Poses of the tiles that lie face up, shape (N, 6). The corrected one is the first.
        pips: True numbers of the corrected tile.
        confident: Indices of the other tiles that are read with confidence.
    """

    image: Image
    poses: Poses
    pips: TilePair
    read: TilePair
    confident: tuple[int, ...]


def learn_correction(
    known: Lessons, correction: TileCorrection, reader: Reader, calibrated: tuple[Example, ...] = ()
) -> tuple[Lessons, LessonResult]:
    """Return the lessons after a correction, and the verdict on it.

    A correction that contradicts earlier ones is dropped together with them. It is refused if it would change a
    confident reading on the table or worsen that of an earlier example, or would not correct the tile.
    """
    before, indices = _read(correction, reader, known.exemplars), (0, *correction.confident)
    pairs = (correction.pips, *(before[at] for at in correction.confident))
    cells = [cut_out(correction.image, correction.poses[[at]]) for at in indices]
    new, *others = _examples(cells, pairs, (correction.read, *pairs[1:]), reader)
    replaced = {tuple(sorted(pair)) for pair in (*pairs, correction.read)}
    kept = [old for old in known.examples if old.tile.is_corrected or tuple(sorted(old.tile.pips)) not in replaced]
    others = [other for other in others if _reads(other, reader, known.exemplars).all()]
    # The other tiles of the table may limit an earlier exemplar too much. Then they are not added.
    for examples in ((*kept, *others, new), (*known.examples, new)):
        # The newest, up to the maximum numbers.
        corrected = [example for example in examples if example.tile.is_corrected][-_MAX_CORRECTED:]
        read_well = [example for example in examples if not example.tile.is_corrected][-_MAX_OTHERS:]
        kept_now = tuple(example for example in examples if example in (*corrected, *read_well))
        after = lessons_of(kept_now, calibrated)
        contradicted = _contradicted(after, new)
        if contradicted:
            rest = tuple(old for old in known.examples if old not in contradicted)
            return lessons_of(rest, calibrated), LessonResult.CONTRADICTORY
        now = _read(correction, reader, after.exemplars)
        is_harmful = (
            now[0] != correction.pips
            or any(now[at] != before[at] for at in correction.confident)
            or _is_like_others(after, new, (*calibrated, *kept, *others))
            # A half that was read right before is no longer.
            or any(
                (_reads(old, reader, known.exemplars) & ~_reads(old, reader, after.exemplars)).any()
                for old in (*calibrated, *(old for old in kept if old.tile.is_corrected))
            )
        )
        if not is_harmful:
            return after, LessonResult.LEARNED
    return known, LessonResult.HARMFUL


def lessons_of(examples: tuple[Example, ...], calibrated: tuple[Example, ...] = ()) -> Lessons:
    """Return the lessons of examples. The *calibrated* ones limit the effect of corrections."""
    if not any(example.tile.is_corrected for example in examples):
        return Lessons()
    every = (*calibrated, *examples)
    pips = np.array([example.tile.pips for example in every]).ravel()
    read = np.array([example.tile.read for example in every]).ravel()
    views = np.concatenate([_inputs(example.views) for example in every], axis=1)
    return Lessons(examples, fit_exemplars(views.reshape(_VIEWS, len(pips), -1), pips, pips != read))


def examples_from(tiles: Sequence[ExampleTile], reader: Reader) -> tuple[Example, ...]:
    """Return stored tiles with their views.

    Raises:
        RefusedError: If an image is damaged.
    """
    sheets = [decode_sheet(tile.image, 1) for tile in tiles]
    return tuple(map(Example, tiles, _views(sheets, reader)))


def calibrated_examples(learned: LearnedSet, reader: Reader) -> tuple[Example, ...]:
    """Return the tiles of a calibrated set with their views.

    Raises:
        RefusedError: If the stored images are damaged.
    """
    views = _views([decode_sheet(learned.sheet, len(learned.tiles))], reader)
    return tuple(Example(ExampleTile(pips, pips), seen) for pips, seen in zip(learned.tiles, views, strict=True))


def _examples(
    cells: Sequence[TileSheet], pips: Sequence[TilePair], read: Sequence[TilePair], reader: Reader
) -> Iterator[Example]:
    for cell, views, own, seen in zip(cells, _views(cells, reader), pips, read, strict=True):
        jpeg = cv2.imencode(".jpg", cell.image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])[1]
        yield Example(ExampleTile(own, seen, base64.b64encode(jpeg.tobytes()).decode()), views)


def _views(sheets: Sequence[TileSheet], reader: Reader) -> Iterator[Views]:
    """Yield the views of each tile of the sheets."""
    if sheets:
        sheet = reduce(TileSheet.joined, sheets)
        views = look(sheet, reader.halves, reader.pips, _HIGHEST, np.random.default_rng(1), _VIEWS)
        yield from (views.of(np.arange(sheet.count) == at) for at in range(sheet.count))


def _contradicted(lessons: Lessons, new: Example) -> tuple[Example, ...]:
    """Return the earlier corrected examples with a half that looks like one of *new*, but has another number."""
    by_new = _of(lessons, new)
    takers = _takers(lessons, new, _SAME_HALF)
    return tuple(
        old
        for old in lessons.examples
        if old is not new
        and old.tile.is_corrected
        and (takers[_of(lessons, old)].any() or _takers(lessons, old, _SAME_HALF)[by_new].any())
    )


def _is_like_others(lessons: Lessons, new: Example, others: Sequence[Example]) -> bool:
    """Return True if halves of other examples look like a misread half of *new*, but have other numbers."""
    own = _of(lessons, new)
    near = sum((_is_nearer(lessons, other, _SIMILAR_LOOK).sum(axis=0)[own] for other in others), np.zeros(own.sum()))
    is_taken = any(_takers(lessons, other, _TOO_SIMILAR)[own].any() for other in others)
    return is_taken or bool((near >= _MAX_SIMILAR).any())


def _is_nearer(lessons: Lessons, example: Example, distance: float) -> NDArray[np.bool_]:
    """Return a mask of the exemplars nearer to the halves of an example than *distance*, shape (2, N)."""
    # Only exemplars of other numbers count.
    exemplars = lessons.exemplars
    assert exemplars is not None  # the callers have a corrected tile
    nearer = np.median(exemplars.distances(_inputs(example.views)[:, 0]), axis=0) < distance
    return np.asarray(nearer & (exemplars.pips != np.array(example.tile.pips)[:, None]))


def _takers(lessons: Lessons, example: Example, share: float) -> NDArray[np.bool_]:
    """Return a mask of the exemplars that take over a half of an example that has another number, shape (N,).

    They are fitted to be without effect on such halves, unless both look the same. Halves with nearly the same features
    count too, because only their light may differ.

    Args:
        lessons: The exemplars.
        example: The example.
        share: Minimum share of the views of the half in which the exemplar has at least half of its effect.
    """
    exemplars = lessons.exemplars
    assert exemplars is not None  # the callers have a corrected tile
    is_taken = (exemplars.effects(_inputs(example.views)[:, 0]) > _HALF_EFFECT).mean(axis=0) >= share
    is_taken &= exemplars.pips != np.array(example.tile.pips)[:, None]
    return np.asarray((is_taken | _is_nearer(lessons, example, _SAME_LOOK)).any(axis=0))


def _of(lessons: Lessons, example: Example) -> NDArray[np.bool_]:
    """Return a mask of the exemplars of an example, shape (N,)."""
    owners = [old for old in lessons.examples for half in (0, 1) if old.tile.pips[half] != old.tile.read[half]]
    return np.array([owner is example for owner in owners])


def _read(correction: TileCorrection, reader: Reader, exemplars: Exemplars | None) -> list[TilePair]:
    """Return the numbers of the tiles on the table as read with *exemplars*."""
    tiles = replace(reader, exemplars=exemplars).read_again(correction.image, correction.poses)
    return [(first.pips, second.pips) for first, second in (tile.halves for tile in tiles if tile.halves)]


def _inputs(views: Views) -> NDArray[np.float64]:
    """Return views without the bias, shape (V, N, 2, D)."""
    return views.seen[..., :-1]


def _reads(example: Example, reader: Reader, exemplars: Exemplars | None) -> NDArray[np.bool_]:
    """Return a mask of the halves of an example that are read right in all its views together, shape (2,)."""
    own, outputs, views = reader.own_set, example.views.logs, example.views
    if own is not None:
        outputs = own.believed * outputs[..., : own.max_pips + 1] + views.seen @ own.weights
    if exemplars is not None:
        outputs = outputs + exemplars.bonus(_inputs(views), outputs.shape[3])
    return np.asarray(np.log(softmax(outputs) + _FLOOR).mean(axis=0)[0].argmax(axis=1) == example.tile.pips)
