"""Read the ground truth of a simulated table, and compare each scored hand and the bare reader with it."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import engine
from synthetic.render.motion import STRAIGHT, Bump
from tallybone.json_values import JsonValueError, from_json
from tallybone.recording.format import Damage, RecordingError, Topic
from tallybone.recording.reader import read_recording
from tallybone.session.touching import Point
from tallybone.simulate.items import TrueEvent, Zone
from tallybone.simulate.players import port_name
from vision.reading import Face, SeenTile
from vision.tracking.table_view import ChangeKind, TableView
from vision.tracking.tracks import moved_tile


class TruthError(RecordingError):
    """A recording contains no usable ground truth."""


@dataclass(frozen=True, slots=True)
class TruePosition:
    """True position of a tile in the picture.

    Attributes:
        pips: Numbers in ascending order. Empty if unknown, as for face-down tiles.
        zone: Part of the table that the tile belongs to.
        center_px: Centre of the tile.
        side_px: Side of a half.
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


# Reasons for points that count as points of a play. A bonus only counts for the totals of the hand.
_OF_PLAYS = (engine.Reason.PLAY, engine.Reason.STEAL)

# Maximum distance between the centres of a detected tile and the true tile, in sides of a half.
_SAME_PLACE = 0.5


@dataclass(frozen=True, slots=True)
class JudgedTile:
    """A tile that was played or stacked in a hand.

    Attributes:
        node: Node id in the layout, or the event's index in the log for a stacked tile.
        seat: Seat of its player.
        tile: Numbers of the tile.
        host: Index within the hand of the tile that it joins or is stacked on. None for the first tile.
        port: Port of the host. Empty for the first tile.
        inner: Touching number. None for a stacked tile.
        points: Points for plays and steals from this tile up to the next one.
    """

    node: engine.NodeId
    seat: engine.Seat
    tile: engine.Tile
    host: int | None
    port: str
    inner: int | None
    points: int

    def __str__(self) -> str:
        """Return a short description."""
        place = "first" if self.host is None else f"at {self.port} of tile {self.host + 1}"
        return f"{self.tile} {place}, {self.points} points, seat {self.seat}"


@dataclass(frozen=True, slots=True)
class HandScored:
    """A hand as scored in a match.

    Attributes:
        laid: Tiles in order of play.
        gained: Points of each seat in the hand.
        over: Outcome at the end of the hand, or None if it has not ended.
    """

    laid: tuple[JudgedTile, ...]
    gained: tuple[int, ...]
    over: engine.HandOver | None


@dataclass(frozen=True, slots=True)
class PlayJudged:
    """A true play, compared with the score.

    Attributes:
        hand: Number of the hand, from 1.
        number: Number of the tile in the hand, from 1.
        truth: The tile as played.
        seen: The tile as scored, or None if it was not scored.
        is_place_right: True if host, port and touching number are right.
    """

    hand: int
    number: int
    truth: JudgedTile
    seen: JudgedTile | None
    is_place_right: bool

    @property
    def is_tile_right(self) -> bool:
        """True if the play was scored with the right pips."""
        return self.seen is not None and self.seen.tile == self.truth.tile

    @property
    def is_seat_right(self) -> bool:
        """True if the play was scored for the right player."""
        return self.seen is not None and self.seen.seat == self.truth.seat

    @property
    def are_points_right(self) -> bool:
        """True if the play was scored with the right points."""
        return self.seen is not None and self.seen.points == self.truth.points

    @property
    def is_wholly_right(self) -> bool:
        """True if tile, place, seat and points are right."""
        return self.is_tile_right and self.is_place_right and self.is_seat_right and self.are_points_right

    def __str__(self) -> str:
        """Return a line with the true and the scored tile."""
        return f"hand {self.hand}, tile {self.number}: {self.truth}; scored: {self.seen or 'nothing'}"


@dataclass(frozen=True, slots=True)
class HandJudged:
    """A true hand, compared with the score.

    Attributes:
        number: Number of the hand, from 1.
        plays: Comparison of each true play.
        spare: Scored tiles without a true play.
        truth: The hand as played.
        seen: The hand as scored, or None if it was missed entirely.
        closed_ns: Time at which the score of the hand was final.
        is_flagged: True if the hand had an open question or an irregular or inferred action at *closed_ns*.
    """

    number: int
    plays: tuple[PlayJudged, ...]
    spare: tuple[JudgedTile, ...]
    truth: HandScored
    seen: HandScored | None
    closed_ns: int
    is_flagged: bool

    @property
    def are_totals_right(self) -> bool:
        """True if every player gained the right points."""
        return self.seen is not None and self.seen.gained == self.truth.gained

    @property
    def is_end_right(self) -> bool:
        """True if the outcome at the end of the hand is right."""
        return self.seen is not None and self.seen.over == self.truth.over

    @property
    def is_score_right(self) -> bool:
        """True if the gained points and the points of every play are right, and no tile is spare."""
        return self.are_totals_right and not self.spare and all(play.are_points_right for play in self.plays)


