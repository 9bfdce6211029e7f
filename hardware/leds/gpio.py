"""LEDs on pins of a Raspberry Pi: single ones, and such with three colours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hardware.colour import Rgb
from hardware.leds.lamps import LedError
from hardware.pin_factory import is_there, let_go, pin_errors

# A single LED is on or off. Dim colours are off, so that it breathes where a colour would.
_ON_FROM = 45
_FULL = 255


class SingleLeds:
    """LEDs of one colour, each between a pin and ground with its resistor."""

    def __init__(self, pins: tuple[int, ...], factory: Any) -> None:
        """Use pins (BCM) with a pin factory of gpiozero (`hardware.pin_factory`), never its default.

        Raises:
            LedError: If a pin is in use or named twice.
        """
        from gpiozero import LED

        self._factory = factory
        self._leds = _opened([lambda pin=pin: LED(pin, pin_factory=factory) for pin in pins], factory)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._leds)

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Turn each on or off."""
        with _as_os_errors():
            for led, colour in zip(self._leds, colours, strict=True):
                led.value = int(max(colour.red, colour.green, colour.blue) >= _ON_FROM)

    def require_there(self) -> None:
        """Raise OSError where the chip of the pins has gone."""
        _require_there(self._factory)

    def release(self) -> None:
        """Let the pins go."""
        let_go(self._leds, self._factory)


class RgbLeds:
    """LEDs of three colours with a common cathode, each on three pins."""

    def __init__(self, pins: tuple[tuple[int, int, int], ...], factory: Any) -> None:
        """Use pins (BCM; red, green, blue of each) with a pin factory of gpiozero.

        Raises:
            LedError: If a pin is in use or named twice.
        """
        from gpiozero import RGBLED

        self._factory = factory
        self._leds = _opened([lambda three=three: RGBLED(*three, pin_factory=factory) for three in pins], factory)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._leds)

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Let each shine in its colour."""
        with _as_os_errors():
            for led, colour in zip(self._leds, colours, strict=True):
                led.value = (colour.red / _FULL, colour.green / _FULL, colour.blue / _FULL)

    def require_there(self) -> None:
        """Raise OSError where the chip of the pins has gone."""
        _require_there(self._factory)

    def release(self) -> None:
        """Let the pins go."""
        let_go(self._leds, self._factory)


@contextmanager
def _as_os_errors() -> Iterator[None]:
    """Turn the errors of pins into what drivers of LEDs raise."""
    try:
        yield
    except pin_errors() as error:
        raise OSError(str(error)) from error


def _require_there(factory: Any) -> None:
    if not is_there(factory):
        raise OSError("the pins have gone")


def _opened(makers: list[Any], factory: Any) -> list[Any]:
    """Return all devices, or none of them."""
    devices: list[Any] = []
    try:
        for make in makers:
            devices.append(make())
    except pin_errors() as error:
        let_go(devices, factory)
        raise LedError(f"LED {len(devices)} cannot have its pin: {error}") from None
    return devices
