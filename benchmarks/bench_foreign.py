"""How many tiles the eye finds, and misreads, on rendered tables as cameras elsewhere see them; the set is not told.

    python benchmarks/bench_foreign.py [--tables 600] [--seed 2607] [--jobs 2] [--sheet worst.png]

A third of the tables is seen from 25 to 65 degrees, in colours that set tiles and table apart; a third from up to 25,
but of like colours, light on light or dark on dark; a third is both. Tiles that nobody could read do not count, nor do
those of less than 12 pixels a half, which have a line of their own. *Precise* is the share of the tiles said that lie
there; *misread*, also at a confidence of 0.8 and 0.99, the share of the halves that were found; *silent* the share of
the tiles of which nothing is said, not even that something unsure lies there. Tables have seeds that nothing learns
from.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, partial
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.judged_tables import (
    Figures,
    JudgedTable,
    WorstCase,
    WorstSheet,
    judge,
    parser_for,
    print_table,
    side_of,
    worst_in,
)
from synthetic.render.foreign import draw_foreign_scene
from synthetic.render.scene import ClutterKind, Scene
from synthetic.training.processes import draw_in_processes
from synthetic.training.tables import draw_max_pips, table_of
from vision.arrays import Bgr
from vision.reader.reader import Reader, load_reader

# Keeps the seeds apart from those that networks learn from, which have two numbers.
_STREAM = 7
# Tile and table that differ less than this are like one another, in CIE76.
LIKE = 15.0
_STEEP_DEG, _LARGEST_DEG = 25.0, 65.0
_LEAST_PX = 12.0
# Where bands end, and their names.
_TILTS_DEG = (
    (25.0, "below 25 degrees"),
    (35.0, "25-35 degrees"),
    (45.0, "35-45 degrees"),
    (55.0, "45-55 degrees"),
    (90.0, "55-65 degrees"),
)
_SIDES_PX = ((_LEAST_PX, "below 12 px"), (20.0, "12-20 px"), (40.0, "20-40 px"), (math.inf, "40-120 px"))
ROWS = ("all", *(name for _, name in _TILTS_DEG), *(name for _, name in _SIDES_PX))


class Kind(StrEnum):
    """What makes a table hard to see."""

    STEEP = "25 to 65 degrees"
    LIKE = "like on like"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was made of one table."""

    kind: Kind
    tilt_deg: float
    judged: JudgedTable
    cases: tuple[WorstCase, ...]


def main() -> None:
    """Print the figures, and write the sheet if one is wanted."""
    options = parser_for(__doc__, tables=600, seed=2607).parse_args()
    draw = partial(read_table, options.seed, with_cases=options.sheet is not None)
    figures: defaultdict[tuple[Kind, str], Figures] = defaultdict(Figures)
    backs, backs_found, unsure_spare, sheet = 0, 0, 0, WorstSheet(options.sheet)
    for drawn in draw_in_processes(draw, options.tables, options.jobs, lambda _: None):
        for row, some in figures_of(drawn.judged, drawn.tilt_deg).items():
            figures[drawn.kind, row].merge(some)
        backs, backs_found = backs + drawn.judged.backs, backs_found + drawn.judged.backs_found
        unsure_spare += drawn.judged.unsure_spare
        sheet.add(drawn.cases)
    total = Figures()
    for kind in Kind:
        print_table(kind, ((row, figures[kind, row]) for row in ROWS))
        total.merge(figures[kind, "all"])
    print_table("all tables", (("all", total),))
    print(f"face down: {backs_found} of {backs} found; unsure where nothing lies: {unsure_spare}")
    sheet.write()


def band_of_tilt(tilt_deg: float) -> str:
    """Return the name of the band of tilts that one belongs to."""
    return next(name for most, name in _TILTS_DEG if tilt_deg < most)


def band_of_side(side_px: float) -> str:
    """Return the name of the band of sides that one belongs to."""
    return next(name for most, name in _SIDES_PX if side_px < most)


def figures_of(judged: JudgedTable, tilt_deg: float) -> dict[str, Figures]:
    """Return the figures of one table for each of `ROWS` that it belongs to."""
    figures: defaultdict[str, Figures] = defaultdict(Figures)
    counted = [tile for tile in judged.tiles if tile.side_px >= _LEAST_PX]
    for row in ("all", band_of_tilt(tilt_deg)):
        figures[row].add(counted, len(judged.spare))
    for tile in judged.tiles:
        figures[band_of_side(tile.side_px)].add([tile])
    for spare in judged.spare:
        figures[band_of_side(side_of(spare))].add((), 1)
    return dict(figures)


def read_table(seed: int, index: int, *, with_cases: bool) -> Drawn:
    """Render one table, and return what the eye makes of it."""
    rng = np.random.default_rng((seed, _STREAM, 1 + index))
    kind = tuple(Kind)[index % len(Kind)]
    scene = draw_table(rng, kind)
    table = table_of(scene, rng)
    judged = judge(_reader().read(table.image), table)
    tilt_deg = float(np.degrees(scene.camera.tilt_rad))
    name = f"table {index}, {tilt_deg:.0f} degrees"
    return Drawn(kind, tilt_deg, judged, tuple(worst_in(judged, table.image, kind, name)) if with_cases else ())


def draw_table(rng: np.random.Generator, kind: Kind) -> Scene:
    """Return a table of one kind, without printed dominoes: to the eye those are tiles."""
    max_pips = draw_max_pips(rng)
    tilts_deg = (0.0, _STEEP_DEG) if kind is Kind.LIKE else (_STEEP_DEG, _LARGEST_DEG)
    while True:
        # One tilt, not a range: the scene draws steep ones more often.
        tilt = float(np.radians(rng.uniform(*tilts_deg)))
        scene = draw_foreign_scene(rng, max_pips=max_pips, tilt_rad=(tilt, tilt))
        if scene.tiles and (difference(scene.tile.face_bgr, scene.table.base_bgr) < LIKE) == (kind is not Kind.STEEP):
            things = tuple(thing for thing in scene.clutter if thing.kind is not ClutterKind.PRINTED_TILE)
            return replace(scene, clutter=things)


def difference(first: Bgr, second: Bgr) -> float:
    """Return how far two colours are apart, in CIE76."""
    lab = cv2.cvtColor(np.array([[first, second]], np.float32) / 255, cv2.COLOR_BGR2LAB)[0]
    return float(np.linalg.norm(lab[0] - lab[1]))


@cache
def _reader() -> Reader:
    """Return the shipped eye; each process has its own."""
    return load_reader()


if __name__ == "__main__":
    main()
