"""Draw solid bodies, printed sheets, and objects that resemble tiles: keyboards, pages, dots, cards and labels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.sheets.prints import Sheet
from lab.render import looks, view
from lab.render.faces import FaceGrid, Texture
from lab.render.scene import Clutter, ClutterKind, LightLook, PlacedTile, TileLook, pip_centers, style_count
from lab.render.sheets import draw_sheet
from lab.render.view import View, add_light, to_lamp
from vision.arrays import Bgr, GreyImage, Image, Points

# Paint tiles as solid bodies: side walls, then the warped texture of the top.


_CORNER_STEPS = 4


def rounded_outline(length_mm: float, width_mm: float, radius_mm: float) -> Points:
    """Return the outline of a rounded rectangle around (0, 0), shape (N, 2), clockwise in the picture."""
    radius = min(radius_mm, length_mm / 2, width_mm / 2)
    points = []
    for quarter, (side_x, side_y) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1))):
        for step in range(_CORNER_STEPS):
            angle = (quarter + step / (_CORNER_STEPS - 1)) * math.pi / 2
            points.append(
                (
                    side_x * (length_mm / 2 - radius) + radius * math.cos(angle),
                    side_y * (width_mm / 2 - radius) + radius * math.sin(angle),
                )
            )
    return np.array(points, dtype=np.float64)


def corners_of(look: TileLook) -> Points:
    """Return the corners of a tile in its own frame, shape (4, 2), clockwise from (-x, -y)."""
    half_length, half_width = look.length_mm / 2, look.width_mm / 2
    return np.array(
        [[-half_length, -half_width], [half_length, -half_width], [half_length, half_width], [-half_length, half_width]]
    )


def paint_walls(
    picture: Image, outline_mm: Points, heights_mm: tuple[float, float], bgr: Bgr, light: LightLook, view: View
) -> None:
    """Paint the visible sides of a convex body between two heights, in place."""
    low, high = view.project(outline_mm, heights_mm[0]), view.project(outline_mm, heights_mm[1])
    lamp = to_lamp(light)
    following = np.roll(np.arange(len(outline_mm)), -1)
    edge = outline_mm[following] - outline_mm
    length = np.maximum(np.linalg.norm(edge, axis=1), 1e-9)
    facing = (edge[:, 1] * lamp[0] - edge[:, 0] * lamp[1]) / length  # outward normal of a clockwise outline
    shade = 0.8 * (light.ambient + (1 - light.ambient) * np.clip(facing, -0.2, 1))
    colors = np.clip(shade[:, None] * np.asarray(bgr), 0, 255).tolist()
    quads = np.stack([high, high[following], low[following], low], axis=1)
    along, down = quads[:, 1] - quads[:, 0], quads[:, 3] - quads[:, 0]
    is_visible = along[:, 0] * down[:, 1] - along[:, 1] * down[:, 0] < 0
    fixed = np.round(quads * 16).astype(np.int32)
    for index in np.flatnonzero(is_visible):
        cv2.fillConvexPoly(picture, fixed[index], colors[index], cv2.LINE_AA, 4)


def paint_texture(
    picture: Image,
    texture: Texture,
    warp: NDArray[np.float64],
    *,
    glare: GreyImage | None = None,
    gloss: float = 0.0,
    lean_px: tuple[float, float] = (0.0, 0.0),
    shadow: GreyImage | None = None,
) -> None:
    """Paint *texture* over a picture in place.

    Args:
        picture: BGR, shape (H, W, 3).
        texture: BGR premultiplied by the alpha in its last channel.
        warp: Homography, shape (3, 3), from texture pixels to the picture.
        glare: Reflections over the picture, shape (H, W), or None.
        gloss: Share of the glare that the surface reflects, 0 to 1.
        lean_px: Displacement of the glare, because the surface is not quite level.
        shadow: Brightness of the surface, shape (H, W), 255 if unshaded, or None.
    """
    rows, columns = texture.shape[:2]
    frame = np.array([[[0, 0], [columns, 0], [columns, rows], [0, rows]]], dtype=np.float64)
    corners = cv2.perspectiveTransform(frame, warp)[0]
    left, top = (int(value) for value in np.maximum(np.floor(corners.min(axis=0)).astype(int) - 1, 0))
    right = min(picture.shape[1], int(np.ceil(corners[:, 0].max())) + 2)
    bottom = min(picture.shape[0], int(np.ceil(corners[:, 1].max())) + 2)
    if right <= left or bottom <= top:
        return
    shift = np.array([[1.0, 0.0, -left], [0.0, 1.0, -top], [0.0, 0.0, 1.0]])
    patch = cv2.warpPerspective(texture, shift @ warp, (right - left, bottom - top), flags=cv2.INTER_LINEAR)
    blue, green, red, alpha = cv2.split(patch)
    color = cv2.merge([blue, green, red])
    if shadow is not None:
        color = cv2.multiply(color, cv2.merge([shadow[top:bottom, left:right]] * 3), scale=1 / 255)
    if glare is not None and gloss > 0:
        shine = cv2.multiply(_shifted(glare, lean_px, (top, bottom, left, right)), alpha, scale=gloss / 255)
        color = add_light(color, shine)
    region = picture[top:bottom, left:right]
    uncovered = cv2.bitwise_not(alpha)
    region[:] = cv2.add(color, cv2.multiply(region, cv2.merge([uncovered] * 3), scale=1 / 255))


def _shifted(field: GreyImage, lean_px: tuple[float, float], box: tuple[int, int, int, int]) -> GreyImage:
    """Return the part of *field* at *box* (top, bottom, left, right), shifted by *lean_px* but kept inside."""
    top, bottom, left, right = box
    down = int(np.clip(round(lean_px[1]), -top, field.shape[0] - bottom))
    aside = int(np.clip(round(lean_px[0]), -left, field.shape[1] - right))
    return field[top + down : bottom + down, left + aside : right + aside]


def top_warp(placed: PlacedTile, look: TileLook, grid: FaceGrid, view: View) -> NDArray[np.float64]:
    """Return the homography from the texture of a tile to the pinhole picture."""
    cos, sin = math.cos(placed.theta_rad), math.sin(placed.theta_rad)
    center_x, center_y = placed.center_mm
    to_table = np.array([[cos, -sin, center_x], [sin, cos, center_y], [0.0, 0.0, 1.0]])
    warp: NDArray[np.float64] = view.plane(placed.height_mm + look.thickness_mm) @ to_table @ grid.to_tile()
    return warp


# Draw flat sheets, and render printed ones on a table or before a camera, as ground truth for calibration.


# Height of letters at font scale 1.
_FONT_PX = 22.0


@dataclass(frozen=True, slots=True, eq=False)
class PrintedSheet:
    """A sheet to draw on.

    Attributes:
        picture: BGR, shape (H, W, 3).
        scale: Pixels per millimetre.
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
_INK_GREY = 28.0
_PAPER_GREY = 215.0


