"""A game that people could play, event by event, with what lies on the table after each: the truth of a demo.

Nobody sees the hands but this script. A camera can see the plays; who leads, draws, knocks, calls, stacks, ends the
hand and lays his tiles open is said by buttons, as at a table without boneyard and seat zones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from engine import (
    Abandon,
    Call,
    Claimable,
    Decline,
    Draw,
    Drawing,
    Event,
    ForcedDraw,
    Game,
    Hand,
    HandEnd,
    Knock,
    Lead,
    LeadTile,
    MatchStart,
    Must,
    NewHand,
    NodeId,
    NoDouble,
    Outcome,
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
    legal_stacks,
    turn,
)
from tallybone.session.touching import Footprint, Laid
from tallybone.simulate.lay import Table, lay

# How often a player takes the play that scores most, where any scores.
_LIKES_TO_SCORE = 0.8
# How often he calls his points in time, and how often he steals where he can.
_CALLS, _STEALS = 0.9, 0.8
_DRAWS = (Must.PLAY_OR_DRAW, Must.BREAK_OR_DRAW, Must.START_ARM_OR_DRAW, Must.DRAW_A_DOUBLE)
# Where the rule is to draw two.
_TWO = 2


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
    told: tuple[Outcome, ...] = ()

    @property
    def game(self) -> Game:
        assert self.state.game is not None
        return self.state.game

    @property
    def hand(self) -> Hand:
        assert self.game.hand is not None
        return self.game.hand

    def step(self, event: Event) -> Step:
        self.state, self.told = apply(self.state, event)
        for outcome in self.told:
            if isinstance(outcome, ForcedDraw):
                self.draw(outcome.seat, outcome.tiles)
        return Step(event, self.state, self.laid)

    def draw(self, seat: Seat, tiles: int) -> None:
        for _ in range(tiles):
            self.hands[seat].append(self.boneyard.pop())

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
        yield from _turn(match)
    while match.game.phase is Phase.REVEAL:
        seat = next(Seat(at) for at, holding in enumerate(match.hand.holdings) if holding is None)
        yield match.step(Reveal(seat, tuple(match.hands[seat])))


def _redeal_reason(match: _Match, rules: Rules) -> RedealReason | None:
    """Return why the hands that were dealt are given back, or None."""
    doubles = [sum(tile.is_double for tile in hand) for hand in match.hands]
    if rules.redeal_if_doubles_over is not None and max(doubles) > rules.redeal_if_doubles_over:
        return RedealReason.TOO_MANY_DOUBLES
    is_called = match.hand.lead in (LeadTile.HIGHEST_DOUBLE, LeadTile.RACE)
    if is_called and rules.no_double is NoDouble.REDEAL and not any(doubles):
        return RedealReason.NO_DOUBLE
    return None


def _leader(match: _Match) -> Seat:
    """Return who leads: whom the rules say, else who holds the highest double, else anybody."""
    if match.hand.turn is not None:
        return match.hand.turn
    if match.hand.lead in (LeadTile.ANY, LeadTile.ANY_DOUBLE):
        return Seat(int(match.rng.integers(len(match.hands))))
    highest = [max((tile.high for tile in hand if tile.is_double), default=-1) for hand in match.hands]
    return Seat(highest.index(max(highest)))


def _turn(match: _Match) -> Iterator[Step]:
    """Yield what the player whose turn it is does: steal, else play, else draw, else pass or end a blocked hand."""
    seat = match.hand.turn
    assert seat is not None  # a leader has been named
    stacks = legal_stacks(match.state, match.hands[seat])
    if stacks and match.rng.random() < _STEALS:
        stack = stacks[int(match.rng.integers(len(stacks)))]
        match.hands[seat].remove(stack.tile)
        yield match.step(stack)
    elif (chosen := _choose(match, tuple(match.hands[seat]))) is not None:
        play, place = chosen
        match.hands[seat].remove(play.tile)
        match.laid = (*match.laid, Laid(NodeId(match.state.next_seq), place))
        yield match.step(play)
    else:
        yield match.step(_instead_of_playing(match, seat))
        return
    for outcome in match.told:
        if isinstance(outcome, ForcedDraw):
            yield match.step(Draw(outcome.seat, outcome.tiles, forced=True))
        elif isinstance(outcome, Claimable) and match.rng.random() < _CALLS:
            yield match.step(Call(outcome.seat))


def _instead_of_playing(match: _Match, seat: Seat) -> Event:
    """Return what a player does who cannot play."""
    whose = turn(match.game)
    assert whose is not None  # the hand is being played
    if match.hand.locked:
        return HandEnd()
    if legal_plays(match.state, match.hands[seat]):
        return Abandon()  # the table is full
    if whose.must is Must.PLAY_AGAIN:
        return Decline(seat)
    # In a roll call of doubles who has drawn one tile and still has none says so.
    if whose.must in _DRAWS and match.boneyard and not (match.game.phase is Phase.LEAD and whose.extra):
        tiles = 1
        if match.game.rules.draw is Drawing.TWO and match.game.phase is Phase.PLAY:
            tiles = min(_TWO - match.hand.course.drawn, len(match.boneyard))
        match.draw(seat, tiles)
        return Draw(seat, tiles)
    return Knock(seat)


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
