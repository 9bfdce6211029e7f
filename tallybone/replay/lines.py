"""Format the steps of a replay as lines of JSON or as sentences, and compare them with the recording."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeAlias

import engine
from tallybone.json_values import JsonValueError, rounded, tag_of, to_json
from tallybone.play.game import CameraNote, Note, UnsureNote
from tallybone.recording.format import Topic
from tallybone.recording.index import records_on
from tallybone.recording.reader import event_of_record, read_recording, whole_only
from tallybone.replay.run import ReplayStep
from tallybone.session.questions import Ambiguity
from tallybone.session.session import Announcement, Session
from tallybone.session.sitting import Step
from tallybone.sources.source import GameOverrides, match_of
from tallybone.terminal import counted, format_totals, printable
from vision.reading import SeenTile
from vision.tracking.table_view import Change, ChangeKind

_NS_PER_S = 1_000_000_000


Narrator: TypeAlias = Callable[[ReplayStep, tuple[Note, ...]], Iterator[str]]
"""Function that formats a step and its notes as lines, without line ends."""


def narrator_for(*, has_game: bool, as_json: bool) -> Narrator:
    """Return the narrator for a replay: JSON lines, sentences about the game, or without one about the table."""
    return _json_lines if as_json else _game_sentences if has_game else _table_sentences


def _json_lines(step: ReplayStep, notes: tuple[Note, ...]) -> Iterator[str]:
    """Yield a line of JSON for each note, each change of the table and each announcement."""
    for note in notes:
        yield format_note(note, step)
    for change in () if step.view is None else step.view.changes:
        yield format_change(change, step)
    for line in () if step.effects is None else step.effects.lines:
        yield json.dumps(line, allow_nan=False)


def _table_sentences(step: ReplayStep, notes: tuple[Note, ...]) -> Iterator[str]:
    """Yield a sentence for each note and each change of the table."""
    for note in notes:
        yield f"{printable(step.frame)}: {_sentence(note)}"
    for change in () if step.view is None else step.view.changes:
        yield _describe(change, step.frame)


def _game_sentences(step: ReplayStep, notes: tuple[Note, ...]) -> Iterator[str]:
    """Yield a sentence for each note, play and other announcement but turns, with its time since the start."""
    time = clock_time(step.since_ns)
    for note in notes:
        yield f"{time} {_sentence(note)}"
    for sentence in () if step.effects is None else sentences_of(step.effects):
        yield f"{time} {printable(sentence)}"


def clock_time(since_ns: int) -> str:
    """Return a time since the start as minutes and seconds.

    >>> clock_time(83_900_000_000)
    '1:23'
    """
    seconds = max(0, since_ns) // _NS_PER_S
    return f"{seconds // 60}:{seconds % 60:02d}"


def format_note(note: Note, step: ReplayStep) -> str:
    """Return a note as a line of JSON, without a line end."""
    match note:
        case CameraNote():
            fields: dict[str, object] = {"aim": note.aim.numbers} if note.event == "shifted" else {}
            event = note.event
        case UnsureNote():
            fields = {"corners_px": [rounded(point_px) for point_px in note.tile.corners_px]}
            event = "unsure"
    return json.dumps({"t_ns": step.t_ns, "event": event, "frame": step.frame, "text": note.text, **fields})


def _sentence(note: Note) -> str:
    """Return a note as a sentence. A note about a tile ends with its position in pixels."""
    if isinstance(note, CameraNote):
        return note.text
    x, y = note.tile.center_px
    return f"{note.text} (at {x:.0f}, {y:.0f})"


def format_change(change: Change, step: ReplayStep) -> str:
    """Return a change of the table as a line of JSON, without a line end."""
    fields: dict[str, object] = {"t_ns": step.t_ns, "event": change.kind.value, "frame": step.frame}
    fields |= _tile(change.tile)
    if change.before is not None:
        fields["before"] = _tile(change.before)
    return json.dumps(fields, allow_nan=False)


def _describe(change: Change, frame: str) -> str:
    tile = change.tile
    name = "-".join(str(half.pips) for half in tile.halves) or "a face-down tile"
    x, y = tile.center_px
    return f"{printable(frame)}: {name} {change.kind.value} at {x:.0f}, {y:.0f}"


def _tile(tile: SeenTile) -> dict[str, object]:
    """Return a tile for JSON. A face-down tile has corners but no pips."""
    return {
        "pips": [half.pips for half in tile.halves],
        "confidence": [round(half.confidence, 4) for half in tile.halves],
        "halves_px": [rounded(point_px) for point_px in tile.half_centers_px],
        "corners_px": [rounded(point_px) for point_px in tile.corners_px],
    }


def sentences_of(effects: Step) -> Iterator[str]:
    """Yield the announcements of a step as sentences, except announcements of turns.

    A play, the count of open ends and its points are a single sentence. A question ends with its choices.
    """
    game = effects.session.state.game
    players = () if game is None else game.players
    laid: engine.Placed | engine.Stacked | None = None
    count = points = ""
    for item in effects.announcements:
        if laid is not None and isinstance(item, engine.Counted):
            count = f": {item.count}"
        elif (
            laid is not None
            and isinstance(item, engine.Scored)
            and (item.reason, item.seat) == (engine.Reason.PLAY, laid.seat)
        ):
            points += f", scores {item.points}"
        else:
            if laid is not None:
                yield f"{engine.describe(laid, players)}{count}{points}"
            laid, count, points = (item if isinstance(item, engine.Placed | engine.Stacked) else None), "", ""
            if laid is None and not isinstance(item, engine.Turn):
                yield _text(item, players)
    if laid is not None:
        yield f"{engine.describe(laid, players)}{count}{points}"


def _text(announcement: Announcement, players: tuple[str, ...]) -> str:
    if isinstance(announcement, Ambiguity):
        return announcement.text + (f" ({' / '.join(announcement.choices)})" if announcement.choices else "")
    return engine.describe(announcement, players)


@dataclass(frozen=True, slots=True)
class Score:
    """Score of a match.

    Attributes:
        totals: Names and totals by seat. A name that players share is followed by the number of the seat.
        winner: Name of the winner, or None.
        plays: Number of tiles played or stacked in all hands.
        problems: Number of irregular actions that the players have not accepted.
        provisional: Whether the totals rely on inferred actions that the players have not confirmed.
    """

    hands: int = 0
    totals: tuple[tuple[str, int], ...] = ()
    winner: str | None = None
    plays: int = 0
    problems: int = 0
    provisional: bool = False

    @classmethod
    def of(cls, state: engine.State) -> Score:
        """Return the score of a match."""
        game = state.game
        if game is None:
            return cls()
        names = [_name(game.players, seat) for seat in range(len(game.players))]
        outcomes = [outcome for step in engine.history(state) for outcome in step.outcomes]
        return cls(
            sum(isinstance(outcome, engine.HandOver) for outcome in outcomes),
            tuple(zip(names, game.totals, strict=True)),
            None if game.winner is None else names[game.winner],
            sum(isinstance(outcome, engine.Placed | engine.Stacked) for outcome in outcomes),
            len(state.irregular),
            state.is_provisional,
        )

    @property
    def figures(self) -> dict[str, Any]:
        """The score for JSON."""
        return {**asdict(self), "totals": dict(self.totals)}

    @property
    def text(self) -> str:
        """The score for people."""
        scores = ((printable(name), points) for name, points in self.totals)
        totals = format_totals(scores, is_provisional=self.provisional) or "no game"
        won = "" if self.winner is None else f"; {printable(self.winner)} wins"
        wrong = f", {counted(self.problems, 'problem')}" if self.problems else ""
        unseen = ", provisional" if self.provisional else ""
        return f"{totals}{won} ({counted(self.plays, 'play')}, {counted(self.hands, 'hand')} counted{wrong}{unseen})"


class Tally:
    """Counts the pictures, changes and questions of a replay, and keeps its last session."""

    def __init__(self) -> None:
        self._frames = self._tiles = self._unsure = self._asked = 0
        self._last_frame = ""
        self._changes: Counter[str] = Counter()
        self.session: Session | None = None

    def add(self, step: ReplayStep) -> None:
        """Add the next step."""
        # The last picture of a video is repeated under the same name until it has settled.
        self._frames += step.frame not in ("", self._last_frame)
        self._last_frame = step.frame or self._last_frame
        if step.view is not None:
            self._tiles, self._unsure = len(step.view.tiles), len(step.view.unsure)
            self._changes.update(change.kind.value for change in step.view.changes)
        if step.effects is not None:
            self.session = step.effects.session
            self._asked += sum(isinstance(item, Ambiguity) for item in step.effects.announcements)

    @property
    def score(self) -> Score:
        """Score of the match so far."""
        if self.session is None:
            return Score()
        return replace(Score.of(self.session.state), provisional=self.session.is_provisional)

    @property
    def result(self) -> dict[str, Any]:
        """The result for JSON: numbers of pictures, of changes of each kind, and of tiles on the table at the end.

        With a game, also its score, and the numbers of questions asked and still open.
        """
        changes = {kind.value: self._changes[kind.value] for kind in ChangeKind}
        table = {"frames": self._frames, **changes, "tiles": self._tiles, "unsure": self._unsure}
        if self.session is None:
            return table
        return {**table, **self.score.figures, "asked": self._asked, "open": len(self.session.questions)}

    @property
    def text(self) -> str:
        """The result as text: the score or, without a game, the numbers of pictures, changes and tiles."""
        if self.session is not None:
            return self.score.text
        placed, moved, removed = (self._changes[kind] for kind in ("placed", "moved", "removed"))
        unsure = f", {self._unsure} that cannot be read" if self._unsure else ""
        return (
            f"{self._frames} pictures: {placed} tiles placed, {moved} moved, {removed} removed; "
            f"{self._tiles} on the table at the end{unsure}"
        )


def _name(players: tuple[str, ...], seat: int) -> str:
    name = players[seat]
    return name if players.count(name) == 1 else f"{name} ({seat + 1})"


@dataclass(frozen=True, slots=True)
class Fact:
    """An event or outcome. Facts with the same time and key are equal.

    Attributes:
        t_ns: Time in nanoseconds of a monotonic clock.
        key: Canonical text of the fact.
        fields: All fields, for JSON.
    """

    t_ns: int
    key: str
    text: str = field(compare=False)
    fields: Mapping[str, Any] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between recording and replay. *recorded* is None for an additional fact, *now* for a missing one."""

    recorded: Fact | None
    now: Fact | None

    @property
    def t_ns(self) -> int:
        """Time of the recorded fact, or of the replayed one if no fact was recorded."""
        fact = self.recorded or self.now
        assert fact is not None
        return fact.t_ns

    def sentence(self, start_ns: int) -> str:
        """Return the difference as a sentence, with its time since *start_ns*."""
        sides = ("nothing" if fact is None else printable(fact.text) for fact in (self.recorded, self.now))
        return f"{clock_time(self.t_ns - start_ns)} recorded: {next(sides)}; now: {next(sides)}"

    def line(self) -> str:
        """Return the difference as a line of JSON."""
        recorded, now = (None if fact is None else fact.fields for fact in (self.recorded, self.now))
        return json.dumps({"t_ns": self.t_ns, "recorded": recorded, "now": now})


