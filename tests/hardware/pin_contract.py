"""Contract of the pin libraries: all parts on pins return with their chip."""

from __future__ import annotations

import threading
import time
from collections.abc import MutableMapping
from typing import Protocol

from hardware.buttons.panel import ButtonPress
from hardware.display.page import DisplayPage
from hardware.leds.lamps import Mood, TableState
from hardware.libraries import PinLibrary
from hardware.table import PartOpener, Parts, VirtualPanel
from tests.hardware.table.reading import read_hardware
from tests.waiting import soon, until


class RemovableChip(Protocol):
    """A GPIO chip that can be removed, with the levels of its pins by number."""

    is_there: bool

    @property
    def inputs(self) -> MutableMapping[int, int]:
        """Level to which each pin is pulled from outside."""

    def output(self, pin: int) -> float:
        """Level or duty cycle of an output. 0 if it is not an output."""

    def remove(self) -> None:
        """Remove the chip."""


_ON_PINS = read_hardware(
    {
        "leds": [
            {"driver": "single", "shows": "seats", "pins": [5, 6]},
            {"driver": "rgb", "shows": "status", "pins": [[12, 16, 20]]},
        ],
        "buttons": {"driver": "gpio", "undo": 25},
        "knock": {"driver": "piezo-pin", "pin": 21},
    }
)


def check_that_parts_return(library: PinLibrary, chip: RemovableChip, times: int = 1) -> None:
    """Remove and return the chip while LEDs, a button and a piezo use it: each time, all report it and work again."""
    parts = Parts(_ON_PINS, PartOpener(library, VirtualPanel(()), time.monotonic_ns), clock=lambda: 0)

    def is_undone() -> bool:
        return any(isinstance(event, ButtonPress) and event.button == "undo" for event in parts.read())

    def is_lit() -> bool:
        return chip.output(6) == 1 and chip.output(16) > 0

    try:
        parts.show(TableState(2, turn=1, mood=Mood.PLAYING), DisplayPage())
        soon(is_lit)
        assert parts.problems == {}
        for _ in range(times):
            chip.remove()
            soon(lambda: len(parts.problems) == 4)
            assert "permanently" not in f"{parts.problems}"
            chip.is_there = True
            until(lambda: parts.problems == {}, seen=lambda: parts.problems)
            soon(is_lit)
            chip.inputs[25] = 0
            threading.Event().wait(0.1)
            chip.inputs[25] = 1
            soon(is_undone)
    finally:
        parts.close()
