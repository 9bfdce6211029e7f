"""Where a demo is watched: a scoreboard that is redrawn in place, or one plain line for each thing that happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from rich.console import Console
from rich.live import Live

from tallybone.session.session import Said
from tallybone.show.scoreboard import Board, draw_board, plain_line

Wait: TypeAlias = Callable[[float], object]

# Time to look at what has changed, at normal speed.
_PLAY_S, _BUTTON_S = 0.7, 0.35


class Display(Protocol):
    """Where people watch."""

    def show(self, board: Board, said: Sequence[Said], *, is_seen: bool) -> None:
        """Show where the game stands, and leave time to look at it."""


@contextmanager
def display_on(console: Console, speed: float, wait: Wait) -> Iterator[Display]:
    """Yield what shows the game: redrawn in place where that can be seen, else one line for each thing that happens."""
    if not console.is_terminal or console.is_dumb_terminal or console.no_color:
        plain = _PlainDisplay(console)
        yield plain
        plain.finish()
        return
    with Live(console=console, auto_refresh=False) as live:
        yield _LiveDisplay(live, console, speed, wait)


@dataclass(slots=True)
class _LiveDisplay:
    """A scoreboard that is redrawn in place."""

    live: Live
    console: Console
    speed: float
    wait: Wait

    def show(self, board: Board, said: Sequence[Said], *, is_seen: bool) -> None:
        del said  # the board has it in words
        size = self.console.size
        # One line less: the cursor goes below, and must not make the terminal scroll.
        self.live.update(draw_board(board, columns=size.width, rows=size.height - 1), refresh=True)
        self.wait((_PLAY_S if is_seen else _BUTTON_S) / self.speed)


@dataclass(slots=True)
class _PlainDisplay:
    """One line for each thing that happens, and the layout at the end."""

    console: Console
    plays: int = 0
    board: Board | None = None

    def show(self, board: Board, said: Sequence[Said], *, is_seen: bool) -> None:
        self.plays += is_seen
        self.board = board
        self.console.print(plain_line(self.plays, said, board.game), markup=False, highlight=False, soft_wrap=True)

    def finish(self) -> None:
        if self.board is not None:
            columns = min(self.console.width, 120)
            self.console.print()
            self.console.print(draw_board(self.board, columns=columns, rows=max(24, columns // 4), in_color=False))
