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
from tallybone.evaluate.hands import EyeFigures, EyeJudge, HandJudged, HandScored, hand_scored, judge_hand
from tallybone.evaluate.truth import Truth, TruthError, read_truth
from tallybone.recording.format import Damage
from tallybone.replay.run import ReplaySettings, ReplayStep, opened_replay
from tallybone.session.inputs import Answer
from tallybone.session.referee import Unclear
from tallybone.session.session import Session
from tallybone.simulate.players import answer_of
from tallybone.sources.source import Item, RecordedInput, Source
from vision.aim import Aim
from vision.perception import Perception
from vision.render.motion import Bump
from vision.table_view import TableView

# Who is asked so often without anything having come of it stops answering.
_PATIENCE = 8


@dataclass(frozen=True, slots=True)
class Latency:
    """How long the table took to say a play.

    Attributes:
        settled_ms: From the last motion to the frame with which it was said.
        judged_ms: What following that frame took.
    """

    settled_ms: float
    judged_ms: float

    @property
    def whole_ms(self) -> float:
        """Both."""
        return self.settled_ms + self.judged_ms


@dataclass(frozen=True, slots=True)
class CameraSaid:
    """What was said of the camera, until something else was.

    Attributes:
        t_ns: Since when.
        aim: Where it points.
        lost: Why the table could not be followed; None while it could.
        error_px: How far off that puts a corner of the picture, at most.
    """

    t_ns: int
    aim: Aim
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
        eye: What the eye made of the tiles without the rules.
        asked: How many questions were asked.
        answered: How many of them the players answered.
        latencies: Of each play that was said.
        seconds: Time at the table.
        true_totals, seen_totals: What each player had in the end, and what was scored.
        is_winner_right: Whether the match was won by whom it was, or by nobody yet.
        complaints: What of the recording could not be used.
        camera: What was said of the camera, in the order of time.
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
class _Followed:
    """What a replay has said so far.

    Attributes:
        truth: What really happened.
        closed: Each hand that was left behind: the match then, whether anything of it was flagged, and when.
        said: With which item each event of the log was said, and how long following it took.
    """

    truth: Truth
    eye: EyeJudge = field(default_factory=EyeJudge)
    closed: list[tuple[State, bool, int]] = field(default_factory=list)
    said: dict[Seq, tuple[int, float]] = field(default_factory=dict)
    asked: int = 0
    session: Session = field(default_factory=Session)
    begins_ns: int | None = None
    t_ns: int = 0
    is_dealt: bool = False
    camera: list[CameraSaid] = field(default_factory=list)

    def add(self, seen: ReplayStep, took_ms: float) -> None:
        """Take what an item has brought about."""
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
        self.asked += sum(isinstance(one, Unclear) for one in happened.said)
        if seen.view is not None:
            self._look_at_camera(seen.view, seen.t_ns)
        if seen.view is not None and seen.view.changes:
            self.eye.saw(seen.view, self.truth.lying_at(seen.t_ns))
        self.session = happened.session

    def _look_at_camera(self, view: TableView, t_ns: int) -> None:
        """Keep what is said of the camera where that is new."""
        last = self.camera[-1] if self.camera else None
        if view.size_px is None or (last is not None and (last.aim, last.lost) == (view.aim, view.lost)):
            return
        true = true_aim(self.truth.bump_at(t_ns), view.size_px)
        self.camera.append(CameraSaid(t_ns, view.aim, view.lost, view.aim.farthest_px(true, view.size_px)))

    def leave_hand(self, session: Session, state: State) -> None:
        """Leave a hand behind, if one was dealt, with the match as *state* has it then."""
        self.eye.begin_hand()
        if self.is_dealt:
            self.closed.append((state, _is_flagged(session), self.t_ns))


def judge_session(path: Path, *, perception: Perception | None = None) -> SessionJudged:
    """Follow a recording and judge it.

    Args:
        path: A recording of a simulated table.
        perception: What reads the table; by default one with the shipped reader.

    Raises:
        TruthError: If it does not say what really happened.
        EngineError: If there is no such game.
        VisionError: If it cannot be read.
        OSError: If it cannot be read.
    """
    truth = read_truth(path)
    players, complaints = TruePlayers(truth), list[str]()
    followed = _Followed(truth)
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


