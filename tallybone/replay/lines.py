"""What came of a replay: how many pictures and changes, and the score."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from engine import HandOver, Placed, Stacked, State, history
from tallybone.replay.run import Seen
from tallybone.session.referee import Unclear
from tallybone.session.session import Session
from tallybone.terminal import printable
from vision.table_view import ChangeKind


@dataclass(frozen=True, slots=True)
class Score:
    """Where a match stands.

    Attributes:
        hands: How many were counted.
        totals: Points by name; of players who share one, the name has the number of the seat.
        winner: Who has won the match.
        plays: How many tiles are laid or stacked, in all hands.
        problems: How many actions are irregular, and the table has not said that they stand.
    """

    hands: int = 0
    totals: tuple[tuple[str, int], ...] = ()
    winner: str | None = None
    plays: int = 0
    problems: int = 0

    @classmethod
    def of(cls, state: State) -> Score:
        """Return the score of a match."""
        game = state.game
        if game is None:
            return cls()
        names = [_name(game.players, seat) for seat in range(len(game.players))]
        told = [one for entry in history(state) for one in entry.outcomes]
        return cls(
            sum(isinstance(one, HandOver) for one in told),
            tuple(zip(names, game.totals, strict=True)),
            None if game.winner is None else names[game.winner],
            sum(isinstance(one, Placed | Stacked) for one in told),
            len(state.irregular),
        )

    @property
    def figures(self) -> dict[str, Any]:
        """The score for JSON."""
        return {
            "hands": self.hands,
            "totals": dict(self.totals),
            "winner": self.winner,
            "plays": self.plays,
            "problems": self.problems,
        }

    @property
    def words(self) -> str:
        """The score for people."""
        totals = ", ".join(f"{printable(name)} {points}" for name, points in self.totals) or "no game"
        won = "" if self.winner is None else f"; {printable(self.winner)} wins"
        wrong = f", {_many(self.problems, 'problem')}" if self.problems else ""
        return f"{totals}{won} ({_many(self.plays, 'play')}, {_many(self.hands, 'hand')} counted{wrong})"


class Tally:
    """Counts what happens in a replay."""

    def __init__(self) -> None:
        """Begin before the first item."""
        self._frames = self._tiles = self._asked = 0
        self._changes: Counter[str] = Counter()
        self.session: Session | None = None

    def add(self, seen: Seen) -> None:
        """Take in what one item has brought about."""
        self._frames += seen.frame != ""
        if seen.view is not None:
            self._tiles = len(seen.view.tiles)
            self._changes.update(change.kind.value for change in seen.view.changes)
        if seen.happened is not None:
            self.session = seen.happened.session
            self._asked += sum(isinstance(one, Unclear) for one in seen.happened.said)

    @property
    def score(self) -> Score:
        """Where the match stands."""
        return Score.of(State() if self.session is None else self.session.state)

    @property
    def result(self) -> dict[str, Any]:
        """Pictures, changes of each kind and tiles at the end; with a game its score and what was asked, for JSON."""
        changes = {kind.value: self._changes[kind.value] for kind in ChangeKind}
        table = {"frames": self._frames, **changes, "tiles": self._tiles}
        if self.session is None:
            return table
        return {**table, **self.score.figures, "asked": self._asked, "open": len(self.session.questions)}

    @property
    def words(self) -> str:
        """The same for people."""
        if self.session is not None:
            return self.score.words
        placed, moved, removed = (self._changes[kind] for kind in ("placed", "moved", "removed"))
        return (
            f"{self._frames} pictures: {placed} tiles placed, {moved} moved, {removed} removed; "
            f"{self._tiles} on the table at the end"
        )


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _name(players: tuple[str, ...], seat: int) -> str:
    name = players[seat]
    return name if players.count(name) == 1 else f"{name} ({seat + 1})"
