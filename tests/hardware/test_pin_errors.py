"""Tests of errors for busy pins, which gpiozero passes through from lgpio."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from gpiozero.pins.mock import MockPWMPin

from hardware.buttons.drivers.gpio import GpioButtons
from hardware.buttons.panel import ButtonError
from hardware.leds.drivers.gpio import RgbLeds, SingleLeds
from hardware.leds.lamps import OFF, Lamps, LedError
from hardware.libraries import PinLibrary, open_pins
from hardware.part import Rgb

WHITE = Rgb(255, 255, 255)


class BusyError(Exception):
    """Like lgpio.error, not an error of gpiozero."""


class Pins:
    """Mock pins that can become busy."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_taken = False
        self.factory = open_pins(PinLibrary.MOCK)
        monkeypatch.setitem(sys.modules, "lgpio", SimpleNamespace(error=BusyError))
        for owner, name in ((MockPWMPin, "_get_state"), (MockPWMPin, "_set_state"), (self.factory, "pin")):
            monkeypatch.setattr(owner, name, self._refusing(getattr(owner, name)))

    def _refusing(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def refuses(*given: Any) -> Any:
            if self.is_taken:
                raise BusyError("GPIO busy")
            return method(*given)

        return refuses


@pytest.fixture
def pins(monkeypatch: pytest.MonkeyPatch) -> Pins:
    return Pins(monkeypatch)


def leds(kind: str, factory: Any) -> Lamps:
    return Lamps(RgbLeds(((5, 6, 12),), factory) if kind == "rgb" else SingleLeds((5,), factory))


@pytest.mark.parametrize("kind", ["rgb", "single"])
def test_leds_report_a_lost_pin_and_recover(pins: Pins, kind: str) -> None:
    lamps = leds(kind, pins.factory)
    pins.is_taken = True
    lamps.light((WHITE,))
    lost = lamps.state.problem
    pins.is_taken = False
    lamps.light((WHITE,))
    lamps.light((OFF,))
    assert lost is not None
    assert "GPIO busy" in lost
    assert lamps.state.problem is None


def test_buttons_and_leds_on_busy_pins_cannot_be_opened(pins: Pins) -> None:
    buttons = GpioButtons({"next": 6}, pins.factory)
    pins.is_taken = True
    with pytest.raises(ButtonError, match="the pin of the button next cannot be read: GPIO busy"):
        buttons.read()
    with pytest.raises(ButtonError, match="the button undo cannot have pin 5: GPIO busy"):
        GpioButtons({"undo": 5}, pins.factory)
    pins.is_taken = False
    buttons.close()
    pins.is_taken = True
    with pytest.raises(LedError, match="LED 0 cannot have its pin: GPIO busy"):
        SingleLeds((5, 6), pins.factory)
