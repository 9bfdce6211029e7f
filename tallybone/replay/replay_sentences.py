"""What was said in a game as sentences: a play with its sum and its points is one."""

from __future__ import annotations

from collections.abc import Iterator

from engine import Counted, Placed, Reason, Scored, Seat, Stacked, Turn, describe
from tallybone.session.referee import Unclear
from tallybone.session.session import Said
from tallybone.session.sitting import Happened


def sentences_of(happened: Happened) -> Iterator[str]:
    """Yield what was said, without whose turn it is then: that follows from what he does.

    A question that has choices ends with them.
    """
    game = happened.session.state.game
    players = () if game is None else game.players
    waiting: _Laid | None = None
    for said in happened.said:
        if waiting is not None and waiting.takes(said):
            continue
        if waiting is not None:
            yield waiting.sentence
            waiting = None
        if isinstance(said, Placed | Stacked):
            waiting = _Laid(said.seat, describe(said, players))
        elif not isinstance(said, Turn):
            yield _words(said, players)
    if waiting is not None:
        yield waiting.sentence


class _Laid:
    """A tile that was laid, and what came of it."""

    def __init__(self, seat: Seat, words: str) -> None:
        self._seat, self._words = seat, words
        self._count = ""
        self._points: list[str] = []

    def takes(self, said: Said) -> bool:
        """Take in what belongs to the play; return whether it does."""
        if isinstance(said, Counted):
            self._count = str(said.count)
        elif isinstance(said, Scored) and said.reason is Reason.PLAY and said.seat == self._seat:
            self._points.append(f"scores {said.points}")
        else:
            return False
        return True

    @property
    def sentence(self) -> str:
        return ", ".join([self._words + (f": {self._count}" if self._count else ""), *self._points])


def _words(said: Said, players: tuple[str, ...]) -> str:
    if isinstance(said, Unclear):
        return said.words + (f" ({' / '.join(said.choices)})" if said.choices else "")
    return describe(said, players)
