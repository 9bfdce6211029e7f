"""What is looked after at a table, wherever it is played: values and questions, which need no page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from hardware.config.config import HardwareConfig
from hardware.kept import PartProblem
from tallybone.doctor.machine import Machine
from tallybone.play.counts import Counts
from tallybone.sources.camera import Clock


@dataclass(frozen=True, slots=True)
class LookedThrough:
    """A camera: its *name*, what it gives in *words* while nothing is played, its *problem*; None for none."""

    name: str
    words: str
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedAfter:
    """What is looked after at a table, beside its page. What can be called may be called from any thread.

    Attributes:
        camera: Says how the camera is.
        hardware: Which parts there should be.
        problems: Says what is wrong with those that do not work.
        folder: Where recordings go.
        machine: Looks at the computer.
        clock: Monotonic, in nanoseconds.
        counts: What is counted.
    """

    camera: Callable[[], LookedThrough]
    hardware: HardwareConfig
    problems: Callable[[], Iterable[PartProblem]]
    folder: Path
    machine: Callable[[], Machine]
    clock: Clock
    counts: Counts