@dataclass(frozen=True, slots=True)
class SheetPose:
    """Pose of a sheet in front of a camera.

    Attributes:
        right_rad: Rotation of its right side away from the camera.
        top_rad: Rotation of its upper side away from the camera.
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
        lens: Distortion, as in `lab.render.scene.CameraLook`.
    """
    center_px = ((size_px[0] - 1) / 2, (size_px[1] - 1) / 2)
    matrix = np.array([[focal_px, 0, center_px[0]], [0, focal_px, center_px[1]], [0, 0, 1.0]])
    return View(matrix @ to_camera, center_px, lens)


def lay_sheet(picture: Image, sheet: Sheet, motion: NDArray[np.float64], view: View) -> None:
    """Paint a sheet into a pinhole picture, in place. Lens distortion is not applied.

    Args:
        picture: BGR, shape (H, W, 3).
        motion: Affine transform, shape (2, 3), from sheet millimetres to the view's plane at height 0.
    """
    place = view.plane(0.0) @ np.vstack([motion, (0, 0, 1)])
    edge = np.array([(0, 0), (sheet.width_mm, 0), (sheet.width_mm, sheet.height_mm), (0, sheet.height_mm)], np.float64)
    flat = edge @ place[:, :2].T + place[:, 2]
    shown = np.asarray(flat[:, :2] / flat[:, 2:])
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
    tone = _INK_GREY * cover + (_PAPER_GREY - _INK_GREY) / 255 * np.minimum(ink, 255 * cover)
    region[:] = np.round(region * (1 - cover[..., None]) + tone[..., None]).astype(np.uint8)


