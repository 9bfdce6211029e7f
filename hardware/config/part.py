"""Base class of part settings, and the registry of drivers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from inspect import isabstract
from pkgutil import iter_modules
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeAlias, TypeGuard, TypeVar, Union, get_args

from pydantic import Field, GetCoreSchemaHandler, create_model
from pydantic_core import core_schema

from hardware.config.fields import SpiPort
from hardware.config.validation import SettingsTable

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
