"""Collect the pins that a configuration uses, and find those that two parts claim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hardware.config.config import ButtonsDriver, HardwareConfig, KnockDriver, LedsDriver, MicrophoneWire, SpiPort

# Raspberry Pi 4, 5 and Zero 2 W alike. The kernel takes both chip selects of bus 0 as soon as SPI is switched on.
_SPI_PINS = {
    0: ((10, "MOSI"), (9, "MISO"), (11, "SCLK"), (8, "CE0"), (7, "CE1")),
    1: ((20, "MOSI"), (19, "MISO"), (21, "SCLK")),
}
_SPI1_CHIPS = (18, 17, 16)
_I2S_PINS = ((18, "clock"), (19, "word select"), (20, "data in"), (21, "data out"))
_UART_PINS = ((14, "transmit"), (15, "receive"))
_UARTS = ("/dev/serial0", "/dev/ttyS0", "/dev/ttyAMA0")
_COLOURS = ("red", "green", "blue")


@dataclass(frozen=True, slots=True)
class PinUse:
    """What a pin is used for.

    Attributes:
        pin: BCM.
        part: The part, by its table in the file: `hardware.leds 2`.
        what: What it does there.
    """

    pin: int
    part: str
    what: str


def pins_used(config: HardwareConfig) -> tuple[PinUse, ...]:
    """Return every use of a pin, also those that SPI, I2S and a UART make of them; two of one pin are a conflict."""
    return tuple(_uses(config))


def conflicts(config: HardwareConfig) -> tuple[str, ...]:
    """Return where two parts are in each other's way, in words that name both."""
    found: list[str] = []
    first: dict[int, PinUse] = {}
    shared = set[str]()
    for use in _uses(config):
        before = first.setdefault(use.pin, use)
        if before is use:
            continue
        if before.what.startswith("SPI bus") and use.what.startswith("SPI bus"):
            shared.add(use.what[: len("SPI bus 0")])
            continue
        found.append(f"[{use.part}] pin {use.pin} ({use.what}) is taken by [{before.part}] ({before.what})")
    return (*found, *_bus_conflicts(config, shared), *_same_ports(config))


def _bus_conflicts(config: HardwareConfig, shared: set[str]) -> Iterator[str]:
    """Yield why a bus cannot be shared: a strip has no chip select, so it shows what is sent to others."""
    for bus in sorted(shared):
        parts = [name for name, spi in _spi_parts(config) if bus == f"SPI bus {spi.bus}"]
        yield f"[{parts[-1]}] spi: {bus} is taken by [{parts[0]}]: a strip shares it with nothing"


def _same_ports(config: HardwareConfig) -> Iterator[str]:
    urls: dict[str, str] = {}
    for display in config.displays:
        if display.url and urls.setdefault(display.url, display.name) != display.name:
            yield f"[{display.name}] url: {display.url} is taken by [{urls[display.url]}]"


def _uses(config: HardwareConfig) -> Iterator[PinUse]:
    for leds in config.leds:
        for number, pins in enumerate(leds.pins, start=1):
            for place, pin in enumerate(pins):
                colour = f" {_COLOURS[place]}" if leds.driver is LedsDriver.RGB else ""
                yield PinUse(pin, leds.name, f"LED {number}{colour}")
    if config.buttons is not None and config.buttons.driver is ButtonsDriver.GPIO:
        for button in config.buttons.pins:
            yield PinUse(button.pin, "hardware.buttons", f"button {button.name}")
    if config.knock is not None:
        for pin, seat in zip(config.knock.pins, config.knock.seats, strict=False):
            whose = "" if seat is None else f" {seat + 1}"
            yield PinUse(pin, "hardware.knock", f"piezo{whose}")
    for name, spi in _spi_parts(config):
        yield from _spi_uses(name, spi)
    if config.knock is not None and config.knock.wire is MicrophoneWire.I2S:
        yield from (PinUse(pin, "hardware.knock", f"I2S {what}") for pin, what in _I2S_PINS)
    for display in config.displays:
        if display.url in _UARTS:
            yield from (PinUse(pin, display.name, f"UART {what}") for pin, what in _UART_PINS)


def _spi_parts(config: HardwareConfig) -> Iterator[tuple[str, SpiPort]]:
    for leds in config.leds:
        if leds.spi is not None:
            yield leds.name, leds.spi
    if config.knock is not None and config.knock.driver is KnockDriver.PIEZO_SPI and config.knock.spi is not None:
        yield "hardware.knock", config.knock.spi


def _spi_uses(name: str, spi: SpiPort) -> Iterator[PinUse]:
    chips = () if spi.bus == 0 else ((_SPI1_CHIPS[spi.chip], f"CE{spi.chip}"),)
    for pin, what in (*_SPI_PINS[spi.bus], *chips):
        yield PinUse(pin, name, f"SPI bus {spi.bus} {what}")
