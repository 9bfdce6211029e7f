"""Where a replay prints and complains, and which exit code follows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TextIO

from rich.console import Console
from rich.progress import track

from engine import EngineError, OptionsError
from tallybone.sources.source import Item, Source
from tallybone.terminal import printable, silent_libraries
from vision.errors import VisionError


@dataclass(slots=True)
class Voice:
    """Where a replay prints, and what it has complained of."""

    out: TextIO
    err: Console
    failures: list[str] = field(default_factory=list)

    def say(self, line: str) -> None:
        """Print a line at once."""
        self.out.write(line + "\n")
        self.out.flush()

    def complain(self, message: str) -> None:
        """Print what is wrong, and keep it."""
        self.failures.append(message)
        self.err.print(f"tallybone replay: {printable(message)}", markup=False, highlight=False, soft_wrap=True)

    def progress(self, source: Source, items: Iterator[Item]) -> Iterable[Item]:
        """Show how far it is while the items pass."""
        quiet = not self.err.is_terminal
        return track(items, "Replaying", source.count, console=self.err, transient=True, disable=quiet)


def speak(work: Callable[[Voice], int], out: TextIO | None = None, err: TextIO | None = None) -> int:
    """Let *work* print, and return its exit code: 1 where anything was complained of, 2 where there is no such game.

    Args:
        work: What prints.
        out: Where to, by default stdout.
        err: Where progress and complaints go, by default stderr.
    """
    with silent_libraries(err or sys.stderr) as shown:
        voice = Voice(out or sys.stdout, Console(file=shown, stderr=err is None))
        try:
            code = work(voice)
        except EngineError as error:
            for fault in error.faults if isinstance(error, OptionsError) else (str(error),):
                voice.complain(fault)
            return 2
        except (VisionError, OSError) as error:
            voice.complain(str(error))
            return 1
        return code or (1 if voice.failures else 0)
