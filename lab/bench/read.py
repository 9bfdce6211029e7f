"""Measure the time of a full read, compared with references on the same pictures in the same run.

    python -m lab.bench.read [PHOTO ...] [--runs 9]

Without photos, tables are rendered at 1920 x 1080: two with 28 tiles, and others with 1 to 136 tiles to measure the
growth. The reference is `cv2.aruco`.
"""

from __future__ import annotations

import cProfile
import multiprocessing
import os
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import CodeType

import cv2
import numpy as np

from lab.bench.material.harness import median_and_p95, options_of
from lab.render.layouts import visible_area
from lab.render.looks import CLASSIC, FELT, LAMP, OVERHEAD, WALNUT
from lab.render.paint import render
from lab.render.placements import random_hand, scatter
from lab.render.scene import Scene, TableLook
from vision.image.picture import load_picture
from vision.reader.reader import load_reader

# Disjoint functions of a read, and the step that each belongs to.
_STEPS = {
    "build_pyramid": "pyramid",
    "Detector.find": "detector",
    "Candidates.refined": "refiner",
    "find_plane": "plane",
    "Plane.tiles_at": "plane",
    "Plane.on_table": "plane",
    "Plane.doubt": "plane",
    "choose": "selection",
    "Reader._pips_at": "pips",
    "find_joins": "joins",
}


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements over all pictures.

    Attributes:
        tiles: Number of tiles in each reading.
        read_ms, aruco_ms: Time of each run, by picture.
        shares: Steps of a read and their shares of its time, largest first.
        peak_mb: Peak memory of the process after all reads, before the references.
    """

    tiles: tuple[int, ...]
    read_ms: tuple[tuple[float, ...], ...]
    aruco_ms: tuple[tuple[float, ...], ...]
    shares: tuple[tuple[str, float], ...]
    peak_mb: float


def measure(paths: list[Path], runs: int) -> Measured:
    """Read each picture *runs* times, then run the reference."""
    reader = load_reader()
    tiles, read_ms = [], []
    profile = cProfile.Profile()
    for path in paths:
        image = load_picture(path)
        tiles.append(len(reader.read(image).tiles))
        read_ms.append(durations_ms(partial(reader.read, image), runs))
        profile.runcall(reader.read, image)
    peak_mb = peak_memory_mb()
    aruco = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50))
    aruco_ms = [durations_ms(partial(aruco.detectMarkers, load_picture(path)), runs) for path in paths]
    return Measured(tuple(tiles), tuple(read_ms), tuple(aruco_ms), _shares(profile), peak_mb)


def durations_ms(run: Callable[[], object], runs: int) -> tuple[float, ...]:
    """Return the time of each run, after a warm-up run."""
    run()
    times_ms = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        times_ms.append((time.perf_counter() - start) * 1e3)
    return tuple(times_ms)


def _shares(profile: cProfile.Profile) -> tuple[tuple[str, float], ...]:
    spent: dict[str, float] = defaultdict(float)
    for entry in profile.getstats():
        name = entry.code.co_qualname if isinstance(entry.code, CodeType) else ""
        if name in _STEPS:
            spent[_STEPS[name]] += entry.totaltime
        elif name == "Reader.read":
            spent["all"] += entry.totaltime
    whole = spent.pop("all")
    spent["other"] = whole - sum(spent.values())
    return tuple(sorted(((step, seconds / whole) for step, seconds in spent.items()), key=lambda part: -part[1]))


def peak_memory_mb() -> float:
    """Return the peak memory of this process. Unlike with `getrusage`, its parent process does not count."""
    match = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    if match is None:
        raise OSError("/proc/self/status: expected a line VmHWM, got none")
    return int(match[1]) / 1024


# Highest number of the smallest set for each number of tiles.
GROWTH = {1: 6, 7: 6, 14: 6, 28: 6, 55: 9, 91: 12, 136: 15}
# Scale of 28 tiles on a table for four, and scale at which 136 tiles fit. The latter is used for all of GROWTH.
USUAL_PX_PER_MM = 2.6
GROWTH_PX_PER_MM = 1.6


def main() -> None:
    options = options_of(__doc__, "photos...", runs=(9, "measured reads of each picture"))
    with tempfile.TemporaryDirectory() as folder:
        paths = options.photos or rendered_pictures(Path(folder))
        # Use one numpy thread like `tallybone read`. With two, a read took twice the CPU time on busy cores.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        # Use a fresh process to exclude the memory of rendering.
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
            measured = process.submit(measure, paths, options.runs).result()
    print(f"OpenCV {cv2.__version__}, {cv2.getNumThreads()} threads")
    for path, tiles, read_ms, aruco_ms in zip(paths, measured.tiles, measured.read_ms, measured.aruco_ms, strict=True):
        print(f"{path.stem}: {tiles} read, {median_and_p95(read_ms)}, aruco {median_and_p95(aruco_ms)}")
    read, aruco = (median_and_p95(np.concatenate(times_ms)) for times_ms in (measured.read_ms, measured.aruco_ms))
    print(f"all: read {read}, aruco {aruco}")
    print("where the time goes: " + ", ".join(f"{step} {share:.0%}" for step, share in measured.shares))
    print(f"peak memory of the reading process: {measured.peak_mb:.0f} MB")
    if not options.photos:
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


if __name__ == "__main__":
    main()
