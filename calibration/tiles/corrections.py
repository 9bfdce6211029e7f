"""Learn the looks of single tiles from corrections by players, and refuse those that would do harm."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import reduce

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.tiles.tile_set import LearnedSet, decode_sheet
from vision.arrays import Image
from vision.geometry.odds import softmax
from vision.geometry.poses import Poses
from vision.networks.tile_sheet import TileSheet, cut_out
from vision.reader.custom_set import Exemplars, Views, fit_exemplars, look
from vision.reader.reader import Reader

# Maximum numbers of corrected tiles and of other tiles that a table keeps. The oldest are dropped.
_MAX_CORRECTED, _MAX_OTHERS = 30, 60
_JPEG_QUALITY = 92
_VIEWS = 20
_HIGHEST = 18
# Minimum shares of the views of a half that an exemplar takes over for both to count as the same half, and for both to
# be too similar. Median distances, in reaches, below which halves look the same and similar, and minimum number of
# similar halves with other numbers for a number to be doubted.
_SAME_HALF, _TOO_SIMILAR, _HALF_EFFECT = 0.5, 0.15, 0.5
_SAME_LOOK, _SIMILAR_LOOK, _MAX_SIMILAR = 0.65, 0.7, 2
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
        read: Numbers that were read.
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

    Args:
        known: Earlier lessons.
        correction: The correction.
        reader: Reader for the set on the table, without exemplars.
        calibrated: Tiles of the calibrated set.
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
        after = lessons_of(_limited(examples), calibrated)
        contradicted = _contradicted(after, new)
        if contradicted:
            rest = tuple(old for old in known.examples if old not in contradicted)
            return lessons_of(rest, calibrated), LessonResult.CONTRADICTORY
        now = _read(correction, reader, after.exemplars)
        is_harmful = (
            now[0] != correction.pips
            or any(now[at] != before[at] for at in correction.confident)
            or _is_like_others(after, new, (*calibrated, *kept, *others))
            or _spoils(after, known, (*calibrated, *(old for old in kept if old.tile.is_corrected)), reader)
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


def _spoils(after: Lessons, before: Lessons, examples: Sequence[Example], reader: Reader) -> bool:
    """Return True if a half of the examples is read right with the lessons *before*, but not with those *after*."""
    was, now = before.exemplars, after.exemplars
    return any((_reads(example, reader, was) & ~_reads(example, reader, now)).any() for example in examples)


def _is_nearer(lessons: Lessons, example: Example, distance: float) -> NDArray[np.bool_]:
    """Return a mask of the exemplars nearer to the halves of an example than *distance*, shape (2, N).

    Only exemplars of other numbers count.
    """
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


def _limited(examples: Sequence[Example]) -> tuple[Example, ...]:
    """Return the newest examples, up to the maximum numbers, in the same order."""
    corrected = [example for example in examples if example.tile.is_corrected][-_MAX_CORRECTED:]
    others = [example for example in examples if not example.tile.is_corrected][-_MAX_OTHERS:]
    return tuple(example for example in examples if example in (*corrected, *others))


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
