"""Control the pace, progress and exit code of a replay."""

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
    """Start time and speed of a replay.

    Attributes:
        from_ns: Start, in nanoseconds since the first item. Earlier items are fed at full speed and not printed.
        speed: 1 for real time, 2 for twice as fast, None for full speed.
    """

    from_ns: int = 0
    speed: float | None = None

    def __post_init__(self) -> None:
        """Reject negative start times, and speeds that are not positive."""
        if self.from_ns < 0 or (self.speed is not None and self.speed <= 0):
            raise ValueError(f"from_ns must be 0 or more and speed above 0, got {self.from_ns} and {self.speed}")


def at_pace(
    items: Iterable[Item], pace: Pace, clock_ns: Callable[[], int], wait: Callable[[float], object]
) -> Iterator[Item]:
    """Yield items at the times given by *pace*. Damage is yielded at once.

    Args:
        items: Items of a source.
        pace: Start time and speed.
        clock_ns: Returns the time in nanoseconds of a monotonic clock.
        wait: Waits for a number of seconds.
    """
    first_ns: int | None = None
    started_ns: int | None = None
    for item in items:
        if pace.speed is not None and not isinstance(item, Damage):
            first_ns = item.t_ns if first_ns is None else first_ns
            ahead_ns = item.t_ns - first_ns - pace.from_ns
            if ahead_ns >= 0:
                started_ns = clock_ns() if started_ns is None else started_ns
                left_ns = started_ns + ahead_ns / pace.speed - clock_ns()
                if left_ns > 0:
                    wait(left_ns / _NS_PER_S)
        yield item


def parse_time(text: str) -> int:
    """Parse a time since the start, written as minutes and seconds or as seconds, to nanoseconds.

    >>> parse_time("1:30"), parse_time("2.5")
    (90000000000, 2500000000)

    Raises:
        ValueError: If *text* is not such a time.
    """
    minutes, colon, seconds = text.rpartition(":")
    try:
        parsed = (int(minutes) if colon else 0, float(seconds))
    except ValueError:
        parsed = (-1, 0.0)
    is_time = parsed[0] >= 0 and 0 <= parsed[1] < (_SECONDS_PER_MINUTE if colon else float("inf"))
    if not is_time:
        raise ValueError(f"expected minutes and seconds such as 1:30, or seconds, got {text!r}")
    return round((parsed[0] * _SECONDS_PER_MINUTE + parsed[1]) * _NS_PER_S)


def progress(output: Output, source: Source, items: Iterator[Item]) -> Iterable[Item]:
    """Yield the items, and show the progress of the replay if the error stream is a terminal."""
    console = output.err_console
    return track(items, "Replaying", source.count, console=console, transient=True, disable=not console.is_terminal)


def run_command(work: Callable[[Output], int], out: TextIO | None = None, err: TextIO | None = None) -> int:
    """Run *work* with an output, and return the exit code: 1 after any complaint, 2 for an invalid game or option.

    Args:
        work: Prints, and returns an exit code.
        out: Stream for the output. By default stdout.
        err: Stream for progress and errors. By default stderr.
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
