"""Draw the wiring of an LED, a button, a strip and a display."""

from __future__ import annotations

from docs.drawings.sheet import BLACK, BLUE, GREEN, ORANGE, RED, VIOLET, Sheet
from docs.drawings.symbols import (
    capacitor,
    chip,
    diode,
    ground,
    joint,
    no_connection,
    paper_note,
    pin,
    push_button,
    resistor,
    supply,
)


def led_and_button() -> Sheet:
    """Return the drawing of an LED, an RGB LED and a button."""
    sheet = Sheet(900, 560, "A button, an LED and a three-coloured LED on pins of a Raspberry Pi")
    sheet.text((30, 36), "A button", size=17, bold=True)
    pin(sheet, (190, 80), "GPIO 17 (pin 11)", "pulled up inside")
    sheet.wire((190, 80), (280, 80), colour=BLUE)
    push_button(sheet, (300, 80))
    sheet.wire((320, 80), (400, 80))
    ground(sheet, (400, 80))
    paper_note(
        sheet, (470, 48), ("Between pin and ground, nothing else.", "No resistor, never to 3.3 V or 5 V."), width=390
    )
    sheet.text((30, 176), "An LED of one colour", size=17, bold=True)
    pin(sheet, (190, 230), "GPIO 5 (pin 29)", "4 mA")
    sheet.wire((190, 230), (240, 230), colour=ORANGE)
    resistor(sheet, (260, 230), "330 Ω")
    sheet.wire((280, 230), (310, 230))
    diode(sheet, (330, 230), shines=True)
    sheet.wire((350, 230), (400, 230))
    ground(sheet, (400, 230))
    paper_note(
        sheet,
        (470, 196),
        ("Long leg (anode) to the resistor, short leg to", "ground. Red, yellow, green: 330 Ω.", "White, blue: 100 Ω."),
        width=390,
    )
    sheet.text((30, 336), "A three-coloured LED, common cathode", size=17, bold=True)
    for row, (name, value) in enumerate((("red", "330 Ω"), ("green", "100 Ω"), ("blue", "100 Ω"))):
        y = 384 + 56 * row
        pin(sheet, (190, y), f"GPIO of {name}", "")
        sheet.wire((190, y), (240, y), colour=ORANGE)
        resistor(sheet, (260, y), value)
        sheet.wire((280, y), (310, y))
        diode(sheet, (330, y), shines=True)
        sheet.wire((350, y), (400, y))
        joint(sheet, (400, y))
    sheet.wire((400, 384), (400, 506))
    ground(sheet, (400, 506))
    paper_note(
        sheet,
        (470, 400),
        (
            "Its longest leg is the common one: to ground.",
            "A common anode (to 3.3 V) does not work.",
            "All LEDs together: at most 50 mA.",
        ),
        width=390,
    )
    return sheet


def strip() -> Sheet:
    """Return the drawing of a strip on SPI."""
    sheet = Sheet(1000, 470, "A strip of WS2812 LEDs on SPI 0, with a level shifter and a supply of its own")
    sheet.text((30, 36), "A strip (WS2812, NeoPixel) on SPI 0", size=17, bold=True)
    pin(sheet, (190, 150), "GPIO 10 (pin 19)", "SPI out, 3.3 V")
    chip(sheet, (300, 92), (150, 150), "74AHCT125")
    sheet.wire((190, 150), (300, 150), colour=GREEN)
    for y, left, right in ((155, "2  1A", "1Y  3"), (195, "1  1OE", "VCC 14"), (230, "7  GND", "")):
        sheet.text((308, y), left, size=12)
        sheet.text((442, y), right, size=12, anchor="end")
    sheet.wire((300, 190), (270, 190), (270, 225), (300, 225))
    joint(sheet, (270, 225))
    sheet.wire((270, 225), (270, 330), colour=BLACK)
    sheet.wire((450, 150), (520, 150), colour=GREEN)
    resistor(sheet, (540, 150), "330 Ω")
    sheet.wire((560, 150), (700, 150), colour=GREEN)
    sheet.wire((450, 190), (490, 190), (490, 260), colour=RED)
    joint(sheet, (490, 260))
    sheet.wire((200, 260), (700, 260), colour=RED)
    pin(sheet, (200, 260), "5 V supply", "60 mA for each LED", fill="#ffebee")
    sheet.wire((200, 330), (700, 330), colour=BLACK)
    pin(sheet, (200, 330), "its ground", "and a ground of the Pi", fill="#eceff1")
    joint(sheet, (270, 330))
    sheet.wire((600, 260), (600, 275))
    sheet.wire((600, 315), (600, 330))
    capacitor(sheet, (600, 295), "1000 µF")
    joint(sheet, (600, 260))
    joint(sheet, (600, 330))
    sheet.wire((700, 260), (730, 260), (730, 192), (760, 192), colour=RED)
    sheet.wire((700, 330), (745, 330), (745, 232), (760, 232), colour=BLACK)
    sheet.wire((700, 150), (760, 150), colour=GREEN)
    chip(sheet, (760, 92), (210, 170), "first LED of the strip")
    for y, name in ((155, "DIN (arrow points away)"), (197, "5 V"), (237, "GND")):
        sheet.text((770, y), name, size=12)
    paper_note(
        sheet,
        (30, 380),
        (
            "The strip takes SPI 0 for itself: it has no chip select, and would show what an MCP3008 is told.",
            "Up to 10 LEDs at the usual 30 % may take 5 V from pin 2 of the Pi. More need a supply of their own.",
            "Without the level shifter many strips work on 3.3 V data, some flicker, and some only when it is cold.",
        ),
        width=940,
    )
    return sheet


