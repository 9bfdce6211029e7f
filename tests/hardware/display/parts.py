"""All kinds of displays with their emulators and permitted characters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic_ns

from hardware.display.display import ScoreDisplay
from hardware.display.drivers import DisplayDriver, SerialDisplay
from hardware.display.page import LCD_CHARACTERS, NEXTION_CHARACTERS, DisplayEncoder, DisplayLook, paced
from lab.emulate.displays import EmulatedNextion, EmulatedSegment, EmulatedSerLcd, Firmware
from tests.hardware.table.reading import read_hardware

S = 1_000_000_000


def opened(driver: str, url: Path | str) -> ScoreDisplay:
    """Open a display by its settings in table.toml."""
    (part,) = read_hardware({"displays": [{"driver": driver, "url": str(url)}]}).displays
    assert isinstance(part, DisplayDriver)
    return part.open(monotonic_ns)


def on_no_port(driver: str, **options: object) -> SerialDisplay:
    """Return a driver with options of table.toml, to encode pages or to open another port."""
    (part,) = read_hardware({"displays": [{"driver": driver, "url": "port", **options}]}).displays
    assert isinstance(part, SerialDisplay)
    return part


@dataclass(frozen=True)
class Kind:
    name: str
    part: SerialDisplay
    emulate: Callable[[], Firmware]
    permitted: frozenset[str]


KINDS = (
    Kind("serlcd-16x2", on_no_port("serlcd-16x2"), lambda: EmulatedSerLcd(16, 2), LCD_CHARACTERS),
    Kind("serlcd-20x4", on_no_port("serlcd-20x4"), lambda: EmulatedSerLcd(20, 4), LCD_CHARACTERS),
    Kind("segment in turns", on_no_port("segment"), EmulatedSegment, frozenset("0123456789- P")),
    Kind("segment of a seat", on_no_port("segment", seat=1), EmulatedSegment, frozenset("0123456789- ")),
    Kind("nextion", on_no_port("nextion"), EmulatedNextion, NEXTION_CHARACTERS),
)


def send(part: DisplayEncoder, emulated: Firmware, look: DisplayLook, before: DisplayLook | None, t_ns: int) -> int:
    """Send a look like the driver, and return the time after the last wait."""
    for data, wait_ns in paced(part.encode(look, before), part.wire):
        emulated.receive(data, t_ns)
        t_ns += wait_ns
    return t_ns