def recorded_facts(path: Path, complain: Callable[[str], object]) -> list[Fact]:
    """Return the events and outcomes in a recording, without the start of the match.

    Damage and unreadable records are passed to *complain*.

    Raises:
        RecordingError: If the file is not a recording.
        OSError: If the file cannot be read.
    """
    facts: list[Fact] = []
    for record in whole_only(records_on(path, (Topic.EVENT, Topic.OUTCOME)), path, complain):
        try:
            facts.append(
                _event_fact(record.t_ns, event_of_record(record))
                if record.topic is Topic.EVENT
                else _outcome_fact({"t_ns": record.t_ns, **record.fact})
            )
        except JsonValueError as error:
            complain(f"{path}: record {record.number}: {error}")
    return [fact for fact in facts if not _is_start(fact)]


def replayed_facts(steps: Iterable[ReplayStep]) -> Iterator[Fact]:
    """Yield the events and outcomes of a replay, in the order in which they would be recorded."""
    for step in steps:
        if step.effects is None:
            continue
        events = (_event_fact(step.t_ns, event) for event in step.effects.events)
        lines = (_outcome_fact(line) for line in json.loads(json.dumps(step.effects.lines)))
        yield from (fact for fact in (*events, *lines) if not _is_start(fact))


def differences(recorded: Sequence[Fact], now: Sequence[Fact]) -> list[Difference]:
    """Return the differences in order. A fact in place of a recorded one is a single difference."""
    if recorded == now:
        return []
    found: list[Difference] = []
    for tag, a, b, c, d in SequenceMatcher(None, recorded, now, autojunk=False).get_opcodes():
        if tag != "equal":
            found += (Difference(*pair) for pair in zip_longest(recorded[a:b], now[c:d]))
    return found


