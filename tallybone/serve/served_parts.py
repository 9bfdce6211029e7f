"""The parts of a table that is always on: open all the time, but while they are tested one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hardware.config.config import HardwareConfig
from hardware.open_parts import PartOpener
from hardware.parts import OpensParts
from hardware.virtual.panel import VirtualPanel
from tallybone.play.parts import LiveParts


class ServedParts:
    """Parts that are opened anew after they were lent to a test."""

    def __init__(self, hardware: HardwareConfig, open_all: Callable[[], LiveParts], clock: Callable[[], int]) -> None:
        """Have the parts of *hardware*, which *open_all* opens."""
        self.hardware = hardware
        self._open_all, self._clock = open_all, clock
        self._parts = open_all()

    @property
    def now(self) -> LiveParts:
        """The parts as they are open now; any thread may ask."""
        return self._parts

    @property
    def panel(self) -> VirtualPanel:
        """The virtual ones among them."""
        return self._parts.panel

    @contextmanager
    def lent(self) -> Iterator[OpensParts]:
        """Yield what opens each part by itself; until this ends no other has them."""
        panel = self._parts.panel
        self._parts.close()
        try:
            yield PartOpener(self.hardware.pins, panel, self._clock)
        finally:
            self._parts = self._open_all()

    def close(self) -> None:
        """Let every part go."""
        self._parts.close()
