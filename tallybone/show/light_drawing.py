"""Draws over a picture where its light would hide pips."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.light import LightFound, Trouble
from tallybone.show.over_pictures import write
from vision.annotate import CASING, ORANGE, PURPLE, SKY

Image = NDArray[np.uint8]
Bgr = tuple[int, int, int]

_COLORS: dict[Trouble | None, Bgr] = {None: SKY, Trouble.GLARE: ORANGE, Trouble.DULL: PURPLE}
_MORE_PX = 6


def draw_light(image: Image, found: LightFound) -> Image:
    """Return a copy of a picture, shape (H, W, 3): what is well lit in blue, glare in orange, too dark in purple."""
    canvas = image.copy()
    for spot in found.spots:
        points, trouble = np.round(np.array(spot.corners_px)).astype(np.int32), found.trouble_at(spot)
        for paint, width in ((CASING, 5), (_COLORS[trouble], 2)):
            cv2.polylines(canvas, [points], isClosed=True, color=paint, thickness=width, lineType=cv2.LINE_AA)
        if trouble is not None:
            words = "glare" if trouble is Trouble.GLARE else f"dull {spot.contrast:.0f}"
            write(
                canvas, words, (float(points[:, 0].mean()), float(points[:, 1].min()) - 2 * _MORE_PX), _COLORS[trouble]
            )
    for x_px, y_px, radius_px in found.patches:
        middle, radius = (round(x_px), round(y_px)), round(radius_px) + _MORE_PX
        for paint, width in ((CASING, 5), (ORANGE, 2)):
            cv2.circle(canvas, middle, radius, paint, width, cv2.LINE_AA)
        write(canvas, "glare", (x_px, y_px - radius - 2 * _MORE_PX), ORANGE)
    return canvas
