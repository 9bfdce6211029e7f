"""What came of a replay: how many pictures and changes, and the score."""

from __future__ import annotations

from collections import Counter
from typing import Any

from engine import HandOver, Play, Stack, State, entries, history
from tallybone.referee import Unclear
from tallybone.replay_follow import Seen
from tallybone.session import Session
from tallybone.sitting import Happened
from tallybone.terminal import printable
from vision.perception import ChangeKind


class Tally:
    """Counts what happens in a replay."""

    def __init__(self) -> None:
        """Begin before the first item."""
        self._frames = self._tiles = 0
        self._changes: Counter[str] = Counter()
        self.game: GameTally | None = None

    def add(self, seen: Seen) -> None:
        """Take in what one item has brought about."""
        self._frames += seen.frame != ""
        if seen.view is not None:
            self._tiles = len(seen.view.tiles)
            self._changes.update(change.kind.value for change in seen.view.changes)
        if seen.happened is not None:
            self.game = self.game or GameTally()
            self.game.add(seen.happened)

    @property
    def table(self) -> dict[str, int]:
        """How many pictures there were, how many changes of each kind, and how many tiles lie there at the end."""
        return {"frames": self._frames, **{k.value: self._changes[k.value] for k in ChangeKind}, "tiles": self._tiles}

    @property
    def result(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {**self.table, **({} if self.game is None else self.game.result)}

    @property
    def words(self) -> str:
        """All of it, for people."""
        if self.game is not None:
            return self.game.words
        seen = self.table
        return (
            f"{seen['frames']} pictures: {seen['placed']} tiles placed, {seen['moved']} moved, "
            f"{seen['removed']} removed; {seen['tiles']} on the table at the end"
        )


class GameTally:
    """Keeps where the game stands."""

    def __init__(self) -> None:
        """Begin before the first item."""
        self._session = Session()
        self._asked = 0

    def add(self, happened: Happened) -> None:
        """Take in what one item has brought about."""
        self._session = happened.session
        self._asked += sum(isinstance(one, Unclear) for one in happened.said)

    @property
    def result(self) -> dict[str, Any]:
        """The score, for JSON."""
        return {**score_of(self._session.state), "asked": self._asked, "open": len(self._session.questions)}

    @property
    def words(self) -> str:
        """The score, for people."""
        return score_words(score_of(self._session.state))


def score_of(state: State) -> dict[str, Any]:
    """Return the score for JSON: hands that were counted, points by name, plays, and how much is irregular."""
    game = state.game
    if game is None:
        return {"hands": 0, "totals": {}, "winner": None, "plays": 0, "problems": 0}
    names = [_name(game.players, seat) for seat in range(len(game.players))]
    counted = (isinstance(one, HandOver) for told in history(state) for one in told.outcomes)
    return {
        "hands": sum(counted),
        "totals": dict(zip(names, game.totals, strict=True)),
        "winner": None if game.winner is None else names[game.winner],
        "plays": sum(isinstance(entry.action, Play | Stack) for entry in entries(state)),
        "problems": len(state.irregular),
    }


def score_words(score: dict[str, Any]) -> str:
    """Return the score of `score_of` as a sentence."""
    totals = ", ".join(f"{printable(name)} {points}" for name, points in score["totals"].items()) or "no game"
    won = "" if score["winner"] is None else f"; {printable(score['winner'])} wins"
    plays, hands = _many(score["plays"], "play"), _many(score["hands"], "hand")
    wrong = f", {_many(score['problems'], 'problem')}" if score["problems"] else ""
    return f"{totals}{won} ({plays}, {hands} counted{wrong})"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _name(players: tuple[str, ...], seat: int) -> str:
    """Return the name at a seat; of those who share one, with the number of the seat."""
    name = players[seat]
    return name if players.count(name) == 1 else f"{name} ({seat + 1})"
