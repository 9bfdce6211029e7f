"""Measure the time of a full read, compared with references on the same pictures in the same run.

    python -m lab.bench.read [PHOTO ...] [--runs 9]

Without photos, tables are rendered at 1920 x 1080: two with 28 tiles, and others with 1 to 136 tiles to measure the
growth. The references are `cv2.aruco` and, with the extra `bench`, a network of YOLOv8n's size.
"""

from __future__ import annotations

import argparse
import cProfile
import importlib.util
import multiprocessing
import os
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import CodeType

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.render.layouts import visible_area
from lab.render.looks import CLASSIC, FELT, LAMP, OVERHEAD, WALNUT
from lab.render.paint import render
from lab.render.placements import random_hand, scatter
from lab.render.scene import Scene, TableLook
from vision.image.picture import load_picture
from vision.reader.reader import load_reader

# Reference network for timing, with the size of the smallest detector in common use.
#
# Its layers have the shapes of YOLOv8n at 640 x 640, with random weights. The time does not depend on the weights, and
# the licence of the trained weights is not compatible with this project.


SIDE_PX = 640
_CLASSES = 80
_BOX_CHANNELS = 64


@dataclass(frozen=True, slots=True)
class Wire:
    """An array between two layers. Its height and width are *side_px*."""

    name: str
    channels: int
    side_px: int


def is_installed() -> bool:
    """Return True if the extra `bench` is installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("onnx", "onnxruntime"))


def forward_pass(threads: int) -> tuple[Callable[[], object], str]:
    """Return a function that runs the network once, and a description of its size."""
    import onnxruntime

    network = _Network(np.random.default_rng(1))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(network.as_onnx(), options, providers=["CPUExecutionProvider"])
    image = np.random.default_rng(2).random((1, 3, SIDE_PX, SIDE_PX), np.float32)
    size = f"{network.parameters / 1e6:.2f} M parameters, {network.flop / 1e9:.1f} GFLOP at {SIDE_PX} px"
    return lambda: session.run(None, {"image": image}), size


@dataclass(slots=True)
class _Network:
    """Builds the network layer by layer, and counts parameters and operations. A multiply-add is two operations."""

    rng: np.random.Generator
    parameters: int = 0
    flop: int = 0
    _nodes: list[object] = field(default_factory=list)
    _weights: list[object] = field(default_factory=list)

    def as_onnx(self) -> bytes:
        """Return the network as the contents of an ONNX file."""
        from onnx import TensorProto, helper

        image = Wire("image", 3, SIDE_PX)
        wire = self._conv(self._conv(image, 16, 3, step=2), 32, 3, step=2)
        eighth = self._block(self._conv(self._block(wire, 32, 1, shortcut=True), 64, 3, step=2), 64, 2, shortcut=True)
        sixteenth = self._block(self._conv(eighth, 128, 3, step=2), 128, 2, shortcut=True)
        last = self._block(self._conv(sixteenth, 256, 3, step=2), 256, 1, shortcut=True)
        parts = [self._conv(last, last.channels // 2, 1)]
        for _ in range(3):
            (name,) = self._node("MaxPool", [parts[-1].name], kernel_shape=[5, 5], pads=[2, 2, 2, 2])
            parts.append(Wire(name, parts[0].channels, last.side_px))
        deep = self._conv(self._joined(*parts), last.channels, 1)
        middle = self._block(self._joined(self._doubled(deep), sixteenth), 128, 1)
        fine = self._block(self._joined(self._doubled(middle), eighth), 64, 1)
        middle = self._block(self._joined(self._conv(fine, 64, 3, step=2), middle), 128, 1)
        coarse = self._block(self._joined(self._conv(middle, 128, 3, step=2), deep), 256, 1)
        outputs = [
            out for wire in (fine, middle, coarse) for out in (self._head(wire, _BOX_CHANNELS), self._head(wire))
        ]
        values = [
            helper.make_tensor_value_info(w.name, TensorProto.FLOAT, [1, w.channels, w.side_px, w.side_px])
            for w in (Wire("image", 3, SIDE_PX), *outputs)
        ]
        graph = helper.make_graph(self._nodes, "reference", values[:1], values[1:], self._weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        return bytes(model.SerializeToString())

    def _head(self, wire: Wire, channels: int = _CLASSES) -> Wire:
        wire = self._conv(self._conv(wire, channels, 3), channels, 3)
        return self._conv(wire, channels, 1, activated=False)

    def _block(self, wire: Wire, channels: int, repeats: int, *, shortcut: bool = False) -> Wire:
        """Split the channels, apply pairs of convolutions to one part, and concatenate all intermediate results."""
        half = channels // 2
        both = self._conv(wire, channels, 1)
        names = self._node("Split", [both.name], outputs=2, axis=1)
        parts = [Wire(name, half, wire.side_px) for name in names]
        for _ in range(repeats):
            made = self._conv(self._conv(parts[-1], half, 3), half, 3)
            if shortcut:
                made = Wire(self._node("Add", [parts[-1].name, made.name])[0], half, wire.side_px)
            parts.append(made)
        return self._conv(self._joined(*parts), channels, 1)

    def _joined(self, *wires: Wire) -> Wire:
        (name,) = self._node("Concat", [wire.name for wire in wires], axis=1)
        return Wire(name, sum(wire.channels for wire in wires), wires[0].side_px)

    def _doubled(self, wire: Wire) -> Wire:
        scales = self._weight(np.array([1, 1, 2, 2], np.float32))
        inputs = [wire.name, "", scales]
        (name,) = self._node("Resize", inputs, coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        return Wire(name, wire.channels, wire.side_px * 2)

    def _conv(self, wire: Wire, channels: int, kernel: int, *, step: int = 1, activated: bool = True) -> Wire:
        shape = (channels, wire.channels, kernel, kernel)
        weight = (self.rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
        bias = np.zeros(channels, np.float32)
        names = [wire.name, self._weight(weight), self._weight(bias)]
        pad = kernel // 2
        (name,) = self._node("Conv", names, kernel_shape=[kernel] * 2, strides=[step] * 2, pads=[pad] * 4)
        out = Wire(name, channels, wire.side_px // step)
        self.parameters += weight.size + bias.size
        self.flop += 2 * weight.size * out.side_px**2
        if activated:
            (gate,) = self._node("Sigmoid", [name])
            out = Wire(self._node("Mul", [name, gate])[0], channels, out.side_px)
        return out

    def _weight(self, values: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> str:
        from onnx import numpy_helper

        name = f"weight{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(values, name))
        return name

    def _node(self, kind: str, inputs: list[str], *, outputs: int = 1, **attributes: object) -> list[str]:
        from onnx import helper

        names = [f"{kind}{len(self._nodes)}_{part}" for part in range(outputs)]
        self._nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names


# Measure the reader in a fresh process: times of reading and references, shares of steps, and peak memory.


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
    if not is_installed():
        return (), ""
    run, size = forward_pass(threads=2)
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


# Highest number of the smallest set for each number of tiles.
GROWTH = {1: 6, 7: 6, 14: 6, 28: 6, 55: 9, 91: 12, 136: 15}
# Scale of 28 tiles on a table for four, and scale at which 136 tiles fit. The latter is used for all of GROWTH.
USUAL_PX_PER_MM = 2.6
GROWTH_PX_PER_MM = 1.6


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
