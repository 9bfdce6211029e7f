"""Replay recordings of simulated tables and compare the score with the ground truth."""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import cv2
import numpy as np

import engine
from engine import MatchStart, NewHand, NodeId, Seq, set_name
from lab.evaluate.shadow import FollowedHands
from lab.matches.game_script import TrueEvent, TruthfulPlayers, Zone
from lab.matches.judged_hands import NO_HAND, HandJudged, judge_hand, true_hands
from lab.render.paint import STRAIGHT, Bump
from tallybone.json_values import JsonValueError, from_json
from tallybone.recording.format import Damage, RecordingError, Topic
from tallybone.recording.reader import read_recording
from tallybone.replay.run import ReplaySettings, ReplayStep, opened_replay
from tallybone.session.inputs import Answer
from tallybone.session.places import Point
from tallybone.session.questions import Ambiguity
from tallybone.session.session import Session
from tallybone.sources.source import Item, RecordedInput, Source
from vision.reading import Face, SeenTile
from vision.tracking.camera_motion import Alignment
from vision.tracking.perception import Perception
from vision.tracking.table_view import ChangeKind, TableView
from vision.tracking.tracks import moved_tile

# Read the ground truth of a simulated table, and compare each scored hand and the bare reader with it.


class TruthError(RecordingError):
    """A recording contains no usable ground truth."""


@dataclass(frozen=True, slots=True)
class TruePosition:
    """True position of a tile in the picture.

    Attributes:
        pips: Numbers in ascending order. Empty if unknown, as for face-down tiles.
        zone: Part of the table that the tile belongs to.
    """

    pips: tuple[int, ...]
    zone: Zone
    center_px: Point
    side_px: float


@dataclass(frozen=True, slots=True)
class Truth:
    """Ground truth of a recording.

    Attributes:
        events: All events of the match, in order.
        states: State of the match after each event.
        tiles_ns, tiles: Start time of each arrangement of tiles, and the positions of the tiles in it.
        bumps: For each arrangement, the shift of the camera right and down in pixels and its rotation in degrees.
        look: Name of the table's look. Empty if unknown.
        difficulty: Name of the difficulty. Empty if unknown.
    """

    events: tuple[TrueEvent, ...]
    states: tuple[engine.State, ...]
    tiles_ns: tuple[int, ...]
    tiles: tuple[tuple[TruePosition, ...], ...]
    bumps: tuple[Bump, ...] = ()
    look: str = ""
    difficulty: str = ""

    def tiles_at(self, t_ns: int) -> tuple[TruePosition, ...]:
        """Return the positions of the tiles at *t_ns*. Empty before the first arrangement."""
        at = bisect_right(self.tiles_ns, t_ns) - 1
        return self.tiles[at] if at >= 0 else ()

    def bump_at(self, t_ns: int) -> Bump:
        """Return the displacement of the camera at *t_ns*, none before the first arrangement."""
        at = bisect_right(self.tiles_ns, t_ns) - 1
        return self.bumps[at] if at >= 0 else STRAIGHT

    def state_at(self, t_ns: int) -> engine.State:
        """Return the state of the match after all events up to *t_ns*."""
        at = bisect_right(self.events, t_ns, key=lambda event: event.t_ns) - 1
        return self.states[at] if at >= 0 else engine.State()


