"""Print a replay: each event as a line of JSON or a sentence, and the result."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from engine import Counted, HandOver, Placed, Reason, Scored, Stacked, State, Turn, describe, history
from tallybone.json_values import rounded
from tallybone.play.news import CameraNote, Note, UnsureNote
from tallybone.replay.run import ReplayStep
from tallybone.session.referee import Ambiguity
from tallybone.session.session import Announcement, Session
from tallybone.session.sitting import Step
from tallybone.terminal import counted, format_totals, printable
from vision.reading import SeenTile
from vision.tracking.table_view import Change, ChangeKind

_NS_PER_S = 1_000_000_000


Narrator: TypeAlias = Callable[[ReplayStep, tuple[Note, ...]], Iterator[str]]
"""Puts the step of one item and what is new beside the game in lines, without line ends."""


def narrator_for(*, has_game: bool, as_json: bool) -> Narrator:
    """Return the narrator of a replay."""
    return _json_lines if as_json else _game_sentences if has_game else _table_sentences


def _json_lines(seen: ReplayStep, notes: tuple[Note, ...]) -> Iterator[str]:
    """Yield a line of JSON for each thing: the table, then the game."""
    for note in notes:
        yield format_note(note, seen)
    for change in () if seen.view is None else seen.view.changes:
        yield format_change(change, seen)
    for line in () if seen.happened is None else seen.happened.lines:
        yield json.dumps(line, allow_nan=False)


def _table_sentences(seen: ReplayStep, notes: tuple[Note, ...]) -> Iterator[str]:
    """Yield a sentence for each change of the table."""
    for note in notes:
        yield f"{printable(seen.frame)}: {_sentence(note)}"
    for change in () if seen.view is None else seen.view.changes:
        yield _describe(change, seen.frame)


def _game_sentences(seen: ReplayStep, notes: tuple[Note, ...]) -> Iterator[str]:
    """Yield a sentence for each play, and for all else that was said, with its time from the beginning."""
    time = clock_time(seen.since_ns)
    for note in notes:
        yield f"{time} {_sentence(note)}"
    for sentence in () if seen.happened is None else sentences_of(seen.happened):
        yield f"{time} {printable(sentence)}"


def clock_time(since_ns: int) -> str:
    """Return a time from the beginning as minutes and seconds.

    >>> clock_time(83_900_000_000)
    '1:23'
    """
    seconds = max(0, since_ns) // _NS_PER_S
    return f"{seconds // 60}:{seconds % 60:02d}"


def format_note(note: Note, seen: ReplayStep) -> str:
    """Return news beside the game as one line of JSON, without a line end."""
    match note:
        case CameraNote():
            said: dict[str, object] = {"aim": note.aim.numbers} if note.event == "shifted" else {}
            event = note.event
        case UnsureNote():
            said = {"corners_px": [rounded(point_px) for point_px in note.tile.corners_px]}
            event = "unsure"
    return json.dumps({"t_ns": seen.t_ns, "event": event, "frame": seen.frame, "words": note.words, **said})


def _sentence(note: Note) -> str:
    """Return news beside the game in words, with the place that is asked about."""
    if isinstance(note, CameraNote):
        return note.words
    x, y = note.tile.center_px
    return f"{note.words} (at {x:.0f}, {y:.0f})"


def format_change(change: Change, seen: ReplayStep) -> str:
    """Return a change of the table as one line of JSON, without a line end."""
    said: dict[str, object] = {"t_ns": seen.t_ns, "event": change.kind.value, "frame": seen.frame}
    said |= _tile(change.tile)
    if change.before is not None:
        said["before"] = _tile(change.before)
    return json.dumps(said, allow_nan=False)


def _describe(change: Change, frame: str) -> str:
    tile = change.tile
    name = "-".join(str(half.pips) for half in tile.halves) or "a face-down tile"
    x, y = tile.center_px
    return f"{printable(frame)}: {name} {change.kind.value} at {x:.0f}, {y:.0f}"


def _tile(tile: SeenTile) -> dict[str, object]:
    """Return a tile for JSON; one that lies face down has a place but no pips."""
    return {
        "pips": [half.pips for half in tile.halves],
        "confidence": [round(half.confidence, 4) for half in tile.halves],
        "halves_px": [rounded(point_px) for point_px in tile.half_centers_px],
        "corners_px": [rounded(point_px) for point_px in tile.corners_px],
    }


def sentences_of(happened: Step) -> Iterator[str]:
    """Yield the announcements in words, but for whose turn it is then: the next action tells that.

    A question that has choices ends with them.
    """
    game = happened.session.state.game
    players = () if game is None else game.players
    laid: Placed | Stacked | None = None
    count = points = ""
    for said in happened.announcements:
        if laid is not None and isinstance(said, Counted):
            count = f": {said.count}"
        elif laid is not None and isinstance(said, Scored) and (said.reason, said.seat) == (Reason.PLAY, laid.seat):
            points += f", scores {said.points}"
        else:
            if laid is not None:
                yield f"{describe(laid, players)}{count}{points}"
            laid, count, points = (said if isinstance(said, Placed | Stacked) else None), "", ""
            if laid is None and not isinstance(said, Turn):
                yield _words(said, players)
    if laid is not None:
        yield f"{describe(laid, players)}{count}{points}"


def _words(said: Announcement, players: tuple[str, ...]) -> str:
    if isinstance(said, Ambiguity):
        return said.words + (f" ({' / '.join(said.choices)})" if said.choices else "")
    return describe(said, players)


@dataclass(frozen=True, slots=True)
class Score:
    """Where a match stands.

    Attributes:
        hands: How many were counted.
        totals: Points by name; of players who share one, the name has the number of the seat.
        winner: Who has won the match.
        plays: How many tiles are laid or stacked, in all hands.
        problems: How many actions are irregular, and the table has not said that they stand.
        provisional: Whether the totals rely on plays that nobody saw or confirmed.
    """

    hands: int = 0
    totals: tuple[tuple[str, int], ...] = ()
    winner: str | None = None
    plays: int = 0
    problems: int = 0
    provisional: bool = False

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
            state.is_provisional,
        )

    @property
    def figures(self) -> dict[str, Any]:
        """The score for JSON."""
        return {**asdict(self), "totals": dict(self.totals)}

    @property
    def words(self) -> str:
        """The score for people."""
        scores = ((printable(name), points) for name, points in self.totals)
        totals = format_totals(scores, is_provisional=self.provisional) or "no game"
        won = "" if self.winner is None else f"; {printable(self.winner)} wins"
        wrong = f", {counted(self.problems, 'problem')}" if self.problems else ""
        unseen = ", provisional" if self.provisional else ""
        return f"{totals}{won} ({counted(self.plays, 'play')}, {counted(self.hands, 'hand')} counted{wrong}{unseen})"


class Tally:
    """Counts what happens in a replay."""

    def __init__(self) -> None:
        """Begin before the first item."""
        self._frames = self._tiles = self._unsure = self._asked = 0
        self._last_frame = ""
        self._changes: Counter[str] = Counter()
        self.session: Session | None = None

    def add(self, seen: ReplayStep) -> None:
        """Take the step of one item."""
        # The last picture of a film is held: it comes again by its name.
        self._frames += seen.frame not in ("", self._last_frame)
        self._last_frame = seen.frame or self._last_frame
        if seen.view is not None:
            self._tiles, self._unsure = len(seen.view.tiles), len(seen.view.unsure)
            self._changes.update(change.kind.value for change in seen.view.changes)
        if seen.happened is not None:
            self.session = seen.happened.session
            self._asked += sum(isinstance(one, Ambiguity) for one in seen.happened.announcements)

    @property
    def score(self) -> Score:
        """Where the match stands."""
        return Score.of(State() if self.session is None else self.session.state)

    @property
    def result(self) -> dict[str, Any]:
        """Pictures, changes of each kind, and tiles and what cannot be read at the end, for JSON.

        With a game also its score and what was asked.
        """
        changes = {kind.value: self._changes[kind.value] for kind in ChangeKind}
        table = {"frames": self._frames, **changes, "tiles": self._tiles, "unsure": self._unsure}
        if self.session is None:
            return table
        return {**table, **self.score.figures, "asked": self._asked, "open": len(self.session.questions)}

    @property
    def words(self) -> str:
        """The same for people."""
        if self.session is not None:
            return self.score.words
        placed, moved, removed = (self._changes[kind] for kind in ("placed", "moved", "removed"))
        unsure = f", {self._unsure} that cannot be read" if self._unsure else ""
        return (
            f"{self._frames} pictures: {placed} tiles placed, {moved} moved, {removed} removed; "
            f"{self._tiles} on the table at the end{unsure}"
        )


def _name(players: tuple[str, ...], seat: int) -> str:
    name = players[seat]
    return name if players.count(name) == 1 else f"{name} ({seat + 1})"
