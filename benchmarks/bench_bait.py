"""How many tiles the eye says where none lies: on rendered benches full of other things, and in photographs of such.

    python benchmarks/bench_bait.py [PHOTOGRAPH ...] [--tables 200] [--seed 2609] [--jobs 2] [--sheet worst.png]

The benches: tables and floors as cameras elsewhere see them, with things of all kinds, prints, hands and arms, but
without tiles and without what is a tile to the eye, printed dominoes and those on edge. Wanted is none that is said
with more than 0.8 for both halves, or to lie face down.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.judged_tables import WorstCase, WorstSheet, confidence_of, parser_for, worst_spare
from synthetic.render.foreign import draw_foreign_scene
from synthetic.render.layouts import before_camera, visible_area
from synthetic.render.paint import render
from synthetic.render.scene import ClutterKind, Scene
from synthetic.render.seats import draw_reach
from synthetic.render.things import draw_clutter
from synthetic.training.processes import draw_in_processes
from vision.arrays import Image
from vision.image.picture import load_picture
from vision.reader.reader import Reader, load_reader
from vision.reading import SURE, Face, Reading

# Keeps the seeds apart from those that networks learn from, which have two numbers.
_STREAM = 9
_TILES = (ClutterKind.PRINTED_TILE, ClutterKind.STANDING_TILE)
THINGS = tuple(kind for kind in ClutterKind if kind not in _TILES)
_MORE_THINGS = (4, 16)
_SECOND_HAND = 0.5


@dataclass(frozen=True, slots=True)
class Bait:
    """What was said of some pictures without tiles.

    Attributes:
        pictures: How many.
        taken_in: In how many of them a tile is said with more than 0.8.
        said: Tiles that are said, unsure ones left out.
        sure: Those of them with more than 0.8 for both halves.
        down: Those that are said to lie face down.
        unsure: What is said to be there, though unsure.
    """

    pictures: int = 0
    taken_in: int = 0
    said: int = 0
    sure: int = 0
    down: int = 0
    unsure: int = 0

    def __add__(self, other: Bait) -> Bait:
        return Bait(*(getattr(self, name) + getattr(other, name) for name in Bait.__slots__))

    def __str__(self) -> str:
        return (
            f"{self.said} tiles said in {self.pictures} pictures, {self.sure} of them with more than {SURE} and"
            f" {self.down} face down, in {self.taken_in} pictures; unsure: {self.unsure}"
        )


def bait_in(reading: Reading) -> Bait:
    """Return what was said of one picture without tiles."""
    said = reading.without_unsure().tiles
    down = sum(tile.face is Face.DOWN for tile in said)
    sure = sum(tile.face is Face.UP and confidence_of(tile) > SURE for tile in said)
    return Bait(1, int(sure + down > 0), len(said), sure, down, len(reading.unsure))


def main() -> None:
    """Print the figures, and write the sheet if one is wanted."""
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
    """Return a file that is there, before minutes are spent on benches."""
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
    """Return what the eye says of one rendered bench."""
    rng = np.random.default_rng((seed, _STREAM, 1 + index))
    image = render(draw_bench(rng), rng).image
    return _read(image, "rendered benches", f"bench {index}")


def read_photograph(paths: tuple[Path, ...], index: int) -> tuple[Bait, list[WorstCase]]:
    """Return what the eye says of one photograph."""
    return _read(load_picture(paths[index]), "photographs", paths[index].name)


def _read(image: Image, source: str, picture: str) -> tuple[Bait, list[WorstCase]]:
    reading = _reader().read(image)
    return bait_in(reading), worst_spare(reading.tiles, image, source, picture)


def draw_bench(rng: np.random.Generator) -> Scene:
    """Return a table of `draw_foreign_scene` with more things and hands, and nothing that is a tile."""
    scene = draw_foreign_scene(rng)
    area = visible_area(scene.camera).grown(2 * scene.tile.length_mm)
    more = draw_clutter(rng, area, scene.tile, (), int(rng.integers(*_MORE_THINGS)), kinds=THINGS)
    if scene.floor is not None:
        floor = scene.floor
        more = tuple(thing for thing in more if floor.margin_mm(thing.center_mm) > 0)
    things = (*(thing for thing in scene.clutter if thing.kind not in _TILES), *before_camera(scene.camera, *more))
    second = (draw_reach(rng, area, scene.tile),) if rng.random() < _SECOND_HAND else ()
    return replace(scene, tiles=(), joins=(), more_looks=(), clutter=things, reaches=(*scene.reaches, *second))


@cache
def _reader() -> Reader:
    """Return the shipped eye; each process has its own."""
    return load_reader()


if __name__ == "__main__":
    main()
