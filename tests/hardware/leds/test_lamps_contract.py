"""Tests of all LED drivers: none, fake, gpiozero on mock pins, and a strip on a fake bus."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from gpiozero import Device

from hardware.leds.drivers.gpio import RgbLeds, SingleLeds
from hardware.leds.drivers.strip import Strip, open_spi, spi_bytes
from hardware.leds.lamps import OFF, Lamps, LedDevice, LedError, VirtualLeds
from hardware.libraries import PinError, PinLibrary, open_pins
from hardware.part import Rgb
from tests.hardware.fakes import FakeLeds

_RED, _WHITE = Rgb(255, 0, 0), Rgb(255, 255, 255)
_HARDWARE = Path(__file__).resolve().parents[3] / "hardware"


class Bus:
    """A fake SPI bus with the methods used by a strip."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.is_broken = self.is_closed = False

    def writebytes2(self, values: bytes) -> None:
        assert not self.is_closed
        if self.is_broken:
            raise OSError(5, "Input/output error")
        self.sent.append(bytes(values))

    def close(self) -> None:
        self.is_closed = True


_MADE: dict[str, Callable[[], LedDevice]] = {
    "fake": lambda: FakeLeds(2),
    "virtual": lambda: VirtualLeds(2),
    "single": lambda: SingleLeds((5, 6), open_pins(PinLibrary.MOCK)),
    "rgb": lambda: RgbLeds(((5, 6, 13), (16, 20, 21)), open_pins(PinLibrary.MOCK)),
    "strip": lambda: Strip(2, Bus()),
}


@pytest.fixture(params=_MADE)
def lamps(request: pytest.FixtureRequest) -> Lamps:
    return Lamps(_MADE[request.param]())


def test_leds_light_up_without_a_problem(lamps: Lamps) -> None:
    assert lamps.count == 2
    for colours in ((_RED, OFF), (OFF, _WHITE), (OFF, OFF)):
        lamps.light(colours)
    assert lamps.state.problem is None
    lamps.close()


def test_leds_need_a_colour_each_until_they_are_closed(lamps: Lamps) -> None:
    with pytest.raises(LedError, match="expected a colour for each of 2 LEDs, but got 3"):
        lamps.light((_RED, _RED, _RED))
    lamps.light((_RED, _WHITE))
    lamps.close()
    lamps.close()
    with pytest.raises(LedError, match="are closed"):
        lamps.light((_RED, OFF))


def test_only_changes_are_sent_and_leds_are_dark_at_the_start_and_end() -> None:
    fake = FakeLeds(1)
    lamps = Lamps(fake)
    for _ in range(5):
        lamps.light((_RED,))
    lamps.close()
    assert fake.shown == [(OFF,), (_RED,), (OFF,)]


def test_failing_leds_are_a_problem_and_recover() -> None:
    fake = FakeLeds(1)
    lamps = Lamps(fake)
    problems: list[str | None] = []
    fake.unplug()
    lamps.light((_RED,))
    problems.append(lamps.state.problem)
    fake.plug()
    lamps.light((_RED,))
    problems.append(lamps.state.problem)
    assert problems == ["the LEDs do not respond (unplugged): check their wiring, and that SPI is enabled", None]
    assert fake.shown[-1] == (_RED,)


def test_single_leds_are_on_for_bright_colours_and_three_mixed_by_pwm() -> None:
    factory = open_pins(PinLibrary.MOCK)
    lamps = Lamps(SingleLeds((5, 6), factory))
    lamps.light((_RED, Rgb(0, 20, 0)))
    assert [factory.pin(pin).state for pin in (5, 6)] == [1, 0]
    lamps.light((OFF, _WHITE))
    assert [factory.pin(pin).state for pin in (5, 6)] == [0, 1]
    factory = open_pins(PinLibrary.MOCK)
    lamps = Lamps(RgbLeds(((5, 6, 13),), factory))
    lamps.light((Rgb(255, 51, 0),))
    assert [round(factory.pin(pin).state, 2) for pin in (5, 6, 13)] == [1.0, 0.2, 0.0]


