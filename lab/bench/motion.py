"""Measure the rendering time of frames of a simulated sitting, compared with JPEG encoding of the same frames.

    python -m lab.bench.motion [--frames 300] [--seed 1] [--difficulty normal]

Renders a hand of bones at 1280x720, and a hand with two sets at 1920x1080. Frames are grouped by content: an unchanged
table, a hand over it, or a new arrangement of tiles. Only the thread's own CPU time counts.
"""

from __future__ import annotations

import argparse
import time
from itertools import islice

import cv2
import numpy as np

from lab.matches.items import FramePlan
from lab.matches.room import MARGIN_PX
from lab.matches.simulation import Simulation, simulation_settings
from lab.render.motion import Film
from tallybone.choices import Difficulty


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--difficulty", type=Difficulty, default=Difficulty.NORMAL, choices=list(Difficulty))
    options = parser.parse_args()
    cv2.setNumThreads(1)
    for game, players in (("bones", 2), ("twoset", 4)):
        settings = simulation_settings(
            game, players=players, seed=options.seed, hands=1, difficulty=options.difficulty, look="classic-walnut"
        )
        measure(Simulation(settings), options.frames)


def measure(simulation: Simulation, frames: int) -> None:
    """Print the rendering time of the first frames of a sitting."""
    film = Film(simulation.room.scene, seed=1, margin_px=MARGIN_PX, rng=np.random.default_rng(1))
    times: dict[str, list[float]] = {"all": [], "still": [], "hand": [], "new table": [], "JPEG": []}
    seen = set()
    for shot in islice((shot for shot in simulation.plan() if isinstance(shot, FramePlan)), frames):
        start = time.thread_time()
        picture = film.picture(shot.moment)
        drawn = time.thread_time()
        cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 85])
        coded = time.thread_time()
        kind = "hand" if shot.moment.reaches else "still"
        kind = kind if shot.moment.tiles in seen else "new table"
        seen.add(shot.moment.tiles)
        for name in ("all", kind):
            times[name].append((drawn - start) * 1e3)
        times["JPEG"].append((coded - drawn) * 1e3)
    print(f"{simulation.room.width_px}x{simulation.room.height_px}, one thread")
    for name, values in times.items():
        share = f"{len(values):4} frames" if name != "JPEG" else " " * 11
        print(
            f"  {name:9} {share}  mean {np.mean(values):.0f}"
            f"  median {np.median(values):.0f}  p95 {np.percentile(values, 95):.0f} ms"
        )


if __name__ == "__main__":
    main()
