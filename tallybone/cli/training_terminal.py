"""What every training shows in the terminal, and how it leaves its file: whole, or as it was."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

Said: TypeAlias = Callable[[str, float], None]


def bars_on_stderr() -> Progress:
    """Return bars that show what is being done, away from what is said."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(file=sys.stderr, stderr=True))


def progress_on(bars: Progress) -> Said:
    """Return what shows the share of each thing that is done."""
    tasks: dict[str, object] = {}

    def progress(what: str, share: float) -> None:
        if what not in tasks:
            tasks[what] = bars.add_task(what, total=1.0)
        bars.update(tasks[what], completed=share)  # type: ignore[arg-type]  # rich's TaskID is an int of its own

    return progress


def say_missing(command: str, error: ModuleNotFoundError, extra: str) -> int:
    """Say which extra brings what a command needs, and return its exit code, 1."""
    hint = f"tallybone {command}: {error.name} is missing; it comes with: pip install 'tallybone[{extra}]'"
    Console(file=sys.stderr, stderr=True).print(hint, markup=False, soft_wrap=True)
    return 1


def write_whole(out: Path, save: Callable[[Path], None]) -> None:
    """Replace a file when its successor is complete."""
    partial = out.with_name(out.name + ".part")
    out.parent.mkdir(parents=True, exist_ok=True)
    save(partial)
    partial.replace(out)