def _warped(printed: GreyImage, warp: NDArray[np.float64], size: tuple[int, int]) -> NDArray[np.float64]:
    """Warp a picture to the oversampled *size* and average it down, shape (H, W)."""
    large = cv2.warpPerspective(printed, warp, size, flags=cv2.INTER_LINEAR)
    small = cv2.resize(large, (size[0] // _OVERSAMPLING, size[1] // _OVERSAMPLING), interpolation=cv2.INTER_AREA)
    return small.astype(np.float64)


def _area(corners: Points) -> float:
    return abs(float(cv2.contourArea(corners.astype(np.float32))))


_SIGNS = "QWERTYUIOPASDFGHJKLZXCVBNM1234567890"
_LIGHT: Bgr = (225.0, 228.0, 228.0)
_DARK: Bgr = (35.0, 32.0, 32.0)


def keyboard(sheet: PrintedSheet, rng: np.random.Generator) -> None:
    """Paint a keyboard in place: rows of rounded keys, wider at the ends, most of them marked."""
    rows = int(rng.integers(5, 7))
    margin_mm = rng.uniform(3, 9)
    pitch_mm = (sheet.width_mm - 2 * margin_mm) / rows
    is_dark = sum(sheet.paper) < 330
    contrast = rng.uniform(1.1, 2.0) if is_dark else rng.uniform(0.6, 1.15)
    key = looks.scaled(sheet.paper, contrast)
    if rng.random() < 0.15:
        key = _LIGHT if is_dark else _DARK
    mark = _LIGHT if sum(key) < 330 else _DARK
    gap, is_capped = rng.uniform(0.08, 0.22), bool(rng.random() < 0.5)
    for row in range(rows):
        y_mm = margin_mm + (row + 0.5) * pitch_mm
        x_mm = margin_mm
        while sheet.length_mm - margin_mm - x_mm > 0.5 * pitch_mm:
            room = (sheet.length_mm - margin_mm - x_mm) / pitch_mm
            share = _key_share(row, rows, (x_mm - margin_mm) / pitch_mm, room, rng)
            size = ((share - gap) * pitch_mm, (1 - gap) * pitch_mm)
            center = (x_mm + share * pitch_mm / 2, y_mm)
            _key(sheet, center, size, key, is_capped=is_capped)
            if share < 1.5 and rng.random() < 0.95:
                sign = _SIGNS[int(rng.integers(len(_SIGNS)))]
                start = (center[0] - 0.22 * pitch_mm, center[1] + rng.uniform(0.0, 0.1) * pitch_mm)
                letters(sheet, sign, start, 0.24 * pitch_mm, mark)
            elif share < 3:
                box(sheet, (center[0] - 0.2 * size[0], center[1]), (0.3 * size[0], 0.12 * pitch_mm), mark)
            x_mm += share * pitch_mm


def _key_share(row: int, rows: int, place: float, room: float, rng: np.random.Generator) -> float:
    """Return the width of the next key, in standard keys."""
    share = 1.0
    if place == 0 and row > 1:
        share = 1.0 + 0.35 * (row - 1)
    elif row == rows - 1 and 3.0 < place < 4.8:
        share = 5.5
    elif room < 2.4:
        return room
    elif row == rows - 1 and rng.random() < 0.3:
        share = 1.25
    return min(share, room)


def _key(
    sheet: PrintedSheet, center_mm: tuple[float, float], size_mm: tuple[float, float], bgr: Bgr, *, is_capped: bool
) -> None:
    """Paint a key in place. A capped key has a darker base."""
    radius_mm = 0.14 * size_mm[1]
    if not is_capped:
        box(sheet, center_mm, size_mm, bgr, radius_mm)
        return
    box(sheet, center_mm, size_mm, looks.scaled(bgr, 0.7), radius_mm)
    top = (center_mm[0], center_mm[1] - 0.05 * size_mm[1])
    box(sheet, top, (size_mm[0] - 0.24 * size_mm[1], 0.74 * size_mm[1]), bgr, radius_mm)


def keypad(sheet: PrintedSheet, rng: np.random.Generator) -> None:
    """Paint a keypad in place: rows of round or square buttons, and maybe a screen or navigation ring."""
    across = int(rng.integers(2, 5))
    pitch_mm = sheet.width_mm / (across + 0.6)
    pitch_x_mm = pitch_mm * rng.uniform(0.8, 1.4)
    start_mm = pitch_mm * 0.7
    is_dark = sum(sheet.paper) < 330
    button = (
        looks.scaled(sheet.paper, rng.uniform(1.5, 3.0))
        if is_dark
        else looks.scaled(sheet.paper, rng.uniform(0.3, 0.8))
    )
    if rng.random() < 0.5:
        button = _LIGHT if is_dark else _DARK
    if rng.random() < 0.5:
        # A screen or a navigation ring. The buttons start below it.
        width = sheet.width_mm
        if rng.random() < 0.5:
            box(sheet, (0.65 * width, width / 2), (0.9 * width, 0.8 * width), (70.0, 90.0, 85.0), 2.0)
            start_mm = 1.35 * width
        else:
            fill_disc(sheet, (0.6 * width, width / 2), 0.4 * width, button)
            fill_disc(sheet, (0.6 * width, width / 2), 0.2 * width, sheet.paper)
            fill_disc(sheet, (0.6 * width, width / 2), 0.15 * width, button)
            start_mm = 1.3 * width
    size_mm = pitch_mm * rng.uniform(0.3, 0.8)
    is_round, has_signs = bool(rng.random() < 0.6), bool(rng.random() < 0.6)
    for x_mm in np.arange(start_mm, sheet.length_mm - 0.6 * pitch_mm, pitch_x_mm):
        if rng.random() < 0.08:
            continue
        is_colored = rng.random() < 0.12
        for index in range(across):
            bgr = looks.any_color(rng, (0.6, 1.0), (0.5, 0.9)) if is_colored else button
            center = (float(x_mm), sheet.width_mm / 2 + (index - (across - 1) / 2) * pitch_mm)
            if is_round:
                fill_disc(sheet, center, size_mm / 2, bgr)
            else:
                box(sheet, center, (0.8 * size_mm, size_mm), bgr, 0.2 * size_mm)
            if has_signs:
                ink = _DARK if sum(bgr) > 330 else _LIGHT
                sign = _SIGNS[int(rng.integers(26, len(_SIGNS)))]
                letters(sheet, sign, (center[0] - 0.15 * size_mm, center[1] + 0.2 * size_mm), 0.4 * size_mm, ink)


PRINTS = (
    ClutterKind.KEYBOARD,
    ClutterKind.KEYPAD,
    ClutterKind.CHECKERBOARD,
    ClutterKind.PAGE,
    ClutterKind.DOTS,
    ClutterKind.BARCODE,
    ClutterKind.RULER,
    ClutterKind.PLAYING_CARD,
    ClutterKind.BANK_CARD,
)
# Corner radius as a share of the short side. Other kinds are cut from paper, with sharp corners.
_ROUNDED = {
    ClutterKind.KEYBOARD: 0.06,
    ClutterKind.KEYPAD: 0.25,
    ClutterKind.PLAYING_CARD: 0.06,
    ClutterKind.BANK_CARD: 0.07,
}
_LONGEST_PX = 900
_INK: Bgr = (30.0, 26.0, 26.0)
_RED: Bgr = (40.0, 30.0, 190.0)


def paint_print(thing: Clutter, px_per_mm: float, rng: np.random.Generator) -> Texture:
    """Return the top of an object whose kind is in `PRINTS`.

    Args:
        px_per_mm: Scale of the picture. The texture is 1.2 times as fine, up to a limit.
        rng: Random generator for everything that *thing* does not specify.

    Returns:
        Shape (H, W, 4): BGR premultiplied by the alpha in the last channel.
    """
    scale = min(1.2 * px_per_mm, _LONGEST_PX / max(thing.length_mm, thing.width_mm))
    sheet = blank(thing.length_mm, thing.width_mm, scale, thing.bgr)
    _draw(thing, sheet, rng)
    height, width = sheet.picture.shape[:2]
    shade = 1 + np.float32(rng.uniform(0, 0.05)) * view.cloud(rng, height, width, 60 * scale)
    picture = np.clip(sheet.picture * shade[..., None], 0, 255)
    alpha = blank(thing.length_mm, thing.width_mm, scale, (0.0, 0.0, 0.0))
    radius_mm = min(thing.length_mm, thing.width_mm) * _ROUNDED.get(thing.kind, 0.0)
    middle = (thing.length_mm / 2, thing.width_mm / 2)
    box(alpha, middle, (thing.length_mm, thing.width_mm), (255.0, 255.0, 255.0), radius_mm)
    cover = alpha.picture[..., :1]
    return np.concatenate([picture * (cover / np.float32(255)), cover], axis=2).astype(np.uint8)


def _draw(thing: Clutter, sheet: PrintedSheet, rng: np.random.Generator) -> None:
    match thing.kind:
        case ClutterKind.KEYBOARD:
            keyboard(sheet, rng)
        case ClutterKind.KEYPAD:
            keypad(sheet, rng)
        case ClutterKind.CHECKERBOARD:
            _checkerboard(sheet, rng)
        case ClutterKind.PAGE:
            _page(sheet, rng)
        case ClutterKind.DOTS:
            _dots(sheet, rng)
        case ClutterKind.BARCODE:
            # Paint a barcode with digits below it.
            bar_mm = sheet.length_mm / rng.integers(70, 120)
            bars = rng.random(int(0.86 * sheet.length_mm / bar_mm)) < 0.5
            for place in np.flatnonzero(bars):
                x_mm = 0.07 * sheet.length_mm + (place + 0.5) * bar_mm
                box(sheet, (x_mm, 0.42 * sheet.width_mm), (bar_mm, 0.7 * sheet.width_mm), _INK)
            digits = "".join(str(digit) for digit in rng.integers(0, 10, 12))
            height_mm = min(0.13 * sheet.width_mm, 0.075 * sheet.length_mm)
            letters(sheet, digits, (0.12 * sheet.length_mm, 0.95 * sheet.width_mm), height_mm, _INK)
        case ClutterKind.RULER:
            # Paint a ruler with millimetre ticks along one or both edges, and numbers.
            ink = _INK if sum(sheet.paper) > 240 else (230.0, 230.0, 230.0)
            sides = (0, 1) if rng.random() < 0.5 else (0,)
            for tick in range(int(sheet.length_mm) - 8):
                reach_mm = sheet.width_mm * (0.32 if tick % 10 == 0 else 0.22 if tick % 5 == 0 else 0.14)
                for side in sides:
                    y_mm = abs(side * sheet.width_mm - reach_mm / 2)
                    box(sheet, (tick + 4.0, y_mm), (0.3 if tick % 10 else 0.45, reach_mm), ink)
                if tick % 10 == 0:
                    letters(
                        sheet, str(tick // 10), (tick + 2.5, 0.58 * sheet.width_mm), min(4.0, 0.2 * sheet.width_mm), ink
                    )
        case ClutterKind.PLAYING_CARD:
            _playing_card(sheet, rng)
        case ClutterKind.BANK_CARD:
            _bank_card(sheet, rng)
        case _:
            raise ValueError(f"kind: expected one of {PRINTS}, got {thing.kind}")


def _checkerboard(sheet: PrintedSheet, rng: np.random.Generator) -> None:
    """Paint a checkerboard with a margin, as for camera calibration or a game."""
    square_mm = min(sheet.length_mm, sheet.width_mm) / rng.integers(5, 13)
    columns, rows = int(sheet.length_mm / square_mm) - 1, int(sheet.width_mm / square_mm) - 1
    dark = _INK if rng.random() < 0.6 else looks.any_color(rng, (0.0, 0.9), (0.05, 0.6))
    start = np.array([sheet.length_mm - columns * square_mm, sheet.width_mm - rows * square_mm]) / 2
    cells = np.add.outer(np.arange(rows), np.arange(columns)) % 2 == 0
    for row, column in zip(*np.nonzero(cells), strict=True):
        place = start + square_mm * (np.array([column, row]) + 0.5)
        box(sheet, (float(place[0]), float(place[1])), (square_mm, square_mm), dark)


def _page(sheet: PrintedSheet, rng: np.random.Generator) -> None:
    """Paint headings, paragraphs, lists and tables, in portrait or landscape format."""
    if rng.random() < 0.5:
        upright = turned(sheet)
        _fill_page(upright, rng)
        sheet.picture[:] = np.rot90(upright.picture, -1)
    else:
        _fill_page(sheet, rng)


def _fill_page(sheet: PrintedSheet, rng: np.random.Generator) -> None:
    ink = _INK if rng.random() < 0.8 else looks.any_color(rng, (0.3, 0.9), (0.1, 0.5))
    margin_mm, pitch_mm = sheet.length_mm * rng.uniform(0.05, 0.13), rng.uniform(3.2, 6.5)
    columns = int(rng.integers(1, 3)) if sheet.length_mm > 120 else 1
    room_mm = (sheet.length_mm - 2 * margin_mm) / columns
    for column in range(columns):
        left_mm, y_mm = margin_mm + column * room_mm, margin_mm
        while y_mm < sheet.width_mm - margin_mm - pitch_mm:
            kind, width_mm = rng.random(), room_mm * 0.94
            if kind < 0.07:
                y_mm += pitch_mm * 0.5
                text(sheet, (left_mm, y_mm), (width_mm * rng.uniform(0.3, 0.8), pitch_mm * 1.1), ink, rng)
                y_mm += 2 * pitch_mm
            elif kind < 0.13:
                y_mm = _table(sheet, (left_mm, y_mm + pitch_mm), (width_mm, pitch_mm), ink, margin_mm, rng)
            elif kind < 0.2:
                fill_disc(sheet, (left_mm + pitch_mm, y_mm + 0.3 * pitch_mm), 0.2 * pitch_mm, ink)
                text(sheet, (left_mm + 2 * pitch_mm, y_mm), (width_mm * 0.6, pitch_mm * 0.55), ink, rng)
                y_mm += pitch_mm
            else:
                last = rng.uniform(0.2, 0.9) if rng.random() < 0.2 else 1.0
                text(sheet, (left_mm, y_mm), (width_mm * last, pitch_mm * 0.55), ink, rng)
                y_mm += pitch_mm * (1.0 if last == 1.0 else 1.6)


def _table(
    sheet: PrintedSheet,
    start_mm: tuple[float, float],
    size_mm: tuple[float, float],
    ink: Bgr,
    margin_mm: float,
    rng: np.random.Generator,
) -> float:
    """Draw a table or form in place and return the y position below it in mm. *size_mm* is its width and text pitch."""
    width_mm, row_mm = size_mm[0], size_mm[1] * rng.uniform(1.2, 2.5)
    rows = min(int(rng.integers(2, 9)), int((sheet.width_mm - margin_mm - start_mm[1]) / row_mm))
    columns = int(rng.integers(2, 8))
    cell_mm = width_mm / columns
    for row in range(max(0, rows)):
        for column in range(columns):
            center = (start_mm[0] + (column + 0.5) * cell_mm, start_mm[1] + (row + 0.5) * row_mm)
            box(sheet, center, (cell_mm, row_mm), ink)
            inner = looks.scaled(sheet.paper, 0.85 if row == 0 else 1.0)
            box(sheet, center, (cell_mm - 0.5, row_mm - 0.5), inner)
            if rng.random() < 0.7:
                at = (center[0] - 0.4 * cell_mm, center[1] - 0.3 * size_mm[1])
                text(sheet, at, (cell_mm * rng.uniform(0.2, 0.8), 0.5 * size_mm[1]), ink, rng)
    return start_mm[1] + max(0, rows) * row_mm + size_mm[1]


def _dots(sheet: PrintedSheet, rng: np.random.Generator) -> None:
    """Paint dots: in a grid, staggered, as a halftone or scattered."""
    pitch_mm = float(np.exp(rng.uniform(np.log(4), np.log(24))))
    radius_mm = pitch_mm * rng.uniform(0.12, 0.42)
    is_dark = sum(sheet.paper) < 330
    bgr = looks.any_color(rng, (0.0, 0.9), (0.6, 1.0) if is_dark else (0.05, 0.5))
    columns, rows = int(sheet.length_mm / pitch_mm) + 1, int(sheet.width_mm / pitch_mm) + 1
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2) + 0.5
    kind = rng.random()
    if kind < 0.35:
        grid[:, 0] += 0.5 * (np.floor(grid[:, 1]) % 2)
    elif kind > 0.85:
        grid += rng.normal(0, 0.3, grid.shape)
    radii = np.full(len(grid), radius_mm)
    if 0.55 < kind <= 0.85:
        radii *= np.clip(0.75 + 0.4 * view.cloud(rng, rows, columns, 5).ravel(), 0.1, 1.15)
    for place, radius in zip(grid * pitch_mm, radii, strict=True):
        fill_disc(sheet, (float(place[0]), float(place[1])), float(radius), bgr)


def _playing_card(sheet: PrintedSheet, rng: np.random.Generator) -> None:
    """Paint a playing card with 1 to 10 suit signs, or its patterned back."""
    bgr = _RED if rng.random() < 0.5 else _INK
    if rng.random() < 0.2:
        box(sheet, (sheet.length_mm / 2, sheet.width_mm / 2), (sheet.length_mm - 8, sheet.width_mm - 8), bgr, 2.0)
        for x_mm in np.arange(8.0, sheet.length_mm - 6, 5.0):
            for y_mm in np.arange(8.0, sheet.width_mm - 6, 5.0):
                fill_disc(sheet, (float(x_mm), float(y_mm)), 1.2, sheet.paper)
        return
    pips, is_diamond = int(rng.integers(1, 11)), bool(rng.random() < 0.3)
    size_mm = sheet.width_mm * (0.07 if pips > 1 else 0.16)
    half = np.array([sheet.length_mm * 0.42, sheet.width_mm * 0.36])
    for x, y in pip_centers(pips, min(1, style_count(pips) - 1)) * half:
        center = (sheet.length_mm / 2 + float(x), sheet.width_mm / 2 + float(y))
        # Paint a suit sign in place: a diamond, or two lobes and a tip.
        diamond, tip = [(-1.2, 0.0), (0.0, -0.9), (1.2, 0.0), (0.0, 0.9)], [(-1.3, 0.0), (0.6, -1.0), (0.6, 1.0)]
        shape = (np.array(diamond if is_diamond else tip) * size_mm + center) * sheet.scale - 0.5
        cv2.fillPoly(sheet.picture, [np.round(shape * 16).astype(np.int32)], bgr, cv2.LINE_AA, 4)
        for side in () if is_diamond else (-0.5, 0.5):
            fill_disc(sheet, (center[0] + 0.5 * size_mm, center[1] + side * size_mm), 0.58 * size_mm, bgr)
    for x, y in ((0.03, 0.14), (0.91 if pips < 10 else 0.85, 0.96)):
        letters(sheet, str(pips), (x * sheet.length_mm, y * sheet.width_mm), 6.0, bgr)


def _bank_card(sheet: PrintedSheet, rng: np.random.Generator) -> None:
    """Paint a bank card with a chip or stripe, digits and two discs."""
    ink = (225.0, 225.0, 225.0) if sum(sheet.paper) < 380 else (50.0, 45.0, 45.0)
    length, width = sheet.length_mm, sheet.width_mm
    if rng.random() < 0.4:
        box(sheet, (length / 2, 0.2 * width), (length, 0.22 * width), (25.0, 25.0, 25.0))
    else:
        box(sheet, (0.18 * length, 0.42 * width), (12.0, 9.5), (90.0, 165.0, 200.0), 1.5)
    for group in range(4):
        digits = "".join(str(digit) for digit in rng.integers(0, 10, 4))
        letters(sheet, digits, ((0.08 + 0.22 * group) * length, 0.66 * width), 5.0, ink)
    text(sheet, (0.08 * length, 0.82 * width), (0.4 * length, 3.0), ink, rng)
    for x, bgr in ((0.8, _RED), (0.88, (40.0, 150.0, 235.0))):
        fill_disc(sheet, (x * length, 0.84 * width), 0.09 * width, bgr)
