"""Whether the system or somebody at the terminal wants the program to end: it then ends as with the key."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


@dataclass(slots=True)
class Told:
    """Whether the program was told to end."""

    is_told: bool = False


@contextmanager
def told_to_end() -> Iterator[Told]:
    """Yield whether Ctrl-C was pressed or the system ends the program, which then sees to its own end."""
    told = Told()

    def end(number: int, frame: FrameType | None) -> None:
        told.is_told = True

    before = [(number, signal.signal(number, end)) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    try:
        yield told
    finally:
        for number, handler in before:
            signal.signal(number, handler)
