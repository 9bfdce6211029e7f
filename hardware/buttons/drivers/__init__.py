"""Button drivers, one module each, and their interface: options in table.toml, and opening."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import TypeAlias

from hardware.buttons.panel import Buttons, PinSample
from hardware.libraries import OpenPins
from hardware.part import Clock, PartSettings, Registry

Tap: TypeAlias = Callable[[str, PinSample], None]
"""Called with a button's name and each of its samples, in processing order, for recording."""


class ButtonsDriver(PartSettings):
    """The table [hardware.buttons]."""

    @property
    def wired(self) -> Mapping[str, int]:
        """The pin (BCM) of each wired button, by name."""
        return {}

    @abstractmethod
    def open(self, pins: OpenPins, clock: Clock, tap: Tap | None = None) -> Buttons:
        """Open the buttons.

        Args:
            pins: Returns the pin factory.
            clock: Monotonic clock in nanoseconds.
            tap: Called with every sample of a pin.

        Raises:
            ButtonError: If they cannot be opened.
            PinError: If the pins cannot be used.
        """


BUTTONS = Registry("tallybone.buttons", ButtonsDriver, __name__)
