"""Count the halves that the reader misreads on ten kinds of handmade sets, without knowing the set.

    python -m lab.bench.handmade [--tables 400] [--seed 2608] [--jobs 2] [--sheet worst.png]

The kinds are from `handmade_looks`. Each is a double-six set, scattered on a table of another colour, with halves of 30
to 80 pixels, a tilt of up to 25 degrees, good light and focus. A person could count every pip. The columns are those of
`lab.bench.foreign`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from lab.bench.material.handmade_looks import HIGHEST, KINDS, HandmadeKind, draw_handmade_looks
from lab.bench.material.judged_tables import (
    Figures,
    JudgedTable,
    WorstCase,
    WorstSheet,
    judge,
    parser_for,
    print_table,
    worst_in,
)
from lab.render import colors
from lab.render.layouts import visible_area
from lab.render.look_types import CameraLook, LightLook, TableLook, TileLook
from lab.render.looks import draw_camera_look, draw_light_look, draw_table_look
from lab.render.placements import random_hand, scatter
from lab.render.scene import Scene
from lab.training.processes import draw_in_processes
from lab.training.tables import table_of
from vision.arrays import Bgr
from vision.reader.reader import Reader, load_reader

# Separates these seeds from training seeds, which have two numbers.
_STREAM = 8
_SIDES_PX = (30.0, 80.0)
_LARGEST_TILT_DEG = 25.0
_TILES = (8, 21)
# Minimum difference of tiles and table in at least one channel, of 255.
_MIN_CONTRAST = 60.0
# Share of cloths in bright colours.
_BRIGHT = 0.4


@dataclass(frozen=True, slots=True)
class Drawn:
    """Evaluation of a table."""

    kind: str
    judged: JudgedTable
    cases: tuple[WorstCase, ...]


def main() -> None:
    """Print the figures, and write the sheet if requested."""
    options = parser_for(__doc__, tables=400, seed=2608).parse_args()
    draw = partial(read_table, options.seed, with_cases=options.sheet is not None)
    figures, total, sheet = defaultdict[str, Figures](Figures), Figures(), WorstSheet(options.sheet)
    for drawn in draw_in_processes(draw, options.tables, options.jobs, lambda _: None):
        for some in (figures[drawn.kind], total):
            some.add(drawn.judged.tiles, len(drawn.judged.spare))
        sheet.add(drawn.cases)
    print_table("made by hand", [*((kind.name, figures[kind.name]) for kind in KINDS), ("all", total)])
    sheet.write()


def read_table(seed: int, index: int, *, with_cases: bool) -> Drawn:
    """Render, read and evaluate a table."""
    rng = np.random.default_rng((seed, _STREAM, 1 + index))
    kind = KINDS[index % len(KINDS)]
    table = table_of(draw_table(rng, kind), rng, only_legible=False)
    judged = judge(_reader().read(table.image), table)
    cases = worst_in(judged, table.image, kind.name, f"table {index}") if with_cases else ()
    return Drawn(kind.name, judged, tuple(cases))


def draw_table(rng: np.random.Generator, kind: HandmadeKind) -> Scene:
    """Return scattered tiles of a kind, each with different pips."""
    looks = draw_handmade_looks(kind, rng, _TILES[1])
    look = looks[0]
    camera = calm_camera(rng, look)
    area = visible_area(camera)
    room = area.width_mm * area.height_mm / (look.length_mm * look.width_mm)
    count = int(np.clip(rng.integers(*_TILES), 1, max(1, room * 0.4)))
    tiles = scatter(rng, random_hand(rng, count, HIGHEST), area, look, gap_mm=1.0).tiles
    placed = tuple(replace(tile, look=at) for at, tile in enumerate(tiles))
    return Scene(placed, look, draw_cloth(rng, look.face_bgr), calm_light(rng), camera, more_looks=looks[1:])


def calm_camera(rng: np.random.Generator, look: TileLook) -> CameraLook:
    """Return a camera in focus without motion."""
    px_per_mm = float(np.exp(rng.uniform(*np.log(_SIDES_PX)))) / look.width_mm
    camera = draw_camera_look(rng, px_per_mm=px_per_mm)
    return replace(
        camera,
        tilt_rad=math.radians(rng.uniform(0, _LARGEST_TILT_DEG)),
        blur_px=min(camera.blur_px, 0.7),
        motion_px=0.0,
        noise=min(camera.noise, 2.5),
        bloom=min(camera.bloom, 0.02),
        jpeg_quality=max(camera.jpeg_quality or 0, 70),
    )


def calm_light(rng: np.random.Generator) -> LightLook:
    """Return a light without overexposure or dark areas."""
    light = draw_light_look(rng)
    exposure = float(np.clip(light.exposure, 0.8, 1.1))
    return replace(
        light, exposure=exposure, glare=0.0, band=0.0, spot=min(light.spot, 0.2), shadow=min(light.shadow, 0.5)
    )


def draw_cloth(rng: np.random.Generator, face_bgr: Bgr) -> TableLook:
    """Return a table or cloth, plain or patterned, sometimes bright, and never in the colour of the tiles."""
    while True:
        table = draw_table_look(rng)
        if rng.random() < _BRIGHT:
            base = colors.from_hsv(rng.uniform(0, 1), rng.uniform(0.2, 0.7), rng.uniform(0.5, 0.95))
            table = replace(table, base_bgr=base, second_bgr=colors.scaled(base, rng.uniform(0.7, 1.15)))
        if min(np.abs(np.subtract(face_bgr, bgr)).max() for bgr in (table.base_bgr, table.second_bgr)) > _MIN_CONTRAST:
            return table


@cache
def _reader() -> Reader:
    """Return the shipped reader, loaded once per process."""
    return load_reader()


if __name__ == "__main__":
    main()
