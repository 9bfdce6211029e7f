"""Paint the tops of objects with keys: computer keyboards, remote controls and phone keypads."""

from __future__ import annotations

import numpy as np

from synthetic.render import colors
from synthetic.render.sheets import PrintedSheet, box, fill_disc, letters, shaded
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
