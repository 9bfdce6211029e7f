"""Types of settings shared by several parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, PlainSerializer, PlainValidator, Strict, WithJsonSchema

Lax = Strict(strict=False)
"""Allows conversion from the TOML type, for values that TOML can only express as a list or string."""
NonEmpty = Annotated[str, Field(min_length=1)]
Percent = Annotated[int, Field(ge=0, le=100)]
SeatIndex = Annotated[int, Field(ge=0, le=15, description="seat, from 0")]
# Pins 0 and 1 are reserved for the ID EEPROM of HAT boards.
Pin = Annotated[int, Field(ge=2, le=27, title="BCM pins")]
Pins = Annotated[tuple[Pin, ...], Lax, Field(title="a list of pins")]

_SPI_PORTS = ("0.0", "0.1", "1.0", "1.1", "1.2")
# The same on Raspberry Pi 4, 5 and Zero 2 W. The kernel claims both chip selects of bus 0 when SPI is enabled.
_SPI_PINS = {
    0: ((10, "MOSI"), (9, "MISO"), (11, "SCLK"), (8, "CE0"), (7, "CE1")),
    1: ((20, "MOSI"), (19, "MISO"), (21, "SCLK")),
}
_SPI1_CHIPS = (18, 17, 16)


@dataclass(frozen=True, slots=True)
class SpiPort:
    """An SPI port of a Raspberry Pi. Bus 0 and chip 1 are /dev/spidev0.1."""

    bus: int = 0
    chip: int = 0

    @classmethod
    def parse(cls, text: str) -> SpiPort:
        """Parse the text form that `str` returns.

        Raises:
            ValueError: If a Raspberry Pi has no such port.

        >>> SpiPort.parse("0.1")
        SpiPort(bus=0, chip=1)
        """
        if text not in _SPI_PORTS:
            raise ValueError(f"expected 0.0, 0.1, 1.0, 1.1 or 1.2, but got {text}")
        return cls(int(text[0]), int(text[2]))

    def __str__(self) -> str:
        return f"{self.bus}.{self.chip}"

    @property
    def pin_uses(self) -> tuple[tuple[int, str], ...]:
        """The pins (BCM) of the port, each with its function."""
        chips = () if self.bus == 0 else ((_SPI1_CHIPS[self.chip], f"CE{self.chip}"),)
        return tuple((pin, f"SPI bus {self.bus} {name}") for pin, name in (*_SPI_PINS[self.bus], *chips))


SpiChip = Annotated[
    SpiPort,
    PlainValidator(lambda value: SpiPort.parse(str(value))),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "enum": list(_SPI_PORTS), "description": "bus and chip select"}),
]
