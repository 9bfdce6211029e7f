"""Base class of part settings, types of settings, the registry of drivers, and the pins that parts use."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from inspect import isabstract
from pkgutil import iter_modules
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeAlias, TypeGuard, TypeVar, Union, get_args

from pydantic import Field, GetCoreSchemaHandler, PlainSerializer, PlainValidator, Strict, WithJsonSchema, create_model
from pydantic_core import core_schema

from hardware.config.validation import SettingsTable

Lax = Strict(strict=False)
"""Allows conversion from the TOML type, for values that TOML can only express as a list or string."""
NonEmpty = Annotated[str, Field(min_length=1)]
Percent = Annotated[int, Field(ge=0, le=100)]
SeatIndex = Annotated[int, Field(ge=0, le=15, description="seat, from 0")]
# Pins 0 and 1 are reserved for the ID EEPROM of HAT boards.
Pin = Annotated[int, Field(ge=2, le=27, title="BCM pins")]
Pins = Annotated[tuple[Pin, ...], Lax, Field(title="a list of pins")]

_SPI_PORTS = ("0.0", "0.1", "1.0", "1.1", "1.2")
# The same on Raspberry Pi 4, 5 and Zero 2 W. The kernel claims both chip selects of bus 0 when SPI is enabled.
_SPI_PINS = {
    0: ((10, "MOSI"), (9, "MISO"), (11, "SCLK"), (8, "CE0"), (7, "CE1")),
    1: ((20, "MOSI"), (19, "MISO"), (21, "SCLK")),
}
_SPI1_CHIPS = (18, 17, 16)


@dataclass(frozen=True, slots=True)
class SpiPort:
    """An SPI port of a Raspberry Pi. Bus 0 and chip 1 are /dev/spidev0.1."""

    bus: int = 0
    chip: int = 0

    @classmethod
    def parse(cls, text: str) -> SpiPort:
        """Parse the text form that `str` returns.

        Raises:
            ValueError: If a Raspberry Pi has no such port.

        >>> SpiPort.parse("0.1")
        SpiPort(bus=0, chip=1)
        """
        if text not in _SPI_PORTS:
            raise ValueError(f"expected 0.0, 0.1, 1.0, 1.1 or 1.2, but got {text}")
        return cls(int(text[0]), int(text[2]))

    def __str__(self) -> str:
        return f"{self.bus}.{self.chip}"

    @property
    def pin_uses(self) -> tuple[tuple[int, str], ...]:
        """The pins (BCM) of the port, each with its function."""
        chips = () if self.bus == 0 else ((_SPI1_CHIPS[self.chip], f"CE{self.chip}"),)
        return tuple((pin, f"SPI bus {self.bus} {name}") for pin, name in (*_SPI_PINS[self.bus], *chips))


SpiChip = Annotated[
    SpiPort,
    PlainValidator(lambda value: SpiPort.parse(str(value))),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "enum": list(_SPI_PORTS), "description": "bus and chip select"}),
]


PinNames: TypeAlias = Sequence[tuple[int, str]]
"""Pins (BCM), each with its function, such as `(5, "LED 1")`."""


log = logging.getLogger(__name__)
OFF = "none"
"""Driver name of a part that is switched off."""


@dataclass(frozen=True, slots=True)
class NeededLibrary:
    """A library that a part requires.

    Attributes:
        module: Name of the Python module.
        package: Name of the distribution package.
        why: Parts that need it, in words.
        apt: Package of Raspberry Pi OS that provides it. "" if the one of pip works.
        probe: Attribute that a working module has. "" to skip this check.
        oldest: First version that works.
    """

    module: str
    package: str
    why: str
    apt: str = ""
    probe: str = ""
    oldest: tuple[int, int] = (0, 0)


class PartSettings(SettingsTable):
    """Settings of a part. A part with the driver `OFF` is switched off."""

    driver: str
    _name: str = ""

    libraries: ClassVar[tuple[NeededLibrary, ...]] = ()
    """Libraries that `tallybone doctor` checks, in addition to those for pins and SPI."""

    @property
    def name(self) -> str:
        """Table in the file, with a number if there are several, such as `hardware.leds 2`."""
        return self._name

    def named(self, name: str) -> Self:
        """Return a copy with another name."""
        part = self.model_copy()
        part._name = name
        return part

    @property
    def pin_uses(self) -> PinNames:
        """The pins wired to the part."""
        return ()

    @property
    def bus_uses(self) -> PinNames:
        """The pins of the part's SPI, I2S or UART bus."""
        return () if self.spi_port is None else self.spi_port.pin_uses

    @property
    def spi_port(self) -> SpiPort | None:
        """The SPI port wired to the part, or None."""
        return None

    @property
    def location(self) -> str:
        """The device file or URL of the part. "" if it has none."""
        return "" if self.spi_port is None else f"/dev/spidev{self.spi_port}"

    def doubt(self, wait: Callable[[float], object]) -> str:
        """Return a message for `tallybone doctor` if the connected part seems to be of another kind, or "".

        *wait* is a sleep function that takes seconds.
        """
        return ""


