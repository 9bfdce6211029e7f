"""Tests of gpiod's pins on gpio-sim, the kernel's GPIO chip for tests. They need root and a kernel with gpio-sim."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

import gpiod
import pytest
from gpiozero import LED, PWMLED, DigitalInputDevice
from gpiozero.exc import PinFixedPull, PinInvalidFunction, PinSetInput
from gpiozero.pins import local

from hardware.buttons.drivers.gpio import GpioButtons
from hardware.gpiod_pins import header_chip
from hardware.leds.drivers.gpio import SingleLeds
from hardware.leds.lamps import LedError
from hardware.libraries import PinError, PinLibrary, is_connected, open_pins
from tests.hardware.pin_contract import check_that_parts_return
from tests.waiting import soon

_SIMS = Path("/sys/kernel/config/gpio-sim")
_PI_4 = 0xC03115
_LINES = 28

pytestmark = pytest.mark.skipif(not _SIMS.is_dir(), reason="needs a kernel with gpio-sim: make guest has one")


class SimulatedChip:
    """A chip of gpio-sim with the lines of a header."""

    def __init__(self) -> None:
        self._sim = _SIMS / "contract"
        bank = self._sim / "bank0"
        bank.mkdir(parents=True)
        (bank / "num_lines").write_text(f"{_LINES}")
        (bank / "label").write_text("pinctrl-contract")
        self.inputs: MutableMapping[int, int] = _Pulls(self)
        self.is_there = True

    @property
    def is_there(self) -> bool:
        return (self._sim / "live").read_text().strip() == "1"

    @is_there.setter
    def is_there(self, is_there: bool) -> None:
        (self._sim / "live").write_text(f"{is_there:d}")
        for pin in range(_LINES if is_there else 0):
            self.inputs[pin] = 1

    def line(self, pin: int) -> Path:
        device, chip = (self._sim / "dev_name").read_text(), (self._sim / "bank0/chip_name").read_text()
        return Path("/sys/devices/platform") / device.strip() / chip.strip() / f"sim_gpio{pin}"

    def output(self, pin: int) -> float:
        return int((self.line(pin) / "value").read_text())

    def remove(self) -> None:
        self.is_there = False

    def destroy(self) -> None:
        if self.is_there:
            self.remove()
        (self._sim / "bank0").rmdir()
        self._sim.rmdir()


class _Pulls(dict[int, int]):
    """The level to which each input is pulled from outside."""

    def __init__(self, chip: SimulatedChip) -> None:
        super().__init__()
        self._chip = chip

    def __setitem__(self, pin: int, level: int) -> None:
        super().__setitem__(pin, level)
        (self._chip.line(pin) / "pull").write_text("pull-up" if level else "pull-down")


@pytest.fixture
def chip(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimulatedChip]:
    monkeypatch.setattr(local, "get_pi_revision", lambda: _PI_4)
    monkeypatch.setattr(local.LocalPiFactory, "pins", {})
    made = SimulatedChip()
    yield made
    made.destroy()


@pytest.fixture
def pins(chip: SimulatedChip) -> Iterator[Any]:
    factory = open_pins(PinLibrary.GPIOD)
    yield factory
    if is_connected(factory):
        factory.close()


def test_all_parts_return_with_the_chip(chip: SimulatedChip) -> None:
    check_that_parts_return(PinLibrary.GPIOD, chip, times=5)


def test_an_led_has_the_level_of_its_pin(chip: SimulatedChip, pins: Any) -> None:
    led = LED(5, pin_factory=pins, initial_value=True)
    levels = [chip.output(5)]
    for _ in range(3):
        led.toggle()
        levels.append(chip.output(5))
    led.close()
    assert levels == [1, 0, 1, 0]
    assert pins.pin(5).function == "input"


def test_a_dimmed_led_is_on_for_its_share_of_the_time(chip: SimulatedChip, pins: Any) -> None:
    led = PWMLED(6, pin_factory=pins)
    shares = []
    for led.value in (0.1, 0.5, 0.9):
        until_s, seen = time.monotonic() + 1, list[float]()
        while time.monotonic() < until_s:
            seen.append(chip.output(6))
        shares.append(sum(seen) / len(seen))
    # The clock of a kernel that runs as a process is too coarse to measure more than the order.
    assert 0 < shares[0] < shares[1] < shares[2] < 1
    led.value = 1
    assert chip.output(6) == 1
    led.off()
    assert chip.output(6) == 0
    led.close()


def test_edges_come_in_order_with_the_time_of_the_kernel(chip: SimulatedChip, pins: Any) -> None:
    device, seen = DigitalInputDevice(17, pull_up=True, pin_factory=pins), list[tuple[float, bool]]()
    callback = lambda ticks, state: seen.append((ticks, state))  # noqa: E731 - gpiozero keeps a weak reference
    device.pin.when_changed = callback
    began_s = time.monotonic()
    for level in (0, 1) * 20:
        chip.inputs[17] = level
        threading.Event().wait(0.02)
    soon(lambda: len(seen) == 40)
    times = [ticks for ticks, _ in seen]
    assert [state for _, state in seen] == [False, True] * 20
    assert times == sorted(times)
    assert began_s <= times[0] <= times[-1] <= time.monotonic()
    device.close()


def test_a_pull_resistor_sets_the_level_of_a_loose_input(chip: SimulatedChip, pins: Any) -> None:
    pin = pins.pin(22)
    levels = []
    for pull in ("up", "down", "up"):
        pin.input_with_pull(pull)
        levels.append((pin.pull, pin.state, chip.output(22)))
    assert levels == [("up", 1, 1), ("down", 0, 0), ("up", 1, 1)]
    with pytest.raises(PinFixedPull):
        pins.pin(2).pull = "down"


def test_what_a_pin_cannot_do_is_an_error(pins: Any) -> None:
    pin = pins.pin(23)
    with pytest.raises(PinSetInput):
        pin.state = 1
    with pytest.raises(PinInvalidFunction):
        pin.function = "i2c"
    assert pin.frequency is None


def test_a_line_of_another_program_is_in_use(chip: SimulatedChip, pins: Any) -> None:
    with (
        gpiod.Chip(str(header_chip())) as other,
        other.request_lines({24: None}),
        pytest.raises(LedError, match=r"LED 0 cannot have its pin: .*busy"),
    ):
        SingleLeds((24,), pins)
    SingleLeds((24,), pins).release()


def test_a_closed_factory_frees_its_lines(chip: SimulatedChip, pins: Any) -> None:
    def is_used() -> bool:
        with gpiod.Chip(str(header_chip())) as again:
            return again.get_line_info(25).used

    buttons = GpioButtons({"undo": 25}, pins)
    used = [is_used()]
    buttons.close()
    pins.close()
    used.append(is_used())
    assert used == [True, False]
    again = open_pins(PinLibrary.GPIOD)
    GpioButtons({"undo": 25}, again).close()
    again.close()


def test_no_chip_is_an_error(chip: SimulatedChip) -> None:
    chip.remove()
    with pytest.raises(PinError, match="has the pins of a header"):
        open_pins(PinLibrary.GPIOD)
