"""What the eye makes of rendered tables, tile by tile, added up for a line of figures, and its worst on a sheet."""

from __future__ import annotations

import argparse
import heapq
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from synthetic.training.pips.held_out import true_halves
from synthetic.training.tables import LearningTable
from tallybone.evaluate.mistakes import MOST_CELLS, Cell, Mistake, MistakeKind, crop_mistake, draw_sheets
from vision.arrays import Image, Points
from vision.geometry.poses import Poses, corners, sides_px
from vision.networks.refiner import DOWN, UP
from vision.reading import SURE, Face, Half, PointPx, Reading, SeenTile

# What is said with this is right 999 times of 1000, or should be.
VERY_SURE = 0.99
# What is said this near to a tile, in sides, is about that tile; and this near to one that cannot be read, as well.
_ABOUT, _AT_UNREAD = 1.0, 0.35
# So many mistakes of one picture are shown at most: a cloth can have the same one fifty times.
_OF_A_PICTURE = 6


@dataclass(frozen=True, slots=True)
class JudgedTile:
    """A true tile that lies face up and can be read.

    Attributes:
        side_px: Of a half, as it is seen.
        pips: What it shows.
        corners_px: Its outline.
        said: What was read, half by half in the order of *pips*; None where it was not found.
        is_unsure: Whether it was not found, but is said to be there.
    """

    side_px: float
    pips: tuple[int, int]
    corners_px: tuple[PointPx, ...]
    said: tuple[Half, Half] | None
    is_unsure: bool = False

    @property
    def is_silent(self) -> bool:
        """Whether nothing at all is said where it lies."""
        return self.said is None and not self.is_unsure

    @property
    def misread(self) -> tuple[Half, ...]:
        """The halves that are said to show another number than they do."""
        return tuple(half for half, pips in zip(self.said or (), self.pips, strict=False) if half.pips != pips)


@dataclass(frozen=True, slots=True)
class JudgedTable:
    """What was made of one table.

    Attributes:
        tiles: The true ones that lie face up.
        spare: Tiles that are said where none lies so.
        backs, backs_found: How many lie face down, and how many of them are said to.
        unsure_spare: How often something is said to be there, though unsure, where nothing is.
    """

    tiles: tuple[JudgedTile, ...]
    spare: tuple[SeenTile, ...] = ()
    backs: int = 0
    backs_found: int = 0
    unsure_spare: int = 0


def side_of(tile: SeenTile) -> float:
    """Return the side of a half of a tile that was read."""
    area = cv2.contourArea(np.array(tile.corners_px, np.float32))
    return float(np.sqrt(area / 2))


def judge(reading: Reading, table: LearningTable) -> JudgedTable:
    """Compare what was read with what truly lies there; what is said of tiles that cannot be read does not count."""
    up = [tile for tile in reading.tiles if tile.halves]
    down = [tile for tile in reading.tiles if tile.face is Face.DOWN]
    poses, backs = table.poses[table.faces == UP], table.poses[table.faces == DOWN]
    which, which_back = _found(up, poses), _found(down, backs)
    unsure = reading.unsure
    said = (*zip(up, which[:, 0], strict=True), *zip(down, which_back[:, 0], strict=True))
    spare = [tile for tile, at in said if at < 0]
    return JudgedTable(
        tuple(_judged_tiles(poses, table.pips, up, which, unsure)),
        tuple(tile for tile in spare if not _is_at(tile, table.unread_px)),
        len(backs),
        len(set(which_back[:, 0].tolist()) - {-1}),
        sum(not _about(tile, table.poses).any() and not _is_at(tile, table.unread_px) for tile in unsure),
    )


