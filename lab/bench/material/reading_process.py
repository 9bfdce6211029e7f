"""Measure the reader in a fresh process: times of reading and references, shares of steps, and peak memory."""

from __future__ import annotations

import cProfile
import re
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType

import cv2

from lab.bench.material import reference_network
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
        network_ms: Time of each run of the reference network. Empty if it is not installed.
        network_size: Description of the size of that network.
        shares: Steps of a read and their shares of its time, largest first.
        peak_mb: Peak memory of the process after all reads, before the references.
    """

    tiles: tuple[int, ...]
    read_ms: tuple[tuple[float, ...], ...]
    aruco_ms: tuple[tuple[float, ...], ...]
    network_ms: tuple[float, ...]
    network_size: str
    shares: tuple[tuple[str, float], ...]
    peak_mb: float


def measure(paths: list[Path], runs: int) -> Measured:
    """Read each picture *runs* times, then run the references."""
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
    network_ms, network_size = _network(runs)
    return Measured(tuple(tiles), tuple(read_ms), tuple(aruco_ms), network_ms, network_size, _shares(profile), peak_mb)


def _network(runs: int) -> tuple[tuple[float, ...], str]:
    if not reference_network.is_installed():
        return (), ""
    run, size = reference_network.forward_pass(threads=2)
    return durations_ms(run, runs), size


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
