"""A minimal PDF reader that draws the boxes of a page, independent of the writer."""

from __future__ import annotations

import re
import zlib

import numpy as np
from numpy.typing import NDArray

_POINTS_PER_MM = 72 / 25.4


def page_sizes_mm(pdf: bytes) -> list[tuple[float, float]]:
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    return [(float(width) / _POINTS_PER_MM, float(height) / _POINTS_PER_MM) for width, height in boxes]


def contents(pdf: bytes) -> list[str]:
    """Return the operators of each page in order."""
    return [zlib.decompress(data).decode("ascii") for data in re.findall(rb"stream\n(.*?)\nendstream", pdf, re.DOTALL)]


def picture_of(pdf: bytes, page: int, px_per_mm: float) -> NDArray[np.uint8]:
    """Draw a page in grey, with only the filled boxes clipped to its windows."""
    width_mm, height_mm = page_sizes_mm(pdf)[page]
    scale = px_per_mm / _POINTS_PER_MM
    picture = np.full((round(height_mm * px_per_mm), round(width_mm * px_per_mm)), 255, np.uint8)
    matrix, window, grey = np.eye(3), (-1e9, -1e9, 1e9, 1e9), 0.0
    kept, boxes = [(matrix, window)], []
    for line in contents(pdf)[page].splitlines():
        text = line.split()
        numbers = [float(word) for word in text if re.fullmatch(r"-?[\d.]+", word)]
        if text[0] == "q":
            kept.append((matrix, window))
            window = _placed(matrix, numbers)
        elif text[-1] == "cm":
            a, b, c, d, e, f = numbers
            matrix = matrix @ np.array([[a, c, e], [b, d, f], [0, 0, 1]])
        elif text[-1] == "Q":
            matrix, window = kept.pop()
        elif text[-1] == "g" and len(text) == 2:
            grey = numbers[0]
        elif text[-1] == "re":
            boxes.append(_placed(matrix, numbers))
        elif text == ["f"]:
            for left, low, right, high in boxes:
                x0, x1 = (round(min(max(x, window[0]), window[2]) * scale) for x in (left, right))
                y0, y1 = (round(height_mm * px_per_mm - min(max(y, window[1]), window[3]) * scale) for y in (high, low))
                picture[y0:y1, x0:x1] = round(255 * grey)
            boxes = []
    return picture


def _placed(matrix: NDArray[np.float64], box: list[float]) -> tuple[float, float, float, float]:
    """Return a box in points from the lower left of the page: left, low, right, high."""
    x, y, width, height = box
    (xa, ya), (xb, yb) = ((matrix @ (u, v, 1))[:2].tolist() for u, v in ((x, y), (x + width, y + height)))
    return min(xa, xb), min(ya, yb), max(xa, xb), max(ya, yb)
