"""Paint objects that resemble tiles: keyboards, keypads, checkerboards, pages, dots, cards, rulers and labels."""

from __future__ import annotations

import cv2
import numpy as np

from lab.render import colors, noise
from lab.render.faces import Texture
from lab.render.patterns import pip_centers, style_count
from lab.render.scene import Clutter, ClutterKind
from lab.render.sheets import PrintedSheet, blank, box, fill_disc, letters, shaded, text, turned
from vision.arrays import Bgr

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
    key = shaded(sheet.paper, contrast)
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
    box(sheet, center_mm, size_mm, shaded(bgr, 0.7), radius_mm)
    top = (center_mm[0], center_mm[1] - 0.05 * size_mm[1])
    box(sheet, top, (size_mm[0] - 0.24 * size_mm[1], 0.74 * size_mm[1]), bgr, radius_mm)


def keypad(sheet: PrintedSheet, rng: np.random.Generator) -> None:
    """Paint a keypad in place: rows of round or square buttons, and maybe a screen or navigation ring."""
    across = int(rng.integers(2, 5))
    pitch_mm = sheet.width_mm / (across + 0.6)
    pitch_x_mm = pitch_mm * rng.uniform(0.8, 1.4)
    start_mm = pitch_mm * 0.7
    is_dark = sum(sheet.paper) < 330
    button = shaded(sheet.paper, rng.uniform(1.5, 3.0)) if is_dark else shaded(sheet.paper, rng.uniform(0.3, 0.8))
    if rng.random() < 0.5:
        button = _LIGHT if is_dark else _DARK
    if rng.random() < 0.5:
        start_mm = _head(sheet, button, rng)
    size_mm = pitch_mm * rng.uniform(0.3, 0.8)
    is_round, has_signs = bool(rng.random() < 0.6), bool(rng.random() < 0.6)
    for x_mm in np.arange(start_mm, sheet.length_mm - 0.6 * pitch_mm, pitch_x_mm):
        if rng.random() < 0.08:
            continue
        is_colored = rng.random() < 0.12
        for index in range(across):
            bgr = colors.any_color(rng, (0.6, 1.0), (0.5, 0.9)) if is_colored else button
            center = (float(x_mm), sheet.width_mm / 2 + (index - (across - 1) / 2) * pitch_mm)
            if is_round:
                fill_disc(sheet, center, size_mm / 2, bgr)
            else:
                box(sheet, center, (0.8 * size_mm, size_mm), bgr, 0.2 * size_mm)
            if has_signs:
                ink = _DARK if sum(bgr) > 330 else _LIGHT
                sign = _SIGNS[int(rng.integers(26, len(_SIGNS)))]
                letters(sheet, sign, (center[0] - 0.15 * size_mm, center[1] + 0.2 * size_mm), 0.4 * size_mm, ink)


