"""Measure the time of a full read, compared with references on the same pictures in the same run.

    python -m lab.bench.read [PHOTO ...] [--runs 9]

Without photos, tables are rendered at 1920 x 1080: two with 28 tiles, and others with 1 to 136 tiles to measure the
growth. The references are `cv2.aruco` and, with the extra `bench`, a network of YOLOv8n's size.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.bench.material.reading_process import Measured, measure
from lab.render.layouts import visible_area
from lab.render.look_types import TableLook
from lab.render.looks import CLASSIC, FELT, LAMP, OVERHEAD, WALNUT
from lab.render.paint import render
from lab.render.placements import random_hand, scatter
from lab.render.scene import Scene

# Highest number of the smallest set for each number of tiles.
GROWTH = {1: 6, 7: 6, 14: 6, 28: 6, 55: 9, 91: 12, 136: 15}
# Scale of 28 tiles on a table for four, and scale at which 136 tiles fit. The latter is used for all of GROWTH.
USUAL_PX_PER_MM, GROWTH_PX_PER_MM = 2.6, 1.6


def main() -> None:
    """Print the median and 95th percentile for each picture and overall, growth, shares of steps, and memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=9, help="measured reads of each picture")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = options.photos or rendered_pictures(Path(folder))
        # Use one numpy thread like `tallybone read`. With two, a read took twice the CPU time on busy cores.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        # Use a fresh process to exclude the memory of rendering.
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
            measured = process.submit(measure, paths, options.runs).result()
    print(f"OpenCV {cv2.__version__}, {cv2.getNumThreads()} threads")
    for path, tiles, read_ms, aruco_ms in zip(paths, measured.tiles, measured.read_ms, measured.aruco_ms, strict=True):
        print(f"{path.stem}: {tiles} read, {figures(read_ms)}, aruco {figures(aruco_ms)}")
    print_summary(measured)
    if not options.photos:
        print_growth(measured)


def print_summary(measured: Measured) -> None:
    """Print the figures over all pictures."""
    print(f"all: read {figures(np.concatenate(measured.read_ms))}, aruco {figures(np.concatenate(measured.aruco_ms))}")
    if measured.network_ms:
        print(f"reference network ({measured.network_size}, 2 threads): {figures(measured.network_ms)}")
    else:
        print("reference network: not measured, it needs the extra `bench` (onnx, onnxruntime)")
    print("where the time goes: " + ", ".join(f"{step} {share:.0%}" for step, share in measured.shares))
    print(f"peak memory of the reading process: {measured.peak_mb:.0f} MB")


def print_growth(measured: Measured) -> None:
    """Print the growth of the time with the number of tiles, over the pictures of `GROWTH`."""
    medians_ms = [float(np.median(read_ms)) for read_ms in measured.read_ms[-len(GROWTH) :]]
    each_ms, first_ms = np.polyfit(list(GROWTH), medians_ms, 1)
    print(f"growth from {min(GROWTH)} to {max(GROWTH)} tiles: {first_ms:.0f} ms and {each_ms:.2f} ms for each tile")


def rendered_pictures(folder: Path) -> list[Path]:
    """Write pictures of tables with 28 tiles, plain and patterned, then those of `GROWTH`."""
    paths = [write_table(folder, 28, 6, table, USUAL_PX_PER_MM) for table in (FELT, WALNUT)]
    return paths + [write_table(folder, count, max_pips, FELT, GROWTH_PX_PER_MM) for count, max_pips in GROWTH.items()]


def write_table(folder: Path, count: int, max_pips: int, table: TableLook, px_per_mm: float) -> Path:
    """Write a picture of a table, named after its contents."""
    camera = replace(OVERHEAD, width_px=1920, height_px=1080, px_per_mm=px_per_mm)
    rng = np.random.default_rng(count)
    layout = scatter(rng, random_hand(rng, count, max_pips), visible_area(camera), CLASSIC)
    image = render(Scene(layout.tiles, CLASSIC, table, LAMP, camera), rng).image
    path = folder / f"{len(layout.tiles)} tiles on {table.kind.value} at {px_per_mm} px per mm.png"
    path.write_bytes(cv2.imencode(".png", image)[1].tobytes())
    return path


def figures(values_ms: Sequence[float] | NDArray[np.float64]) -> str:
    """Return median and 95th percentile as text.

    >>> figures([1.0, 2.0, 3.0])
    'median 2 ms p95 3 ms'
    """
    return f"median {np.median(values_ms):.0f} ms p95 {np.percentile(values_ms, 95):.0f} ms"


if __name__ == "__main__":
    main()
