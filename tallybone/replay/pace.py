"""Choose the pace and the output of a replay, and its exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TextIO

from rich.progress import track

from engine import EngineError, OptionsError
from tallybone.recording.format import Damage
from tallybone.sources.source import Item, Source
from tallybone.terminal import Output, silent_libraries
from vision.errors import VisionError

_NS_PER_S = 1_000_000_000
_SECONDS_PER_MINUTE = 60


@dataclass(frozen=True, slots=True)
class Pace:
    """From when on, and how fast.

    Attributes:
        from_ns: Items before it are fed as fast as can be, and not printed; since the first item.
        speed: 1 is as at the table, 2 twice as fast; None for as fast as it can.
    """

    from_ns: int = 0
    speed: float | None = None

    def __post_init__(self) -> None:
        """Reject a replay that goes back or stands still."""
        if self.from_ns < 0 or (self.speed is not None and self.speed <= 0):
            raise ValueError(f"from_ns must be 0 or more and speed above 0, got {self.from_ns} and {self.speed}")


def at_pace(
    items: Iterable[Item], pace: Pace, clock_ns: Callable[[], int], wait: Callable[[float], object]
) -> Iterator[Item]:
    """Yield items when it is time for them.

    Args:
        items: The items of a source.
        pace: How fast, and from when on.
        clock_ns: Returns the time, monotonic.
        wait: Waits so many seconds.
    """
    begins_ns: int | None = None
    started_ns: int | None = None
    for item in items:
        if pace.speed is not None and not isinstance(item, Damage):
            begins_ns = item.t_ns if begins_ns is None else begins_ns
            ahead_ns = item.t_ns - begins_ns - pace.from_ns
            if ahead_ns >= 0:
                started_ns = clock_ns() if started_ns is None else started_ns
                left_ns = started_ns + ahead_ns / pace.speed - clock_ns()
                if left_ns > 0:
                    wait(left_ns / _NS_PER_S)
        yield item


def parse_time(text: str) -> int:
    """Return a time from the beginning in nanoseconds, written as minutes and seconds or as seconds.

    >>> parse_time("1:30"), parse_time("2.5")
    (90000000000, 2500000000)

    Raises:
        ValueError: If it is no such time.
    """
    minutes, colon, seconds = text.rpartition(":")
    try:
        said = (int(minutes) if colon else 0, float(seconds))
    except ValueError:
        said = (-1, 0.0)
    is_time = said[0] >= 0 and 0 <= said[1] < (_SECONDS_PER_MINUTE if colon else float("inf"))
    if not is_time:
        raise ValueError(f"expected minutes and seconds such as 1:30, or seconds, got {text!r}")
    return round((said[0] * _SECONDS_PER_MINUTE + said[1]) * _NS_PER_S)


def progress(output: Output, source: Source, items: Iterator[Item]) -> Iterable[Item]:
    """Show how far a replay is while the items pass."""
    console = output.err_console
    return track(items, "Replaying", source.count, console=console, transient=True, disable=not console.is_terminal)


def run_command(work: Callable[[Output], int], out: TextIO | None = None, err: TextIO | None = None) -> int:
    """Let *work* print, and return its exit code: 1 where anything was complained of, 2 where there is no such game.

    Args:
        work: Prints, and returns an exit code.
        out: Where to, by default stdout.
        err: Where progress and complaints go, by default stderr.
    """
    with silent_libraries(err or sys.stderr) as shown:
        output = Output.of("replay", out, shown)
        try:
            code = work(output)
        except EngineError as error:
            for fault in error.faults if isinstance(error, OptionsError) else (str(error),):
                output.complain(fault)
            return 2
        except (VisionError, OSError) as error:
            output.complain(error)
            return 1
        return code or output.exit_code