def _head(sheet: PrintedSheet, button: Bgr, rng: np.random.Generator) -> float:
    """Paint a screen or a navigation ring in place, and return the x position where the buttons start, in mm."""
    width = sheet.width_mm
    if rng.random() < 0.5:
        box(sheet, (0.65 * width, width / 2), (0.9 * width, 0.8 * width), (70.0, 90.0, 85.0), 2.0)
        return 1.35 * width
    fill_disc(sheet, (0.6 * width, width / 2), 0.4 * width, button)
    fill_disc(sheet, (0.6 * width, width / 2), 0.2 * width, sheet.paper)
    fill_disc(sheet, (0.6 * width, width / 2), 0.15 * width, button)
    return 1.3 * width


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
        thing: The object.
        px_per_mm: Scale of the picture. The texture is 1.2 times as fine, up to a limit.
        rng: Random generator for everything that *thing* does not specify.

    Returns:
        Shape (H, W, 4): BGR premultiplied by the alpha in the last channel.
    """
    scale = min(1.2 * px_per_mm, _LONGEST_PX / max(thing.length_mm, thing.width_mm))
    sheet = blank(thing.length_mm, thing.width_mm, scale, thing.bgr)
    _draw(thing, sheet, rng)
    height, width = sheet.picture.shape[:2]
    shade = 1 + np.float32(rng.uniform(0, 0.05)) * noise.cloud(rng, height, width, 60 * scale)
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
            _barcode(sheet, rng)
        case ClutterKind.RULER:
            _ruler(sheet, rng)
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
    dark = _INK if rng.random() < 0.6 else colors.any_color(rng, (0.0, 0.9), (0.05, 0.6))
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
    ink = _INK if rng.random() < 0.8 else colors.any_color(rng, (0.3, 0.9), (0.1, 0.5))
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
            inner = shaded(sheet.paper, 0.85 if row == 0 else 1.0)
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
    bgr = colors.any_color(rng, (0.0, 0.9), (0.6, 1.0) if is_dark else (0.05, 0.5))
    columns, rows = int(sheet.length_mm / pitch_mm) + 1, int(sheet.width_mm / pitch_mm) + 1
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2) + 0.5
    kind = rng.random()
    if kind < 0.35:
        grid[:, 0] += 0.5 * (np.floor(grid[:, 1]) % 2)
    elif kind > 0.85:
        grid += rng.normal(0, 0.3, grid.shape)
    radii = np.full(len(grid), radius_mm)
    if 0.55 < kind <= 0.85:
        radii *= np.clip(0.75 + 0.4 * noise.cloud(rng, rows, columns, 5).ravel(), 0.1, 1.15)
    for place, radius in zip(grid * pitch_mm, radii, strict=True):
        fill_disc(sheet, (float(place[0]), float(place[1])), float(radius), bgr)


def _barcode(sheet: PrintedSheet, rng: np.random.Generator) -> None:
    """Paint a barcode with digits below it."""
    bar_mm = sheet.length_mm / rng.integers(70, 120)
    bars = rng.random(int(0.86 * sheet.length_mm / bar_mm)) < 0.5
    for place in np.flatnonzero(bars):
        x_mm = 0.07 * sheet.length_mm + (place + 0.5) * bar_mm
        box(sheet, (x_mm, 0.42 * sheet.width_mm), (bar_mm, 0.7 * sheet.width_mm), _INK)
    digits = "".join(str(digit) for digit in rng.integers(0, 10, 12))
    height_mm = min(0.13 * sheet.width_mm, 0.075 * sheet.length_mm)
    letters(sheet, digits, (0.12 * sheet.length_mm, 0.95 * sheet.width_mm), height_mm, _INK)


def _ruler(sheet: PrintedSheet, rng: np.random.Generator) -> None:
    """Paint a ruler with millimetre ticks along one or both edges, and numbers."""
    ink = _INK if sum(sheet.paper) > 240 else (230.0, 230.0, 230.0)
    sides = (0, 1) if rng.random() < 0.5 else (0,)
    for tick in range(int(sheet.length_mm) - 8):
        reach_mm = sheet.width_mm * (0.32 if tick % 10 == 0 else 0.22 if tick % 5 == 0 else 0.14)
        for side in sides:
            y_mm = abs(side * sheet.width_mm - reach_mm / 2)
            box(sheet, (tick + 4.0, y_mm), (0.3 if tick % 10 else 0.45, reach_mm), ink)
        if tick % 10 == 0:
            letters(sheet, str(tick // 10), (tick + 2.5, 0.58 * sheet.width_mm), min(4.0, 0.2 * sheet.width_mm), ink)


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
        _suit(sheet, center, size_mm, bgr, is_diamond=is_diamond)
    for x, y in ((0.03, 0.14), (0.91 if pips < 10 else 0.85, 0.96)):
        letters(sheet, str(pips), (x * sheet.length_mm, y * sheet.width_mm), 6.0, bgr)


def _suit(sheet: PrintedSheet, center_mm: tuple[float, float], size_mm: float, bgr: Bgr, *, is_diamond: bool) -> None:
    """Paint a suit sign in place: a diamond, or two lobes and a tip."""
    diamond, tip = [(-1.2, 0.0), (0.0, -0.9), (1.2, 0.0), (0.0, 0.9)], [(-1.3, 0.0), (0.6, -1.0), (0.6, 1.0)]
    shape = (np.array(diamond if is_diamond else tip) * size_mm + center_mm) * sheet.scale - 0.5
    cv2.fillPoly(sheet.picture, [np.round(shape * 16).astype(np.int32)], bgr, cv2.LINE_AA, 4)
    for side in () if is_diamond else (-0.5, 0.5):
        fill_disc(sheet, (center_mm[0] + 0.5 * size_mm, center_mm[1] + side * size_mm), 0.58 * size_mm, bgr)


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
