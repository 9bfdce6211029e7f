"""Judge each scored hand, play by play, and the unaided eye, against the truth."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from engine import (
    ActionResult,
    HandOver,
    Layout,
    NewHand,
    NodeId,
    Play,
    Reason,
    Redeal,
    Scored,
    Seat,
    Stack,
    State,
    Tile,
    history,
)
from tallybone.evaluate.truth import TrueLying
from tallybone.simulate.items import Zone
from tallybone.simulate.players import port_name
from vision.reading import Face, SeenTile
from vision.tracking.table_view import ChangeKind, TableView
from vision.tracking.tracks import moved_tile

# A bonus belongs to the whole hand: its totals show it.
_OF_PLAYS = (Reason.PLAY, Reason.STEAL)

# In sides of a half: a tile that is seen nearer than this to a true one is that.
_SAME_PLACE = 0.5


@dataclass(frozen=True, slots=True)
class JudgedTile:
    """One tile of a hand.

    Attributes:
        node: Its name on the table; of one that was stacked, the place of its event in the log.
        seat: The player who laid it.
        tile: Its numbers.
        host: The tile of the hand against or on which it lies, counted from 0; None for the first.
        port: Where it lies against it.
        inner: The number that touches; None for one that was stacked.
        points: The points until the next tile.
    """

    node: NodeId
    seat: Seat
    tile: Tile
    host: int | None
    port: str
    inner: int | None
    points: int

    def __str__(self) -> str:
        """Return it in a few words."""
        place = "first" if self.host is None else f"at {self.port} of tile {self.host + 1}"
        return f"{self.tile} {place}, {self.points} points, seat {self.seat}"


@dataclass(frozen=True, slots=True)
class HandScored:
    """A hand as a match scored it.

    Attributes:
        laid: Its tiles in order.
        gained: The points of each seat in it.
        over: How it ended; None where it is not over.
    """

    laid: tuple[JudgedTile, ...]
    gained: tuple[int, ...]
    over: HandOver | None


@dataclass(frozen=True, slots=True)
class PlayJudged:
    """One tile that was laid, and how it was scored.

    Attributes:
        hand: Counts from 1.
        number: Counts the tiles of the hand from 1.
        truth: The tile as it was laid.
        seen: The tile as it was scored; None for not at all.
        is_place_right: Whether it lies where it was laid, and the right way round.
    """

    hand: int
    number: int
    truth: JudgedTile
    seen: JudgedTile | None
    is_place_right: bool

    @property
    def is_tile_right(self) -> bool:
        """Whether the pips are right."""
        return self.seen is not None and self.seen.tile == self.truth.tile

    @property
    def is_seat_right(self) -> bool:
        """Whether it was counted for the player who laid it."""
        return self.seen is not None and self.seen.seat == self.truth.seat

    @property
    def are_points_right(self) -> bool:
        """Whether it scored the right points."""
        return self.seen is not None and self.seen.points == self.truth.points

    @property
    def is_wholly_right(self) -> bool:
        """Whether all of it is right."""
        return self.is_tile_right and self.is_place_right and self.is_seat_right and self.are_points_right

    def __str__(self) -> str:
        """Return both sides in one line."""
        return f"hand {self.hand}, tile {self.number}: {self.truth}; scored: {self.seen or 'nothing'}"


@dataclass(frozen=True, slots=True)
class HandJudged:
    """A hand, and how it was scored.

    Attributes:
        number: Counts from 1.
        plays: Its tiles.
        spare: Tiles that were scored and never laid.
        truth: How it went.
        seen: How it was scored; None where nobody noticed that it was played.
        closed_ns: When its score was left as it was.
        is_flagged: Whether something of it was asked, irregular or inferred then.
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
        """Whether each player got the right points."""
        return self.seen is not None and self.seen.gained == self.truth.gained

    @property
    def is_end_right(self) -> bool:
        """Whether it ended as it should, with the right points."""
        return self.seen is not None and self.seen.over == self.truth.over

    @property
    def is_score_right(self) -> bool:
        """Whether every score that was shown is right."""
        return self.are_totals_right and not self.spare and all(one.are_points_right for one in self.plays)


def hand_scored(state: State, gained_before: Sequence[int]) -> HandScored:
    """Return the last hand of a match.

    Args:
        state: The match when the hand was over.
        gained_before: The totals before it, by seat.
    """
    if state.game is None:
        return HandScored((), (), None)
    results = history(state)
    begins = max((at for at, one in enumerate(results) if isinstance(one.entry.action, NewHand | Redeal)), default=0)
    own = results[begins:]
    over = [outcome for one in own for outcome in one.outcomes if isinstance(outcome, HandOver)]
    before = tuple(gained_before) or (0,) * len(state.game.totals)
    gained = tuple(now - was for now, was in zip(state.game.totals, before, strict=True))
    return HandScored(_laid(own, state.game.layout), gained, over[-1] if over else None)