def by_play(facts: Iterable[Fact]) -> list[Fact]:
    """Return the plays and stacks, each with its points, for comparing games scored under different rules.

    Only points scored for a play or stolen count; negative ones are left out.
    """
    plays: list[Fact] = []
    for fact in facts:
        fields = fact.fields
        if fields.get("event") in ("played", "stacked"):
            plays.append(_play(fact.t_ns, str(fields.get("text", fields.get("words"))), 0))
        elif plays and fields.get("event") == "scored" and fields.get("reason") in ("play", "steal"):
            last = plays[-1]
            points = last.fields["points"] + max(0, fields.get("points", 0))
            plays[-1] = _play(last.t_ns, last.fields["play"], points)
    return plays


def has_other_rules(path: Path, overrides: GameOverrides) -> bool:
    """Return True if *overrides* change the rules of a recording.

    Raises:
        EngineError: If there is no such game.
        RecordingError: If the file is not a recording.
    """
    start = read_recording(path).start
    overridden, recorded = match_of(overrides, start), match_of(GameOverrides(), start)
    return (overridden and overridden.rules) != (recorded and recorded.rules)


def _event_fact(t_ns: int, event: engine.Event) -> Fact:
    fields = to_json(event, engine.Event)
    name = " ".join(str(part) for part in fields.values() if isinstance(part, str | int))
    return Fact(t_ns, json.dumps(fields, sort_keys=True), f"event {name}", fields)


def _outcome_fact(line: Mapping[str, Any]) -> Fact:
    # Recordings of earlier versions have no field "provisional".
    key = json.dumps({"provisional": False, **line}, sort_keys=True)
    return Fact(line["t_ns"], key, str(line.get("text", line.get("words", line))), line)


def _is_start(fact: Fact) -> bool:
    """Return True for the start of a match. It is not compared, because recordings have it in their metadata only."""
    return fact.fields.get("is") == tag_of(engine.MatchStart) or fact.fields.get("event") == tag_of(engine.MatchStarted)


def _play(t_ns: int, text: str, points: int) -> Fact:
    fields = {"play": text, "points": points}
    return Fact(t_ns, json.dumps(fields), f"{text}, {points} points", fields)
