"""Measure the time of the settle gate per frame, compared with `cv2.absdiff` and a mean on the same pictures.

    python -m lab.bench.settle [--frames 10000]

Frames are 640 x 360, grey and noisy. A dark arm moves in and out during one second of every three. Reducing a picture
of 1280 x 720 to a small grey one is measured separately. Only the thread's own CPU time counts.
"""

from __future__ import annotations

import resource
import time

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.bench.material.harness import median_and_p95, options_of
from vision.tracking.settle import HEIGHT_PX, WIDTH_PX, SettleGate, small_grey

Grey = NDArray[np.uint8]
_FPS = 30


def main() -> None:
    """Print the median and 95th percentile of the gate, the reduction and the reference, and the growth of memory."""
    options = options_of(__doc__, frames=3000)
    cv2.setNumThreads(1)
    rng = np.random.default_rng(0)
    table = rng.integers(60, 120, (HEIGHT_PX // 8, WIDTH_PX // 8)).astype(np.float32)
    table = cv2.resize(table, (WIDTH_PX, HEIGHT_PX), interpolation=cv2.INTER_CUBIC).astype(np.float32)
    noise = rng.normal(0, 3, (8, HEIGHT_PX, WIDTH_PX)).astype(np.float32)
    gate, before = SettleGate(), table.astype(np.uint8)
    times: dict[str, list[float]] = {"gate": [], "shrink": [], "absdiff": []}
    large = cv2.cvtColor(cv2.resize(before, (1280, 720)), cv2.COLOR_GRAY2BGR).astype(np.uint8, copy=False)
    start_kb = 0
    for index in range(options.frames):
        grey = _frame(table, noise, index)
        start = time.thread_time()
        gate.feed(grey, index * 1_000_000_000 // _FPS)
        gated = time.thread_time()
        cv2.mean(cv2.absdiff(grey, before))
        compared = time.thread_time()
        small_grey(large)
        shrunk = time.thread_time()
        times["gate"].append(gated - start)
        times["absdiff"].append(compared - gated)
        times["shrink"].append(shrunk - compared)
        before = grey
        if index == min(100, options.frames - 1):
            start_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name, seconds in times.items():
        print(f"{name}: {median_and_p95([1e3 * each for each in seconds], digits=2)}")
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start_kb) / 1024
    print(f"memory: {grown_mb:+.1f} MB from frame 100 to frame {options.frames}")


def _frame(table: NDArray[np.float32], noise: NDArray[np.float32], index: int) -> Grey:
    """Return a frame. During the second of every three seconds, an arm moves over the right half."""
    shown = table + noise[index % len(noise)]
    if index // _FPS % 3 == 1:
        reach_px = int(abs(np.sin(index / _FPS * np.pi)) * WIDTH_PX / 2) + 1
        shown[140:230, WIDTH_PX - reach_px :] = 25
    return np.asarray(np.clip(shown, 0, 255), np.uint8)


if __name__ == "__main__":
    main()
