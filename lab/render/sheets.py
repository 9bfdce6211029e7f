"""Draw flat sheets, and render printed ones on a table or before a camera, as ground truth for calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.sheets.prints import Sheet, draw_sheet
from lab.render.solids import rounded_outline
from lab.render.view import View
from vision.arrays import Bgr, GreyImage, Image, Points

# Height of letters at font scale 1.
_FONT_PX = 22.0


@dataclass(frozen=True, slots=True, eq=False)
class PrintedSheet:
    """A sheet to draw on.

    Attributes:
        picture: BGR, shape (H, W, 3).
        length_mm, width_mm: Extent along x and y.
        scale: Pixels per millimetre.
        paper: Background colour.
    """

    picture: Image
    length_mm: float
    width_mm: float
    scale: float
    paper: Bgr


def blank(length_mm: float, width_mm: float, scale: float, paper: Bgr) -> PrintedSheet:
    """Return an empty sheet."""
    shape = (max(4, round(width_mm * scale)), max(4, round(length_mm * scale)), 3)
    picture = np.empty(shape, np.uint8)
    picture[:] = paper
    return PrintedSheet(picture, length_mm, width_mm, scale, paper)


def turned(sheet: PrintedSheet) -> PrintedSheet:
    """Return a copy of a sheet, rotated by a quarter turn."""
    picture = np.ascontiguousarray(np.rot90(sheet.picture))
    return PrintedSheet(picture, sheet.width_mm, sheet.length_mm, sheet.scale, sheet.paper)


def shaded(bgr: Bgr, factor: float) -> Bgr:
    """Return *bgr* multiplied by *factor*, at most 255 per channel."""
    return (min(255.0, bgr[0] * factor), min(255.0, bgr[1] * factor), min(255.0, bgr[2] * factor))


def box(
    sheet: PrintedSheet, center_mm: tuple[float, float], size_mm: tuple[float, float], bgr: Bgr, radius_mm: float = 0.0
) -> None:
    """Fill a rectangle in place. Its corners are rounded if *radius_mm* is positive."""
    if radius_mm > 0:
        outline = rounded_outline(*size_mm, radius_mm)
    else:
        outline = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]) * size_mm
    # Pixel 0 covers 0 to 1, and OpenCV's origin is its middle at 0.5.
    points = (outline + np.asarray(center_mm)) * sheet.scale - 0.5
    cv2.fillConvexPoly(sheet.picture, np.round(points * 16).astype(np.int32), bgr, cv2.LINE_AA, 4)


def fill_disc(sheet: PrintedSheet, center_mm: tuple[float, float], radius_mm: float, bgr: Bgr) -> None:
    """Fill a circle in place."""
    center = (round((center_mm[0] * sheet.scale - 0.5) * 16), round((center_mm[1] * sheet.scale - 0.5) * 16))
    cv2.circle(sheet.picture, center, max(1, round(radius_mm * sheet.scale * 16)), bgr, -1, cv2.LINE_AA, 4)


def letters(sheet: PrintedSheet, text: str, start_mm: tuple[float, float], height_mm: float, bgr: Bgr) -> None:
    """Write capitals and digits in place. *start_mm* is the lower left corner."""
    size_px = height_mm * sheet.scale
    origin = (round(start_mm[0] * sheet.scale), round(start_mm[1] * sheet.scale))
    thick = max(1, round(0.13 * size_px))
    cv2.putText(
        sheet.picture, text, origin, cv2.FONT_HERSHEY_SIMPLEX, max(0.1, size_px / _FONT_PX), bgr, thick, cv2.LINE_AA
    )


def text(
    sheet: PrintedSheet, start_mm: tuple[float, float], size_mm: tuple[float, float], ink: Bgr, rng: np.random.Generator
) -> None:
    """Draw a line of illegible words in place, as small dark strokes. *size_mm* is its length and height."""
    left, top = (round(value * sheet.scale) for value in start_mm)
    width, height = (max(1, round(value * sheet.scale)) for value in size_mm)
    region = sheet.picture[top : top + height, left : left + width]
    if region.size == 0:
        return
    # Each letter is two strokes and a gap. One position in six is empty and ends a word.
    count = max(2, int(1.3 * size_mm[0] / size_mm[1]))
    is_letter = rng.random(count) < 0.83
    strokes = np.stack([rng.random((3, count)) < 0.8, rng.random((3, count)) < 0.6, np.zeros((3, count), bool)], axis=2)
    marks = (strokes & is_letter[None, :, None]).reshape(3, 3 * count).astype(np.float32)
    is_small = width < marks.shape[1]
    method = cv2.INTER_AREA if is_small else cv2.INTER_LINEAR
    cover = cv2.resize(marks, (width, height), interpolation=method)[: region.shape[0], : region.shape[1], None]
    region[:] = (region * (1 - cover) + np.asarray(ink, np.float32) * cover).astype(np.uint8)


# Oversampling factor. Averaging models the cells of a sensor.
_OVERSAMPLING = 2
# Grey levels of black ink and white paper in room light.
_INK, _PAPER = 28.0, 215.0


@dataclass(frozen=True, slots=True)
class SheetPose:
    """Pose of a sheet in front of a camera.

    Attributes:
        right_rad: Rotation of its right side away from the camera.
        top_rad: Rotation of its upper side away from the camera.
        distance_mm: Distance of its middle.
        x_share, y_share: Position of its middle in the picture, from -1 to 1 between opposite borders.
    """

    right_rad: float
    top_rad: float
    distance_mm: float
    x_share: float
    y_share: float


def held_view(
    pose: SheetPose, middle_mm: tuple[float, float], focal_px: float, size_px: tuple[int, int], lens: float
) -> View:
    """Return the camera view of a hand-held sheet whose print is centred on *middle_mm*."""
    about_y, about_x = -pose.right_rad, -pose.top_rad
    across = np.array(
        [[math.cos(about_y), 0, math.sin(about_y)], [0, 1, 0], [-math.sin(about_y), 0, math.cos(about_y)]]
    )
    down = np.array([[1, 0, 0], [0, math.cos(about_x), -math.sin(about_x)], [0, math.sin(about_x), math.cos(about_x)]])
    turn = across @ down
    place = np.array([pose.x_share * size_px[0] / 2, pose.y_share * size_px[1] / 2]) * pose.distance_mm / focal_px
    shift = np.array([*place, pose.distance_mm]) - turn @ np.array([*middle_mm, 0.0])
    return board_view(np.column_stack([turn, shift]), focal_px, size_px, lens)


def board_view(to_camera: NDArray[np.float64], focal_px: float, size_px: tuple[int, int], lens: float) -> View:
    """Return the camera view of a sheet in front of it.

    Args:
        to_camera: Rotation and translation, shape (3, 4), from sheet millimetres to the camera frame. z points away
            from the camera.
        focal_px: Focal length.
        size_px: Width and height of the picture.
        lens: Distortion, as in `lab.render.look_types.CameraLook`.
    """
    center_px = ((size_px[0] - 1) / 2, (size_px[1] - 1) / 2)
    matrix = np.array([[focal_px, 0, center_px[0]], [0, focal_px, center_px[1]], [0, 0, 1.0]])
    return View(matrix @ to_camera, center_px, lens)


def lay_sheet(picture: Image, sheet: Sheet, motion: NDArray[np.float64], view: View) -> None:
    """Paint a sheet into a pinhole picture, in place. Lens distortion is not applied.

    Args:
        picture: BGR, shape (H, W, 3).
        sheet: The printed sheet.
        motion: Affine transform, shape (2, 3), from sheet millimetres to the view's plane at height 0.
        view: The camera.
    """
    place = view.plane(0.0) @ np.vstack([motion, (0, 0, 1)])
    edge = np.array([(0, 0), (sheet.width_mm, 0), (sheet.width_mm, sheet.height_mm), (0, sheet.height_mm)], np.float64)
    shown = _project(place, edge)
    height_px, width_px = picture.shape[:2]
    left, top = np.clip(np.floor(shown.min(axis=0)) - 2, 0, (width_px, height_px)).astype(int).tolist()
    right, bottom = np.clip(np.ceil(shown.max(axis=0)) + 3, 0, (width_px, height_px)).astype(int).tolist()
    if right <= left or bottom <= top:
        return
    fine = _OVERSAMPLING * float(np.sqrt(_area(shown) / _area(edge)))
    printed = draw_sheet(sheet, fine)
    # Pixel coordinates refer to pixel centres: shift by half a pixel of the print, and of the oversampled picture.
    from_print = np.array([[1 / fine, 0, 0.5 / fine], [0, 1 / fine, 0.5 / fine], [0, 0, 1]])
    to_crop = np.array(
        [
            [_OVERSAMPLING, 0, (0.5 - left) * _OVERSAMPLING - 0.5],
            [0, _OVERSAMPLING, (0.5 - top) * _OVERSAMPLING - 0.5],
            [0, 0, 1.0],
        ]
    )
    size = ((right - left) * _OVERSAMPLING, (bottom - top) * _OVERSAMPLING)
    warp = to_crop @ place @ from_print
    ink = _warped(printed, warp, size)
    cover = _warped(np.full_like(printed, 255), warp, size) / 255
    region = picture[top:bottom, left:right]
    tone = _INK * cover + (_PAPER - _INK) / 255 * np.minimum(ink, 255 * cover)
    region[:] = np.round(region * (1 - cover[..., None]) + tone[..., None]).astype(np.uint8)


def _warped(printed: GreyImage, warp: NDArray[np.float64], size: tuple[int, int]) -> NDArray[np.float64]:
    """Warp a picture to the oversampled *size* and average it down, shape (H, W)."""
    large = cv2.warpPerspective(printed, warp, size, flags=cv2.INTER_LINEAR)
    small = cv2.resize(large, (size[0] // _OVERSAMPLING, size[1] // _OVERSAMPLING), interpolation=cv2.INTER_AREA)
    return small.astype(np.float64)


def _project(homography: NDArray[np.float64], points: Points) -> Points:
    flat = points @ homography[:, :2].T + homography[:, 2]
    return np.asarray(flat[:, :2] / flat[:, 2:])


def _area(corners: Points) -> float:
    return abs(float(cv2.contourArea(corners.astype(np.float32))))
