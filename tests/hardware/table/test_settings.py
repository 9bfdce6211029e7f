"""Tests of the table [hardware]: its values, and reporting all errors together."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from copy import deepcopy
from datetime import date
from typing import Any

import pytest

from hardware.buttons.drivers.gpio import GpioSettings
from hardware.display.drivers.segment import SegmentDriver
from hardware.display.drivers.serlcd import SerLcdDriver
from hardware.knock.drivers.microphone import MicrophoneSettings, MicrophoneWire
from hardware.knock.drivers.piezo import PiezoPinSettings, PiezoSpiSettings
from hardware.knock.drivers.wav import WavSettings
from hardware.leds.drivers import LedsRole
from hardware.leds.drivers.gpio import RgbSettings, SingleSettings
from hardware.leds.drivers.strip import StripSettings
from hardware.libraries import PinLibrary
from hardware.part import ConfigError, PinUse, SpiPort, pins_used
from hardware.table import HardwareSettings, KnockSettings, VirtualSettings
from tests.hardware.table.reading import read_hardware


def read(text: str) -> HardwareSettings:
    return read_hardware(tomllib.loads(text).get("hardware", {}))


def problems(text: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as error:
        read(text)
    assert str(error.value) == "\n".join(error.value.problems)
    return error.value.problems


def test_an_empty_table_has_no_parts_and_disabled_ones_are_ignored() -> None:
    assert read("") == HardwareSettings()
    assert read("[hardware]") == HardwareSettings()
    config = read("""
        [[hardware.leds]]
        driver = "none"
        pins = [5, 5]
        [hardware.buttons]
        driver = "none"
        call = [5]
        [[hardware.displays]]
        driver = "none"
        url = "/dev/ttyUSB0"
        """)
    assert config == HardwareSettings()


def test_every_part_is_read() -> None:
    config = read("""
        [hardware]
        pins = "mock"
        [[hardware.leds]]
        driver = "single"
        pins = [5, 6]
        [[hardware.leds]]
        driver = "rgb"
        shows = "status"
        pins = [[12, 13, 16]]
        [[hardware.leds]]
        driver = "strip"
        shows = "all"
        spi = "1.0"
        count = 8
        percent = 10
        [hardware.buttons]
        driver = "gpio"
        call = [22, 23]
        draw = 24
        hand_end = 25
        [hardware.knock]
        driver = "piezo-spi"
        spi = "0.1"
        channel = 3
        [[hardware.displays]]
        driver = "serlcd-20x4"
        url = "/dev/ttyUSB0"
        backlight = [0, 80, 255]
        [[hardware.displays]]
        driver = "segment"
        url = "socket://other:2217"
        baud = 19200
        seat = 1
        brightness = 40
        """)
    assert config == HardwareSettings(
        leds=(
            SingleSettings(driver="single", pins=(5, 6)),
            RgbSettings(driver="rgb", shows=LedsRole.STATUS, pins=((12, 13, 16),)),
            StripSettings(driver="strip", shows=LedsRole.ALL, count=8, spi=SpiPort(1, 0), percent=10),
        ),
        buttons=GpioSettings(driver="gpio", call=(22, 23), draw=24, hand_end=25),
        knock=PiezoSpiSettings(driver="piezo-spi", spi=SpiPort(0, 1), channel=3),
        displays=(
            SerLcdDriver(driver="serlcd-20x4", url="/dev/ttyUSB0", backlight=(0, 80, 255)),
            SegmentDriver(driver="segment", url="socket://other:2217", baud=19200, seat=1, brightness=40),
        ),
        pins=PinLibrary.MOCK,
    )
    assert [part.name for part in config.parts] == [
        "hardware.leds 1", "hardware.leds 2", "hardware.leds 3", "hardware.buttons", "hardware.knock",
        "hardware.displays 1", "hardware.displays 2",
    ]  # fmt: skip
    assert [leds.led_count for leds in config.leds] == [2, 1, 8]
    assert isinstance(config.buttons, GpioSettings)
    assert config.buttons.wired == {"call 1": 22, "call 2": 23, "draw": 24, "hand_end": 25}
    assert config.knock is not None
    assert config.knock.spi_port == SpiPort(0, 1)


@pytest.mark.parametrize(
    ("lines", "part"),
    [
        ('driver = "microphone"', MicrophoneSettings(driver="microphone")),
        ('driver = "microphone"\ndevice = 2', MicrophoneSettings(driver="microphone", device=2)),
        (
            'driver = "microphone"\ndevice = "ics43434"\nwire = "i2s"',
            MicrophoneSettings(driver="microphone", device="ics43434", wire=MicrophoneWire.I2S),
        ),
        ('driver = "wav"\nfile = "knocks.wav"', WavSettings(driver="wav", file="knocks.wav")),
        ('driver = "virtual"', VirtualSettings(driver="virtual")),
    ],
)
def test_each_kind_of_knock_sensor_is_read(lines: str, part: KnockSettings) -> None:
    assert read(f"[hardware.knock]\n{lines}").knock == part.named("hardware.knock")
    assert read('[hardware.knock]\ndriver = "none"').knock is None


@pytest.mark.parametrize(
    ("lines", "wired", "seats"),
    [
        ('driver = "piezo-pin"\npin = 17\nseat = 0', (17,), (0,)),
        ('driver = "piezo-pin"\npins = [17, 27, 22]', (17, 27, 22), (0, 1, 2)),
        ('driver = "piezo-spi"\nchannels = [3, 0]', (3, 0), (0, 1)),
        ('driver = "piezo-spi"\nseat = 2', (0,), (2,)),
        ('driver = "piezo-spi"\nchannel = 3', (3,), (None,)),
    ],
)
def test_piezos_are_assigned_to_seats(lines: str, wired: tuple[int, ...], seats: tuple[int | None, ...]) -> None:
    part = read(f"[hardware.knock]\n{lines}").knock
    assert isinstance(part, PiezoPinSettings | PiezoSpiSettings)
    assert (part.wired, part.seats) == (wired, seats)


def test_all_errors_are_reported_together() -> None:
    assert problems("""
        [hardware]
        pins = "rpigpio"
        [[hardware.leds]]
        driver = "single"
        pin = [5]
        pins = [1, 6]
        [[hardware.leds]]
        driver = "strp"
        [[hardware.leds]]
        driver = "strip"
        shows = "status"
        count = 3
        percent = 101
        pins = [4]
        [hardware.buttons]
        driver = "gpio"
        cal = [5]
        next = "22"
        [hardware.knock]
        driver = "piezo-spi"
        spi = "2.0"
        channel = 8
        pin = 4
        [[hardware.displays]]
        driver = "segment"
        seat = true
        backlight = [1, 2, 3]
        [hardware.lamp]
        """) == (
        "[hardware.leds 1] pins: expected BCM pins 2 to 27, but got 1",
        "[hardware.leds 1] pin: is not known; did you mean pins?",
        '[hardware.leds 2] driver: expected single, rgb, strip, virtual or none, but got "strp"; did you mean strip?',
        "[hardware.leds 3] percent: expected 0 to 100, but got 101",
        "[hardware.leds 3] shows: status takes 1 LED, but there are 3",
        "[hardware.leds 3] pins: has no meaning with the driver strip",
        '[hardware.buttons] next: expected BCM pins 2 to 27, but got "22"',
        "[hardware.buttons] cal: is not known; did you mean call?",
        "[hardware.knock] channel: expected 0 to 7, but got 8",
        "[hardware.knock] spi: expected 0.0, 0.1, 1.0, 1.1 or 1.2, but got 2.0",
        "[hardware.knock] pin: has no meaning with the driver piezo-spi",
        "[hardware.displays] url: is required: path of its port, or a URL of pyserial",
        "[hardware.displays] seat: expected 0 to 15, but got true",
        "[hardware.displays] backlight: has no meaning with the driver segment",
        '[hardware] pins: expected auto, lgpio, gpiod or mock, but got "rpigpio"; did you mean lgpio?',
        "[hardware] lamp: is not known; expected buttons, displays, knock, leds or pins",
        "[hardware.knock] spi: SPI bus 0 is taken by [hardware.leds 3]: a strip shares it with nothing",
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[hardware.leds]\ndriver = 'none'", "[hardware] leds: expected [[hardware.leds]], with two brackets"),
        ("[[hardware.knock]]\ndriver = 'none'", "[hardware] knock: expected one table [hardware.knock]"),
        ("[hardware.knock]", "[hardware.knock] driver: expected microphone, piezo-pin"),
        ("[hardware.knock]\ndriver = 5", "[hardware.knock] driver: expected microphone"),
        ("[hardware.knock]\ndriver = 'piezo-pin'", "[hardware.knock] pin: is required"),
        (
            "[hardware.knock]\ndriver = 'piezo-pin'\npins = [17, 27]\nseat = 1",
            "[hardware.knock] seat: is also given by pins, one for each seat",
        ),
        (
            "[hardware.knock]\ndriver = 'piezo-spi'\nchannels = [0, 1, 1]",
            "[hardware.knock] channels: expected channels 0 to 7, each once, but got 1",
        ),
        (
            "[hardware.knock]\ndriver = 'piezo-pin'\npins = [17, 17]",
            "[hardware.knock] pin 17 (piezo 2) is taken by [hardware.knock] (piezo 1)",
        ),
        (
            "[[hardware.leds]]\ndriver = 'rgb'\npins = [5, 6, 12]",
            "[hardware.leds] pins: expected 3 pins for each LED, as [[5, 6, 12]]: red, green, blue,"
            " but got 5, 6 and 12",
        ),
        (
            "[[hardware.leds]]\ndriver = 'rgb'\npins = [[5, 6]]",
            "[hardware.leds] pins: expected 3 pins for each LED, as [[5, 6, 12]]: red, green, blue, but got [5, 6]",
        ),
        ("[[hardware.leds]]\ndriver = 'single'\npins = 5", "[hardware.leds] pins: expected a list of pins, but got 5"),
        ("[[hardware.leds]]\ndriver = 'single'", "[hardware.leds] pins: is required"),
        ("[[hardware.leds]]\ndriver = 'strip'\ncount = 4\nshows = 'all'", "all takes at least 5 LEDs"),
        ("[hardware.buttons]\ndriver = 'gpio'\ncall = [true]", "[hardware.buttons] call: expected BCM pins 2 to 27"),
        ("[hardware.buttons]\ndriver = 'virtual'\ncall = [5]", "[hardware.buttons] call: has no meaning"),
    ],
)
def test_errors_name_the_position_and_the_expected_value(text: str, problem: str) -> None:
    (found,) = problems(text)
    assert problem in found


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "[[hardware.leds]]\ndriver = 'single'\npins = [5, 5]",
            "[hardware.leds] pin 5 (LED 2) is taken by [hardware.leds] (LED 1)",
        ),
        (
            "[[hardware.leds]]\ndriver = 'rgb'\nshows = 'status'\npins = [[5, 6, 12]]\n"
            "[hardware.buttons]\ndriver = 'gpio'\ncall = [4, 6]",
            "[hardware.buttons] pin 6 (button call 2) is taken by [hardware.leds] (LED 1 green)",
        ),
        (
            "[hardware.buttons]\ndriver = 'gpio'\nnext = 8\n[hardware.knock]\ndriver = 'piezo-spi'",
            "[hardware.knock] pin 8 (SPI bus 0 CE0) is taken by [hardware.buttons] (button next)",
        ),
        (
            "[hardware.buttons]\ndriver = 'gpio'\nnext = 20\n[hardware.knock]\ndriver = 'microphone'\nwire = 'i2s'",
            "[hardware.knock] pin 20 (I2S data in) is taken by [hardware.buttons] (button next)",
        ),
        (
            "[hardware.buttons]\ndriver = 'gpio'\nnext = 14\n[[hardware.displays]]\ndriver = 'nextion'\n"
            "url = '/dev/serial0'",
            "[hardware.displays] pin 14 (UART transmit) is taken by [hardware.buttons] (button next)",
        ),
        (
            "[[hardware.displays]]\ndriver = 'nextion'\nurl = '/dev/ttyUSB0'\n[[hardware.displays]]\n"
            "driver = 'segment'\nurl = '/dev/ttyUSB0'",
            "[hardware.displays 2] url: /dev/ttyUSB0 is taken by [hardware.displays 1]",
        ),
    ],
)
def test_a_pin_conflict_names_both_parts(text: str, problem: str) -> None:
    assert problems(text) == (problem,)


def test_pins_are_listed_with_their_use() -> None:
    uses = pins_used(read("[[hardware.leds]]\ndriver = 'strip'\nspi = '1.2'\ncount = 5").parts)
    assert uses == (
        PinUse(20, "hardware.leds", "SPI bus 1 MOSI"),
        PinUse(19, "hardware.leds", "SPI bus 1 MISO"),
        PinUse(21, "hardware.leds", "SPI bus 1 SCLK"),
        PinUse(16, "hardware.leds", "SPI bus 1 CE2"),
    )
    assert pins_used(read("[hardware.buttons]\ndriver = 'virtual'").parts) == ()


def value_paths(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path to every value in nested tables."""
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in inner:
        yield (*path, key)
        yield from value_paths(value, (*path, key))


def problems_of(table: dict[str, Any]) -> tuple[str, ...]:
    """Return the problems of a table, or none if it is valid."""
    try:
        read_hardware(table)
    except ConfigError as error:
        return error.problems
    return ()


ODD: tuple[object, ...] = (True, "strip", [[1]], {"driver": ["a"]}, float("nan"), 10**30, date.min)


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_value_anywhere_is_accepted_or_refused_with_a_message(odd: object) -> None:
    whole = {
        "leds": [{"driver": "single", "pins": [5]}, {"driver": "rgb", "pins": [[7, 8, 9]]}, {"driver": "none"}],
        "buttons": {"driver": "gpio", "call": [10, 11], "next": 12},
        "knock": {"driver": "piezo-spi", "channels": [0, 1], "spi": "1.0"},
        "displays": [{"driver": "segment", "url": "/dev/ttyUSB0", "seat": 1}],
    }
    assert read_hardware(whole).knock is not None
    for path in value_paths(whole):
        changed = deepcopy(whole)
        node: Any = changed
        for step in path[:-1]:
            node = node[step]
        node[path[-1]] = odd
        assert all(problem.startswith(("[hardware", "hardware: ")) for problem in problems_of(changed)), path
