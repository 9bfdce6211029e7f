"""Replay recordings of simulated tables and judge them; simulated players answer the questions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import cv2
import numpy as np

from engine import MatchStart, NewHand, NodeId, Seq, State, entries, replay, set_name
from synthetic.render.motion import Bump
from tallybone.evaluate.hands import EyeFigures, EyeJudge, HandJudged, HandScored, hand_scored, judge_hand
from tallybone.evaluate.truth import Truth, TruthError, read_truth
from tallybone.recording.format import Damage
from tallybone.replay.run import ReplaySettings, ReplayStep, opened_replay
from tallybone.session.inputs import Answer
from tallybone.session.referee import Ambiguity
from tallybone.session.session import Session
from tallybone.simulate.players import TruthfulPlayers
from tallybone.sources.source import Item, RecordedInput, Source
from vision.tracking.camera_motion.alignment import Alignment
from vision.tracking.perception import Perception
from vision.tracking.table_view import TableView

# Players who have answered so often without any change stop answering.
_PATIENCE = 8


@dataclass(frozen=True, slots=True)
class Latency:
    """How long the table took to show a play.

    Attributes:
        settled_ms: From the last motion to the frame that showed it.
        judged_ms: Time that following that frame took.
    """

    settled_ms: float
    judged_ms: float

    @property
    def whole_ms(self) -> float:
        """The sum of both."""
        return self.settled_ms + self.judged_ms


@dataclass(frozen=True, slots=True)
class CameraSaid:
    """The state of the camera, until the next one.

    Attributes:
        t_ns: Since when.
        aim: Where it points.
        lost: Why the table could not be followed; None while it could.
        error_px: How far off that puts a corner of the picture, at most.
    """

    t_ns: int
    aim: Alignment
    lost: str | None
    error_px: float


@dataclass(frozen=True, slots=True)
class SessionJudged:
    """How a recording was followed.

    Attributes:
        path: The recording.
        match: The game.
        look, difficulty: Of the table, as the truth names them.
        hands: Each hand that was played.
        eye: The tiles as the eye read them without the rules.
        asked: How many questions were asked.
        answered: How many of them the players answered.
        latencies: Of each play that was said.
        seconds: Time at the table.
        true_totals, seen_totals: The points of each player in the end, and those that were scored.
        is_winner_right: Whether the match was scored with the right winner, or rightly with none yet.
        complaints: The parts of the recording that could not be used.
        camera: The states of the camera, in the order of time.
    """

    path: Path
    match: MatchStart
    look: str
    difficulty: str
    hands: tuple[HandJudged, ...]
    eye: EyeFigures
    asked: int
    answered: int
    latencies: tuple[Latency, ...]
    seconds: float
    true_totals: tuple[int, ...]
    seen_totals: tuple[int, ...]
    is_winner_right: bool
    complaints: tuple[str, ...] = ()
    camera: tuple[CameraSaid, ...] = ()

    @property
    def game(self) -> str:
        """The game with its players and its tiles."""
        rules = self.match.rules
        return f"{rules.name} of {len(self.match.players)}, {set_name(rules.max_pips)}"


@dataclass(slots=True)
class Followed:
    """The results of a replay so far.

    Attributes:
        truth: The truth of the recording.
        closed: Each hand that was left behind, whether anything of it was flagged, and when it was left.
        totals: The points of the seats then.
        said: For each event of the log, the time of its item, and how long following that took.
    """

    truth: Truth
    eye: EyeJudge = field(default_factory=EyeJudge)
    closed: list[tuple[HandScored, bool, int]] = field(default_factory=list)
    said: dict[Seq, tuple[int, float]] = field(default_factory=dict)
    asked: int = 0
    session: Session = field(default_factory=Session)
    begins_ns: int | None = None
    t_ns: int = 0
    is_dealt: bool = False
    totals: tuple[int, ...] = ()
    camera: list[CameraSaid] = field(default_factory=list)

    def add(self, seen: ReplayStep, took_ms: float) -> None:
        """Take the results of an item."""
        if seen.happened is None:
            return
        before, happened = self.session, seen.happened
        self.t_ns = seen.t_ns
        if seen.frame or seen.view is not None:
            self.begins_ns = seen.t_ns if self.begins_ns is None else self.begins_ns
        at = len(happened.session.state.log) - len(happened.events)
        for event in happened.events:
            if isinstance(event, NewHand):
                self.leave_hand(before, replay(happened.session.state.log[:at]))
                self.is_dealt = True
            self.said[Seq(at)] = (seen.t_ns, took_ms)
            at += 1
        self.asked += sum(isinstance(one, Ambiguity) for one in happened.announcements)
        if seen.view is not None:
            self._look_at_camera(seen.view, seen.t_ns)
        if seen.view is not None and seen.view.changes:
            self.eye.saw(seen.view, self.truth.lying_at(seen.t_ns))
        self.session = happened.session

    def _look_at_camera(self, view: TableView, t_ns: int) -> None:
        """Keep the state of the camera where it is new."""
        last = self.camera[-1] if self.camera else None
        if view.size_px is None or (last is not None and (last.aim, last.lost) == (view.aim, view.lost)):
            return
        true = true_aim(self.truth.bump_at(t_ns), view.size_px)
        self.camera.append(CameraSaid(t_ns, view.aim, view.lost, view.aim.farthest_px(true, view.size_px)))

    def leave_hand(self, session: Session, state: State) -> None:
        """Leave a hand behind, if one was dealt, with the match as *state* has it then."""
        self.eye.begin_hand()
        if self.is_dealt:
            self.closed.append((hand_scored(state, self.totals), _is_flagged(session), self.t_ns))
            self.totals = () if state.game is None else state.game.totals


def judge_session(path: Path, *, perception: Perception | None = None) -> SessionJudged:
    """Follow a recording and judge it.

    Args:
        path: A recording of a simulated table.
        perception: Reads the table; by default with the shipped reader.

    Raises:
        TruthError: If it holds no truth.
        EngineError: If there is no such game.
        VisionError: If it cannot be read.
        OSError: If it cannot be read.
    """
    truth = read_truth(path)
    players, complaints = TruePlayers(truth), list[str]()
    followed = Followed(truth)
    with opened_replay(path, ReplaySettings(), complaints.append, perception=perception, through=players.among) as run:
        if run.match is None:
            raise TruthError(f"{path}: no game is played there")
        for seen in run.steps:
            followed.add(seen, players.saw(seen))
        followed.leave_hand(followed.session, followed.session.state)
        match = run.match
    hands = tuple(_hands(truth, followed))
    true_game, seen_game = truth.states[-1].game, followed.session.state.game
    return SessionJudged(
        path,
        match,
        truth.look,
        truth.difficulty,
        hands,
        followed.eye.figures,
        followed.asked,
        players.answered,
        tuple(_latencies(truth, followed, hands)),
        (followed.t_ns - (followed.begins_ns or 0)) / 1e9,
        () if true_game is None else true_game.totals,
        () if seen_game is None else seen_game.totals,
        true_game is not None and seen_game is not None and true_game.winner == seen_game.winner,
        tuple(complaints),
        tuple(followed.camera),
    )


def true_aim(bump: Bump, size_px: tuple[int, int]) -> Alignment:
    """Return the aim of a camera that was bumped so, and was straight when it first saw the table."""
    right_px, down_px, degrees = bump
    turn = cv2.getRotationMatrix2D((size_px[0] / 2, size_px[1] / 2), degrees, 1.0)
    return Alignment.of(turn + np.array([[0.0, 0.0, right_px], [0.0, 0.0, down_px]]))


def _is_flagged(session: Session) -> bool:
    """Return whether something is asked, or an action of the hand is irregular or inferred."""
    if session.questions:
        return True
    dealt = [one.seq for one in entries(session.state) if isinstance(one.action, NewHand)]
    doubtful = (*session.state.irregular, *session.state.inferred)
    return any(seq >= dealt[-1] for seq in doubtful) if dealt else bool(doubtful)


def _hands(truth: Truth, followed: Followed) -> Iterator[HandJudged]:
    """Yield each hand of the truth, judged."""
    nothing = HandScored((), (), None)  # of a hand that nobody played: its tiles are spare
    for at, (true, closed) in enumerate(zip_longest(true_hands(truth), followed.closed)):
        seen, is_flagged, t_ns = closed or (None, False, followed.t_ns)
        yield judge_hand(at + 1, true or nothing, seen, closed_ns=t_ns, is_flagged=is_flagged)


def true_hands(truth: Truth) -> Iterator[HandScored]:
    """Yield each hand of the truth."""
    begins = [at for at, one in enumerate(truth.events) if isinstance(one.event, NewHand)]
    before: tuple[int, ...] = ()
    for end in [*begins[1:], len(truth.states)] if begins else []:
        state = truth.states[end - 1]
        yield hand_scored(state, before)
        before = () if state.game is None else state.game.totals


def _latencies(truth: Truth, followed: Followed, hands: tuple[HandJudged, ...]) -> Iterator[Latency]:
    """Yield how long after its last motion each play was shown."""
    ended_ns = {NodeId(at): one.ended_ns for at, one in enumerate(truth.events)}
    for play in (play for hand in hands for play in hand.plays):
        said = None if play.seen is None else followed.said.get(Seq(play.seen.node))
        if said is not None:
            yield Latency((said[0] - ended_ns[play.truth.node]) / 1e6, said[1])


class TruePlayers:
    """Players who know the truth: they put their answers among the inputs when they are asked, and count them."""

    def __init__(self, truth: Truth) -> None:
        self._truth = truth
        self._session: Session | None = None
        self._given_ns = 0
        self._players = TruthfulPlayers()
        self.answered = 0

    def among(self, _source: Source, items: Iterator[Item]) -> Iterator[Item]:
        """Yield the items, and after each the answers to the questions then."""
        for item in items:
            self._given_ns = time.perf_counter_ns()
            yield item
            if isinstance(item, Damage):
                continue
            for _ in range(_PATIENCE):
                answer = self._answer(item.t_ns)
                if answer is None:
                    break
                before = self._session
                yield _said(answer, item.t_ns)
                self.answered += 1
                if self._session == before:
                    break

    def saw(self, seen: ReplayStep) -> float:
        """Take the results of an item; return how many milliseconds they took."""
        now_ns = time.perf_counter_ns()
        if seen.happened is not None:
            self._session = seen.happened.session
        return (now_ns - self._given_ns) / 1e6 if self._given_ns else 0.0

    def _answer(self, t_ns: int) -> Answer | None:
        """Return their answer now; None where nothing is asked, or none of the answers is right."""
        self._players.truth = self._truth.state_at(t_ns)
        return None if self._session is None else self._players.answer(self._session)


def _said(answer: Answer, t_ns: int) -> RecordedInput:
    return RecordedInput(t_ns, "an answer", lambda: answer)
