"""Draw the wiring of knock sensors: an I2S microphone, a piezo with a comparator, a piezo with an MCP3008."""

from __future__ import annotations

from docs.drawings.sheet import BLACK, GREEN, RED, VIOLET, Point, Sheet
from docs.drawings.symbols import capacitor, chip, diode, ground, joint, paper_note, piezo, pin, resistor, supply


def microphone() -> Sheet:
    """Return the drawing of a microphone on I2S."""
    sheet = Sheet(900, 330, "An I2S microphone on a Raspberry Pi")
    sheet.text((30, 36), "An I2S microphone (INMP441, SPH0645, ICS-43434)", size=17, bold=True)
    chip(sheet, (430, 56), (190, 250), "microphone")
    rows = (
        ("3.3 V (pin 1)", "never 5 V", "VDD", RED),
        ("GPIO 18 (pin 12)", "clock", "SCK / BCLK", GREEN),
        ("GPIO 19 (pin 35)", "left/right", "WS / LRCL", GREEN),
        ("GPIO 20 (pin 38)", "data", "SD / DOUT", VIOLET),
        ("ground (pin 14)", "", "GND and L/R (SEL)", BLACK),
    )
    for row, (name, hint, its, colour) in enumerate(rows):
        y = 100 + 44 * row
        pin(sheet, (210, y), name, hint)
        sheet.wire((210, y), (430, y), colour=colour)
        sheet.text((440, y + 5), its, size=12)
    paper_note(
        sheet,
        (650, 90),
        ("Wires shorter than 20 cm.", "L/R to ground: the left", "channel is the one heard."),
        width=230,
    )
    return sheet


def piezo_comparator() -> Sheet:
    """Return the drawing of a piezo with a comparator."""
    sheet = Sheet(1000, 470, "A piezo with clamp and comparator on a pin of a Raspberry Pi")
    sheet.text((30, 36), "A piezo with a comparator, on a pin: it says when", size=17, bold=True)
    _clamped_piezo(sheet, 190)
    sheet.wire((400, 190), (590, 190), colour=VIOLET)
    sheet.shape((590, 165), (590, 265), (680, 215), fill="#eceff1")
    sheet.text((598, 195), "+", size=16, bold=True)
    sheet.text((598, 249), "-", size=16, bold=True)
    sheet.text((625, 220), "LM393", size=12, anchor="middle")
    _trimmer(sheet)
    sheet.wire((680, 215), (830, 215), colour=GREEN)
    joint(sheet, (740, 215))
    resistor(sheet, (740, 170), "10 kΩ", upright=True)
    sheet.wire((740, 190), (740, 215))
    supply(sheet, (740, 150), "3.3 V")
    pin(sheet, (980, 215), "GPIO 21 (pin 40)", "high while it is hit")
    paper_note(
        sheet,
        (30, 396),
        (
            "The LM393 runs on 3.3 V (its pin 8); its pin 4 is ground. Turn the trimmer until input - has 0.2 V.",
            "A bought board with an LM393 works too, fed with 3.3 V, if its output goes high when it is hit.",
        ),
        width=940,
    )
    return sheet


def _trimmer(sheet: Sheet) -> None:
    """Draw what sets the level from which a hit counts; its wire ends at the comparator's input -."""
    supply(sheet, (480, 262), "3.3 V")
    resistor(sheet, (480, 282), "47 kΩ", upright=True)
    sheet.wire((480, 302), (480, 308))
    sheet.box((473, 308), (14, 40), radius=1)
    sheet.text((462, 333), "10 kΩ", size=12, anchor="end")
    ground(sheet, (480, 348))
    sheet.wire((590, 243), (560, 243), (560, 328), (489, 328))
    sheet.shape((488, 328), (498, 323), (498, 333), fill="#1d1d1f")


def piezo_converter() -> Sheet:
    """Return the drawing of a piezo behind a peak-hold circuit and an MCP3008."""
    sheet = Sheet(1000, 480, "A piezo with clamp, peak hold and an MCP3008 on SPI 0 of a Raspberry Pi")
    sheet.text((30, 36), "A piezo with an MCP3008, on SPI 0: it says when, and how hard", size=17, bold=True)
    _clamped_piezo(sheet, 170)
    diode(sheet, (450, 170))
    sheet.text((450, 152), "BAT85", size=12, anchor="middle")
    sheet.wire((400, 170), (430, 170), colour=VIOLET)
    sheet.wire((470, 170), (620, 170), colour=VIOLET)
    for x in (500, 555):
        joint(sheet, (x, 170))
        sheet.wire((x, 170), (x, 200))
    capacitor(sheet, (500, 220), "10 nF", value_is_left=True)
    resistor(sheet, (555, 220), "1 MΩ", upright=True)
    for x in (500, 555):
        sheet.wire((x, 240), (x, 262))
        ground(sheet, (x, 262))
    chip(sheet, (620, 70), (130, 270), "MCP3008")
    sheet.text((630, 175), "1  CH0", size=12)
    rows = (
        (110, "16 15", "3.3 V (pin 17)", "VDD and VREF", RED),
        (156, "13", "GPIO 11 (pin 23)", "SPI clock", GREEN),
        (202, "12", "GPIO 9 (pin 21)", "SPI in", VIOLET),
        (248, "11", "GPIO 10 (pin 19)", "SPI out", GREEN),
        (294, "10", "GPIO 8 (pin 24)", "chip select 0", GREEN),
    )
    for y, number, name, hint, colour in rows:
        sheet.text((742, y + 5), number, size=12, anchor="end")
        sheet.wire((750, y), (820, y), colour=colour)
        pin(sheet, (970, y), name, hint)
    sheet.wire((685, 340), (685, 352))
    sheet.text((704, 364), "pins 9 and 14 to ground", size=12)
    ground(sheet, (685, 352))
    paper_note(
        sheet,
        (30, 400),
        (
            "10 nF and 1 MΩ hold a peak for 10 ms: Python looks every 2 ms at most. CH0 to CH7: one such circuit each.",
            "VDD of the MCP3008 is 3.3 V: on 5 V its data line would put 5 V on GPIO 9.",
        ),
        width=940,
    )
    return sheet


def _clamped_piezo(sheet: Sheet, y: float) -> None:
    """Draw a piezo with its load and its clamp; the wire that is safe ends at x = 400."""
    bottom = y + 90
    sheet.text((40, y - 60), "piezo disc, 27 mm", size=12)
    for x in (80, 150):
        sheet.wire((x, y), (x, y + 25))
        sheet.wire((x, y + 65), (x, bottom))
    piezo(sheet, (80, y + 45))
    resistor(sheet, (150, y + 45), "1 MΩ", upright=True)
    sheet.wire((80, y), (240, y), colour=RED)
    joint(sheet, (150, y))
    sheet.wire((80, bottom), (150, bottom))
    joint(sheet, (150, bottom))
    ground(sheet, (150, bottom))
    sheet.text((190, y - 8), "20 V!", size=12, colour=RED, bold=True, anchor="middle")
    resistor(sheet, (260, y), "10 kΩ")
    sheet.wire((280, y), (400, y), colour=VIOLET)
    clamp: Point = (330, y)
    joint(sheet, clamp)
    sheet.wire(clamp, (330, y - 10))
    diode(sheet, (330, y - 30), up=True)
    supply(sheet, (330, y - 50), "3.3 V")
    sheet.text((345, y - 26), "BAT54S", size=12)
    diode(sheet, (330, y + 30), up=True)
    sheet.wire(clamp, (330, y + 10))
    ground(sheet, (330, y + 50))
    sheet.text((345, y + 34), "both diodes", size=12)