def _found(tiles: Sequence[SeenTile], truth: Poses) -> NDArray[np.intp]:
    """Return of which tile and half each half is, shape (N, 2) as 2 * tile + half.

    It is -1 where no such tile lies, or another was read in its place already.
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
    said: dict[int, tuple[Half, Half]] = {}
    for tile, (first, _) in zip(up, which.tolist(), strict=True):
        if first >= 0 and tile.halves:
            said[first // 2] = tile.halves if first % 2 == 0 else (tile.halves[1], tile.halves[0])
    named = np.zeros(len(poses), bool)
    for tile in unsure:
        named |= _about(tile, poses)
    outlines = corners(poses).tolist()
    for at, side in enumerate(sides_px(poses).tolist()):
        outline = tuple((x, y) for x, y in outlines[at])
        read = said.get(at)
        both = (int(pips[at, 0]), int(pips[at, 1]))
        yield JudgedTile(side, both, outline, read, read is None and bool(named[at]))


def _about(tile: SeenTile, poses: Poses) -> NDArray[np.bool_]:
    """Return which true tiles are so near that a tile is said of them, shape (N,)."""
    gaps = np.linalg.norm(poses[:, :2] - np.array(tile.center_px), axis=1)
    return np.asarray(gaps < _ABOUT * sides_px(poses))


def _is_at(tile: SeenTile, outlines_px: Iterable[Points]) -> bool:
    """Whether the middle of a tile lies on one of some outlines, or nearly."""
    reach_px = _AT_UNREAD * side_of(tile)
    hulls = (cv2.convexHull(outline.astype(np.float32)) for outline in outlines_px)
    return any(cv2.pointPolygonTest(hull, tile.center_px, measureDist=True) > -reach_px for hull in hulls)


HEADINGS = ("tiles", "found", "precise", "halves", "misread", "at 0.8", "at 0.99", "unsure", "silent")
_WIDTH = 9


@dataclass(slots=True)
class Figures:
    """Tiles and what was said of them, added up.

    Attributes:
        tiles: True ones.
        found, unsure, silent: Of them.
        spare: Tiles that are said where none lies so.
        misread: The confidence of each half that is misread.
    """

    tiles: int = 0
    found: int = 0
    unsure: int = 0
    silent: int = 0
    spare: int = 0
    misread: list[float] = field(default_factory=list)

    def add(self, tiles: Iterable[JudgedTile], spare: int = 0) -> None:
        """Add some tiles, and how many are said that are none."""
        self.spare += spare
        for tile in tiles:
            self.tiles += 1
            self.found += tile.said is not None
            self.unsure += tile.is_unsure
            self.silent += tile.is_silent
            self.misread += [half.confidence for half in tile.misread]

    def merge(self, other: Figures) -> None:
        """Add those of other tables."""
        self.tiles += other.tiles
        self.found += other.found
        self.unsure += other.unsure
        self.silent += other.silent
        self.spare += other.spare
        self.misread += other.misread

    def bold(self, least: float) -> int:
        """Return how many halves are misread with at least such a confidence."""
        return sum(confidence >= least for confidence in self.misread)

    def cells(self) -> tuple[str, ...]:
        """Return what stands below `HEADINGS`: shares of tiles and of halves that were found."""
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
    """Print figures below their headings, a line for each that has any tiles."""
    shown = [(name, figures) for name, figures in rows if figures.tiles or figures.spare]
    wide = max(len(title), *(len(name) for name, _ in shown)) if shown else len(title)
    print(title.ljust(wide) + "".join(heading.rjust(_WIDTH) for heading in HEADINGS))
    for name, figures in shown:
        print(name.ljust(wide) + "".join(cell.rjust(_WIDTH) for cell in figures.cells()), flush=True)


@dataclass(frozen=True, slots=True, order=True)
class WorstCase:
    """A mistake for the sheet: the higher *badness*, the sooner it is shown."""

    badness: float
    cell: Cell = field(compare=False)


def worst_in(judged: JudgedTable, image: Image, source: str, picture: str) -> list[WorstCase]:
    """Return the worst mistakes in a picture: misread and spare tiles by confidence, silent ones by their size."""
    found = [
        *(_misread(tile) for tile in judged.tiles if tile.misread),
        *(_missed(tile) for tile in judged.tiles if tile.is_silent),
        *map(_spare, judged.spare),
    ]
    return _worst(found, image, source, picture)


def worst_spare(tiles: Iterable[SeenTile], image: Image, source: str, picture: str) -> list[WorstCase]:
    """Return the worst of the tiles that are said in a picture without any."""
    return _worst(map(_spare, tiles), image, source, picture)


def _worst(found: Iterable[tuple[float, Mistake]], image: Image, source: str, picture: str) -> list[WorstCase]:
    worst = sorted(found, key=lambda one: -one[0])[:_OF_A_PICTURE]
    return [
        WorstCase(badness, Cell(source, picture, mistake.words, crop_mistake(image, mistake)))
        for badness, mistake in worst
    ]


def _name(pips: tuple[int, ...]) -> str:
    return "-".join(map(str, pips))


def _misread(tile: JudgedTile) -> tuple[float, Mistake]:
    said = tile.said or ()
    sure = ", ".join(f"{half.confidence:.2f}" for half in said)
    words = f"{_name(tile.pips)} read as {_name(tuple(half.pips for half in said))} ({sure})"
    return max(half.confidence for half in tile.misread), Mistake(MistakeKind.MISREAD, words, (tile.corners_px,))


def _missed(tile: JudgedTile) -> tuple[float, Mistake]:
    words = f"missed {_name(tile.pips)}, {tile.side_px:.0f} px"
    return SURE * (1 - 1 / (1 + tile.side_px / 20)), Mistake(MistakeKind.MISSED, words, (tile.corners_px,))


def _spare(tile: SeenTile) -> tuple[float, Mistake]:
    if tile.face is Face.UNSURE:
        return 0.0, Mistake(MistakeKind.SPARE, "spare unsure tile", (tile.corners_px,))
    if not tile.halves:
        return 1.0, Mistake(MistakeKind.SPARE_BACK, "spare face-down tile", (tile.corners_px,))
    sure = confidence_of(tile)
    words = f"spare {_name(tuple(half.pips for half in tile.halves))} ({sure:.2f})"
    return sure, Mistake(MistakeKind.SPARE, words, (tile.corners_px,))


def confidence_of(tile: SeenTile) -> float:
    """Return the confidence of the less sure half; 0 where none is read."""
    return min((half.confidence for half in tile.halves), default=0.0)


class WorstSheet:
    """Keeps the worst cases, and writes them."""

    def __init__(self, path: Path | None, *, most: int = MOST_CELLS) -> None:
        """Take the file to write, or None for none, and how many cases it has room for."""
        self._path = path
        self._most = most
        self._worst: list[tuple[float, int, WorstCase]] = []
        self._count = 0

    def add(self, cases: Iterable[WorstCase]) -> None:
        """Keep what is worse than what was kept."""
        for case in cases:
            self._count += 1
            entry = (case.badness, -self._count, case)
            if len(self._worst) < self._most:
                heapq.heappush(self._worst, entry)
            else:
                heapq.heappushpop(self._worst, entry)

    def write(self) -> None:
        """Write the worst cases by their sources, the worst of each first; nothing where there are none."""
        if self._path is None or not self._worst:
            return
        cells = [case.cell for _, _, case in sorted(self._worst, reverse=True)]
        (drawn,) = draw_sheets(sorted(cells, key=lambda cell: cell.source))
        if not cv2.imwrite(str(self._path), drawn):
            raise OSError(f"{self._path}: cannot be written")
        print(f"{len(cells)} worst cases: {self._path}")


def _png_file(name: str) -> Path:
    """Return a file that can be written, before minutes are spent on what it will show."""
    path = Path(name)
    if path.suffix.lower() != ".png" or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"expected a PNG file in a folder that exists, got {name}")
    return path


def parser_for(text: str | None, *, tables: int, seed: int) -> argparse.ArgumentParser:
    """Return the options that these benchmarks share, with the defaults of one of them."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=tables)
    parser.add_argument("--seed", type=int, default=seed)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes that render and read")
    parser.add_argument("--sheet", type=_png_file, metavar="FILE", help="draw the worst cases into this PNG file")
    return parser