def read_truth(path: Path) -> Truth:
    """Read the ground truth of a recording.

    Raises:
        TruthError: If the recording has no ground truth, or this version cannot parse it.
        RecordingError: If the file is not a recording.
        OSError: If the file cannot be read.
    """
    events: list[TrueEvent] = []
    tiles: list[tuple[int, tuple[TruePosition, ...]]] = []
    bumps: list[Bump] = []
    table: Mapping[str, Any] = {}
    for record in read_recording(path):
        if isinstance(record, Damage) or record.topic is not Topic.TRUTH:
            continue
        payload: Any = record.payload
        try:
            match payload["kind"]:
                case "event":
                    events.append(_event(payload, record.t_ns))
                case "tiles":
                    tiles.append((record.t_ns, tuple(_position(tile) for tile in payload["tiles"])))
                    right_px, down_px, degrees = payload.get("bump", STRAIGHT)
                    bumps.append((float(right_px), float(down_px), float(degrees)))
                case "table":
                    table = payload
                case _:
                    pass
        except (JsonValueError, KeyError, TypeError, ValueError) as error:
            raise TruthError(f"{path}: record {record.number}: the truth cannot be read: {error}") from error
    if not events:
        raise TruthError(f"{path}: it has no ground truth; `tallybone simulate` makes recordings with it")
    return Truth(
        tuple(events),
        tuple(accumulate(events, lambda state, event: engine.apply(state, event.event)[0], initial=engine.State()))[1:],
        tuple(t_ns for t_ns, _ in tiles),
        tuple(positions for _, positions in tiles),
        tuple(bumps),
        str(table.get("look", "")),
        str(table.get("difficulty", "")),
    )


def _event(payload: Mapping[str, Any], t_ns: int) -> TrueEvent:
    event: engine.Event = from_json(payload["event"], engine.Event, Topic.TRUTH.path)
    return TrueEvent(t_ns, event, int(payload["points"]), tuple(payload["totals"]), int(payload["ended_ns"]))


def _position(tile: Mapping[str, Any]) -> TruePosition:
    a, b, c, _ = corners = tile["corners_px"]
    center = (sum(x for x, _ in corners) / 4, sum(y for _, y in corners) / 4)
    side_px = math.sqrt(math.dist(a, b) * math.dist(b, c) / 2)
    return TruePosition(tuple(sorted(tile["pips"])), Zone(tile["zone"]), center, side_px)


# Maximum distance between the centres of a detected tile and the true tile, in sides of a half.
_SAME_PLACE = 0.5


@dataclass(frozen=True, slots=True)
class ReaderFigures:
    """Accuracy of the reader for newly detected tiles of the layout.

    Attributes:
        found: Number of true tiles that were detected.
        right: Number of these with the right pips.
        spare: Number of detections without a true tile, and of repeated detections.
    """

    found: int = 0
    right: int = 0
    spare: int = 0


class ReaderJudge:
    """Compares consecutive views of a table with the ground truth. *figures* holds the results so far."""

    def __init__(self) -> None:
        self._known: Counter[tuple[int, ...]] = Counter()
        self.figures = ReaderFigures()

    def begin_hand(self) -> None:
        """Forget the tiles detected so far."""
        self._known.clear()

    def add(self, view: TableView, true_tiles: tuple[TruePosition, ...]) -> None:
        """Compare the newly placed face-up tiles of a view with the true tiles."""
        for change in view.changes:
            if change.kind is ChangeKind.PLACED and change.tile.face is Face.UP:
                self._judge(moved_tile(change.tile, view.aim.motion), true_tiles)

    def _judge(self, tile: SeenTile, true_tiles: tuple[TruePosition, ...]) -> None:
        """Count a detected tile as a true or false positive."""
        # Detections of true tiles in other zones than the layout do not count.
        before = self.figures
        spare = replace(before, spare=before.spare + 1)
        true = min(true_tiles, key=lambda position: math.dist(position.center_px, tile.center_px), default=None)
        if true is None or math.dist(true.center_px, tile.center_px) >= _SAME_PLACE * true.side_px:
            self.figures = spare
        elif true.zone is Zone.LAYOUT:
            self._known[true.pips] += 1
            copies = sum(other.pips == true.pips and other.zone is Zone.LAYOUT for other in true_tiles)
            is_right = tuple(sorted(half.pips for half in tile.halves)) == true.pips
            found = ReaderFigures(before.found + 1, before.right + is_right, before.spare)
            self.figures = spare if self._known[true.pips] > copies else found


# Maximum number of answers that the players give after each item.
_MAX_ANSWERS = 8


@dataclass(frozen=True, slots=True)
class Latency:
    """Delay until a play is scored.

    Attributes:
        settled_ms: Time from the last motion to the frame in which the play was detected.
    """

    settled_ms: float
    judged_ms: float

    @property
    def whole_ms(self) -> float:
        """Sum of both delays."""
        return self.settled_ms + self.judged_ms


