"""Score display drivers, one module each, and their interface."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated

from pydantic import Field

from hardware.display.display import LinkedDisplay, ScoreDisplay, serial_port
from hardware.display.page import DisplayEncoder
from hardware.part import Clock, NeededLibrary, NonEmpty, PartSettings, PinNames, Registry

UARTS = ("/dev/serial0", "/dev/ttyS0", "/dev/ttyAMA0")
"""Serial ports on the pins of a Raspberry Pi."""
_UART_PINS = ((14, "UART transmit"), (15, "UART receive"))


class DisplayDriver(PartSettings):
    """One of [[hardware.displays]]."""

    @property
    def bus_uses(self) -> PinNames:
        """The UART pins, if the display is connected to them."""
        return _UART_PINS if self.location in UARTS else ()

    @abstractmethod
    def open(self, clock: Clock) -> ScoreDisplay:
        """Open the display, even if it is unplugged. *clock* is monotonic, in nanoseconds.

        Raises:
            DisplayError: If a library is missing, or the port name is invalid.
        """


class SerialDisplay(DisplayDriver, DisplayEncoder):
    """A display on a serial port."""

    url: Annotated[NonEmpty, Field(description="path of its port, or a URL of pyserial")]
    baud: Annotated[int, Field(ge=1200, le=1_000_000, description="bits per second that it is set to")] = 9600

    libraries = (NeededLibrary("serial", "pyserial", "score displays", probe="serial_for_url"),)

    @property
    def location(self) -> str:
        """The path or URL of its port."""
        return self.url

    def open(self, clock: Clock) -> ScoreDisplay:
        """Open the display, even if it is unplugged."""
        return LinkedDisplay(self, serial_port(self.url, self.baud), name=self.url, clock=clock)


DISPLAYS = Registry("tallybone.displays", DisplayDriver, __name__)
