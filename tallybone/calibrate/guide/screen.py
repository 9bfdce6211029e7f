"""Show a guided calibration on a terminal that can be redrawn, or else line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.text import Text

from tallybone.calibrate.guide.steps import Drawn, Kind
from tallybone.terminal import printable


@dataclass(frozen=True, slots=True)
class GuideScreen:
    """Text on the screen.

    Attributes:
        title: Title of the guide.
        note: Address of the page with the same calibration, or "".
        done: Names and results of completed steps.
        step: Name of the current step.
        todo: Instructions of the current step.
        seen: Current observations of the step.
        waiting: Names of the following steps.
        keys: Keys and their effects.
    """

    title: str
    note: str
    done: tuple[tuple[str, str], ...]
    step: str
    todo: tuple[str, ...]
    seen: tuple[str, ...]
    waiting: tuple[str, ...]
    keys: str


Screen: TypeAlias = Callable[[GuideScreen], None]
"""Shows a screen. Called after each change."""


@contextmanager
def screen_on(console: Console) -> Iterator[Screen]:
    """Yield a function that redraws the screen in place on a terminal, and otherwise prints new lines."""
    if not console.is_terminal or console.is_dumb_terminal:
        yield LineScreen(console).show
        return
    with Live(console=console, auto_refresh=False, screen=True) as live:
        yield lambda board: live.update(draw_guide(board), refresh=True)


class LineScreen:
    """Prints each step, its instructions and its result once."""

    def __init__(self, console: Console) -> None:
        """Print on *console*."""
        self._console = console
        self._printed: tuple[str, ...] = ()
        self._note = ""
        self._done = 0

    def show(self, board: GuideScreen) -> None:
        """Print the lines that have not been printed for this step. Changed observations alone are not printed."""
        if board.note != self._note:
            self._note = board.note
            self._print(board.note)
        for name, text in board.done[self._done :]:
            self._print(f"{name}: {text}")
        self._done = len(board.done)
        content = (board.step, *board.todo, board.keys)
        if content != self._printed:
            self._printed = content
            title = f"{board.title}: {board.step}" if board.step else board.title
            for line in (title, *board.todo, *board.seen, board.keys):
                self._print(line)

    def _print(self, line: str) -> None:
        self._console.print(printable(line), markup=False, soft_wrap=True)


def coverage_lines(drawn: Sequence[Drawn]) -> tuple[str, ...]:
    """Return the nine picture cells as three lines, with # for covered cells. Empty if *drawn* contains no cells."""
    cells = ["#" if shape.is_good else "." for shape in drawn if shape.kind is Kind.CELL]
    return tuple("    " + " ".join(cells[at : at + 3]) for at in range(0, len(cells), 3))


def draw_guide(board: GuideScreen) -> Padding:
    """Return the screen as a renderable for rich."""
    parts: list[RenderableType] = [Text(printable(board.title), style="bold"), Text(printable(board.note)), Text()]
    for name, text in board.done:
        is_skipped = text == "skipped"
        line = Text(f"{'-' if is_skipped else '✓'} {name:<6} ", style="dim" if is_skipped else "green")
        parts.append(Padding(line.append(printable(text), style="default"), (0, 0, 0, 2)))
    if board.step:
        parts.append(Padding(Text(f"> {board.step}", style="bold yellow"), (0, 0, 0, 2)))
    parts += [Padding(Text(printable(line)), (0, 0, 0, 6)) for line in board.todo]
    parts.append(Text())
    parts += [Padding(Text(printable(line), style="cyan"), (0, 0, 0, 6)) for line in board.seen]
    parts.append(Text())
    parts += [Padding(Text(name, style="dim"), (0, 0, 0, 4)) for name in board.waiting]
    parts.append(Text(f"\n  {board.keys}", style="bold"))
    return Padding(Group(*parts), (1, 2))
