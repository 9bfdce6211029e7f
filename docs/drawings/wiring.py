"""All drawings of docs/start/wiring.md, with the pins of its example."""

from __future__ import annotations

from pathlib import Path

from docs.drawings import circuits, knock, table
from docs.drawings.header import header_sheet
from docs.drawings.sheet import Sheet
from hardware.part import pins_used
from tallybone.store.table_file import load_table

FOLDER = Path(__file__).parent.parent
EXAMPLE = FOLDER / "wiring-table.toml"


def example_pins() -> dict[int, str]:
    """Return what the example has on which GPIO (BCM), in words."""
    return {use.pin: use.what for use in pins_used(load_table(EXAMPLE).hardware.parts)}


def drawings() -> dict[str, Sheet]:
    """Return each drawing by the name of its file."""
    return {
        "wiring-header.svg": header_sheet(example_pins()),
        "wiring-table.svg": table.table_from_above(),
        "wiring-led-button.svg": circuits.led_and_button(),
        "wiring-strip.svg": circuits.strip(),
        "wiring-display.svg": circuits.display(),
        "wiring-microphone.svg": knock.microphone(),
        "wiring-piezo.svg": knock.piezo_comparator(),
        "wiring-piezo-spi.svg": knock.piezo_converter(),
    }
