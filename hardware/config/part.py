"""A part of a table: the options of its driver, as table.toml declares them, and the pins that it uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias, Union

from pydantic import Field, GetCoreSchemaHandler, create_model
from pydantic_core import core_schema

from hardware.config.fields import SpiPort
from hardware.config.validation import SettingsTable

PinNames: TypeAlias = Sequence[tuple[int, str]]
"""Pins (BCM), each with what it does: `(5, "LED 1")`."""


OFF = "none"
"""The driver of a part that is switched off."""


class PartSettings(SettingsTable):
    """A part; one whose driver is `OFF` is switched off."""

    driver: str
    _name: str = ""

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


class ByDriver:
    """Annotation of a part: `driver` names one of several models, or "none", which keeps the keys of all."""

    def __init__(
        self, off: str, *kinds: type[PartSettings], more: Callable[[], Sequence[type[PartSettings]]] = tuple
    ) -> None:
        """Choose among *kinds*, and *more* found at the first use; *off* is the title of one that is switched off."""
        self._off, self._kinds, self._more = off, kinds, more

    def __get_pydantic_core_schema__(self, source: object, build: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        kinds = (*self._more(), *self._kinds)
        keys = {key: (Any, Field(None, exclude=True)) for kind in kinds for key in kind.model_fields}
        fields: dict[str, Any] = {**keys, "driver": (Literal["none"], ...)}
        off = create_model(self._off, __base__=PartSettings, __doc__="Switched off; the other keys may stay.", **fields)
        return build.generate_schema(Annotated[Union[(*kinds, off)], Field(discriminator="driver")])
