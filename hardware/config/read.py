"""The table [hardware] of table.toml to values: every problem at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from hardware.config.config import (
    LEAST_FOR_ALL,
    LEDS_FOR,
    ButtonPin,
    ButtonsDriver,
    ButtonsPart,
    DisplayDriver,
    DisplayPart,
    HardwareConfig,
    KnockDriver,
    KnockPart,
    LedsDriver,
    LedsPart,
    LedsRole,
    MicrophoneWire,
)
from hardware.config.errors import ConfigError
from hardware.config.fields import NONE, Fields
from hardware.config.pins import conflicts
from hardware.pin_factory import PinLibrary

T = TypeVar("T")

OF_SEATS = ("call", "knock", "draw", "done")
"""Buttons that each player may have; said as one pin, all share it."""
SHARED = ("next", "undo", "stands", "hand_end", "redeal", "stack", "table")
_LEDS_KEYS = ("shows", "pins", "spi", "count", "percent")
_KNOCK_KEYS = ("device", "wire", "pin", "pins", "spi", "channel", "channels", "seat", "file")
_DISPLAY_KEYS = ("url", "baud", "seat", "brightness", "backlight")
_MOST_LEDS, _MOST_SEATS, _MOST_PERCENT = 300, 16, 100
_MOST_DEVICES = 1000
_BAUDS = (1200, 1_000_000)


def read_hardware(table: Mapping[str, object]) -> HardwareConfig:
    """Return the parts that a table [hardware] names.

    Raises:
        ConfigError: With everything that is wrong.
    """
    problems: list[str] = []
    fields = Fields(table, "hardware", problems)
    leds = tuple(_leds(one) for one in fields.tables("leds", "hardware.leds"))
    buttons = fields.table("buttons", "hardware.buttons")
    read_buttons = None if buttons is None else _buttons(buttons)
    knock = fields.table("knock", "hardware.knock")
    read_knock = None if knock is None else _knock(knock)
    displays = tuple(_display(one) for one in fields.tables("displays", "hardware.displays"))
    config = HardwareConfig(
        tuple(one for one in leds if one is not None),
        read_buttons,
        read_knock,
        tuple(one for one in displays if one is not None),
        fields.choice("pins", PinLibrary, PinLibrary.LGPIO),
    )
    fields.done()
    problems += conflicts(config)
    if problems:
        raise ConfigError(tuple(problems))
    return config


def _leds(fields: Fields) -> LedsPart | None:
    driver = fields.driver(LedsDriver)
    if driver is None:
        fields.done(_LEDS_KEYS, driver=NONE)
        return None
    shows = fields.choice("shows", LedsRole, LedsRole.ALL if driver is LedsDriver.VIRTUAL else LedsRole.SEATS)
    match driver:
        case LedsDriver.SINGLE | LedsDriver.RGB:
            pins = _led_pins(fields, 1 if driver is LedsDriver.SINGLE else 3)
            part = LedsPart(driver, shows, len(pins), pins, name=fields.where)
        case LedsDriver.STRIP:
            count = _needed(fields, "count", fields.whole("count", 1, _MOST_LEDS))
            percent = fields.whole("percent", 0, _MOST_PERCENT)
            bright = 30 if percent is None else percent
            part = LedsPart(driver, shows, count or 0, (), fields.spi("spi"), bright, fields.where)
        case LedsDriver.VIRTUAL:
            count = fields.whole("count", 1, _MOST_LEDS) or _usual_count(shows)
            part = LedsPart(driver, shows, count, name=fields.where)
    _check_count(fields, part)
    fields.done(_LEDS_KEYS, driver=driver)
    return part


def _led_pins(fields: Fields, each: int) -> tuple[tuple[int, ...], ...]:
    """Return the pins of each LED; none of one that is said wrongly."""
    said = _needed(fields, "pins", fields.value("pins"))
    if said is None:
        return ()
    if each == 1:
        return tuple(() if pin is None else (pin,) for pin in fields.pins("pins", said))
    if not isinstance(said, list) or not all(isinstance(one, list) for one in said):
        fields.problem("pins", "expected a list of pins for each LED, such as [[5, 6, 12]]: red, green, blue")
        return ()
    return tuple(tuple(pin for pin in fields.pins("pins", one, length=each) if pin is not None) for one in said)


def _usual_count(shows: LedsRole) -> int:
    return LEAST_FOR_ALL + 3 if shows is LedsRole.ALL else LEDS_FOR.get(shows, 4)


def _check_count(fields: Fields, part: LedsPart) -> None:
    if part.count == 0:
        return  # said already
    exact = LEDS_FOR.get(part.shows)
    if exact is not None and part.count != exact:
        fields.problem("shows", f"{part.shows} takes {exact} LED{'s' if exact > 1 else ''}, but there are {part.count}")
    if part.shows is LedsRole.ALL and part.count < LEAST_FOR_ALL:
        fields.problem("shows", f"all takes at least {LEAST_FOR_ALL} LEDs, but there are {part.count}")


def _buttons(fields: Fields) -> ButtonsPart | None:
    driver = fields.driver(ButtonsDriver)
    if driver is not ButtonsDriver.GPIO:
        fields.done((*OF_SEATS, *SHARED), driver=NONE if driver is None else driver)
        return None if driver is None else ButtonsPart(driver)
    pins: list[ButtonPin] = []
    for button in OF_SEATS:
        said = fields.value(button)
        by_seat = fields.pins(button, said) if isinstance(said, list) else (fields.pin(button),)
        seats = range(len(by_seat)) if isinstance(said, list) else (None,)
        pins += [ButtonPin(button, seat, pin) for seat, pin in zip(seats, by_seat, strict=True) if pin is not None]
    for button in SHARED:
        pin = fields.pin(button)
        pins += [] if pin is None else [ButtonPin(button, None, pin)]
    fields.done((*OF_SEATS, *SHARED), driver=driver)
    return ButtonsPart(driver, tuple(pins))


def _knock(fields: Fields) -> KnockPart | None:
    driver = fields.driver(KnockDriver)
    if driver is None:
        fields.done(_KNOCK_KEYS, driver=NONE)
        return None
    match driver:
        case KnockDriver.MICROPHONE:
            part = KnockPart(
                driver, device=_device(fields), wire=fields.choice("wire", MicrophoneWire, MicrophoneWire.USB)
            )
        case KnockDriver.PIEZO_PIN:
            if not (fields.has("pin") or fields.has("pins")):
                fields.problem("pin", "has to be said")
            pins, seats = _piezos(fields, "pin", fields.pin("pin"), fields.pins)
            part = KnockPart(driver, pins=pins, seats=seats)
        case KnockDriver.PIEZO_SPI:
            channels, seats = _piezos(fields, "channel", fields.whole("channel", 0, 7) or 0, fields.channels)
            part = KnockPart(driver, spi=fields.spi("spi"), channels=channels, seats=seats)
        case KnockDriver.WAV:
            file = _needed(fields, "file", fields.text("file"))
            part = KnockPart(driver, file=None if file is None else Path(file))
        case KnockDriver.VIRTUAL:
            part = KnockPart(driver)
    fields.done(_KNOCK_KEYS, driver=driver)
    return part


def _piezos(
    fields: Fields, key: str, one: int | None, several: Callable[[str, object], tuple[int | None, ...]]
) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
    """Return where piezos are wired, and whose side each is at: `pin` and `seat` say one, `pins` one for each seat."""
    if not fields.has(f"{key}s"):
        seat = fields.whole("seat", 0, _MOST_SEATS - 1)
        return ((), ()) if one is None else ((one,), (seat,))
    for other in (key, "seat"):
        if fields.has(other):
            fields.problem(other, f"is said by {key}s too, which are one for each seat")
    fields.value("seat")
    by_seat = several(f"{key}s", fields.value(f"{key}s"))
    wired = [(one, seat) for seat, one in enumerate(by_seat) if one is not None]
    return tuple(one for one, _ in wired), tuple(seat for _, seat in wired)


def _needed(fields: Fields, key: str, value: T | None) -> T | None:
    """Return a value, and note where nothing is said though something must be."""
    if value is None and not fields.has(key):
        fields.problem(key, "has to be said")
    return value


def _device(fields: Fields) -> int | str | None:
    """Return which microphone: a number, or a part of its name."""
    if isinstance(fields.value("device"), int):
        return fields.whole("device", 0, _MOST_DEVICES)
    return fields.text("device")


def _display(fields: Fields) -> DisplayPart | None:
    driver = fields.driver(DisplayDriver)
    if driver is None:
        fields.done(_DISPLAY_KEYS, driver=NONE)
        return None
    if driver is DisplayDriver.VIRTUAL:
        fields.done(_DISPLAY_KEYS, driver=driver)
        return DisplayPart(driver, name=fields.where)
    url = _needed(fields, "url", fields.text("url")) or ""
    is_lcd = driver in (DisplayDriver.SERLCD_16X2, DisplayDriver.SERLCD_20X4)
    is_segment = driver is DisplayDriver.SEGMENT
    part = DisplayPart(
        driver,
        url,
        9600 if driver is DisplayDriver.TERMINAL else fields.whole("baud", *_BAUDS) or 9600,
        fields.whole("seat", 0, _MOST_SEATS - 1) if is_segment else None,
        fields.whole("brightness", 0, _MOST_PERCENT) if is_segment else None,
        fields.colour("backlight") if is_lcd else None,
        fields.where,
    )
    fields.done(_DISPLAY_KEYS, driver=driver)
    return part
