"""What pages want of matches, between their thread and the table's: begin one, go on with the last, end it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TypeAlias

from tallybone.live_start import Game
from tallybone.web.meant import Refused

_MOST_WAITING = 8


@dataclass(frozen=True, slots=True)
class Begin:
    """A match begins."""

    game: Game


@dataclass(frozen=True, slots=True)
class GoOn:
    """The newest match that is not over goes on."""


@dataclass(frozen=True, slots=True)
class End:
    """The match is ended; it may go on another time."""


MatchWish: TypeAlias = Begin | GoOn | End


@dataclass(frozen=True, slots=True)
class MatchWanted:
    """A wish, and what is told what became of it: None for done."""

    wish: MatchWish
    done: Future[Refused | None] = field(default_factory=Future)

    def answer(self, outcome: Refused | None) -> None:
        """Say what became of it, if somebody still waits."""
        if not self.done.done() and self.done.set_running_or_notify_cancel():
            self.done.set_result(outcome)


class MatchDesk:
    """Wishes that wait for the table."""

    def __init__(self) -> None:
        """Start with none."""
        self._wanted: deque[MatchWanted] = deque()

    def ask(self, wanted: MatchWanted) -> bool:
        """Hand over a wish; False where too many wait already."""
        if len(self._wanted) >= _MOST_WAITING:
            return False
        self._wanted.append(wanted)
        return True

    def came(self) -> Iterator[MatchWanted]:
        """Yield the wishes in the order in which they came."""
        while self._wanted:
            yield self._wanted.popleft()
