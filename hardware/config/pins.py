"""Collect the pins that parts use, and find those that two parts claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hardware.config.part import PartSettings


@dataclass(frozen=True, slots=True)
class PinUse:
    """What a pin is used for.

    Attributes:
        pin: BCM.
        part: The part, by its table in the file: `hardware.leds 2`.
        what: What it does there.
    """

    pin: int
    part: str
    what: str


def pins_used(parts: Sequence[PartSettings]) -> tuple[PinUse, ...]:
    """Return every use of a pin, also those that SPI, I2S and a UART make of them; two of one pin are a conflict."""
    wired = ((pin, part.name, what) for part in parts for pin, what in part.pin_uses)
    buses = ((pin, part.name, what) for part in parts for pin, what in part.bus_uses)
    return tuple(PinUse(*use) for use in (*wired, *buses))


def conflicts(parts: Sequence[PartSettings]) -> tuple[str, ...]:
    """Return where two parts are in each other's way, in words that name both."""
    found: list[str] = []
    first: dict[int, PinUse] = {}
    shared = set[str]()
    for use in pins_used(parts):
        before = first.setdefault(use.pin, use)
        if before is use:
            continue
        if before.what.startswith("SPI bus") and use.what.startswith("SPI bus"):
            shared.add(use.what[: len("SPI bus 0")])
            continue
        found.append(f"[{use.part}] pin {use.pin} ({use.what}) is taken by [{before.part}] ({before.what})")
    return (*found, *_bus_conflicts(parts, shared))


def _bus_conflicts(parts: Sequence[PartSettings], shared: set[str]) -> Iterator[str]:
    """Yield why a bus cannot be shared: a strip has no chip select, so it shows what is sent to others."""
    for bus in sorted(shared):
        names = [part.name for part in parts if part.spi_port is not None and bus == f"SPI bus {part.spi_port.bus}"]
        yield f"[{names[-1]}] spi: {bus} is taken by [{names[0]}]: a strip shares it with nothing"


def same_ports(parts: Sequence[PartSettings]) -> Iterator[str]:
    """Yield which of some parts are opened by the device file or URL of another."""
    first: dict[str, str] = {}
    for part in parts:
        if part.location and first.setdefault(part.location, part.name) != part.name:
            yield f"[{part.name}] url: {part.location} is taken by [{first[part.location]}]"
