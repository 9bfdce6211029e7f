"""The 40 pins of a Raspberry Pi, what is wired to each, and where pin 1 is."""

from __future__ import annotations

from collections.abc import Mapping

from docs.drawings.sheet import BLACK, BLUE, FAINT, GREEN, ORANGE, PAPER, RED, Point, Sheet
from docs.drawings.symbols import paper_note

GPIO_AT = (
    (None, None), (2, None), (3, None), (4, 14), (None, 15), (17, 18), (27, None), (22, 23), (None, 24), (10, None),
    (9, 25), (11, 8), (None, 7), (0, 1), (5, None), (6, 12), (13, None), (19, 16), (26, 20), (None, 21),
)  # fmt: skip
"""GPIO (BCM) of each row of the header, left and right, from pins 1 and 2 on; the same on a 4, 5 and Zero 2 W."""

_FIXED = {
    1: "3.3 V", 2: "5 V", 4: "5 V", 17: "3.3 V", **dict.fromkeys((6, 9, 14, 20, 25, 30, 34, 39), "ground"),
}  # fmt: skip
_SPARE = {
    0: "leave free (for boards on top)",
    1: "leave free (for boards on top)",
    2: "free (I2C)",
    3: "free (I2C)",
    7: "free (SPI 0, second chip)",
    8: "free (SPI 0 chip: MCP3008)",
    9: "free (SPI 0 in: MCP3008)",
    10: "free (SPI 0 out: strip or MCP3008)",
    11: "free (SPI 0 clock: MCP3008)",
    14: "free (serial out: display on the pins)",
    15: "free (serial in: display on the pins)",
    18: "free (I2S clock: microphone)",
    19: "free (I2S left/right: microphone)",
    20: "free (I2S data: microphone)",
    21: "free (piezo with comparator)",
}
_TOP, _PITCH, _LEFT, _RIGHT = 110, 34, 470, 510


def header_sheet(uses: Mapping[int, str]) -> Sheet:
    """Return the drawing of the header.

    Args:
        uses: What is wired to which GPIO (BCM), in words.
    """
    sheet = Sheet(980, 1090, "The 40 pins of a Raspberry Pi 4, 5 and Zero 2 W, and what is wired to each")
    sheet.text((490, 36), "The 40 pins of a Raspberry Pi 4, 5 or Zero 2 W", size=20, anchor="middle", bold=True)
    sheet.text((490, 60), "the same on all three; in the circles the pin, beside it its GPIO (BCM)", anchor="middle")
    sheet.text((_LEFT, 88), "inside", size=12, anchor="middle", colour=FAINT)
    sheet.text((_RIGHT + 8, 88), "edge", size=12, anchor="middle", colour=FAINT)
    sheet.box((_LEFT - 20, _TOP - 18), (80, 20 * _PITCH + 2), fill="#263238", radius=6)
    for row, (left, right) in enumerate(GPIO_AT):
        y = _TOP + row * _PITCH
        _pin(sheet, (_LEFT, y), 2 * row + 1, left, uses)
        _pin(sheet, (_RIGHT, y), 2 * row + 2, right, uses)
    _boards(sheet, 830)
    return sheet


def _pin(sheet: Sheet, at: Point, number: int, gpio: int | None, uses: Mapping[int, str]) -> None:
    x, y = at
    colour, text = _look(number, gpio, uses)
    is_used = gpio in uses
    fill = colour if is_used or gpio is None else "#cfd8dc"
    sheet.disc(at, 13, fill=fill, colour=PAPER, width=1)
    inside = PAPER if is_used or gpio is None else BLACK
    sheet.text((x, y + 4), str(number), size=11, anchor="middle", colour=inside, bold=True)
    side, anchor = (-1, "end") if number % 2 else (1, "start")
    edge = x + side * 34
    name = "" if gpio is None else f"GPIO {gpio}"
    if name:
        sheet.text((edge, y + 5), name, size=13, anchor=anchor, bold=is_used, colour=colour)
    sheet.text((edge + side * (82 if name else 0), y + 5), text, size=13, anchor=anchor, colour=colour)


def _look(number: int, gpio: int | None, uses: Mapping[int, str]) -> tuple[str, str]:
    """Return colour and words of a pin."""
    if gpio is None:
        text = _FIXED[number]
        return (BLACK if text == "ground" else RED), text
    if gpio not in uses:
        return FAINT, _SPARE.get(gpio, "free")
    kind = uses[gpio]
    return (ORANGE if "LED" in kind else BLUE if "button" in kind else GREEN), kind


def _boards(sheet: Sheet, top: float) -> None:
    """Draw where the pins are on the three boards, seen from above."""
    sheet.text((40, top + 4), "Where pin 1 is (red), seen from above:", bold=True)
    for left, name in ((40, "Pi 4"), (250, "Pi 5")):
        _board(sheet, (left, top + 24), (130, 196), name)
        sheet.box((left + 8, top + 188), (50, 32), fill="#cfd8dc")
        sheet.box((left + 70, top + 188), (50, 32), fill="#cfd8dc")
        sheet.text((left + 64, top + 182), "USB, network", size=10, anchor="middle", colour=FAINT)
    _camera(sheet, (40, top + 138), ("camera: 15-pin", "cable"))
    _camera(sheet, (250, top + 138), ("camera: 22-pin", "cable"))
    _board(sheet, (450, top + 24), (70, 150), "")
    sheet.text((485, top + 196), "Zero 2 W", size=13, anchor="middle", bold=True)
    sheet.box((458, top + 164), (38, 10), fill="#fff3e0")
    sheet.text((485, top + 214), "camera: 22-pin cable", size=10, anchor="middle", colour=FAINT)
    paper_note(
        sheet,
        (560, top + 24),
        (
            "All pins are 3.3 V. 5 V on any GPIO kills the Pi.",
            "Wire with the power off. Count twice from pin 1.",
            "All grounds are the same: take the nearest one.",
            "The 3.3 V pins give 50 mA for everything together.",
        ),
        width=395,
    )


def _board(sheet: Sheet, at: Point, size: Point, name: str) -> None:
    x, y = at
    sheet.box(at, size, fill="#e8f5e9", colour=GREEN, radius=8)
    sheet.box((x + size[0] - 24, y + 12), (18, 116), fill="#263238", radius=2)
    sheet.disc((x + size[0] - 19, y + 19), 4, fill=RED, colour=RED)
    if name:
        sheet.text((x + (size[0] - 24) / 2, y + 34), name, size=13, anchor="middle", bold=True)


def _camera(sheet: Sheet, at: Point, text: tuple[str, ...]) -> None:
    sheet.box(at, (10, 38), fill="#fff3e0")
    sheet.lines((at[0] + 16, at[1] + 16), text, size=10, colour=FAINT)
