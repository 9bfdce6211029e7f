"""Follow the stream of a match with players who read only the page, and compare the totals with the truth."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from engine import (
    Amend,
    Confirmed,
    Event,
    MatchStart,
    NewHand,
    Play,
    Reveal,
    RevealPips,
    Seat,
    Seq,
    State,
    describe,
    entries,
    replay,
)
from lab.bench.material.gap_eye import PerfectEye, TableEye
from lab.bench.material.gap_streams import Item, Stream
from lab.matches.players import answer_of
from tallybone.json_values import from_json, to_json
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer
from tallybone.session.observations import Zones
from tallybone.session.places import Places
from tallybone.session.questions import Ambiguity
from tallybone.session.session import Announcement, Input, Session
from tallybone.session.sitting import opened
from vision.tracking.table_view import TableView

# Time to read a question before answering it. Players do not answer while hands are over the table.
_READS_NS = 1_500_000_000
_WRONG_ANSWERS = 0.1


class Answers(StrEnum):
    """Answering behaviour of the players, who choose by the words of the choices."""

    TRUE = "true"
    WRONG = "wrong"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class MatchFound:
    """Evaluation of a match.

    Attributes:
        is_right: The match ended with the right totals.
        is_marked: Players see that the totals are uncertain: they are provisional, or a question is open.
        plays: Number of tiles in the record, by the player who laid them.
        kept: Number of tiles in the record, whoever laid them.
        of: Number of tiles that were laid.
        gaps: Number of gaps and disturbances.
        questions: Number of questions.
        taps: Number of answers.
        slowest_ms: Longest processor time of an input.
        failure: Exception that ended the match. Empty if there was none.
    """

    is_right: bool
    is_marked: bool
    plays: int
    kept: int
    of: int
    gaps: int
    questions: int
    taps: int
    slowest_ms: float
    failure: str = ""

    @property
    def is_silent(self) -> bool:
        """True if the totals are wrong without a mark."""
        return not self.is_right and not self.is_marked


@dataclass(slots=True)
class Follower:
    """A sitting that follows a stream, and its players."""

    stream: Stream
    answers: Answers
    rng: np.random.Generator
    trace: bool = False
    reader: TableEye = field(default_factory=PerfectEye)
    session: Session = field(init=False)
    asked: tuple[str, int | None] | None = None
    questions: int = 0
    taps: int = 0
    slowest_ms: float = 0.0
    t_ns: int = 0

    def __post_init__(self) -> None:
        self.session, _ = opened(self.stream.rules, self.stream.players, self.stream.zones)

    def follow(self) -> MatchFound:
        """Follow the stream and return the evaluation of the match."""
        failure = ""
        try:
            for item in self.stream.items:
                self._take(item)
        except Exception as error:  # a failure is a finding
            failure = f"{type(error).__name__}: {error}"
            if self.trace:
                raise
        truth, now = self.stream.truth(len(self.stream.steps)), self.session.state
        assert truth.game is not None
        true, recorded = _plays(truth), _plays(now)
        return MatchFound(
            is_right=not failure and now.game is not None and now.game.totals == truth.game.totals,
            is_marked=self.session.is_provisional or bool(self.session.questions),
            plays=sum(play in recorded for play in true),
            kept=sum(tile in {tile for _, tile in recorded} for _, tile in true),
            of=len(true),
            gaps=self.stream.gaps,
            questions=self.questions,
            taps=self.taps,
            slowest_ms=self.slowest_ms,
            failure=failure,
        )

    def _take(self, item: Item) -> None:
        if item.restarts:
            places: Places = from_json(to_json(self.session.places, Places), Places)
            log: list[Event] = [from_json(to_json(event, Event), Event) for event in self.session.state.log]
            self.session = Session.resumed(replay(log), places, t_ns=item.t_ns, zones=self.stream.zones)
            self.reader = self.reader.resumed()
            self._say(f"-- resumed with {len(log)} events")
        event = self.reader.view(item) if item.event is None else item.event
        self._feed(event, item)
        if isinstance(event, TableView) and event.is_settled:
            self._answer(item)

    def _feed(self, event: Input, item: Item) -> None:
        self.t_ns = max(item.t_ns, self.t_ns)
        log, begins = len(self.session.state.log), time.process_time_ns()
        self.session, announcements = feed(self.session, event, t_ns=self.t_ns)
        took_ms = (time.process_time_ns() - begins) / 1e6
        self.slowest_ms = max(self.slowest_ms, took_ms)
        self.questions += sum(isinstance(one, Ambiguity) for one in announcements)
        if self.trace:
            self._tell(event, item, log, announcements, took_ms)

    def _answer(self, item: Item) -> None:
        """Answer a question after a reading time."""
        if self.answers is Answers.NONE:
            return
        if not self.session.questions:
            self._enter_pips(item)
            return
        topic = self.session.questions[-1].ambiguity.topic
        answer = answer_of(self.session, self.stream.truth(item.done)) if self._has_read(topic) else None
        if answer is not None:
            self.asked = (topic, None)  # each question once
            self.taps += 1
            self._feed(self._maybe_wrong(answer), item)

    def _has_read(self, topic: str) -> bool:
        """Return True if players have had time to read a question, and have not answered it."""
        if self.asked is None or self.asked[0] != topic:
            self.asked = (topic, self.t_ns)
        return self.asked[1] is not None and self.t_ns - self.asked[1] >= _READS_NS

    def _enter_pips(self, item: Item) -> None:
        """Enter the pips of hands that nobody saw, for which the page has a field."""
        known = {(hand, seat): pips for hand, seat, pips, _ in _pips_left(self.stream.truth(item.done))}
        for hand, seat, pips, estimate in _pips_left(self.session.state):
            if estimate is not None and known.get((hand, seat), pips) != pips and self._has_read(f"{hand} {seat}"):
                self.taps += 1
                self._feed(Amend(estimate, RevealPips(seat, known[hand, seat])), item)
                self._feed(Confirmed((estimate,)), item)

    def _maybe_wrong(self, answer: Answer) -> Answer:
        """Return the answer, or sometimes a wrong one if the players answer wrongly."""
        choices = len(self.session.questions[-1].answers)
        if self.answers is not Answers.WRONG or choices < 2 or self.rng.random() >= _WRONG_ANSWERS:
            return answer
        return Answer((answer.choice + 1 + int(self.rng.integers(choices - 1))) % choices, answer.topic)

    def _tell(self, event: Input, item: Item, log: int, announced: tuple[Announcement, ...], took_ms: float) -> None:
        fresh = self.session.state.log[log:]
        if isinstance(event, TableView) and not (fresh or announced):
            return
        truth = self.stream.truth(item.done)
        true = self.stream.steps[item.done - 1].event
        self._say(f"{self.t_ns / 1e9:7.1f} {_text(event)}  [{took_ms:.1f} ms; true: {true}]")
        for logged in fresh:
            self._say(f"          log: {logged if not isinstance(logged, MatchStart) else 'MatchStart'}")
        for one in announced:
            shown = f"ASKS: {one.text} {list(one.choices)}" if isinstance(one, Ambiguity) else ""
            self._say(f"          {shown or 'says: ' + describe(one, self.stream.players)}")  # type: ignore[arg-type]
        now = self.session.state.game
        if now is not None and truth.game is not None and now.totals != truth.game.totals:
            self._say(f"          totals {now.totals}, true {truth.game.totals}")

    def _say(self, line: str) -> None:
        if self.trace:
            print(line)


def without_zones(stream: Stream) -> Stream:
    """Return a stream of a table that was just installed: no zones, and no buttons."""
    items = tuple(item for item in stream.items if item.event is None)
    return Stream(stream.rules, stream.players, Zones(), stream.steps, stream.begins_ns, items, stream.gaps)


def _pips_left(state: State) -> list[tuple[int, Seat, int, Seq | None]]:
    """Return the pips left: number of the hand, player, pips, and number of the entry if it is an estimate."""
    hand, found = 0, list[tuple[int, Seat, int, Seq | None]]()
    for entry in entries(state):
        match entry.action:
            case NewHand():
                hand += 1
            case Reveal(seat=seat, tiles=tiles):
                found.append((hand, seat, sum(tile.pips for tile in tiles), None))
            case RevealPips(seat=seat, pips=pips):
                found.append((hand, seat, pips, entry.seq if entry.inferred else None))
            case _:
                pass
    return found


def _plays(state: State) -> list[tuple[int, object]]:
    return [(entry.action.seat, entry.action.tile) for entry in entries(state) if isinstance(entry.action, Play)]


def _text(event: Input) -> str:
    if not isinstance(event, TableView):
        return str(event)
    changes = " ".join(
        f"{change.kind}:{'-'.join(str(half.pips) for half in change.tile.halves) or 'back'}" for change in event.changes
    )
    return f"view of {len(event.tiles)}: {changes or 'no change'}"
