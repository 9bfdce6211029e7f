"""Show a guided calibration in a terminal, or line by line where nothing can be redrawn."""

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
    """The text on the screen.

    Attributes:
        title: Of the whole.
        note: The page on which it can be followed too; "" for none.
        done: Names of steps, and their results.
        step: Name of the step that goes on.
        todo: Its instructions.
        seen: What it sees at the moment.
        waiting: Names of the steps after it.
        keys: The keys, and their effects.
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
"""Shows a board; called when something on it has changed."""


@contextmanager
def screen_on(console: Console) -> Iterator[Screen]:
    """Yield a function that redraws boards in place where that can be seen, else prints a line for each new thing."""
    if not console.is_terminal or console.is_dumb_terminal:
        yield LineScreen(console).show
        return
    with Live(console=console, auto_refresh=False, screen=True) as live:
        yield lambda board: live.update(draw_guide(board), refresh=True)


class LineScreen:
    """Prints each step, its result and its words once."""

    def __init__(self, console: Console) -> None:
        """Print on *console*."""
        self._console = console
        self._told: tuple[str, ...] = ()
        self._note = ""
        self._done = 0

    def show(self, board: GuideScreen) -> None:
        """Print the lines that are new."""
        if board.note != self._note:
            self._note = board.note
            self._say(board.note)
        for name, words in board.done[self._done :]:
            self._say(f"{name}: {words}")
        self._done = len(board.done)
        told = (board.step, *board.todo, board.keys)
        if told != self._told:
            self._told = told
            title = f"{board.title}: {board.step}" if board.step else board.title
            for line in (title, *board.todo, *board.seen, board.keys):
                self._say(line)

    def _say(self, line: str) -> None:
        self._console.print(printable(line), markup=False, soft_wrap=True)


def coverage_lines(drawn: Sequence[Drawn]) -> tuple[str, ...]:
    """Return the nine parts of the picture as three lines, # where the board has been; none where they do not count."""
    cells = ["#" if one.is_good else "." for one in drawn if one.kind is Kind.CELL]
    return tuple("    " + " ".join(cells[at : at + 3]) for at in range(0, len(cells), 3))


def draw_guide(board: GuideScreen) -> Padding:
    """Return a board for a terminal."""
    parts: list[RenderableType] = [Text(printable(board.title), style="bold"), Text(printable(board.note)), Text()]
    for name, words in board.done:
        is_skipped = words == "skipped"
        line = Text(f"{'-' if is_skipped else '✓'} {name:<6} ", style="dim" if is_skipped else "green")
        parts.append(Padding(line.append(printable(words), style="default"), (0, 0, 0, 2)))
    if board.step:
        parts.append(Padding(Text(f"> {board.step}", style="bold yellow"), (0, 0, 0, 2)))
    parts += [Padding(Text(printable(line)), (0, 0, 0, 6)) for line in board.todo]
    parts.append(Text())
    parts += [Padding(Text(printable(line), style="cyan"), (0, 0, 0, 6)) for line in board.seen]
    parts.append(Text())
    parts += [Padding(Text(name, style="dim"), (0, 0, 0, 4)) for name in board.waiting]
    parts.append(Text(f"\n  {board.keys}", style="bold"))
    return Padding(Group(*parts), (1, 2))
