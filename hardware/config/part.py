"""A part of a table: the options of its driver, what it uses, and how drivers are found."""

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
"""Pins (BCM), each with what it does: `(5, "LED 1")`."""


log = logging.getLogger(__name__)
OFF = "none"
"""The driver of a part that is switched off."""


@dataclass(frozen=True, slots=True)
class NeededLibrary:
    """A library that some part needs.

    Attributes:
        module: Its name in Python.
        package: Its name at its source.
        why: The parts that need it.
        apt: The package of Raspberry Pi OS that has it; "" where pip's is right.
        probe: An attribute of the module that a working one has; "" for none.
        oldest: The first version that works.
    """

    module: str
    package: str
    why: str
    apt: str = ""
    probe: str = ""
    oldest: tuple[int, int] = (0, 0)


class PartSettings(SettingsTable):
    """A part; one whose driver is `OFF` is switched off."""

    driver: str
    _name: str = ""

    libraries: ClassVar[tuple[NeededLibrary, ...]] = ()
    """What `tallybone doctor` looks for, beside the libraries of pins and of SPI."""

    @property
    def name(self) -> str:
        """Its table in the file, with a number if there are several: `hardware.leds 2`."""
        return self._name

    def named(self, name: str) -> Self:
        """Return the same part with another name."""
        part = self.model_copy()
        part._name = name
        return part

    @property
    def pin_uses(self) -> PinNames:
        """The pins that it is wired to."""
        return ()

    @property
    def bus_uses(self) -> PinNames:
        """The pins of its bus: SPI, I2S or a UART."""
        return () if self.spi_port is None else self.spi_port.pin_uses

    @property
    def spi_port(self) -> SpiPort | None:
        """The SPI that it is wired to; None for none."""
        return None

    @property
    def location(self) -> str:
        """The device file or URL that it is opened by; "" if it has none."""
        return "" if self.spi_port is None else f"/dev/spidev{self.spi_port}"

    def doubt(self, wait: Callable[[float], object]) -> str:
        """Return why the part seems to be another one, for the doctor; "" for no doubt. *wait* takes seconds."""
        return ""


D = TypeVar("D", bound=PartSettings)


@dataclass(frozen=True, slots=True)
class Registry(Generic[D]):
    """Drivers of one kind of part: those of this package, and those of other distributions.

    A driver is a subclass of *base* with its names as `driver: Literal[...]` and an annotated field per option.

    Attributes:
        group: The group of entry points, such as `tallybone.displays`; each names a driver.
        base: The class of all drivers of this kind.
        package: The package that has a module for each driver.
    """

    group: str
    base: type[D]
    package: str

    def drivers(self) -> tuple[type[D], ...]:
        """Return all drivers; without those of other distributions that cannot be used, which are logged."""
        found = {name: driver for driver in self._own() for name in _names(driver)}
        kind = self.group.rpartition(".")[2].removesuffix("s")
        for point in entry_points(group=self.group):
            try:
                driver = point.load()
            except (ImportError, AttributeError) as error:
                log.warning("%s driver %s cannot be loaded: %s", kind, point.value, error)
                continue
            if not self._is_driver(driver) or found.keys() & _names(driver):
                base = self.base.__name__
                log.warning("%s driver %s is no %s, or its name is taken", kind, point.value, base)
                continue
            found |= dict.fromkeys(_names(driver), driver)
        return tuple(dict.fromkeys(found.values()))

    def _own(self) -> Iterator[type[D]]:
        for module in iter_modules(import_module(self.package).__path__):
            name = f"{self.package}.{module.name}"
            yield from (
                one for one in vars(import_module(name)).values() if self._is_driver(one) and one.__module__ == name
            )

    def _is_driver(self, found: object) -> TypeGuard[type[D]]:
        return isinstance(found, type) and issubclass(found, self.base) and not isabstract(found)


def _names(driver: type[PartSettings]) -> tuple[str, ...]:
    return get_args(driver.model_fields["driver"].annotation)


class ByDriver:
    """Annotation of a part: `driver` names one of several models, or "none", which keeps the keys of all."""

    def __init__(self, off: str, registry: Registry[Any], virtual: type[PartSettings]) -> None:
        """Choose among a registry's drivers and the *virtual* one; *off* is the title of one that is switched off."""
        self._off, self._registry, self._virtual = off, registry, virtual

    def __get_pydantic_core_schema__(self, source: object, build: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        kinds = (*self._registry.drivers(), self._virtual)
        keys = {key: (Any, Field(None, exclude=True)) for kind in kinds for key in kind.model_fields}
        fields: dict[str, Any] = {**keys, "driver": (Literal["none"], ...)}
        off = create_model(self._off, __base__=PartSettings, __doc__="Switched off; the other keys may stay.", **fields)
        return build.generate_schema(Annotated[Union[(*kinds, off)], Field(discriminator="driver")])
