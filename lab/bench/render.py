"""Measure the rendering time of random scenes, compared with JPEG coding of the same pictures.

    python -m lab.bench.render [--scenes 24] [--seed 1] [--set 6] [--sheet SHEET.png] [--outlines]

A sheet shows every rendered scene. With outlines, readable tiles are green, face-down tiles blue, and cut off or
covered tiles red.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.render.layouts import random_scene
from lab.render.paint import RenderedPicture, render

Image = NDArray[np.uint8]
_CELL_PX = (480, 360)
_COLUMNS = 4


def main() -> None:
    """Print the figures, and write the sheet if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", type=int, default=6, dest="max_pips", help="highest number of the set")
    parser.add_argument("--sheet", type=Path, help="write all scenes to this picture")
    parser.add_argument("--outlines", action="store_true", help="draw the ground truth on the sheet")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    render_ms, jpeg_ms, cells = [], [], []
    for index in range(options.scenes):
        rng = np.random.default_rng([options.seed, index])
        start = time.process_time()
        rendered = render(random_scene(rng, max_pips=options.max_pips), rng)
        middle = time.process_time()
        cv2.imdecode(cv2.imencode(".jpg", rendered.image)[1], cv2.IMREAD_COLOR)
        render_ms.append((middle - start) * 1e3)
        jpeg_ms.append((time.process_time() - middle) * 1e3)
        cells.append(cell(rendered, outlines=options.outlines))
    print(f"{options.scenes} scenes of 1280x960, one thread: render {figures(render_ms)}, JPEG {figures(jpeg_ms)}")
    if options.sheet is not None:
        cv2.imwrite(str(options.sheet), sheet(cells))


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


def figures(values_ms: list[float]) -> str:
    return f"median {np.median(values_ms):.0f} ms p95 {np.percentile(values_ms, 95):.0f} ms"


if __name__ == "__main__":
    main()
