"""Draw zones, axes and lighting problems over pictures of the table, and write annotated pictures."""

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
from calibration.table.zones import TableZones, show_zone
from tallybone.files import make_folder
from vision.arrays import Bgr, Image
from vision.image.annotate import CASING, ORANGE, PURPLE, SKY, YELLOW

_GRID_MM, _FARTHEST_MM = 100, 1500
_SHIFT_BITS = 4

_COLORS: dict[Trouble | None, Bgr] = {None: SKY, Trouble.GLARE: ORANGE, Trouble.DULL: PURPLE}
_MORE_PX = 6

_JPEG_SUFFIXES = frozenset({".jpg", ".jpeg"})
_JPEG_QUALITY = 92
_LARGEST_JPEG_PX = 65_500  # limit of libjpeg. A file named .jpg may be a larger picture in another format.


def draw_zones(image: Image, zones: TableZones, table: Table, lens: Lens) -> Image:
    """Return a copy of a picture with the zones, and with the table's axes in steps of 100 mm.

    Args:
        image: Picture of the table, BGR, shape (H, W, 3).
        zones: Zones to draw. Zones outside the picture are skipped.
        table: Pose of the table.
        lens: Lens for pictures of this size.
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
    """Write the coordinates along the visible parts of the x and y axes every 100 mm, to help specify zone corners."""
    steps = np.arange(-_FARTHEST_MM, _FARTHEST_MM + 1, _GRID_MM, dtype=np.float64)
    for along_x in (True, False):
        points_mm = np.column_stack([steps, 0 * steps] if along_x else [0 * steps, steps])
        points_px = table.to_picture(points_mm, lens, height_mm=table.thickness_mm)
        # Lens distortion can fold distant points, or points behind the camera, back into the picture.
        is_valid = np.linalg.norm(table.tops_to_table(points_px, lens) - points_mm, axis=1) < 1.0
        is_visible = is_valid & ((points_px >= 0) & (points_px < (lens.width_px, lens.height_px))).all(axis=1)
        for step, point in zip(steps[is_visible], points_px[is_visible], strict=True):
            write(canvas, f"{step:.0f}", point, YELLOW, scale=0.4)


def write(
    canvas: Image, text: str, middle: NDArray[np.float64] | tuple[float, float], color: Bgr, *, scale: float = 0.6
) -> None:
    """Write text on a dark background in place, centred on a point."""
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


def draw_light(image: Image, light: LightMeasurement) -> Image:
    """Return a copy of a picture, shape (H, W, 3), with outlines: good samples blue, glare orange, dull ones purple."""
    canvas = image.copy()
    for spot in light.samples:
        points, trouble = np.round(np.array(spot.corners_px)).astype(np.int32), light.trouble_at(spot)
        for paint, width in ((CASING, 5), (_COLORS[trouble], 2)):
            cv2.polylines(canvas, [points], isClosed=True, color=paint, thickness=width, lineType=cv2.LINE_AA)
        if trouble is not None:
            label = "glare" if trouble is Trouble.GLARE else f"dull {spot.contrast:.0f}"
            write(
                canvas, label, (float(points[:, 0].mean()), float(points[:, 1].min()) - 2 * _MORE_PX), _COLORS[trouble]
            )
    for x_px, y_px, radius_px in light.patches:
        middle, radius = (round(x_px), round(y_px)), round(radius_px) + _MORE_PX
        for paint, width in ((CASING, 5), (ORANGE, 2)):
            cv2.circle(canvas, middle, radius, paint, width, cv2.LINE_AA)
        write(canvas, "glare", (x_px, y_px - radius - 2 * _MORE_PX), ORANGE)
    return canvas


@dataclass(slots=True)
class Album:
    """Writes annotated pictures to a folder, with unique names within a run.

    Attributes:
        folder: The folder. Created if missing.
    """

    folder: Path
    _used_stems: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        make_folder(self.folder, "--annotate")

    def add(self, photo: Path, image: Image) -> Path:
        """Write an annotated picture as PHOTO-read.jpg or .png, and return its path.

        If an earlier photo of the run has the same name, the file is PHOTO-read-2, and so on. Existing files are
        overwritten.

        Raises:
            OSError: If the picture cannot be encoded or written.
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
        # Some file systems are case-insensitive.
        free = next(name for name in names if name.casefold() not in self._used_stems)
        self._used_stems.add(free.casefold())
        return free
