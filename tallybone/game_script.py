"""A game that two people could play, event by event, with what lies on the table after each: the truth of a demo.

Nobody sees the hands but this script. A camera can see the plays; who leads, draws, knocks, ends the hand and lays
his tiles open is said by buttons, as at a table without boneyard and seat zones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from engine import (
    Draw,
    Event,
    Game,
    Hand,
    HandEnd,
    Knock,
    Lead,
    LeadTile,
    MatchStart,
    NewHand,
    NodeId,
    Phase,
    Play,
    Redeal,
    RedealReason,
    Reveal,
    Rules,
    Scored,
    Seat,
    State,
    Tile,
    apply,
    full_set,
    legal_plays,
)
from tallybone.footprint import Footprint, Laid
from tallybone.lay import Table, lay

# How often a player takes the play that scores most, where any scores.
_LIKES_TO_SCORE = 0.8


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens at the table.

    Attributes:
        event: What it is.
        state: Where it leaves the match.
        laid: Where the tiles of the layout lie after it, in millimetres.
    """

    event: Event
    state: State
    laid: tuple[Laid, ...]

    @property
    def is_seen(self) -> bool:
        """Whether it is for the camera to see; all else is said by a button."""
        return isinstance(self.event, Play)


def play_out(
    rng: np.random.Generator, *, rules: Rules, players: tuple[str, ...], table: Table, hands: int = 1
) -> Iterator[Step]:
    """Yield a match of up to *hands* hands; it ends earlier when it is won."""
    match = _Match(rng, table)
    yield match.step(MatchStart(rules, players))
    for _ in range(hands):
        yield from _hand(match, rules, len(players))
        if match.game.phase is Phase.MATCH_OVER:
            return


@dataclass(slots=True)
class _Match:
    """The match while it is played, with what nobody else sees."""

    rng: np.random.Generator
    table: Table
    state: State = field(default_factory=State)
    laid: tuple[Laid, ...] = ()
    hands: list[list[Tile]] = field(default_factory=list)
    boneyard: list[Tile] = field(default_factory=list)

    @property
    def game(self) -> Game:
        assert self.state.game is not None
        return self.state.game

    @property
    def hand(self) -> Hand:
        assert self.game.hand is not None
        return self.game.hand

    def step(self, event: Event) -> Step:
        self.state, _ = apply(self.state, event)
        return Step(event, self.state, self.laid)

    def deal(self, rules: Rules, seats: int) -> None:
        tiles = full_set(rules.max_pips) * rules.copies
        shuffled = [tiles[at] for at in self.rng.permutation(len(tiles))]
        dealt = rules.dealt(seats)
        self.hands = [shuffled[dealt * seat : dealt * (seat + 1)] for seat in range(seats)]
        self.boneyard = shuffled[dealt * seats :]
        self.laid = ()


def _hand(match: _Match, rules: Rules, seats: int) -> Iterator[Step]:
    """Yield one hand, from the deal to the hands laid open."""
    match.deal(rules, seats)
    yield match.step(NewHand())
    while (reason := _redeal_reason(match, rules)) is not None:
        match.deal(rules, seats)
        yield match.step(Redeal(reason))
    yield match.step(Lead(_leader(match)))
    while match.game.phase in (Phase.LEAD, Phase.PLAY):
        yield _turn(match)
    while match.game.phase is Phase.REVEAL:
        seat = next(Seat(at) for at, holding in enumerate(match.hand.holdings) if holding is None)
        yield match.step(Reveal(seat, tuple(match.hands[seat])))


def _redeal_reason(match: _Match, rules: Rules) -> RedealReason | None:
    """Return why the hands that were dealt are given back, or None."""
    doubles = [sum(tile.is_double for tile in hand) for hand in match.hands]
    if rules.redeal_if_doubles_over is not None and max(doubles) > rules.redeal_if_doubles_over:
        return RedealReason.TOO_MANY_DOUBLES
    if match.hand.lead is LeadTile.HIGHEST_DOUBLE and not any(doubles):
        return RedealReason.NO_DOUBLE
    return None


def _leader(match: _Match) -> Seat:
    """Return who leads: the winner of the last hand, or who holds the highest double."""
    if match.hand.lead is not LeadTile.HIGHEST_DOUBLE and match.game.hand_winner is not None:
        return match.game.hand_winner
    highest = [max((tile.high for tile in hand if tile.is_double), default=-1) for hand in match.hands]
    return Seat(highest.index(max(highest)))


def _turn(match: _Match) -> Step:
    """Return what the player whose turn it is does: play, else draw, else knock, or end a hand that is blocked."""
    seat = match.hand.turn
    assert seat is not None  # a leader has been named
    chosen = _choose(match, tuple(match.hands[seat]))
    if chosen is not None:
        play, place = chosen
        match.hands[seat].remove(play.tile)
        match.laid = (*match.laid, Laid(NodeId(match.state.next_seq), place))
        return match.step(play)
    if match.hand.locked:
        return match.step(HandEnd())
    if match.boneyard:
        match.hands[seat].append(match.boneyard.pop())
        return match.step(Draw(seat))
    return match.step(Knock(seat))


def _choose(match: _Match, tiles: tuple[Tile, ...]) -> tuple[Play, Footprint] | None:
    """Return a play and its place: one that scores most of the time, at random among equals, and None where none is."""
    plays = legal_plays(match.state, tiles)
    order = [plays[at] for at in match.rng.permutation(len(plays))]
    if match.rng.random() < _LIKES_TO_SCORE:
        order.sort(key=lambda play: -_points(match.state, play))
    for play in order:
        place = lay(match.game.layout, match.laid, play, match.table, match.rng)
        if place is not None:
            return play, place
    return None


def _points(state: State, play: Play) -> int:
    """Return what a play scores."""
    _, outcomes = apply(state, play)
    return sum(outcome.points for outcome in outcomes if isinstance(outcome, Scored))
