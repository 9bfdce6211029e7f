"""Measure the accuracy and duration of lens and table calibration on rendered pictures.

    python -m lab.bench.calibration [--repeats 5]

Lens: 12 views of the board at 1280 x 720, with noise. Table: corner blocks at 2304 x 1296, and tiles from the reader,
at several tilts. Reports the worst of 63 points over 80 x 44 cm, on the plane of the tile tops. Uses one core.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace

import cv2
import numpy as np

from calibration.lens.lens import find_view, fit_lens
from calibration.table.picture import find_corner_marks
from calibration.table.table import Table, TileSize, table_from_markers, table_from_tiles
from lab.bench.material.harness import options_of
from lab.render.looks import CLASSIC, FELT, LAMP
from lab.render.paint import render
from lab.render.scene import PlacedTile, Scene
from lab.render.view import view_of
from tallybone.calibrate.lens_and_table import ReadTiles
from tests.calibration import held, laid
from vision.reader.reader import load_reader

_THICKNESS_MM = CLASSIC.thickness_mm
_TILTS = (0, 10, 25)


def main() -> None:
    """Print the worst and the median error of each."""
    repeats = options_of(__doc__, repeats=5).repeats
    cv2.setNumThreads(1)
    for repeat in range(repeats):
        pictures = [held.picture_of(place, 100 * repeat + at) for at, place in enumerate(held.GOOD)]
        start = time.thread_time()
        views = [find_view(picture) for picture in pictures]
        found_s = time.thread_time()
        lens = fit_lens(views)
        fitted = time.thread_time()
        off = lens.focal_px[0] / (held.FOCAL_PX * (1 + held.LENS)) - 1
        print(
            f"lens: reprojection {lens.error_px:.3f} px, focal length {100 * off:+.3f} %,"
            f" find {1e3 * (found_s - start) / len(views):.0f} ms a picture, fit {1e3 * (fitted - found_s):.0f} ms"
        )
    for name, hidden_mm in (("blocks", None), ("blocks half covered", 40.0)):
        for tilt in _TILTS:
            _report(f"{name}, tilt {tilt:2d}", _by_blocks(tilt, hidden_mm, repeats))
    reader = load_reader(6)
    for tilt in _TILTS:
        _report(
            f"16 tiles as read, tilt {tilt:2d}",
            _by_tiles(lambda image: reader.read(image).without_unsure().tiles, tilt, repeats),
        )


def _by_blocks(tilt: int, hidden_mm: float | None, repeats: int) -> Iterator[tuple[float, float]]:
    """Yield the worst error in mm and the time in ms."""
    camera = replace(laid.CAMERA, tilt_rad=math.radians(tilt))
    hidden = () if hidden_mm is None else tuple((x + hidden_mm, y + hidden_mm, 84.0) for x, y, _ in laid.BLOCKS_MM)
    for seed in range(repeats):
        picture = laid.picture_of(laid.Laid(camera=camera, hidden=hidden), seed)
        lens, start = laid.true_lens(camera), time.thread_time()
        table = table_from_markers(find_corner_marks(picture), lens, thickness_mm=_THICKNESS_MM)
        yield _worst_mm(table, laid.Laid(camera=camera)), 1e3 * (time.thread_time() - start)


def _by_tiles(read: ReadTiles, tilt: int, repeats: int) -> Iterator[tuple[float, float]]:
    camera = replace(laid.CAMERA, tilt_rad=math.radians(tilt))
    size = TileSize(CLASSIC.length_mm, CLASSIC.width_mm, _THICKNESS_MM)
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        places = [(x, y) for x in (-280, -90, 90, 280) for y in (-130, -45, 45, 130)]
        placed = [
            PlacedTile((at % 7, at // 7), (x + rng.uniform(-20, 20), y + rng.uniform(-12, 12)), rng.uniform(-3, 3))
            for at, (x, y) in enumerate(places)
        ]
        image = render(Scene(tuple(placed), CLASSIC, FELT, LAMP, camera), rng).image
        start = time.thread_time()
        table = table_from_tiles(read(image), laid.true_lens(camera), size)
        yield _worst_mm(table, laid.Laid(camera=camera)), 1e3 * (time.thread_time() - start)


def _worst_mm(table: Table, at: laid.Laid) -> float:
    grid = laid.grid_mm()
    tops_px = view_of(at.camera).project(grid, _THICKNESS_MM)
    return laid.worst_mm(table.tops_to_table(tops_px, laid.true_lens(at.camera)), grid)


def _report(name: str, errors: Iterator[tuple[float, float]]) -> None:
    worst_mm, took_ms = zip(*errors, strict=True)
    print(f"{name}: median {np.median(worst_mm):.2f} mm, worst {max(worst_mm):.2f} mm, {np.median(took_ms):.0f} ms")


if __name__ == "__main__":
    main()