def hand_scored(state: engine.State, gained_before: Sequence[int]) -> HandScored:
    """Return the last hand of a match. Without a game, it is empty.

    Args:
        state: State of the match at the end of the hand.
        gained_before: Totals by seat before the hand. Empty for zeros.
    """
    if state.game is None:
        return HandScored((), (), None)
    results = engine.history(state)
    starts = (
        at for at, result in enumerate(results) if isinstance(result.entry.action, engine.NewHand | engine.Redeal)
    )
    own = results[max(starts, default=0) :]
    over = [outcome for result in own for outcome in result.outcomes if isinstance(outcome, engine.HandOver)]
    before = tuple(gained_before) or (0,) * len(state.game.totals)
    gained = tuple(after - start for after, start in zip(state.game.totals, before, strict=True))
    return HandScored(_laid(own, state.game.layout), gained, over[-1] if over else None)


def judge_hand(
    number: int, truth: HandScored, seen: HandScored | None, *, closed_ns: int, is_flagged: bool
) -> HandJudged:
    """Compare a scored hand with the true one.

    Tiles with the same numbers are paired first, then the remaining tiles in the order of play.
    """
    scored = () if seen is None else seen.laid
    unmatched = list(range(len(scored)))
    pairs: dict[int, int] = {}
    for at, true in enumerate(truth.laid):
        same = next((other for other in unmatched if scored[other].tile == true.tile), None)
        if same is not None:
            pairs[at] = same
            unmatched.remove(same)
    # Pair the remaining tiles in order of play, because they were probably misread.
    for at in range(len(truth.laid)):
        if at not in pairs and unmatched:
            pairs[at] = unmatched.pop(0)
    true_of = {other: at for at, other in pairs.items()}
    plays = tuple(
        _judge_play(number, at, true, scored[pairs[at]] if at in pairs else None, true_of)
        for at, true in enumerate(truth.laid)
    )
    return HandJudged(number, plays, tuple(scored[at] for at in unmatched), truth, seen, closed_ns, is_flagged)


def _judge_play(hand: int, at: int, truth: JudgedTile, seen: JudgedTile | None, true_of: dict[int, int]) -> PlayJudged:
    if seen is None:
        return PlayJudged(hand, at + 1, truth, None, is_place_right=False)
    host = None if seen.host is None else true_of.get(seen.host, -1)
    is_right = (host, seen.port, seen.inner) == (truth.host, truth.port, truth.inner)
    return PlayJudged(hand, at + 1, truth, seen, is_place_right=is_right)


def _laid(results: Sequence[engine.ActionResult], layout: engine.Layout) -> tuple[JudgedTile, ...]:
    """Return the played and stacked tiles, each with the points up to the next."""
    starts = [at for at, result in enumerate(results) if isinstance(result.entry.action, engine.Play | engine.Stack)]
    laid: list[JudgedTile] = []
    numbers: dict[engine.NodeId, int] = {}
    for at, end in pairwise((*starts, len(results))):
        tile = _tile_of(results[at], layout, numbers, sum(_points(result) for result in results[at:end]))
        if tile is not None:
            numbers[tile.node] = len(laid)
            laid.append(tile)
    return tuple(laid)


def _tile_of(
    result: engine.ActionResult, layout: engine.Layout, numbers: dict[engine.NodeId, int], points: int
) -> JudgedTile | None:
    """Return the tile of a play or stack, or None if its node is not in the layout."""
    action, id_ = result.entry.action, engine.NodeId(result.entry.seq)
    if isinstance(action, engine.Stack):
        return JudgedTile(id_, action.seat, action.tile, numbers.get(action.on), "top", None, points)
    node = layout.find(id_)
    if node is None or not isinstance(action, engine.Play):
        return None
    host = None if node.joins is None else numbers.get(node.joins.host)
    port = "" if node.joins is None else port_name(node.joins.port)
    return JudgedTile(id_, action.seat, node.tile, host, port, node.inner, points)


def _points(result: engine.ActionResult) -> int:
    """Return the points for plays and steals in the outcomes of an action."""
    scored = (outcome for outcome in result.outcomes if isinstance(outcome, engine.Scored))
    return sum(outcome.points for outcome in scored if outcome.reason in _OF_PLAYS)


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
        """Count a detected tile as found or spare.

        Detections of true tiles in other zones than the layout do not count.
        """
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
