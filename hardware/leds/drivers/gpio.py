"""LEDs on pins of a Raspberry Pi: single ones, and such with three colours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from hardware.colour import Rgb
from hardware.config.fields import Lax, Pin, Pins
from hardware.config.part import PinNames
from hardware.leds.driver import LedsDriver, Shows
from hardware.leds.lamps import LedError
from hardware.leds.shown import LedsRole
from hardware.pin_factory import OpenPins, is_there, let_go, pin_errors

# A single LED is on or off. Dim colours are off, so that it breathes where a colour would.
_ON_FROM = 45
_FULL = 255


class _PinLeds:
    """LEDs of gpiozero."""

    def __init__(self, makers: Sequence[Callable[[], Any]], factory: Any) -> None:
        """Make all LEDs on pins of *factory* (`hardware.pin_factory`), never gpiozero's default, or none of them.

        Raises:
            LedError: If a pin is in use or named twice.
        """
        self._factory = factory
        self._leds: list[Any] = []
        try:
            for make in makers:
                self._leds.append(make())
        except pin_errors() as error:
            self.release()
            raise LedError(f"LED {len(self._leds)} cannot have its pin: {error}") from None

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._leds)

    def _set(self, values: Iterable[Any]) -> None:
        """Give each LED its value, and turn the errors of pins into what drivers of LEDs raise."""
        try:
            for led, value in zip(self._leds, values, strict=True):
                led.value = value
        except pin_errors() as error:
            raise OSError(str(error)) from error

    def require_there(self) -> None:
        """Raise OSError where the chip of the pins has gone."""
        if not is_there(self._factory):
            raise OSError("the pins have gone")

    def release(self) -> None:
        """Let the pins go."""
        let_go(self._leds, self._factory)


class SingleLeds(_PinLeds):
    """LEDs of one colour, each between a pin and ground with its resistor."""

    def __init__(self, pins: tuple[int, ...], factory: Any) -> None:
        """Use pins (BCM) with a pin factory of gpiozero."""
        from gpiozero import LED

        super().__init__([partial(LED, pin, pin_factory=factory) for pin in pins], factory)

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Turn each on or off."""
        self._set(int(max(colour.red, colour.green, colour.blue) >= _ON_FROM) for colour in colours)


class RgbLeds(_PinLeds):
    """LEDs of three colours with a common cathode, each on three pins."""

    def __init__(self, pins: tuple[tuple[int, ...], ...], factory: Any) -> None:
        """Use pins (BCM; red, green, blue of each) with a pin factory of gpiozero."""
        from gpiozero import RGBLED

        super().__init__([partial(RGBLED, *three, pin_factory=factory) for three in pins], factory)

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Let each shine in its colour."""
        self._set((colour.red / _FULL, colour.green / _FULL, colour.blue / _FULL) for colour in colours)


class SingleSettings(LedsDriver):
    """LEDs of one colour."""

    driver: Literal["single"]
    pins: Annotated[Pins, Field(description="the pin of each LED, BCM")]
    shows: Shows = LedsRole.SEATS

    has_colours = False

    @property
    def led_count(self) -> int:
        """One for each pin."""
        return len(self.pins)

    @property
    def pin_uses(self) -> PinNames:
        """The pin of each LED."""
        return [(pin, f"LED {number}") for number, pin in enumerate(self.pins, start=1)]

    def open(self, pins: OpenPins) -> SingleLeds:
        """Return the LEDs."""
        return SingleLeds(self.pins, pins())


RgbPins = Annotated[
    tuple[Pin, ...],
    Lax,
    Field(min_length=3, max_length=3, title="3 pins for each LED, as [[5, 6, 12]]: red, green, blue"),
]


class RgbSettings(LedsDriver):
    """LEDs of three colours with a common cathode."""

    driver: Literal["rgb"]
    pins: Annotated[
        tuple[RgbPins, ...], Lax, Field(title="a list of pins for each LED", description="red, green, blue of each LED")
    ]
    shows: Shows = LedsRole.SEATS

    @property
    def led_count(self) -> int:
        """One for every three pins."""
        return len(self.pins)

    @property
    def pin_uses(self) -> PinNames:
        """Three pins of each LED."""
        return [
            (pin, f"LED {number} {colour}")
            for number, pins in enumerate(self.pins, start=1)
            for pin, colour in zip(pins, ("red", "green", "blue"), strict=True)
        ]

    def open(self, pins: OpenPins) -> RgbLeds:
        """Return the LEDs."""
        return RgbLeds(self.pins, pins())
