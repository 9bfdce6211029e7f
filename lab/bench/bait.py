"""Count the reader's false positives on rendered tables without tiles, and in photos without tiles.

    python -m lab.bench.bait [PHOTOGRAPH ...] [--tables 200] [--seed 2609] [--jobs 2] [--sheet worst.png]

The rendered tables and floors are like other people's photos, with many objects, prints, hands and arms. They contain
no tiles, and no printed or standing dominoes, which the reader may report. The target is 0 tiles with a confidence
above 0.8 for both halves, and 0 face-down tiles.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from lab.bench.material.judged_tables import WorstCase, WorstSheet, confidence_of, parser_for, worst_spare
from lab.render.layouts import draw_bare_scene
from lab.render.paint import render
from lab.training.tables import draw_in_processes
from vision.arrays import Image
from vision.image.picture import load_picture
from vision.reader.reader import Reader, load_reader
from vision.reading import SURE, Face, Reading

# Separates these seeds from training seeds, which have two numbers.
_STREAM = 9


@dataclass(frozen=True, slots=True)
class Bait:
    """False positives in pictures without tiles.

    Attributes:
        pictures: Number of pictures.
        taken_in: Pictures with a sure or face-down tile.
        tiles: Tiles, without unsure ones.
        sure: Tiles with a confidence above 0.8 for both halves.
        down: Face-down tiles.
        unsure: Unsure tiles.
    """

    pictures: int = 0
    taken_in: int = 0
    tiles: int = 0
    sure: int = 0
    down: int = 0
    unsure: int = 0

    def __add__(self, other: Bait) -> Bait:
        return Bait(*(getattr(self, name) + getattr(other, name) for name in Bait.__slots__))

    def __str__(self) -> str:
        return (
            f"{self.tiles} tiles said in {self.pictures} pictures, {self.sure} of them with more than {SURE} and"
            f" {self.down} face down, in {self.taken_in} pictures; unsure: {self.unsure}"
        )


def bait_in(reading: Reading) -> Bait:
    """Return the false positives in a reading of a picture without tiles."""
    tiles = reading.without_unsure().tiles
    down = sum(tile.face is Face.DOWN for tile in tiles)
    sure = sum(tile.face is Face.UP and confidence_of(tile) > SURE for tile in tiles)
    return Bait(1, int(sure + down > 0), len(tiles), sure, down, len(reading.unsure))


def main() -> None:
    """Print the figures, and write the sheet if requested."""
    parser = parser_for(__doc__, tables=200, seed=2609)
    parser.add_argument("photographs", nargs="*", type=_photograph, metavar="PHOTOGRAPH")
    options = parser.parse_args()
    sheet = WorstSheet(options.sheet)
    benches = draw_in_processes(partial(read_bench, options.seed), options.tables, options.jobs, lambda _: None)
    print(f"rendered benches: {_added(benches, sheet)}", flush=True)
    if options.photographs:
        photographs = draw_in_processes(
            partial(read_photograph, tuple(options.photographs)), len(options.photographs), options.jobs, lambda _: None
        )
        print(f"photographs: {_added(photographs, sheet)}")
    sheet.write()


def _photograph(name: str) -> Path:
    """Check that a file exists before spending minutes on rendering."""
    path = Path(name)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"there is no file {name}")
    return path


def _added(read: Iterable[tuple[Bait, list[WorstCase]]], sheet: WorstSheet) -> Bait:
    total = Bait()
    for bait, cases in read:
        total += bait
        sheet.add(cases)
    return total


def read_bench(seed: int, index: int) -> tuple[Bait, list[WorstCase]]:
    """Render and read a table without tiles."""
    rng = np.random.default_rng((seed, _STREAM, 1 + index))
    image = render(draw_bare_scene(rng), rng).image
    return _read(image, "rendered benches", f"bench {index}")


def read_photograph(paths: tuple[Path, ...], index: int) -> tuple[Bait, list[WorstCase]]:
    """Read a photo."""
    return _read(load_picture(paths[index]), "photographs", paths[index].name)


def _read(image: Image, source: str, picture: str) -> tuple[Bait, list[WorstCase]]:
    reading = _reader().read(image)
    return bait_in(reading), worst_spare(reading.tiles, image, source, picture)


@cache
def _reader() -> Reader:
    """Return the shipped reader, loaded once per process."""
    return load_reader()


if __name__ == "__main__":
    main()
