"""The table [hardware] of table.toml, and opening its parts."""

from __future__ import annotations

from typing import Annotated, Self, TypeAlias, TypeVar

from pydantic import Field, ValidationInfo, field_validator, model_validator

from hardware.buttons.driver import BUTTONS, ButtonsDriver
from hardware.buttons.panel import Buttons
from hardware.clock import Clock
from hardware.config.part import OFF, ByDriver, Lax, PartSettings, conflicts, same_ports
from hardware.config.validation import SettingsTable, listed_faults
from hardware.display.display import ScoreDisplay
from hardware.display.driver import DISPLAYS, DisplayDriver
from hardware.knock.classifier import Classifier
from hardware.knock.detector import KnockDetector
from hardware.knock.driver import KNOCKS, KnockDriver
from hardware.knock.sensor import KnockSensor
from hardware.leds.driver import LEDS, LedsDriver
from hardware.leds.lamps import Lamps
from hardware.libraries.pin_factory import PinLibrary, SharedPins, open_pins
from hardware.virtual.panel import VirtualLedsSettings, VirtualPanel, VirtualSettings

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


class PartOpener:
    """Opens parts. Parts on pins share a pin factory. Exceptions of drivers propagate."""

    def __init__(
        self,
        library: PinLibrary,
        panel: VirtualPanel,
        clock: Clock,
        classifier: Classifier | None = None,
    ) -> None:
        """Create an opener.

        Args:
            library: Library that drives the pins.
            panel: Panel to which virtual parts are added.
            clock: Monotonic clock in nanoseconds.
            classifier: Classifier for sensors that record sound, by default the shipped one.
        """
        self._classifier = classifier
        self._detectors: list[KnockDetector] = []
        self._panel, self._clock = panel, clock
        self._pins = SharedPins(lambda: open_pins(library))

    def leds(self, part: LedsDriver) -> Lamps:
        """Open LEDs."""
        if isinstance(part, VirtualLedsSettings):
            return Lamps(self._panel.open_leds(part))
        return Lamps(part.open(self._pins))

    def buttons(self, part: ButtonsSettings) -> Buttons:
        """Open buttons."""
        if isinstance(part, VirtualSettings):
            return self._panel.open_buttons()
        return part.open(self._pins, self._clock)

    def knock(self, part: KnockSettings) -> KnockSensor:
        """Open and start a knock sensor."""
        if isinstance(part, VirtualSettings):
            sensor: KnockSensor = self._panel.open_knock()
        else:
            sensor = part.open(self._pins, self._clock, self._new_detector)
        sensor.start()
        return sensor

    def use(self, classifier: Classifier) -> None:
        """Use another classifier for sensors that record sound: those open now, and those opened later. Thread-safe."""
        self._classifier = classifier
        for detector in tuple(self._detectors):
            detector.use(classifier)

    def _new_detector(self) -> KnockDetector:
        """Return a detector. A table has one sensor, so an earlier detector is no longer used."""
        detector = KnockDetector(self._classifier)
        self._detectors = [detector]
        if self._classifier is not None:  # It may have changed meanwhile.
            detector.use(self._classifier)
        return detector

    def display(self, part: DisplaySettings) -> ScoreDisplay:
        """Open a display, even if it is unplugged."""
        return self._panel.open_display() if isinstance(part, VirtualSettings) else part.open(self._clock)