@dataclass(frozen=True, slots=True)
class CameraReport:
    """Estimated camera motion, valid until the next report.

    Attributes:
        lost: Reason why the table could not be followed, or None.
        error_px: Error of the alignment at the corner of the picture where it is largest.
    """

    t_ns: int
    aim: Alignment
    lost: str | None
    error_px: float


@dataclass(frozen=True, slots=True)
class SessionJudged:
    """Evaluation of a recording.

    Attributes:
        look, difficulty: Look and difficulty of the table, from the ground truth.
        hands: Comparison of each hand.
        reader: Accuracy of the reader without the rules.
        latencies: Delay of each scored play.
        true_totals, seen_totals: True and scored totals at the end, by seat.
        is_winner_right: True if the scored winner is the true one, or if neither match has a winner.
        complaints: Messages about unusable parts of the recording.
        camera: Reports of the camera motion, in order of time.
    """

    path: Path
    match: MatchStart
    look: str
    difficulty: str
    hands: tuple[HandJudged, ...]
    reader: ReaderFigures
    asked: int
    answered: int
    latencies: tuple[Latency, ...]
    seconds: float
    true_totals: tuple[int, ...]
    seen_totals: tuple[int, ...]
    is_winner_right: bool
    complaints: tuple[str, ...] = ()
    camera: tuple[CameraReport, ...] = ()

    @property
    def game(self) -> str:
        """Name of the game, with the number of players and the tile set."""
        rules = self.match.rules
        return f"{rules.name} of {len(self.match.players)}, {set_name(rules.max_pips)}"


@dataclass(slots=True)
class ReplayResults:
    """Results of a replay so far.

    Attributes:
        events: For each event of the log, the time of its item, and the time to process it in ms.
    """

    truth: Truth
    reader: ReaderJudge = field(default_factory=ReaderJudge)
    hands: FollowedHands = field(default_factory=FollowedHands)
    events: dict[Seq, tuple[int, float]] = field(default_factory=dict)
    asked: int = 0
    begins_ns: int | None = None
    camera: list[CameraReport] = field(default_factory=list)

    def add(self, step: ReplayStep, took_ms: float) -> None:
        """Add the results of an item that took *took_ms* to process."""
        if step.effects is None:
            return
        happened = step.effects
        if step.frame or step.view is not None:
            self.begins_ns = step.t_ns if self.begins_ns is None else self.begins_ns
        at = len(happened.session.state.log) - len(happened.events)
        for event in happened.events:
            if isinstance(event, NewHand):
                self.reader.begin_hand()
            self.events[Seq(at)] = (step.t_ns, took_ms)
            at += 1
        self.asked += sum(isinstance(outcome, Ambiguity) for outcome in happened.announcements)
        if step.view is not None:
            self._report_camera(step.view, step.t_ns)
        if step.view is not None and step.view.changes:
            self.reader.add(step.view, self.truth.tiles_at(step.t_ns))
        self.hands.follow(happened, step.t_ns)

    def _report_camera(self, view: TableView, t_ns: int) -> None:
        """Add a report of the camera motion if it changed."""
        last = self.camera[-1] if self.camera else None
        if view.size_px is None or (last is not None and (last.aim, last.lost) == (view.aim, view.lost)):
            return
        true = true_aim(self.truth.bump_at(t_ns), view.size_px)
        self.camera.append(CameraReport(t_ns, view.aim, view.lost, view.aim.farthest_px(true, view.size_px)))


