"""The parts of a table as values: what each is, where it is wired, and what it is for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from hardware.pin_factory import PinLibrary

if TYPE_CHECKING:
    from hardware.display.driver import DisplayDriver


class LedsDriver(StrEnum):
    """What kind of LEDs there are."""

    SINGLE = "single"
    RGB = "rgb"
    STRIP = "strip"
    VIRTUAL = "virtual"


class LedsRole(StrEnum):
    """What a set of LEDs is for; the names of `hardware.leds.patterns.Glow`."""

    SEATS = "seats"
    STATUS = "status"
    DIRECTION = "direction"
    """Two: clockwise, and the other way."""
    SPELL = "spell"
    ALL = "all"
    """Seats, then status, clockwise, the other way, and spell, which are the last four."""


LEDS_FOR = {LedsRole.STATUS: 1, LedsRole.DIRECTION: 2, LedsRole.SPELL: 1}
"""How many LEDs show what is not about seats."""
LEAST_FOR_ALL = 1 + sum(LEDS_FOR.values())


class ButtonsDriver(StrEnum):
    """What kind of buttons there are."""

    GPIO = "gpio"
    VIRTUAL = "virtual"


OF_SEATS = ("call", "knock", "draw", "done")
"""Buttons that each player may have; said as one pin, all share it."""
SHARED = ("next", "undo", "stands", "hand_end", "redeal", "stack", "table")


class KnockDriver(StrEnum):
    """What listens for knocks."""

    MICROPHONE = "microphone"
    PIEZO_PIN = "piezo-pin"
    PIEZO_SPI = "piezo-spi"
    WAV = "wav"
    VIRTUAL = "virtual"


class MicrophoneWire(StrEnum):
    """How a microphone is connected."""

    USB = "usb"
    I2S = "i2s"


SPI_PORTS = ("0.0", "0.1", "1.0", "1.1", "1.2")


@dataclass(frozen=True, slots=True)
class SpiPort:
    """An SPI of a Raspberry Pi, /dev/spidev0.1 for bus 0 and chip 1."""

    bus: int = 0
    chip: int = 0

    @classmethod
    def parse(cls, text: str) -> SpiPort:
        """Read what `str` writes.

        Raises:
            ValueError: If a Pi has no such SPI.

        >>> SpiPort.parse("0.1")
        SpiPort(bus=0, chip=1)
        """
        if text not in SPI_PORTS:
            raise ValueError(f"expected 0.0, 0.1, 1.0, 1.1 or 1.2, but got {text}")
        return cls(int(text[0]), int(text[2]))

    def __str__(self) -> str:
        return f"{self.bus}.{self.chip}"


@dataclass(frozen=True, slots=True)
class LedsPart:
    """A set of LEDs.

    Attributes:
        driver: What kind.
        shows: What they are for.
        count: How many.
        pins: Those of each LED (BCM): one of `single`, three of `rgb` (red, green, blue), none of others.
        spi: Where a strip is wired.
        percent: How bright a strip is, 0 to 100.
        name: What the file calls it, with a number where there are several.
    """

    driver: LedsDriver
    shows: LedsRole
    count: int
    pins: tuple[tuple[int, ...], ...] = ()
    spi: SpiPort | None = None
    percent: int = 30
    name: str = "hardware.leds"


@dataclass(frozen=True, slots=True)
class ButtonPin:
    """A button on a pin.

    Attributes:
        button: What it is for.
        seat: Whose it is, 0 upwards; None for one that all share.
        pin: BCM.
    """

    button: str
    seat: int | None
    pin: int

    @property
    def name(self) -> str:
        """What people call it, with players from 1.

        >>> ButtonPin("call", 0, 17).name, ButtonPin("next", None, 22).name
        ('call 1', 'next')
        """
        return self.button if self.seat is None else f"{self.button} {self.seat + 1}"


@dataclass(frozen=True, slots=True)
class ButtonsPart:
    """The buttons; virtual ones have no pins, all of them are there."""

    driver: ButtonsDriver
    pins: tuple[ButtonPin, ...] = ()


@dataclass(frozen=True, slots=True)
class KnockPart:
    """A knock sensor.

    Attributes:
        driver: What kind.
        device: Which microphone: its number or a part of its name; None for the system's own choice.
        wire: What a microphone is connected with.
        pins: Of piezos with comparators (BCM).
        spi: Where the MCP3008 of piezos is wired.
        channels: Of the MCP3008, 0 to 7, one for each piezo.
        seats: Whose side of the table each piezo is at, 0 upwards; None for the whole table.
        file: What `wav` plays.
    """

    driver: KnockDriver
    device: int | str | None = None
    wire: MicrophoneWire = MicrophoneWire.USB
    pins: tuple[int, ...] = ()
    spi: SpiPort | None = None
    channels: tuple[int, ...] = ()
    seats: tuple[int | None, ...] = ()
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class DisplayPart:
    """A score display.

    Attributes:
        options: The options of its driver; None for the display of the virtual panel.
        name: What the file calls it, with a number where there are several.
    """

    options: DisplayDriver | None = None
    name: str = "hardware.displays"

    @property
    def driver(self) -> str:
        """The name of its driver."""
        return "virtual" if self.options is None else self.options.driver

    @property
    def url(self) -> str:
        """The path or URL of its port; "" if it has none."""
        return "" if self.options is None else self.options.location


@dataclass(frozen=True, slots=True)
class HardwareConfig:
    """All parts of a table; none where nothing is said."""

    leds: tuple[LedsPart, ...] = ()
    buttons: ButtonsPart | None = None
    knock: KnockPart | None = None
    displays: tuple[DisplayPart, ...] = ()
    pins: PinLibrary = PinLibrary.LGPIO
