"""What pages want of the table, between their thread and its: matches, tests, calibrations."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TypeAlias

from tallybone.play.start import Game
from tallybone.web.actions import Refused

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


@dataclass(frozen=True, slots=True)
class TestParts:
    """The parts of the table are tested, one after the other."""

    __test__ = False  # it is no test of pytest


@dataclass(frozen=True, slots=True)
class Calibrate:
    """Camera and table are calibrated, step by step."""


@dataclass(frozen=True, slots=True)
class CheckCalibration:
    """A picture is compared with what is stored."""


@dataclass(frozen=True, slots=True)
class RestoreCalibration:
    """What was replaced so many times ago is stored again."""

    number: int


StoredWish: TypeAlias = Calibrate | CheckCalibration | RestoreCalibration
MatchWish: TypeAlias = Begin | GoOn | End | TestParts | StoredWish


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