def true_aim(bump: Bump, size_px: tuple[int, int]) -> Aim:
    """Return where a camera points that was bumped so, and was straight when it saw the table first."""
    right_px, down_px, degrees = bump
    turn = cv2.getRotationMatrix2D((size_px[0] / 2, size_px[1] / 2), degrees, 1.0)
    return Aim.of(turn + np.array([[0.0, 0.0, right_px], [0.0, 0.0, down_px]]))


def _is_flagged(session: Session) -> bool:
    """Return whether something is asked, or an action of the hand is called irregular."""
    if session.questions:
        return True
    dealt = [one.seq for one in entries(session.state) if isinstance(one.action, NewHand)]
    return any(seq >= dealt[-1] for seq in session.state.irregular) if dealt else bool(session.state.irregular)


def _hands(truth: Truth, followed: _Followed) -> Iterator[HandJudged]:
    """Yield each hand of the truth with what was made of it."""
    seen = _in_turn([state for state, _, _ in followed.closed])
    flags = [(is_flagged, t_ns) for _, is_flagged, t_ns in followed.closed]
    played = _in_turn(_true_ends(truth))
    for at, (true, found) in enumerate(zip_longest(played, seen)):
        is_flagged, t_ns = flags[at] if found is not None else (False, followed.t_ns)
        # What was scored in a hand that nobody played is spare.
        nothing = HandScored((), (), None)
        yield judge_hand(at + 1, true or nothing, found, closed_ns=t_ns, is_flagged=is_flagged)


def _true_ends(truth: Truth) -> list[State]:
    """Return the match as it was when each hand was over."""
    begins = [at for at, one in enumerate(truth.events) if isinstance(one.event, NewHand)]
    ends = [*begins[1:], len(truth.states)] if begins else []
    return [truth.states[end - 1] for end in ends]


def _in_turn(ends: list[State]) -> list[HandScored]:
    """Return the hand with which each of the matches ends."""
    hands, before = [], tuple[int, ...]()
    for state in ends:
        hands.append(hand_scored(state, before))
        before = () if state.game is None else state.game.totals
    return hands


def _latencies(truth: Truth, followed: _Followed, hands: tuple[HandJudged, ...]) -> Iterator[Latency]:
    """Yield how long after its last motion each play was said."""
    ended_ns = {NodeId(at): one.ended_ns for at, one in enumerate(truth.events)}
    for play in (play for hand in hands for play in hand.plays):
        said = None if play.seen is None else followed.said.get(Seq(play.seen.node))
        if said is not None:
            yield Latency((said[0] - ended_ns[play.truth.node]) / 1e6, said[1])


class TruePlayers:
    """Sit between what came in and what follows it, and put their answers in when they are asked.

    Attributes:
        answered: How many questions they have answered.
    """

    def __init__(self, truth: Truth) -> None:
        """Know what happens."""
        self._truth = truth
        self._session: Session | None = None
        self._given_ns = 0
        self._refused: tuple[object, ...] = ()
        self.answered = 0

    def among(self, _source: Source, items: Iterator[Item]) -> Iterator[Item]:
        """Yield what came in, and after each the answers to what is asked then."""
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
        """Take what an item brought about; return how many milliseconds that took."""
        now_ns = time.perf_counter_ns()
        if seen.happened is not None:
            self._session = seen.happened.session
        return (now_ns - self._given_ns) / 1e6 if self._given_ns else 0.0

    def _answer(self, t_ns: int) -> Answer | None:
        """Return what they answer now; None where nothing is asked, or none of the answers is right."""
        if self._session is None or not self._session.questions:
            return None
        true_state = self._truth.state_at(t_ns)
        asked = (self._session.questions, len(true_state.log))
        if asked == self._refused:  # nothing has changed since
            return None
        answer = answer_of(self._session, true_state)
        self._refused = () if answer is not None else asked
        return answer


def _said(answer: Answer, t_ns: int) -> RecordedInput:
    return RecordedInput(t_ns, "an answer", lambda: answer)
