"""Collect the pins used by parts, and find conflicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hardware.config.part import PartSettings


@dataclass(frozen=True, slots=True)
class PinUse:
    """A use of a pin.

    Attributes:
        pin: BCM number.
        part: Name of the part, such as `hardware.leds 2`.
        what: Function of the pin.
    """

    pin: int
    part: str
    what: str


def pins_used(parts: Sequence[PartSettings]) -> tuple[PinUse, ...]:
    """Return every use of a pin, including SPI, I2S and UART buses. A conflicting pin occurs several times."""
    wired = ((pin, part.name, what) for part in parts for pin, what in part.pin_uses)
    buses = ((pin, part.name, what) for part in parts for pin, what in part.bus_uses)
    return tuple(PinUse(*use) for use in (*wired, *buses))


def conflicts(parts: Sequence[PartSettings]) -> tuple[str, ...]:
    """Return a message for each pin or bus that two parts claim. The message names both parts."""
    messages: list[str] = []
    first: dict[int, PinUse] = {}
    shared = set[str]()
    for use in pins_used(parts):
        before = first.setdefault(use.pin, use)
        if before is use:
            continue
        if before.what.startswith("SPI bus") and use.what.startswith("SPI bus"):
            shared.add(use.what[: len("SPI bus 0")])
            continue
        messages.append(f"[{use.part}] pin {use.pin} ({use.what}) is taken by [{before.part}] ({before.what})")
    return (*messages, *_bus_conflicts(parts, shared))


def _bus_conflicts(parts: Sequence[PartSettings], shared: set[str]) -> Iterator[str]:
    """Yield a message for each shared bus. LED strips have no chip select, so they would show data sent to others."""
    for bus in sorted(shared):
        names = [part.name for part in parts if part.spi_port is not None and bus == f"SPI bus {part.spi_port.bus}"]
        yield f"[{names[-1]}] spi: {bus} is taken by [{names[0]}]: a strip shares it with nothing"


def same_ports(parts: Sequence[PartSettings]) -> Iterator[str]:
    """Yield a message for each part that uses the device file or URL of an earlier one."""
    first: dict[str, str] = {}
    for part in parts:
        if part.location and first.setdefault(part.location, part.name) != part.name:
            yield f"[{part.name}] url: {part.location} is taken by [{first[part.location]}]"
