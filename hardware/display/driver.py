"""A driver of score displays: its options in table.toml, and how it opens, checks and emulates a display.

A driver is a subclass of `DisplayDriver` with its names as `driver: Literal[...]` and an annotated field per option.
`hardware.display.registry` finds it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from hardware.clock import Clock
from hardware.config.fields import NonEmpty
from hardware.config.part import PartSettings, PinNames
from hardware.display.display import ScoreDisplay
from hardware.display.encoder import DisplayEncoder
from hardware.display.link import LinkedDisplay
from hardware.display.serial_port import serial_port

if TYPE_CHECKING:  # a table starts without them
    from hardware.display.emulation.intake import Emulated


UARTS = ("/dev/serial0", "/dev/ttyS0", "/dev/ttyAMA0")
"""Serial ports on the pins of a Raspberry Pi."""
_UART_PINS = ((14, "UART transmit"), (15, "UART receive"))


@dataclass(frozen=True, slots=True)
class DriverLibrary:
    """A library that a driver needs.

    Attributes:
        module: Its name in Python.
        package: Its name at its source.
        probe: An attribute of the module that a working one has; "" for none.
    """

    module: str
    package: str
    probe: str = ""


@dataclass(frozen=True, slots=True)
class DisplayEmulation:
    """An emulated display.

    Attributes:
        name: The name for `tallybone emulate-display`.
        title: The name of the display for people.
        make: Makes one that listens at a number of bits a second.
        draw: Makes lines of text of its screen.
    """

    name: str
    title: str
    make: Callable[[int], Emulated]
    draw: Callable[[tuple[str, ...]], tuple[str, ...]] = tuple


class DisplayDriver(PartSettings):
    """One of [[hardware.displays]]."""

    libraries: ClassVar[tuple[DriverLibrary, ...]] = ()
    """What `tallybone doctor` looks for."""
    emulations: ClassVar[tuple[DisplayEmulation, ...]] = ()
    """What `tallybone emulate-display` can show."""

    @property
    def bus_uses(self) -> PinNames:
        """The pins of a UART if it is connected to them."""
        return _UART_PINS if self.location in UARTS else ()

    @abstractmethod
    def open(self, clock: Clock) -> ScoreDisplay:
        """Return the display, plugged in or not; *clock* is monotonic, in nanoseconds.

        Raises:
            DisplayError: If a library is missing, or there can be no such port.
        """

    def doubt(self, wait: Callable[[float], object]) -> str:
        """Return why the display seems to be another one, for the doctor; "" for no doubt. *wait* takes seconds."""
        return ""


class SerialDisplay(DisplayDriver):
    """A display on a serial port."""

    url: Annotated[NonEmpty, Field(description="the path of its port, or a URL of pyserial")]
    baud: Annotated[int, Field(ge=1200, le=1_000_000, description="bits a second that it is set to")] = 9600

    libraries = (DriverLibrary("serial", "pyserial", probe="serial_for_url"),)

    @property
    def location(self) -> str:
        """The path or URL of its port."""
        return self.url

    @property
    @abstractmethod
    def encoder(self) -> DisplayEncoder:
        """What turns pages into bytes."""

    def open(self, clock: Clock) -> ScoreDisplay:
        """Return the display, plugged in or not."""
        return LinkedDisplay(self.encoder, serial_port(self.url, self.baud), name=self.url, clock=clock)