def judge_session(path: Path, *, perception: Perception | None = None) -> SessionJudged:
    """Replay a recording and compare the score with the ground truth.

    Args:
        perception: Perception of the table. None for the shipped reader.

    Raises:
        TruthError: If the recording has no ground truth or no match.
        EngineError: If the game does not exist.
        VisionError: If the recording has no pictures, or the models cannot be loaded.
        OSError: If the file cannot be read.
    """
    truth = read_truth(path)
    players, complaints = TruePlayers(truth), list[str]()
    results = ReplayResults(truth)
    with opened_replay(path, ReplaySettings(), complaints.append, perception=perception, through=players.among) as run:
        if run.match is None:
            raise TruthError(f"{path}: it contains no game")
        for step in run.steps:
            results.add(step, players.observe(step))
        seen = results.hands.session.state
        results.hands.leave_hand(seen)
        match = run.match
    hands = tuple(_hands(truth, results.hands))
    true_game, seen_game = truth.states[-1].game, seen.game
    return SessionJudged(
        path,
        match,
        truth.look,
        truth.difficulty,
        hands,
        results.reader.figures,
        results.asked,
        players.answered,
        tuple(_latencies(truth, results, hands)),
        (results.hands.t_ns - (results.begins_ns or 0)) / 1e9,
        () if true_game is None else true_game.totals,
        () if seen_game is None else seen_game.totals,
        true_game is not None and seen_game is not None and true_game.winner == seen_game.winner,
        tuple(complaints),
        tuple(results.camera),
    )


def true_aim(bump: Bump, size_px: tuple[int, int]) -> Alignment:
    """Return the true alignment of a camera with displacement *bump* since its first frame."""
    right_px, down_px, degrees = bump
    turn = cv2.getRotationMatrix2D((size_px[0] / 2, size_px[1] / 2), degrees, 1.0)
    return Alignment.of(turn + np.array([[0.0, 0.0, right_px], [0.0, 0.0, down_px]]))


def _hands(truth: Truth, followed: FollowedHands) -> Iterator[HandJudged]:
    """Yield the comparison of each true hand, then of surplus scored hands."""
    true = tuple(true_hands([event.event for event in truth.events]))
    for at, (played, seen, is_flagged, t_ns) in enumerate(followed.paired_with(true)):
        yield judge_hand(at + 1, played or NO_HAND, seen, closed_ns=t_ns, is_flagged=is_flagged)


def _latencies(truth: Truth, results: ReplayResults, hands: tuple[HandJudged, ...]) -> Iterator[Latency]:
    """Yield the delay of each true play that was scored, in order."""
    ended_ns = {NodeId(at): true.ended_ns for at, true in enumerate(truth.events)}
    for play in (play for hand in hands for play in hand.plays):
        event = None if play.seen is None else results.events.get(Seq(play.seen.node))
        if event is not None:
            yield Latency((event[0] - ended_ns[play.truth.node]) / 1e6, event[1])


class TruePlayers:
    """Players who know the ground truth, and add their answers to questions to the recorded inputs."""

    def __init__(self, truth: Truth) -> None:
        self._truth = truth
        self._session: Session | None = None
        self._given_ns = 0
        self._players = TruthfulPlayers()
        self.answered = 0

    def among(self, _source: Source, items: Iterator[Item]) -> Iterator[Item]:
        """Yield the items, each followed by up to _MAX_ANSWERS answers to open questions."""
        for item in items:
            self._given_ns = time.perf_counter_ns()
            yield item
            if isinstance(item, Damage):
                continue
            for _ in range(_MAX_ANSWERS):
                answer = self._answer(item.t_ns)
                if answer is None:
                    break
                before = self._session
                yield _answer_input(answer, item.t_ns)
                self.answered += 1
                if self._session == before:
                    break

    def observe(self, step: ReplayStep) -> float:
        """Update the session after an item.

        Return the time in ms since the item was yielded, 0 before the first item.
        """
        now_ns = time.perf_counter_ns()
        if step.effects is not None:
            self._session = step.effects.session
        return (now_ns - self._given_ns) / 1e6 if self._given_ns else 0.0

    def _answer(self, t_ns: int) -> Answer | None:
        """Return the players' answer at *t_ns*, or None if there is no new question or no right answer."""
        self._players.truth = self._truth.state_at(t_ns)
        return None if self._session is None else self._players.answer(self._session)


def _answer_input(answer: Answer, t_ns: int) -> RecordedInput:
    return RecordedInput(t_ns, "an answer", lambda: answer)