def test_a_pin_in_use_is_named_and_others_and_the_default_factory_are_left_alone() -> None:
    factory = open_pins(PinLibrary.MOCK)
    with pytest.raises(LedError, match=r"LED 1 cannot have its pin: .*5"):
        SingleLeds((5, 5), factory)
    SingleLeds((5, 6), factory)
    before = Device.pin_factory
    Lamps(SingleLeds((5,), open_pins(PinLibrary.MOCK))).close()
    assert Device.pin_factory is before


def test_a_strip_encodes_green_red_blue_and_the_longest_fits_into_one_transfer() -> None:
    sent = spi_bytes([Rgb(0x80, 0x01, 0xFF)])
    bits = "".join(f"{byte:08b}" for byte in sent[8:17])
    decoded = ["1" if bits[place : place + 3] == "110" else "0" for place in range(0, 72, 3)]
    values = ["".join(decoded[begin : begin + 8]) for begin in (0, 8, 16)]
    assert values == ["00000001", "10000000", "11111111"]
    assert {bits[place : place + 3] for place in range(0, 72, 3)} == {"110", "100"}
    assert sent[:8] == bytes(8)
    assert len(sent[17:]) * 8 / 2.4 >= 280  # microseconds of low at the end
    assert not any(sent[17:])
    assert len(spi_bytes([_WHITE] * 300)) <= 4096
    for count, percent in ((0, 30), (301, 30), (1, 101)):
        with pytest.raises(LedError, match="expected 1 to 300 LEDs"):
            Strip(count, Bus(), percent=percent)


def test_a_strip_is_of_limited_brightness_and_dark_after_a_failure_of_its_bus() -> None:
    bus = Bus()
    lamps = Lamps(Strip(1, bus, percent=50))
    lamps.light((_WHITE,))
    assert bus.sent[-1] == spi_bytes([Rgb(127, 127, 127)])
    bus.is_broken = True
    lamps.light((_RED,))
    assert lamps.state.problem is not None
    bus.is_broken = False
    lamps.close()
    assert bus.sent[-1] == spi_bytes([OFF])
    assert bus.is_closed


@pytest.mark.parametrize(
    ("error", "message"),
    [(PermissionError(), "group spi"), (FileNotFoundError(2, "No such file"), "enable SPI with raspi-config")],
)
def test_an_unopenable_bus_is_an_error_with_a_fix(
    error: OSError, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(bus: int, device: int) -> None:
        raise error

    monkeypatch.setitem(sys.modules, "spidev", SimpleNamespace(SpiDev=lambda: SimpleNamespace(open=fails)))
    with pytest.raises(LedError, match=message):
        open_spi()
    monkeypatch.setitem(sys.modules, "spidev", None)
    with pytest.raises(LedError, match="sudo apt install python3-spidev"):
        open_spi()


def test_the_bus_is_opened_at_the_speed_of_the_strip_by_spidev_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    spi = SimpleNamespace(open=lambda bus, device: None)
    monkeypatch.setitem(sys.modules, "spidev", SimpleNamespace(SpiDev=lambda: spi))
    assert open_spi() is spi
    assert (spi.max_speed_hz, spi.mode) == (2_400_000, 0)
    imported: set[str] = set()
    for path in _HARDWARE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            imported |= {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
            imported |= {node.module or ""} if isinstance(node, ast.ImportFrom) else set()
    assert "spidev" in imported
    assert not imported & {"rpi_ws281x", "neopixel", "board", "RPi.GPIO", "RPi"}


def test_pin_libraries_that_do_not_work_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    factory: Any = SimpleNamespace(LGPIOFactory=None)
    monkeypatch.setitem(sys.modules, "lgpio", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "gpiozero.pins.lgpio", factory)
    with pytest.raises(
        PinError, match="the lgpio installed by pip is an empty package: sudo apt install python3-lgpio"
    ):
        open_pins(PinLibrary.LGPIO)

    class LgpioError(Exception):
        pass

    def fails() -> None:
        raise LgpioError("can not open gpiochip")

    monkeypatch.setitem(sys.modules, "lgpio", SimpleNamespace(gpiochip_open=None, error=LgpioError))
    monkeypatch.setitem(sys.modules, "gpiozero.pins.lgpio", SimpleNamespace(LGPIOFactory=fails))
    with pytest.raises(PinError, match=r"the pins cannot be used \(can not open gpiochip\): is this a Raspberry Pi"):
        open_pins(PinLibrary.LGPIO)