def judge_hand(
    number: int, truth: HandScored, seen: HandScored | None, *, closed_ns: int, is_flagged: bool
) -> HandJudged:
    """Return how a hand was scored."""
    laid = () if seen is None else seen.laid
    left = list(range(len(laid)))
    pairs: dict[int, int] = {}
    for at, one in enumerate(truth.laid):
        same = next((other for other in left if laid[other].tile == one.tile), None)
        if same is not None:
            pairs[at] = same
            left.remove(same)
    # A tile of which nothing is known is the one that was taken for another: in the order in which they were laid.
    for at in range(len(truth.laid)):
        if at not in pairs and left:
            pairs[at] = left.pop(0)
    true_of = {other: at for at, other in pairs.items()}
    plays = tuple(
        _judged(number, at, one, laid[pairs[at]] if at in pairs else None, true_of) for at, one in enumerate(truth.laid)
    )
    return HandJudged(number, plays, tuple(laid[at] for at in left), truth, seen, closed_ns, is_flagged)


def _judged(hand: int, at: int, truth: JudgedTile, seen: JudgedTile | None, true_of: dict[int, int]) -> PlayJudged:
    if seen is None:
        return PlayJudged(hand, at + 1, truth, None, is_place_right=False)
    host = None if seen.host is None else true_of.get(seen.host, -1)
    is_right = (host, seen.port, seen.inner) == (truth.host, truth.port, truth.inner)
    return PlayJudged(hand, at + 1, truth, seen, is_place_right=is_right)


def _laid(results: Sequence[ActionResult], layout: Layout) -> tuple[JudgedTile, ...]:
    """Return the tiles that were laid, each with the points until the next."""
    starts = [at for at, one in enumerate(results) if isinstance(one.entry.action, Play | Stack)]
    laid: list[JudgedTile] = []
    numbers: dict[NodeId, int] = {}
    for at, end in pairwise((*starts, len(results))):
        found = _tile_of(results[at], layout, numbers, sum(_points(one) for one in results[at:end]))
        if found is not None:
            numbers[found.node] = len(laid)
            laid.append(found)
    return tuple(laid)


def _tile_of(result: ActionResult, layout: Layout, numbers: dict[NodeId, int], points: int) -> JudgedTile | None:
    """Return the tile of an action; None where it was refused."""
    action, id_ = result.entry.action, NodeId(result.entry.seq)
    if isinstance(action, Stack):
        return JudgedTile(id_, action.seat, action.tile, numbers.get(action.on), "top", None, points)
    node = layout.find(id_)
    if node is None or not isinstance(action, Play):
        return None
    host = None if node.joins is None else numbers.get(node.joins.host)
    port = "" if node.joins is None else port_name(node.joins.port)
    return JudgedTile(id_, action.seat, node.tile, host, port, node.inner, points)


def _points(result: ActionResult) -> int:
    """Return the points of one action, without those of the whole hand and of the table."""
    return sum(one.points for one in result.outcomes if isinstance(one, Scored) and one.reason in _OF_PLAYS)


@dataclass(frozen=True, slots=True)
class EyeFigures:
    """How the tiles of layouts were read when they were first seen.

    Attributes:
        found: Where one lies.
        right: With the right pips, too.
        spare: Where none lies, or once more.
    """

    found: int = 0
    right: int = 0
    spare: int = 0


class EyeJudge:
    """Takes views of a table one after the other; *figures* says how well they were read so far."""

    def __init__(self) -> None:
        self._known: Counter[tuple[int, ...]] = Counter()
        self.figures = EyeFigures()

    def begin_hand(self) -> None:
        """Forget which tiles lie there."""
        self._known.clear()

    def saw(self, view: TableView, lying: tuple[TrueLying, ...]) -> None:
        """Judge the tiles that a view adds, by how the tiles really lie."""
        for change in view.changes:
            if change.kind is ChangeKind.PLACED and change.tile.face is Face.UP:
                self._judge(moved_tile(change.tile, view.aim.motion), lying)

    def _judge(self, tile: SeenTile, lying: tuple[TrueLying, ...]) -> None:
        """Count a tile where one of the layout lies; where none lies, or a second time, it is spare."""
        before = self.figures
        spare = replace(before, spare=before.spare + 1)
        true = min(lying, key=lambda one: math.dist(one.center_px, tile.center_px), default=None)
        if true is None or math.dist(true.center_px, tile.center_px) >= _SAME_PLACE * true.side_px:
            self.figures = spare
        elif true.zone is Zone.LAYOUT:
            self._known[true.pips] += 1
            there = sum(one.pips == true.pips and one.zone is Zone.LAYOUT for one in lying)
            is_right = tuple(sorted(half.pips for half in tile.halves)) == true.pips
            found = EyeFigures(before.found + 1, before.right + is_right, before.spare)
            self.figures = spare if self._known[true.pips] > there else found
