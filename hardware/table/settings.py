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
from hardware.libraries.pin_factory import PinLibrary
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
    pins: Annotated[PinLibrary, Lax, Field(description="pin library")] = PinLibrary.AUTO

    @property
    def parts(self) -> tuple[PartSettings, ...]:
        """All configured parts."""
        return tuple(part for part in (*self.leds, self.buttons, self.knock, *self.displays) if part is not None)

    def without(self, driver: str) -> Self:
        """Return a copy without parts of the given driver, such as `OFF`."""

        def is_kept(part: PartSettings | None) -> bool:
            return part is not None and part.driver != driver

        parts = {
            "leds": tuple(filter(is_kept, self.leds)),
            "buttons": self.buttons if is_kept(self.buttons) else None,
            "knock": self.knock if is_kept(self.knock) else None,
            "displays": tuple(filter(is_kept, self.displays)),
        }
        return self.model_copy(update=parts)

    @field_validator("leds", "displays")
    @classmethod
    def _name_each(cls, parts: tuple[P, ...], info: ValidationInfo) -> tuple[P, ...]:
        name = f"hardware.{info.field_name}"
        if len(parts) == 1:
            return (parts[0].named(name),)
        return tuple(part.named(f"{name} {number}") for number, part in enumerate(parts, start=1))

    @field_validator("buttons", "knock")
    @classmethod
    def _name_single(cls, part: P | None, info: ValidationInfo) -> P | None:
        return None if part is None else part.named(f"hardware.{info.field_name}")

    @model_validator(mode="after")
    def _check_conflicts(self) -> Self:
        active = self.without(OFF)
        messages = (*conflicts(active.parts), *same_ports(active.displays))
        if messages:
            raise listed_faults(messages)
        return self
