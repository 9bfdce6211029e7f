"""Hands of a match, and their comparison with the true hands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import engine
from engine import State, apply
from lab.matches.game_script import port_name

# Reasons for points that count as points of a play. A bonus only counts for the totals of the hand.
_OF_PLAYS = (engine.Reason.PLAY, engine.Reason.STEAL)


@dataclass(frozen=True, slots=True)
class JudgedTile:
    """A tile that was played or stacked in a hand.

    Attributes:
        node: Node id in the layout, or the event's index in the log for a stacked tile.
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


NO_HAND = HandScored((), (), None)


@dataclass(frozen=True, slots=True)
class PlayJudged:
    """A true play, compared with the score.

    Attributes:
        hand: Number of the hand, from 1.
        number: Number of the tile in the hand, from 1.
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
        return f"hand {self.hand}, tile {self.number}: {self.truth}; scored: {self.seen or 'nothing'}"


@dataclass(frozen=True, slots=True)
class HandJudged:
    """A true hand, compared with the score.

    Attributes:
        number: Number of the hand, from 1.
        plays: Comparison of each true play.
        spare: Scored tiles without a true play.
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


def is_unflagged(hand: HandJudged) -> bool:
    """Return True if a hand has a wrong score but is not flagged."""
    return not hand.is_score_right and not hand.is_flagged


@dataclass(frozen=True, slots=True)
class WrongPlay:
    """A mistake in the score.

    Attributes:
        t_ns: Time at which the score was final.
        is_flagged: True if the hand had an open question or an irregular or inferred action at *t_ns*.
    """

    t_ns: int
    text: str
    is_flagged: bool


def wrong_plays_in(hands: Iterable[HandJudged]) -> Iterator[WrongPlay]:
    """Yield all mistakes in the score."""
    for hand in hands:
        for play in hand.plays:
            if not play.is_wholly_right:
                yield WrongPlay(hand.closed_ns, str(play), hand.is_flagged)
        for spare in hand.spare:
            yield WrongPlay(hand.closed_ns, f"hand {hand.number}: {spare} was never played", hand.is_flagged)
        if hand.seen is None:
            yield WrongPlay(hand.closed_ns, f"hand {hand.number}: it was missed entirely", hand.is_flagged)
        elif not (hand.are_totals_right and hand.is_end_right):
            yield WrongPlay(hand.closed_ns, f"hand {hand.number}: {_end(hand)}", hand.is_flagged)


def _end(hand: HandJudged) -> str:
    assert hand.seen is not None  # checked by the caller
    ended, scored = (
        "it is not finished" if end.over is None else f"{end.over.ending.value}, {end.over.result.points} points"
        for end in (hand.truth, hand.seen)
    )
    true, seen = (" : ".join(map(str, end.gained)) for end in (hand.truth, hand.seen))
    return f"{true} to gain, {ended}; scored: {seen}, {scored}"


def true_hands(log: Sequence[engine.Event]) -> Iterator[HandScored]:
    """Yield each hand of a match."""
    states = tuple(accumulate(log, lambda state, event: apply(state, event)[0], initial=State()))[1:]
    begins = [at for at, event in enumerate(log) if isinstance(event, engine.NewHand)]
    before: tuple[int, ...] = ()
    for end in [*begins[1:], len(states)] if begins else []:
        state = states[end - 1]
        yield hand_scored(state, before)
        before = () if state.game is None else state.game.totals
