"""Single-colour and RGB LEDs on pins of a Raspberry Pi."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from hardware.leds.drivers import LedsDriver, LedsRole, Shows
from hardware.leds.lamps import LedError
from hardware.libraries import OpenPins, close_devices, is_connected, pin_errors
from hardware.part import Lax, Pin, PinNames, Pins, Rgb

# A single-colour LED is on from this brightness. It is off for dim colours, to blink where an RGB LED breathes.
_ON_FROM = 45
_FULL = 255


class _PinLeds:
    """LEDs driven by gpiozero."""

    def __init__(self, makers: Sequence[Callable[[], Any]], factory: Any) -> None:
        """Create the LEDs with *makers*. If one fails, all are closed.

        *factory* is their pin factory (`hardware.libraries`), never gpiozero's default.

        Raises:
            LedError: If a pin is in use or listed twice.
        """
        self._factory = factory
        self._leds: list[Any] = []
        self.count = len(makers)
        try:
            for make in makers:
                self._leds.append(make())
        except pin_errors() as error:
            self.release()
            raise LedError(f"LED {len(self._leds)} cannot have its pin: {error}") from None

    def _set(self, values: Iterable[Any]) -> None:
        """Set the value of each LED. Raises pin errors as OSError."""
        try:
            for led, value in zip(self._leds, values, strict=True):
                led.value = value
        except pin_errors() as error:
            raise OSError(str(error)) from error

    def require_connected(self) -> None:
        """Raise OSError if the GPIO chip has disappeared."""
        if not is_connected(self._factory):
            raise OSError("the GPIO chip has disappeared")

    def release(self) -> None:
        """Release the pins."""
        close_devices(self._leds, self._factory)


class SingleLeds(_PinLeds):
    """Single-colour LEDs, each wired with a resistor between a pin and ground."""

    def __init__(self, pins: tuple[int, ...], factory: Any) -> None:
        """Use *pins* (BCM) of a gpiozero pin factory."""
        from gpiozero import LED

        super().__init__([partial(LED, pin, pin_factory=factory) for pin in pins], factory)

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Turn each LED on or off."""
        self._set(int(max(colour.red, colour.green, colour.blue) >= _ON_FROM) for colour in colours)


class RgbLeds(_PinLeds):
    """RGB LEDs with a common cathode, each on three pins."""

    def __init__(self, pins: tuple[tuple[int, ...], ...], factory: Any) -> None:
        """Use *pins*, the BCM numbers for red, green and blue of each LED, of a gpiozero pin factory."""
        from gpiozero import RGBLED

        super().__init__([partial(RGBLED, *rgb_pins, pin_factory=factory) for rgb_pins in pins], factory)

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Set the colour of each LED."""
        self._set((colour.red / _FULL, colour.green / _FULL, colour.blue / _FULL) for colour in colours)


class SingleSettings(LedsDriver):
    """LEDs of one colour."""

    driver: Literal["single"]
    pins: Annotated[Pins, Field(description="the pin of each LED, BCM")]
    shows: Shows = LedsRole.SEATS

    has_colours = False

    @property
    def led_count(self) -> int:
        """Number of LEDs, one for each pin."""
        return len(self.pins)

    @property
    def pin_uses(self) -> PinNames:
        """The pin of each LED."""
        return [(pin, f"LED {number}") for number, pin in enumerate(self.pins, start=1)]

    def open(self, pins: OpenPins) -> SingleLeds:
        """Open the LEDs."""
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
        """Number of LEDs, one for each three pins."""
        return len(self.pins)

    @property
    def pin_uses(self) -> PinNames:
        """The three pins of each LED."""
        return [
            (pin, f"LED {number} {colour}")
            for number, pins in enumerate(self.pins, start=1)
            for pin, colour in zip(pins, ("red", "green", "blue"), strict=True)
        ]

    def open(self, pins: OpenPins) -> RgbLeds:
        """Open the LEDs."""
        return RgbLeds(self.pins, pins())
