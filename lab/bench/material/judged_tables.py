"""Evaluate the reader on rendered tables tile by tile, and add up the figures."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.training.pips import true_halves
from lab.training.tables import LearningTable, draw_in_processes
from vision.arrays import Points
from vision.networks.network import DOWN, UP
from vision.poses import Poses, sides_px
from vision.reader.reader import Reader, load_reader
from vision.reading import SURE, Face, Half, Reading, SeenTile

T = TypeVar("T")

# Readings with this confidence should be right 999 times in 1000.
VERY_SURE = 0.99
# Maximum distance, in sides, of an unsure tile from the true tile it refers to, and of a tile from an unreadable one.
_ABOUT = 1.0
_AT_UNREAD = 0.35


@dataclass(frozen=True, slots=True)
class JudgedTile:
    """A readable face-up tile, and its reading.

    Attributes:
        pips: True numbers.
        read: Halves of the reading in the order of *pips*, or None if the tile was not found.
        is_unsure: True if the tile was not found, but an unsure tile is near it.
    """

    side_px: float
    pips: tuple[int, int]
    read: tuple[Half, Half] | None
    is_unsure: bool = False

    @property
    def is_silent(self) -> bool:
        """True if the tile was not found and there is no unsure tile near it."""
        return self.read is None and not self.is_unsure

    @property
    def misread(self) -> tuple[Half, ...]:
        """Halves of the reading with a wrong number."""
        return tuple(half for half, pips in zip(self.read or (), self.pips, strict=False) if half.pips != pips)


@dataclass(frozen=True, slots=True)
class JudgedTable:
    """Evaluation of a table.

    Attributes:
        tiles: True face-up tiles.
        spare: Tiles of the reading without a true tile.
        backs, backs_found: Number of face-down tiles, and of those that were found.
        unsure_spare: Number of unsure tiles without any true tile.
    """

    tiles: tuple[JudgedTile, ...]
    spare: tuple[SeenTile, ...] = ()
    backs: int = 0
    backs_found: int = 0
    unsure_spare: int = 0


def side_of(tile: SeenTile) -> float:
    """Return the side of a half of a tile of the reading."""
    area = cv2.contourArea(np.array(tile.corners_px, np.float32))
    return float(np.sqrt(area / 2))


def judge(reading: Reading, table: LearningTable) -> JudgedTable:
    """Compare a reading with the true tiles. Readings of unreadable tiles do not count."""
    up = [tile for tile in reading.tiles if tile.halves]
    down = [tile for tile in reading.tiles if tile.face is Face.DOWN]
    poses, backs = table.poses[table.faces == UP], table.poses[table.faces == DOWN]
    which, which_back = _found(up, poses), _found(down, backs)
    unsure = reading.unsure
    matched = (*zip(up, which[:, 0], strict=True), *zip(down, which_back[:, 0], strict=True))
    spare = [tile for tile, at in matched if at < 0]
    return JudgedTable(
        tuple(_judged_tiles(poses, table.pips, up, which, unsure)),
        tuple(tile for tile in spare if not _is_at(tile, table.unread_px)),
        len(backs),
        len(set(which_back[:, 0].tolist()) - {-1}),
        sum(not _about(tile, table.poses).any() and not _is_at(tile, table.unread_px) for tile in unsure),
    )


def _found(tiles: Sequence[SeenTile], truth: Poses) -> NDArray[np.intp]:
    """Match halves to true halves.

    Returns:
        2 * tile + half for each half, shape (N, 2). -1 without a match, or if the true tile is already matched.
    """
    centers = np.array([tile.half_centers_px for tile in tiles]).reshape(-1, 2, 2)
    which = true_halves(centers, truth).reshape(-1, 2)
    _, first = np.unique(which[:, 0] // 2, return_index=True)
    again = np.ones(len(which), bool)
    again[first] = False
    which[again] = -1
    return which


def _judged_tiles(
    poses: Poses, pips: NDArray[np.int64], up: Sequence[SeenTile], which: NDArray[np.intp], unsure: Sequence[SeenTile]
) -> Iterator[JudgedTile]:
    halves: dict[int, tuple[Half, Half]] = {}
    for tile, (first, _) in zip(up, which.tolist(), strict=True):
        if first >= 0 and tile.halves:
            halves[first // 2] = tile.halves if first % 2 == 0 else (tile.halves[1], tile.halves[0])
    named = np.zeros(len(poses), bool)
    for tile in unsure:
        named |= _about(tile, poses)
    for at, side in enumerate(sides_px(poses).tolist()):
        read = halves.get(at)
        both = (int(pips[at, 0]), int(pips[at, 1]))
        yield JudgedTile(side, both, read, read is None and bool(named[at]))


def _about(tile: SeenTile, poses: Poses) -> NDArray[np.bool_]:
    """Return a mask of the true tiles that are near a tile of the reading, shape (N,)."""
    gaps = np.linalg.norm(poses[:, :2] - np.array(tile.center_px), axis=1)
    return np.asarray(gaps < _ABOUT * sides_px(poses))


def _is_at(tile: SeenTile, outlines_px: Iterable[Points]) -> bool:
    """Return True if the middle of a tile is inside any of the outlines, or nearly."""
    reach_px = _AT_UNREAD * side_of(tile)
    hulls = (cv2.convexHull(outline.astype(np.float32)) for outline in outlines_px)
    return any(cv2.pointPolygonTest(hull, tile.center_px, measureDist=True) > -reach_px for hull in hulls)


HEADINGS = ("tiles", "found", "precise", "halves", "misread", "at 0.8", "at 0.99", "unsure", "silent")
_WIDTH = 9


@dataclass(slots=True)
class Figures:
    """Combined figures.

    Attributes:
        tiles: True tiles.
        found, unsure, silent: True tiles that were found, unsure, or missed silently.
        spare: Tiles of the reading without a true tile.
        misread: Confidence of each misread half.
    """

    tiles: int = 0
    found: int = 0
    unsure: int = 0
    silent: int = 0
    spare: int = 0
    misread: list[float] = field(default_factory=list)

    def add(self, tiles: Iterable[JudgedTile], spare: int = 0) -> None:
        """Add tiles, and a number of spare tiles."""
        self.spare += spare
        for tile in tiles:
            self.tiles += 1
            self.found += tile.read is not None
            self.unsure += tile.is_unsure
            self.silent += tile.is_silent
            self.misread += [half.confidence for half in tile.misread]

    def merge(self, other: Figures) -> None:
        """Add the figures of other tables."""
        self.tiles += other.tiles
        self.found += other.found
        self.unsure += other.unsure
        self.silent += other.silent
        self.spare += other.spare
        self.misread += other.misread

    def bold(self, least: float) -> int:
        """Return the number of halves misread with a confidence of at least *least*."""
        return sum(confidence >= least for confidence in self.misread)

    def cells(self) -> tuple[str, ...]:
        """Return the cells below `HEADINGS`: counts, and shares of tiles and of found halves."""
        halves = 2 * self.found
        return (
            str(self.tiles),
            _share(self.found, self.tiles),
            _share(self.found, self.found + self.spare),
            str(halves),
            *(_share(count, halves) for count in (len(self.misread), self.bold(SURE), self.bold(VERY_SURE))),
            _share(self.unsure, self.tiles),
            _share(self.silent, self.tiles),
        )


def _share(count: int, of: int) -> str:
    return f"{100 * count / of:.2f} %" if of else "-"


def print_table(title: str, rows: Iterable[tuple[str, Figures]]) -> None:
    """Print a table of figures. Rows without any tiles are skipped."""
    shown = [(name, figures) for name, figures in rows if figures.tiles or figures.spare]
    wide = max(len(title), *(len(name) for name, _ in shown)) if shown else len(title)
    print(title.ljust(wide) + "".join(heading.rjust(_WIDTH) for heading in HEADINGS))
    for name, figures in shown:
        print(name.ljust(wide) + "".join(cell.rjust(_WIDTH) for cell in figures.cells()), flush=True)


def confidence_of(tile: SeenTile) -> float:
    """Return the lower confidence of the two halves, or 0 without halves."""
    return min((half.confidence for half in tile.halves), default=0.0)


def read_each(read: Callable[[int, int], T], options: Namespace) -> Iterator[T]:
    """Yield the results of *read* for the seed and the number of each table, computed in several processes."""
    return draw_in_processes(partial(read, options.seed), options.tables, options.jobs, lambda _: None)


@cache
def shipped_reader() -> Reader:
    """Return the shipped reader, loaded once per process."""
    return load_reader()
