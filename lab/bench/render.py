"""Measure the rendering time of random scenes and of frames in motion, compared with JPEG coding of the same pictures.

    python -m lab.bench.render [--scenes 24] [--frames 300] [--seed 1] [--set 6] [--sheet SHEET.png] [--outlines]

A sheet shows every rendered scene. With outlines, readable tiles are green, face-down tiles blue, and cut off or
covered tiles red.

The frames are of a hand of bones at 1280x720, and of a hand with two sets at 1920x1080. They are grouped by content: an
unchanged table, a hand over it, or a new arrangement of tiles. Only the CPU time of the thread counts.
"""

from __future__ import annotations

import time
from itertools import islice
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.bench.material.harness import median_and_p95, options_of
from lab.matches.game_script import FramePlan
from lab.matches.room import MARGIN_PX
from lab.matches.simulation import Simulation, simulation_settings
from lab.render.layouts import random_scene
from lab.render.paint import Film, RenderedPicture, render

Image = NDArray[np.uint8]
_CELL_PX = (480, 360)
_COLUMNS = 4


def main() -> None:
    options = options_of(__doc__, scenes=24, frames=300, seed=1, set=6, sheet=Path, outlines=False)
    cv2.setNumThreads(1)
    render_ms, jpeg_ms, cells = [], [], []
    for index in range(options.scenes):
        rng = np.random.default_rng([options.seed, index])
        start = time.process_time()
        rendered = render(random_scene(rng, max_pips=options.set), rng)
        middle = time.process_time()
        cv2.imdecode(cv2.imencode(".jpg", rendered.image)[1], cv2.IMREAD_COLOR)
        render_ms.append((middle - start) * 1e3)
        jpeg_ms.append((time.process_time() - middle) * 1e3)
        cells.append(cell(rendered, outlines=options.outlines))
    print(f"{options.scenes} scenes of 1280x960, one thread:")
    print(f"  render {median_and_p95(render_ms)}; JPEG {median_and_p95(jpeg_ms)}")
    if options.sheet is not None:
        cv2.imwrite(str(options.sheet), sheet(cells))
    for game, players in (("bones", 2), ("twoset", 4)):
        settings = simulation_settings(game, players=players, seed=options.seed, hands=1, look="classic-walnut")
        measure(Simulation(settings), options.frames)


def cell(rendered: RenderedPicture, *, outlines: bool) -> Image:
    """Return a reduced picture of a scene, with its ground truth if *outlines*."""
    image = rendered.image.copy()
    if outlines:
        for tile in rendered.truth.tiles:
            draw_outline(image, tile.corners_px, (0.0, 255.0, 0.0) if tile.halves else (255.0, 0.0, 0.0))
        for corners in rendered.unread_px:
            draw_outline(image, corners, (0.0, 0.0, 255.0))
    return cv2.resize(image, _CELL_PX, interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)


def draw_outline(image: Image, corners_px: tuple[tuple[float, float], ...], bgr: tuple[float, float, float]) -> None:
    cv2.polylines(image, [np.round(corners_px).astype(np.int32)], isClosed=True, color=bgr, thickness=2)


def sheet(cells: list[Image]) -> Image:
    """Return all cells in rows. The last row is padded with black."""
    cells = cells + [np.zeros_like(cells[0])] * (-len(cells) % _COLUMNS)
    lines = [np.hstack(cells[index : index + _COLUMNS]) for index in range(0, len(cells), _COLUMNS)]
    return np.vstack(lines)


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
    for name, values in ((name, values) for name, values in times.items() if values):
        share = f"{len(values):4} frames" if name != "JPEG" else " " * 11
        print(f"  {name:9} {share}  mean {np.mean(values):.0f} {median_and_p95(values)}")


if __name__ == "__main__":
    main()
