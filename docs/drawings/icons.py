"""Icons of the page's web app manifest, drawn from its icon.svg."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import cv2
import numpy as np

from vision.arrays import Image

STATIC = Path(__file__).parents[2] / "tallybone" / "web" / "static"
_VIEW, _FINE = 32, 4
_SAFE = 0.62
"""Size of the tile on a maskable icon; its diagonal stays within the safe circle of 80 %."""
_FELT = (0x3F, 0x5B, 0x1F, 255)
_BLACK = "#000000"


def icons() -> dict[str, Image]:
    """Return the icons by file name, as BGRA."""
    return {
        "icon-192.png": icon(192),
        "icon-512.png": icon(512),
        "icon-maskable.png": icon(512, ground=_FELT, part=_SAFE),
    }


def icon(size_px: int, *, ground: tuple[int, ...] = (0, 0, 0, 0), part: float = 1.0) -> Image:
    """Draw icon.svg in the middle *part* of a square on a BGRA *ground*."""
    side = size_px * _FINE
    canvas = np.full((side, side, 4), ground, np.uint8)
    scale = side * part / _VIEW
    start = (side - scale * _VIEW) / 2
    for shape in ElementTree.parse(STATIC / "icon.svg").getroot():
        _draw(canvas, shape, scale, start)
    return cv2.resize(canvas, (size_px, size_px), interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)


def _draw(canvas: Image, shape: ElementTree.Element, scale: float, start: float) -> None:
    def px(length: float) -> int:
        return round(start + scale * length)

    kind, given = shape.tag.rpartition("}")[2], shape.attrib
    half = float(given.get("stroke-width", 0)) / 2
    if kind == "rect":
        left, top, wide, high, radius = (float(given[name]) for name in ("x", "y", "width", "height", "rx"))
        for grow, colour in ((half, given["stroke"]), (-half, given["fill"])):
            inset = radius + grow
            inner = (px(left - grow + inset), px(top - grow + inset))
            outer = (px(left + wide + grow - inset), px(top + high + grow - inset))
            reach = round(scale * inset)
            for across, down in ((reach, 0), (0, reach)):
                corners = (inner[0] - across, inner[1] - down), (outer[0] + across, outer[1] + down)
                cv2.rectangle(canvas, *corners, _bgra(colour), -1)
            for x in (inner[0], outer[0]):
                for y in (inner[1], outer[1]):
                    cv2.circle(canvas, (x, y), reach, _bgra(colour), -1)
    elif kind == "path":
        start_x, start_y, along = (float(part) for part in given["d"].replace("M", "").replace("h", " ").split())
        cv2.rectangle(
            canvas,
            (px(start_x), px(start_y - half)),
            (px(start_x + along), px(start_y + half)),
            _bgra(given["stroke"]),
            -1,
        )
    else:
        cv2.circle(
            canvas,
            (px(float(given["cx"])), px(float(given["cy"]))),
            round(scale * float(given["r"])),
            _bgra(_BLACK),
            -1,
        )


def _bgra(colour: str) -> tuple[int, int, int, int]:
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return blue, green, red, 255
