"""Count the reader's false positives on rendered tables without tiles, and in photos without tiles.

    python -m lab.bench.bait [PHOTOGRAPH ...] [--tables 200] [--seed 2609] [--jobs 2]

The rendered tables and floors are like other people's photos, with many objects, prints, hands and arms. They contain
no tiles, and no printed or standing dominoes, which the reader may report. The target is 0 tiles with a confidence
above 0.8 for both halves, and 0 face-down tiles.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from lab.bench.material.harness import options_of
from lab.bench.material.judged_tables import confidence_of, read_each, shipped_reader
from lab.render.layouts import draw_bare_scene
from lab.render.paint import render
from lab.training.tables import draw_in_processes
from vision.image.picture import load_picture
from vision.reading import SURE, Face, Reading

# Separates these seeds from training seeds, which have two numbers.
_STREAM = 9


@dataclass(frozen=True, slots=True)
class Bait:
    """False positives in pictures without tiles.

    Attributes:
        tiles: Tiles, without unsure ones.
        sure: Tiles with a confidence above 0.8 for both halves.
        taken_in: Pictures with a sure or face-down tile.
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
    options = options_of(__doc__, "photographs...", tables=200, seed=2609, jobs=os.cpu_count() or 1)
    print(f"rendered benches: {sum(read_each(read_bench, options), Bait())}", flush=True)
    if photographs := tuple(options.photographs):
        read = partial(read_photograph, photographs)
        print(f"photographs: {sum(draw_in_processes(read, len(photographs), options.jobs, lambda _: None), Bait())}")


def read_bench(seed: int, index: int) -> Bait:
    """Render and read a table without tiles."""
    rng = np.random.default_rng((seed, _STREAM, 1 + index))
    return bait_in(shipped_reader().read(render(draw_bare_scene(rng), rng).image))


def read_photograph(paths: tuple[Path, ...], index: int) -> Bait:
    return bait_in(shipped_reader().read(load_picture(paths[index])))


if __name__ == "__main__":
    main()
