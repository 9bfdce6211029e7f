"""The interface of drivers of buttons: their options in table.toml, and how they are opened."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import TypeAlias

from hardware.buttons.debounce import PinSample
from hardware.buttons.panel import Buttons
from hardware.clock import Clock
from hardware.config.part import PartSettings, Registry
from hardware.pin_factory import OpenPins

Tap: TypeAlias = Callable[[str, PinSample], None]
"""Is told every sample in the order in which it counts, so that it can be recorded."""


class ButtonsDriver(PartSettings):
    """The table [hardware.buttons]."""

    @property
    def wired(self) -> Mapping[str, int]:
        """The pin (BCM) of each button that has one, by its name."""
        return {}

    @abstractmethod
    def open(self, pins: OpenPins, clock: Clock, tap: Tap | None = None) -> Buttons:
        """Return the buttons; *clock* is monotonic, in nanoseconds, and *tap* is told every sample of a pin.

        Raises:
            ButtonError: If they cannot be had.
            PinError: If there are no pins.
        """


BUTTONS = Registry("tallybone.buttons", ButtonsDriver, "hardware.buttons.drivers")
