"""Parts of a circuit as they are drawn; each is 40 units long, so that wires know where to end."""

from __future__ import annotations

from docs.drawings.sheet import BLACK, INK, RED, Point, Sheet

_HALF = 20
"""Half the length of a part between its two wires."""


def resistor(sheet: Sheet, middle: Point, value: str, *, upright: bool = False) -> None:
    """Draw a resistor of 40 units, with its value above it or, upright, to its right."""
    x, y = middle
    if upright:
        sheet.box((x - 7, y - _HALF), (14, 2 * _HALF), radius=1)
        sheet.text((x + 13, y + 5), value, size=12)
    else:
        sheet.box((x - _HALF, y - 7), (2 * _HALF, 14), radius=1)
        sheet.text((x, y - 13), value, size=12, anchor="middle")


def capacitor(sheet: Sheet, middle: Point, value: str, *, value_is_left: bool = False) -> None:
    """Draw an upright capacitor of 40 units, its value beside it."""
    x, y = middle
    sheet.wire((x, y - _HALF), (x, y - 4))
    sheet.wire((x, y + 4), (x, y + _HALF))
    for plate in (y - 4, y + 4):
        sheet.wire((x - 13, plate), (x + 13, plate), width=3)
    sheet.text((x - 18 if value_is_left else x + 18, y + 5), value, size=12, anchor="end" if value_is_left else "start")


def diode(sheet: Sheet, middle: Point, *, up: bool = False, shines: bool = False) -> None:
    """Draw a diode of 40 units, which lets current pass to the right, or upwards; one that shines has arrows."""
    x, y = middle
    if up:
        sheet.wire((x, y - _HALF), (x, y + _HALF))
        sheet.shape((x - 9, y + 8), (x + 9, y + 8), (x, y - 8), fill=INK)
        sheet.wire((x - 9, y - 8), (x + 9, y - 8), width=3)
    else:
        sheet.wire((x - _HALF, y), (x + _HALF, y))
        sheet.shape((x - 8, y - 9), (x - 8, y + 9), (x + 8, y), fill=RED if shines else INK)
        sheet.wire((x + 8, y - 9), (x + 8, y + 9), width=3)
    if shines:
        for shift in (0, 9):
            sheet.wire((x + shift - 3, y - 14), (x + shift + 5, y - 24), width=1.5)
            sheet.wire((x + shift, y - 23.5), (x + shift + 5, y - 24), (x + shift + 5, y - 18.5), width=1.5)


def push_button(sheet: Sheet, middle: Point) -> None:
    """Draw a button of 40 units that lies, open."""
    x, y = middle
    for end in (x - _HALF, x + _HALF):
        sheet.disc((end, y), 3.5)
    sheet.wire((x - _HALF, y - 8), (x + _HALF, y - 8), width=3)
    sheet.wire((x, y - 8), (x, y - 20), width=3)
    sheet.wire((x - 8, y - 20), (x + 8, y - 20), width=3)


def ground(sheet: Sheet, at: Point) -> None:
    """Draw ground below a wire's end."""
    x, y = at
    sheet.wire((x, y), (x, y + 8), colour=BLACK)
    for number, half in enumerate((13, 8, 3)):
        sheet.wire((x - half, y + 8 + 5 * number), (x + half, y + 8 + 5 * number), colour=BLACK, width=2.5)


def supply(sheet: Sheet, at: Point, volts: str) -> None:
    """Draw a supply above a wire's end."""
    x, y = at
    sheet.wire((x, y), (x, y - 10), colour=RED)
    sheet.wire((x - 12, y - 10), (x + 12, y - 10), colour=RED, width=3)
    sheet.text((x, y - 16), volts, size=12, anchor="middle", bold=True, colour=RED)


def joint(sheet: Sheet, at: Point) -> None:
    """Draw the dot where wires are joined."""
    sheet.disc(at, 4, fill=INK)


def pin(sheet: Sheet, at: Point, name: str, hint: str, *, fill: str = "#e8f5e9") -> None:
    """Draw a pin of the Pi; its wire begins at *at*, on its right edge."""
    x, y = at
    sheet.box((x - 150, y - 19), (150, 38), fill=fill)
    sheet.text((x - 75, y - 2 if hint else y + 5), name, size=13, anchor="middle", bold=True)
    if hint:
        sheet.text((x - 75, y + 13), hint, size=11, anchor="middle")


def piezo(sheet: Sheet, middle: Point) -> None:
    """Draw a piezo disc with wires up and down, 40 units from end to end."""
    x, y = middle
    sheet.wire((x, y - 20), (x, y - 11))
    sheet.wire((x, y + 11), (x, y + 20))
    for plate in (y - 11, y + 11):
        sheet.wire((x - 16, plate), (x + 16, plate), width=3)
    sheet.box((x - 16, y - 6), (32, 12), radius=0, fill="#ffe0b2")


def chip(sheet: Sheet, at: Point, size: Point, name: str) -> None:
    """Draw a part with pins of its own; *at* is its corner at the top left."""
    sheet.box(at, size, fill="#eceff1")
    sheet.text((at[0] + size[0] / 2, at[1] + 20), name, size=14, anchor="middle", bold=True)


def no_connection(sheet: Sheet, at: Point) -> None:
    """Draw the cross of a pin that stays without a wire."""
    x, y = at
    sheet.wire((x - 5, y - 5), (x + 5, y + 5), colour=RED)
    sheet.wire((x - 5, y + 5), (x + 5, y - 5), colour=RED)


def paper_note(sheet: Sheet, at: Point, text: tuple[str, ...], *, width: float) -> None:
    """Write a note in a box of its own."""
    sheet.box(at, (width, 14 + 18.2 * len(text)), fill="#fff8e1", colour="#c9a227", width=1.5)
    sheet.lines((at[0] + 10, at[1] + 22), text)
