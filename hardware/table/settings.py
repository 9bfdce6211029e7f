"""The table [hardware] of table.toml."""

from __future__ import annotations

from typing import Annotated, Self, TypeAlias, TypeVar

from pydantic import Field, ValidationInfo, field_validator, model_validator

from hardware.buttons.driver import BUTTONS, ButtonsDriver
from hardware.config.fields import Lax
from hardware.config.part import OFF, ByDriver, PartSettings
from hardware.config.pins import conflicts, same_ports
from hardware.config.validation import SettingsTable, listed_faults
from hardware.display.driver import DISPLAYS, DisplayDriver
from hardware.knock.driver import KNOCKS, KnockDriver
from hardware.leds.driver import LEDS, LedsDriver
from hardware.pin_factory import PinLibrary
from hardware.virtual.drivers import VirtualLedsSettings, VirtualSettings

P = TypeVar("P", bound=PartSettings)
ButtonsSettings: TypeAlias = ButtonsDriver | VirtualSettings
KnockSettings: TypeAlias = KnockDriver | VirtualSettings
DisplaySettings: TypeAlias = DisplayDriver | VirtualSettings


class HardwareSettings(SettingsTable):
    """The table [hardware]."""

    leds: Annotated[tuple[Annotated[LedsDriver, ByDriver("NoLeds", LEDS, VirtualLedsSettings)], ...], Lax] = ()
    buttons: Annotated[ButtonsSettings, ByDriver("NoButtons", BUTTONS, VirtualSettings)] | None = None
    knock: Annotated[KnockSettings, ByDriver("NoKnock", KNOCKS, VirtualSettings)] | None = None
    displays: Annotated[
        tuple[Annotated[DisplaySettings, ByDriver("NoDisplay", DISPLAYS, VirtualSettings)], ...], Lax
    ] = ()
    pins: Annotated[PinLibrary, Lax, Field(description="what drives the pins")] = PinLibrary.LGPIO

    @property
    def parts(self) -> tuple[PartSettings, ...]:
        """All parts."""
        return tuple(part for part in (*self.leds, self.buttons, self.knock, *self.displays) if part is not None)

    def without(self, driver: str) -> Self:
        """Return the same without the parts that have a driver; those with `OFF` are switched off."""

        def kept(part: PartSettings | None) -> bool:
            return part is not None and part.driver != driver

        found = {
            "leds": tuple(filter(kept, self.leds)),
            "buttons": self.buttons if kept(self.buttons) else None,
            "knock": self.knock if kept(self.knock) else None,
            "displays": tuple(filter(kept, self.displays)),
        }
        return self.model_copy(update=found)

    @field_validator("leds", "displays")
    @classmethod
    def _name_each(cls, said: tuple[P, ...], info: ValidationInfo) -> tuple[P, ...]:
        name = f"hardware.{info.field_name}"
        if len(said) == 1:
            return (said[0].named(name),)
        return tuple(part.named(f"{name} {number}") for number, part in enumerate(said, start=1))

    @field_validator("buttons", "knock")
    @classmethod
    def _name_one(cls, said: P | None, info: ValidationInfo) -> P | None:
        return None if said is None else said.named(f"hardware.{info.field_name}")

    @model_validator(mode="after")
    def _check_conflicts(self) -> Self:
        there = self.without(OFF)
        found = (*conflicts(there.parts), *same_ports(there.displays))
        if found:
            raise listed_faults(found)
        return self
