"""How long the eye takes: a full read next to `cv2.aruco` detection on the same picture in the same run.

    python benchmarks/bench_read.py [PHOTO ...] [--runs 9]

Without photographs it renders tables with 1, 12, 28 and 55 tiles at 1920 x 1080.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.finder import load_finder
from vision.heads import load_heads
from vision.picture import load_picture
from vision.reader import Reader
from vision.render.layouts import draw_hand, scatter, visible_area
from vision.render.looks import CLASSIC, FELT, LAMP, OVERHEAD, WALNUT
from vision.render.paint import render
from vision.render.scene import Scene

Image = NDArray[np.uint8]


def main() -> None:
    """Print median and 95th percentile of both, per picture and over all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=9, help="reads of each picture that count")
    options = parser.parse_args()
    pictures = [(str(path), load_picture(path)) for path in options.photos] or rendered_pictures()
    reader, aruco = Reader(load_heads(), load_finder()), aruco_detector()
    totals: dict[str, list[float]] = {"read": [], "aruco": []}
    print(f"OpenCV {cv2.__version__}, {cv2.getNumThreads()} threads")
    for name, image in pictures:
        found = len(reader.read(image).tiles)
        read_ms = durations_ms(partial(reader.read, image), options.runs)
        aruco_ms = durations_ms(partial(aruco.detectMarkers, image), options.runs)
        totals["read"] += read_ms
        totals["aruco"] += aruco_ms
        size = f"{image.shape[1]}x{image.shape[0]}"
        print(f"{name}: {size}, {found} tiles, read {figures(read_ms)}, aruco {figures(aruco_ms)}")
    print(f"all: read {figures(totals['read'])}, aruco {figures(totals['aruco'])}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def rendered_pictures() -> list[tuple[str, Image]]:
    """Return tables with 1 to 55 tiles, 1920 x 1080, plain and patterned."""
    camera = replace(OVERHEAD, width_px=1920, height_px=1080, px_per_mm=2.6)
    pictures = []
    for count, table in ((1, FELT), (12, FELT), (28, FELT), (28, WALNUT), (55, WALNUT)):
        rng = np.random.default_rng(count)
        hand = draw_hand(rng, count, 6 if count <= 28 else 9)
        layout = scatter(rng, hand, visible_area(camera), CLASSIC)
        scene = Scene(layout.tiles, CLASSIC, table, LAMP, camera)
        pictures.append((f"{len(layout.tiles)} tiles on {table.kind.value}", render(scene, rng).image))
    return pictures


def aruco_detector() -> cv2.aruco.ArucoDetector:
    """Return a detector of 4x4 markers with OpenCV's defaults."""
    return cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50))


def durations_ms(run: Callable[[], object], runs: int) -> list[float]:
    """Return how long *run* took each time, after one run that does not count."""
    run()
    found = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        found.append((time.perf_counter() - start) * 1e3)
    return found


def figures(values_ms: list[float]) -> str:
    """Return median and 95th percentile as text.

    >>> figures([1.0, 2.0, 3.0])
    'median 2 ms p95 3 ms'
    """
    return f"median {np.median(values_ms):.0f} ms p95 {np.percentile(values_ms, 95):.0f} ms"


if __name__ == "__main__":
    main()