D = TypeVar("D", bound=PartSettings)


@dataclass(frozen=True, slots=True)
class Registry(Generic[D]):
    """Drivers of one kind of part, built in or provided by other distributions.

    A driver is a subclass of *base* with its names as `driver: Literal[...]` and an annotated field for each option.

    Attributes:
        group: Entry point group of external drivers, such as `tallybone.displays`.
        base: Base class of the drivers.
        package: Package with the modules of the built-in drivers.
    """

    group: str
    base: type[D]
    package: str

    def drivers(self) -> tuple[type[D], ...]:
        """Return all drivers. External drivers that cannot be used are logged and left out."""
        drivers = {name: driver for driver in self._built_in() for name in _names(driver)}
        kind = self.group.rpartition(".")[2].removesuffix("s")
        for point in entry_points(group=self.group):
            try:
                driver = point.load()
            except (ImportError, AttributeError) as error:
                log.warning("%s driver %s cannot be loaded: %s", kind, point.value, error)
                continue
            if not self._is_driver(driver) or drivers.keys() & _names(driver):
                base = self.base.__name__
                log.warning("%s driver %s is not a %s, or its name is taken", kind, point.value, base)
                continue
            drivers |= dict.fromkeys(_names(driver), driver)
        return tuple(dict.fromkeys(drivers.values()))

    def _built_in(self) -> Iterator[type[D]]:
        for module in iter_modules(import_module(self.package).__path__):
            name = f"{self.package}.{module.name}"
            members = vars(import_module(name)).values()
            yield from (member for member in members if self._is_driver(member) and member.__module__ == name)

    def _is_driver(self, member: object) -> TypeGuard[type[D]]:
        return isinstance(member, type) and issubclass(member, self.base) and not isabstract(member)


def _names(driver: type[PartSettings]) -> tuple[str, ...]:
    return get_args(driver.model_fields["driver"].annotation)


class ByDriver:
    """Annotation of a part whose model is selected by `driver`. The driver "none" accepts the keys of all models."""

    def __init__(self, off: str, registry: Registry[Any], virtual: type[PartSettings]) -> None:
        """Select among the drivers of *registry* and *virtual*. *off* is the schema title of a part without driver."""
        self._off, self._registry, self._virtual = off, registry, virtual

    def __get_pydantic_core_schema__(self, source: object, build: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        kinds = (*self._registry.drivers(), self._virtual)
        keys = {key: (Any, Field(None, exclude=True)) for kind in kinds for key in kind.model_fields}
        fields: dict[str, Any] = {**keys, "driver": (Literal["none"], ...)}
        off = create_model(self._off, __base__=PartSettings, __doc__="Switched off; other keys are ignored.", **fields)
        return build.generate_schema(Annotated[Union[(*kinds, off)], Field(discriminator="driver")])


@dataclass(frozen=True, slots=True)
class PinUse:
    """A use of a pin.

    Attributes:
        pin: BCM number.
        part: Name of the part, such as `hardware.leds 2`.
        what: Function of the pin.
    """

    pin: int
    part: str
    what: str


def pins_used(parts: Sequence[PartSettings]) -> tuple[PinUse, ...]:
    """Return every use of a pin, including SPI, I2S and UART buses. A conflicting pin occurs several times."""
    wired = ((pin, part.name, what) for part in parts for pin, what in part.pin_uses)
    buses = ((pin, part.name, what) for part in parts for pin, what in part.bus_uses)
    return tuple(PinUse(*use) for use in (*wired, *buses))


def conflicts(parts: Sequence[PartSettings]) -> tuple[str, ...]:
    """Return a message for each pin or bus that two parts claim. The message names both parts."""
    messages: list[str] = []
    first: dict[int, PinUse] = {}
    shared = set[str]()
    for use in pins_used(parts):
        before = first.setdefault(use.pin, use)
        if before is use:
            continue
        if before.what.startswith("SPI bus") and use.what.startswith("SPI bus"):
            shared.add(use.what[: len("SPI bus 0")])
            continue
        messages.append(f"[{use.part}] pin {use.pin} ({use.what}) is taken by [{before.part}] ({before.what})")
    return (*messages, *_bus_conflicts(parts, shared))


def _bus_conflicts(parts: Sequence[PartSettings], shared: set[str]) -> Iterator[str]:
    """Yield a message for each shared bus. LED strips have no chip select, so they would show data sent to others."""
    for bus in sorted(shared):
        names = [part.name for part in parts if part.spi_port is not None and bus == f"SPI bus {part.spi_port.bus}"]
        yield f"[{names[-1]}] spi: {bus} is taken by [{names[0]}]: a strip shares it with nothing"


def same_ports(parts: Sequence[PartSettings]) -> Iterator[str]:
    """Yield a message for each part that uses the device file or URL of an earlier one."""
    first: dict[str, str] = {}
    for part in parts:
        if part.location and first.setdefault(part.location, part.name) != part.name:
            yield f"[{part.name}] url: {part.location} is taken by [{first[part.location]}]"
