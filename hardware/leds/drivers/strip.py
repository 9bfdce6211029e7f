"""WS2812 (NeoPixel) strip on SPI, because the usual library rpi_ws281x does not work on a Raspberry Pi 5.

A bit of the strip lasts 1.25 microseconds, three bits of SPI at 2.4 MHz: 110 encodes a 1, and 100 a 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Protocol

from pydantic import Field

from hardware.leds.drivers import LedCount, LedsDriver, LedsRole, Shows
from hardware.leds.lamps import LedError
from hardware.libraries import OpenPins
from hardware.part import Percent, Rgb, SpiChip, SpiPort

SPI_HZ = 2_400_000
_MAX_LEDS = 300
_MAX_PERCENT = 100
# The data line idles high on some Pis. A low lead keeps the first bit from being too long.
_LEAD = bytes(8)
# 300 microseconds of low level latch the data. Newer strips need 280.
_LATCH = bytes(90)


def _spread(byte: int) -> bytes:
    """Return the three SPI bytes that encode a byte of the strip."""
    bits = 0
    for bit in range(7, -1, -1):
        bits = bits << 3 | (0b110 if byte >> bit & 1 else 0b100)
    return bits.to_bytes(3, "big")


_SPREAD = tuple(_spread(byte) for byte in range(256))


def spi_bytes(colours: Sequence[Rgb], percent: int = _MAX_PERCENT) -> bytes:
    """Return the SPI bytes for a strip.

    Args:
        colours: Colour of each LED, starting at the wired end.
        percent: Maximum brightness, from 0 to 100.

    >>> spi_bytes([Rgb(0, 255, 0)])[8:17].hex()
    'db6db6924924924924'
    """
    shades = (shade for colour in colours for shade in (colour.green, colour.red, colour.blue))
    return _LEAD + b"".join(_SPREAD[shade * percent // _MAX_PERCENT] for shade in shades) + _LATCH


class Spi(Protocol):
    """An open SPI device of spidev."""

    def writebytes2(self, values: bytes) -> None:
        """Send bytes."""

    def close(self) -> None:
        """Close the device."""


class Strip:
    """A strip on an open SPI device."""

    def __init__(self, count: int, spi: Spi, *, percent: int = 30) -> None:
        """Create a strip.

        Args:
            count: Number of LEDs, from 1 to 300.
            spi: SPI device.
            percent: Maximum brightness, from 0 to 100. It limits the current: a white LED draws 60 mA at 100.

        Raises:
            LedError: If *count* or *percent* is out of range.
        """
        # Linux sends at most 4096 bytes without a pause, and the strip would latch in the pause. 300 LEDs fit.
        if not 1 <= count <= _MAX_LEDS or not 0 <= percent <= _MAX_PERCENT:
            raise LedError(f"expected 1 to {_MAX_LEDS} LEDs at 0 to 100 percent, but got {count} at {percent}")
        self.count, self._spi, self._percent = count, spi, percent

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Send the colour of each LED."""
        self._spi.writebytes2(spi_bytes(colours, self._percent))

    def require_connected(self) -> None:
        """Do nothing: a strip does not respond."""

    def release(self) -> None:
        """Close the SPI device."""
        self._spi.close()


def open_spi(bus: int = 0, device: int = 0) -> Spi:
    """Open the SPI device whose MOSI pin (GPIO 10 on bus 0) drives the data line of a strip.

    Raises:
        LedError: If spidev is missing, SPI is not enabled, or access is denied.
    """
    try:
        import spidev
    except ImportError:
        raise LedError("a strip needs spidev: sudo apt install python3-spidev") from None
    spi: Spi = spidev.SpiDev()
    try:
        spi.open(bus, device)  # type: ignore[attr-defined] # not part of `Spi`: tests pass an open device
    except PermissionError:
        raise LedError(f"/dev/spidev{bus}.{device}: permission denied: add this user to the group spi") from None
    except OSError as error:
        raise LedError(f"there is no /dev/spidev{bus}.{device} ({error}): enable SPI with raspi-config") from None
    spi.max_speed_hz = SPI_HZ  # type: ignore[attr-defined] # as above
    spi.mode = 0  # type: ignore[attr-defined] # as above
    return spi


class StripSettings(LedsDriver):
    """A WS2812 strip on SPI."""

    driver: Literal["strip"]
    count: Annotated[LedCount, Field(description="number of LEDs")]
    spi: SpiChip = SpiPort()
    percent: Annotated[Percent, Field(description="brightness")] = 30
    shows: Shows = LedsRole.SEATS

    @property
    def led_count(self) -> int:
        """Number of LEDs."""
        return self.count

    @property
    def spi_port(self) -> SpiPort:
        """The SPI port wired to the strip."""
        return self.spi

    def open(self, pins: OpenPins) -> Strip:
        """Open the strip."""
        return Strip(self.count, open_spi(self.spi.bus, self.spi.chip), percent=self.percent)
