"""Measure how well the reader reads labelled photos at other sizes.

    python -m lab.bench.scales LABELS.json ROOT

Each photo is read at 0.25 to 2 times its size, with `lab.evaluate` as the judge. Only tiles whose half centres
are at least 10 pixels apart at a size count. *Misread* is the share of found halves, *bold* those with a confidence of
at least 0.8, and *silent* the share of tiles without even an unsure detection. The worst size has the fewest right
tiles.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import cv2
import numpy as np

from lab.bench.material.harness import options_of
from lab.evaluate.labels import HalfLabel, IgnoredBox, LabelError, PhotoLabel, TileLabel, load_labels
from lab.evaluate.photos import PhotoCounts, PhotoJudged, count_photo, judge_photo
from vision.arrays import Image
from vision.image.picture import load_picture
from vision.reader.reader import load_reader
from vision.reading import PointPx, SeenTile

SIZES = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
_MIN_HALF_PX = 10.0
_HEADINGS = ("tiles", "right", "precise", "misread", "bold", "silent")


def main() -> int:
    options = options_of(__doc__, "labels", "root")
    try:
        labels = load_labels(options.labels)
    except LabelError as error:
        sys.exit(f"{options.labels}: {error}")
    reader = load_reader()
    counts = dict.fromkeys(SIZES, PhotoCounts())
    for label in labels.photos:
        for size, image, scaled in at_sizes(load_picture(options.root / label.image), label):
            counts[size] += count_photo(of_size(judge_photo(scaled, reader.read(image))))
    print("size".ljust(6) + "".join(heading.rjust(10) for heading in _HEADINGS))
    for size, count in counts.items():
        shares = count.shares()
        cells = [shares[name] for name in ("right", "precision", "half_error", "bold", "silent")]
        row = "".join("-".rjust(10) if cell is None else f"{100 * cell:8.2f} %" for cell in cells)
        print(f"{size:<6g}{count.tiles:10}{row}")
    worst = min(SIZES, key=lambda size: counts[size].shares()["right"] or 0.0)
    print(f"worst size: {worst:g}")
    return 0


def at_sizes(image: Image, label: PhotoLabel) -> Iterator[tuple[float, Image, PhotoLabel]]:
    """Yield each of `SIZES` with the picture and its label scaled alike."""
    for size in SIZES:
        method = cv2.INTER_AREA if size < 1 else cv2.INTER_CUBIC
        scaled = image if size == 1 else cv2.resize(image, None, fx=size, fy=size, interpolation=method)
        ratio = scaled.shape[1] / image.shape[1], scaled.shape[0] / image.shape[0]
        yield size, scaled.astype(np.uint8, copy=False), _scaled(label, ratio)


def of_size(photo: PhotoJudged) -> PhotoJudged:
    """Return the evaluation of the tiles that are large enough."""
    return replace(
        photo,
        tiles=tuple(tile for tile in photo.tiles if tile.label.half_px >= _MIN_HALF_PX),
        spare=tuple(tile for tile in photo.spare if _half_px(tile) >= _MIN_HALF_PX),
    )


def _half_px(tile: SeenTile) -> float:
    (ax, ay), (bx, by) = tile.half_centers_px
    return float(np.hypot(ax - bx, ay - by))


def _scaled(label: PhotoLabel, ratio: tuple[float, float]) -> PhotoLabel:
    """Return the label of a scaled picture. Pixel centres are at whole numbers."""

    def scale(point_px: PointPx) -> PointPx:
        x, y = ((value + 0.5) * factor - 0.5 for value, factor in zip(point_px, ratio, strict=True))
        return (x, y)

    def tile(old: TileLabel) -> TileLabel:
        halves = tuple(HalfLabel(half.pips, scale(half.center_px)) for half in old.halves)
        return TileLabel(old.face, scale(old.center_px), (halves[0], halves[1]) if halves else ())

    boxes = [
        IgnoredBox(*scale((box.left_px, box.top_px)), *scale((box.right_px, box.bottom_px))) for box in label.ignored
    ]
    return replace(label, tiles=tuple(map(tile, label.tiles)), ignored=tuple(boxes))


if __name__ == "__main__":
    sys.exit(main())
