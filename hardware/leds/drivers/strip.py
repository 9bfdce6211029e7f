"""A strip of WS2812 (NeoPixel) on SPI: rpi_ws281x, the usual way, does not work on a Raspberry Pi 5.

A bit of the strip lasts 1.25 microseconds. At 2.4 MHz that is three bits of SPI: 110 is a 1, 100 is a 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Protocol

from pydantic import Field

from hardware.colour import Rgb
from hardware.config.fields import Percent, SpiChip, SpiPort
from hardware.leds.driver import LedCount, LedsDriver, Shows
from hardware.leds.lamps import LedError
from hardware.leds.shown import LedsRole
from hardware.pin_factory import OpenPins

SPI_HZ = 2_400_000
_MOST_LEDS = 300
_MOST_PERCENT = 100
# The line idles high on some Pis: low for a moment, so that the first bit is not taken for a long one.
_LEAD = bytes(8)
# Low for 300 microseconds makes the strip show what it was sent; newer ones need 280.
_LATCH = bytes(90)


def _spread(byte: int) -> bytes:
    """Return the 24 bits of SPI that are a byte of the strip."""
    bits = 0
    for place in range(7, -1, -1):
        bits = bits << 3 | (0b110 if byte >> place & 1 else 0b100)
    return bits.to_bytes(3, "big")


_SPREAD = tuple(_spread(byte) for byte in range(256))


def spi_bytes(colours: Sequence[Rgb], percent: int = _MOST_PERCENT) -> bytes:
    """Return what SPI has to send.

    Args:
        colours: One for each LED, from the end that is wired.
        percent: 0 to 100: how bright the brightest may be.

    >>> spi_bytes([Rgb(0, 255, 0)])[8:17].hex()
    'db6db6924924924924'
    """
    shades = (shade for colour in colours for shade in (colour.green, colour.red, colour.blue))
    return _LEAD + b"".join(_SPREAD[shade * percent // _MOST_PERCENT] for shade in shades) + _LATCH


class Spi(Protocol):
    """What spidev calls a device: an open bus."""

    def writebytes2(self, values: bytes) -> None:
        """Send bytes."""

    def close(self) -> None:
        """Let the bus go."""


class Strip:
    """A strip on an open bus."""

    def __init__(self, count: int, spi: Spi, *, percent: int = 30) -> None:
        """Use *count* LEDs, 1 to 300; *percent* spares the power supply: a white LED at 100 takes 60 mA.

        Raises:
            LedError: If one of them is out of range.
        """
        # Linux sends 4096 bytes at once. Then comes a pause, which the strip would take for the end: 300 LEDs fit.
        if not 1 <= count <= _MOST_LEDS or not 0 <= percent <= _MOST_PERCENT:
            raise LedError(f"expected 1 to {_MOST_LEDS} LEDs at 0 to 100 percent, but got {count} at {percent}")
        self._count, self._spi, self._percent = count, spi, percent

    @property
    def count(self) -> int:
        """How many there are."""
        return self._count

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Send all colours."""
        self._spi.writebytes2(spi_bytes(colours, self._percent))

    def require_there(self) -> None:
        """Do nothing: a strip does not answer."""

    def release(self) -> None:
        """Let the bus go."""
        self._spi.close()


def open_spi(bus: int = 0, device: int = 0) -> Spi:
    """Return the bus that a strip's data line is wired to (MOSI, GPIO 10 on bus 0).

    Raises:
        LedError: If spidev is missing, or SPI is not switched on or not allowed.
    """
    try:
        import spidev
    except ImportError:
        raise LedError("a strip needs spidev: sudo apt install python3-spidev") from None
    spi: Spi = spidev.SpiDev()
    try:
        spi.open(bus, device)  # type: ignore[attr-defined] # only here, and a test's bus is open already
    except PermissionError:
        raise LedError(f"/dev/spidev{bus}.{device} may not be used: add this user to the group spi") from None
    except OSError as error:
        raise LedError(f"there is no /dev/spidev{bus}.{device} ({error}): switch SPI on with raspi-config") from None
    spi.max_speed_hz = SPI_HZ  # type: ignore[attr-defined] # as above
    spi.mode = 0  # type: ignore[attr-defined] # as above
    return spi


class StripSettings(LedsDriver):
    """A WS2812 strip on SPI."""

    driver: Literal["strip"]
    count: Annotated[LedCount, Field(description="how many LEDs it has")]
    spi: SpiChip = SpiPort()
    percent: Annotated[Percent, Field(description="brightness")] = 30
    shows: Shows = LedsRole.SEATS

    @property
    def led_count(self) -> int:
        """How many it has."""
        return self.count

    @property
    def spi_port(self) -> SpiPort:
        """The SPI that it is wired to."""
        return self.spi

    def open(self, pins: OpenPins) -> Strip:
        """Return the strip."""
        return Strip(self.count, open_spi(self.spi.bus, self.spi.chip), percent=self.percent)