def display() -> Sheet:
    """Return the drawing of a serial display, on USB and on the pins."""
    sheet = Sheet(1000, 620, "A serial display on a USB adapter, or on the serial pins of a Raspberry Pi")
    sheet.text((30, 36), "A display on USB: the easy way, any number of them", size=17, bold=True)
    chip(sheet, (60, 60), (210, 130), "USB-serial adapter")
    sheet.text((165, 98), "set to 3.3 V", size=12, anchor="middle", colour=RED, bold=True)
    chip(sheet, (520, 60), (210, 130), "display")
    for y, left, right, colour in (
        (125, "TXD", "RX", GREEN),
        (150, "GND", "GND", BLACK),
        (175, "5 V or 3.3 V", "VCC / RAW", RED),
    ):
        sheet.text((262, y), left, size=12, anchor="end")
        sheet.text((530, y), right, size=12)
        sheet.wire((270, y - 4), (520, y - 4), colour=colour)
    sheet.text((395, 112), "data", size=12, anchor="middle", colour=GREEN)
    paper_note(
        sheet,
        (750, 66),
        ("Nextion: its TX to RXD", "as well, and 5 V from a", "supply: over 100 mA."),
        width=225,
    )
    sheet.text((30, 256), "A display on the pins of the Pi", size=17, bold=True)
    chip(sheet, (520, 280), (210, 210), "display")
    pin(sheet, (210, 330), "GPIO 14 (pin 8)", "serial out, 3.3 V")
    pin(sheet, (210, 400), "GPIO 15 (pin 10)", "serial in, 3.3 V")
    pin(sheet, (210, 466), "ground", "pin 6", fill="#eceff1")
    sheet.wire((210, 330), (520, 330), colour=GREEN)
    sheet.text((530, 335), "RX", size=12)
    joint(sheet, (440, 330))
    resistor(sheet, (440, 292), "10 kΩ", upright=True)
    sheet.wire((440, 312), (440, 330))
    supply(sheet, (440, 272), "3.3 V")
    sheet.wire((210, 400), (300, 400), colour=VIOLET)
    joint(sheet, (300, 400))
    resistor(sheet, (380, 400), "1 kΩ")
    sheet.wire((300, 400), (360, 400), colour=VIOLET)
    sheet.wire((400, 400), (520, 400), colour=VIOLET)
    sheet.text((530, 405), "TX, only of a Nextion", size=12)
    sheet.wire((300, 400), (300, 413))
    resistor(sheet, (300, 433), "2 kΩ", upright=True)
    sheet.wire((300, 453), (300, 466))
    joint(sheet, (300, 466))
    sheet.wire((210, 466), (520, 466), colour=BLACK)
    sheet.text((530, 471), "GND", size=12)
    no_connection(sheet, (520, 435))
    sheet.text((535, 440), "any other TX: no wire", size=12, colour=RED)
    paper_note(
        sheet,
        (30, 520),
        (
            "10 kΩ: pins are low until the Pi has started, and a display that sees that for 2 s forgets its settings.",
            "1 kΩ and 2 kΩ bring 5 V down to 3.3 V. Leave them out only where you have measured that TX is 3.3 V.",
            "A display on 5 V understands 3.3 V on its RX. If its letters are wrong, run it on 3.3 V.",
        ),
        width=940,
    )
    return sheet
