"""Draw over pictures of the table: zones with a scale, glare that would hide pips; write annotated pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.lens.model import Lens
from calibration.table.light import LightMeasurement, Trouble
from calibration.table.table import Table
from calibration.table.zone_view import show_zone
from calibration.table.zones import TableZones
from tallybone.files import make_folder
from vision.arrays import Bgr, Image
from vision.image.annotate import CASING, ORANGE, PURPLE, SKY, YELLOW

_GRID_MM, _FARTHEST_MM = 100, 1500
_SHIFT_BITS = 4

_COLORS: dict[Trouble | None, Bgr] = {None: SKY, Trouble.GLARE: ORANGE, Trouble.DULL: PURPLE}
_MORE_PX = 6

_JPEG_SUFFIXES = frozenset({".jpg", ".jpeg"})
_JPEG_QUALITY = 92
_LARGEST_JPEG_PX = 65_500  # of libjpeg; what is called JPEG may be another format and longer


def draw_zones(image: Image, zones: TableZones, table: Table, lens: Lens) -> Image:
    """Return a copy of a picture, shape (H, W, 3), with each zone, and the axes of the table in steps of 100 mm.

    Args:
        image: Of the table.
        zones: The zones to draw.
        table: Where it is.
        lens: For pictures of this size.
    """
    canvas = image.copy()
    size_px = np.array([lens.width_px, lens.height_px], np.float64)
    for name, outline in zones.named():
        shares = show_zone(outline, table, lens).shares
        if not shares:
            continue
        corners = np.array(shares) * size_px - 0.5
        color = {"boneyard": ORANGE, "layout": SKY}.get(name, PURPLE)
        _outline(canvas, corners, color)
        write(canvas, name, corners.mean(axis=0), color)
    _draw_axes(canvas, table, lens)
    return canvas


def _draw_axes(canvas: Image, table: Table, lens: Lens) -> None:
    """Mark x and y every 100 mm, as far as the picture shows them, so that corners of zones can be said."""
    steps = np.arange(-_FARTHEST_MM, _FARTHEST_MM + 1, _GRID_MM, dtype=np.float64)
    for along_x in (True, False):
        places = np.column_stack([steps, 0 * steps] if along_x else [0 * steps, steps])
        shown = table.to_picture(places, lens, height_mm=table.thickness_mm)
        # Far outside of the picture a bent lens, or a point behind the camera, comes in from the other side.
        is_true = np.linalg.norm(table.tops_to_table(shown, lens) - places, axis=1) < 1.0
        is_inside = ((shown >= 0) & (shown < (lens.width_px, lens.height_px))).all(axis=1)
        for step, point in zip(steps[is_true & is_inside], shown[is_true & is_inside], strict=True):
            write(canvas, f"{step:.0f}", point, YELLOW, scale=0.4)


def write(
    canvas: Image, text: str, middle: NDArray[np.float64] | tuple[float, float], color: Bgr, *, scale: float = 0.6
) -> None:
    """Write a text on a dark ground, in place, around a point of a picture."""
    (width_px, height_px), below_px = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, 1)
    left, bottom = round(float(middle[0]) - width_px / 2), round(float(middle[1]) + height_px / 2)
    cv2.rectangle(canvas, (left - 2, bottom - height_px - 3), (left + width_px + 2, bottom + below_px), CASING, -1)
    cv2.putText(canvas, text, (left, bottom), cv2.FONT_HERSHEY_SIMPLEX, scale, color, 1, cv2.LINE_AA)


def _outline(canvas: Image, corners: NDArray[np.float64], color: Bgr) -> None:
    points = [np.round(corners * (1 << _SHIFT_BITS)).astype(np.int32)]
    for paint, width in ((CASING, 4), (color, 2)):
        cv2.polylines(
            canvas, points, isClosed=True, color=paint, thickness=width, lineType=cv2.LINE_AA, shift=_SHIFT_BITS
        )


def draw_light(image: Image, found: LightMeasurement) -> Image:
    """Return a copy of a picture, shape (H, W, 3): what is well lit in blue, glare in orange, too dark in purple."""
    canvas = image.copy()
    for spot in found.samples:
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


@dataclass(slots=True)
class Album:
    """A folder of annotated pictures, none of which takes the place of another of this run, nor of a photograph.

    Attributes:
        folder: Where they go; made if need be.
    """

    folder: Path
    _taken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        make_folder(self.folder, "--annotate")

    def add(self, photo: Path, image: Image) -> Path:
        """Write an annotated picture as PHOTO-read.jpg or .png, or PHOTO-read-2 if another photo has the same name.

        Raises:
            OSError: If it cannot be written.
        """
        suffix = ".jpg" if photo.suffix.lower() in _JPEG_SUFFIXES and max(image.shape) <= _LARGEST_JPEG_PX else ".png"
        path = self.folder / f"{self._free_stem(photo.stem)}{suffix}"
        ok, data = cv2.imencode(suffix, image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
        if not ok:
            raise OSError(f"{path}: a picture of shape {image.shape} cannot be encoded")
        path.write_bytes(data.tobytes())
        return path

    def _free_stem(self, stem: str) -> str:
        names = chain((f"{stem}-read",), (f"{stem}-read-{number}" for number in count(2)))
        # Some file systems do not tell A from a.
        wanted = next(name for name in names if name.casefold() not in self._taken)
        self._taken.add(wanted.casefold())
        return wanted
