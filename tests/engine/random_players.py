"""Random players that either follow the rules or ignore them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

import engine
from tests.engine.random_errors import REVISIONS, random_error

ROLL_CALLS = (engine.Must.LEAD_HIGHEST_DOUBLE, engine.Must.LEAD_SET_DOUBLE, engine.Must.RACE)
DRAWS = (engine.Must.PLAY_OR_DRAW, engine.Must.BREAK_OR_DRAW, engine.Must.START_ARM_OR_DRAW)
NAMES = tuple("ABCDEFGH")
TWO = 2  # tiles of a draw if two are drawn at once


@dataclass
class Players:
    """A match of random players. `errors` is the probability of an erroneous event.

    Without errors, the players' hands are tracked and none of their actions may be irregular. With errors, hands are
    unknown: each player holds arbitrary unseen tiles.
    """

    rules: engine.Rules
    seats: int
    rng: random.Random
    errors: float = 0.0
    state: engine.State = field(default_factory=engine.State)
    outcomes: tuple[engine.Outcome, ...] = ()
    hands: list[list[engine.Tile]] = field(default_factory=list)
    boneyard: list[engine.Tile] = field(default_factory=list)
    hands_dealt: int = 0

    @property
    def game(self) -> engine.Game:
        assert self.state.game is not None
        return self.state.game

    @property
    def hand(self) -> engine.Hand:
        assert self.game.hand is not None
        return self.game.hand

    def start(self) -> None:
        self.feed(engine.MatchStart(self.rules, NAMES[: self.seats]))

    def feed(self, event: engine.Event) -> None:
        """Apply an event, and check that its outcomes report any problem with it."""
        before, problem = self.state, engine.problem_with(self.state, event)
        self.state, self.outcomes = engine.apply(before, event)
        reported = [outcome for outcome in self.outcomes if isinstance(outcome, engine.Irregular)]
        if problem is None:
            assert isinstance(event, REVISIONS) or not reported, event
        else:
            assert reported, event
            assert reported[0].problem == problem
            assert reported[0].stands or self.state.game is before.game, event
        self.hands_dealt += self.outcomes[:1] != () and isinstance(
            self.outcomes[0], engine.HandStarted
        )  # and not a redeal
        if self.errors == 0:
            assert problem is None, (event, problem, before.log)
            self._move_tiles(event)

    def step(self) -> bool:
        """Apply one more event. Return False when the match is over."""
        if self.rng.random() < self.errors:
            self.feed(random_error(self.state, self.rng))
            return True
        event = self._sensible(self.state)
        if event is None:
            return False
        if isinstance(event, engine.Knock | engine.Decline) and self._may_be_implied(event):
            shadow, _ = engine.apply(self.state, event)
            after = self._sensible(shadow)
            if isinstance(after, engine.Play | engine.Stack | engine.Draw | engine.Knock) and self._implies_end_of_turn(
                event.seat, after
            ):
                self.feed(after)
                assert _course_of(self.state) == _course_of(engine.apply(shadow, after)[0]), self.state.log
                return True
        self.feed(event)
        return True

    # ---- actions of players ----

    def _may_be_implied(self, event: engine.Knock | engine.Decline) -> bool:
        """Check that the next player's action may replace this event."""
        if self.rng.random() < 0.5:
            return False
        current = engine.turn(self.game)
        return current is not None and current.extra and current.seat == event.seat

    def _implies_end_of_turn(
        self, done: engine.Seat, after: engine.Play | engine.Stack | engine.Draw | engine.Knock
    ) -> bool:
        """Check that *after* cannot be an action of *done* or a forced draw that is seen late."""
        return after.seat != done and not (isinstance(after, engine.Draw) and after.forced)

    def _sensible(self, state: engine.State) -> engine.Event | None:
        game = state.game
        if game is None:
            return engine.MatchStart(self.rules, NAMES[: self.seats])
        hand = game.hand
        if not self.rules.refereed:
            return self._free_play(state, game)
        if hand is None or game.phase is engine.Phase.DEAL:
            return engine.NewHand()
        match game.phase:
            case engine.Phase.LEAD:
                return self._lead(state, game, hand)
            case engine.Phase.PLAY:
                return self._play(state, game, hand)
            case engine.Phase.REVEAL:
                return self._reveal(game, hand)
            case _:
                return None

    def _free_play(self, state: engine.State, game: engine.Game) -> engine.Event | None:
        if game.phase is engine.Phase.MATCH_OVER:
            return None
        if game.hand is None or self.rng.random() < 0.1:
            return engine.NewHand() if game.hand is None or game.hand.number < 3 else engine.MatchClose()
        left = engine.unseen(game)
        plays = engine.legal_plays(state, self.rng.sample(left, min(5, len(left))))
        if not plays or self.rng.random() < 0.1:
            return engine.Play(engine.Seat(0), self.rng.choice(left)) if left else engine.MatchClose()
        return self.rng.choice(plays)

    def _lead(self, state: engine.State, game: engine.Game, hand: engine.Hand) -> engine.Event:
        current = engine.turn(game)
        assert current is not None
        held = [self._held(game, hand, seat) for seat in range(self.seats)]
        most = self.rules.redeal_if_doubles_over
        if most is not None and not hand.course.drawn and any(_doubles(tiles) > most for tiles in held):
            return engine.Redeal(engine.RedealReason.TOO_MANY_DOUBLES)
        if current.must in ROLL_CALLS:
            return self._roll_call(state, hand, current, held)
        if current.seat is None:
            return engine.Lead(engine.Seat(self.rng.randrange(self.seats)))
        plays = engine.legal_plays(state, held[current.seat])
        if plays:
            return self.rng.choice(plays)
        if current.must is engine.Must.DRAW_A_DOUBLE and hand.course.drawn == 0:
            can = hand.boneyard > self.rules.boneyard_reserve and self.rules.draw is not engine.Drawing.NONE
            return self._drawn(current.seat) if can else engine.Redeal(engine.RedealReason.NO_DOUBLE)
        return engine.Knock(current.seat)

    def _roll_call(
        self, state: engine.State, hand: engine.Hand, current: engine.Turn, held: list[tuple[engine.Tile, ...]]
    ) -> engine.Event:
        top = engine.Tile(self.rules.max_pips, self.rules.max_pips)
        held_tiles = tuple(tile for tiles in held for tile in tiles)
        best = engine.highest_leader(self.rules, held_tiles)
        if current.must is engine.Must.LEAD_SET_DOUBLE:
            best = top if top in held_tiles else None
        if best is None:
            return engine.Redeal(engine.RedealReason.NO_DOUBLE)
        leader = engine.Seat(next(seat for seat, tiles in enumerate(held) if best in tiles))
        if hand.turn != leader and (hand.turn is not None or self.rng.random() < 0.5):
            return engine.Lead(leader)
        (play,) = engine.legal_plays(state, held[leader], seat=leader)
        return play

    def _play(self, state: engine.State, game: engine.Game, hand: engine.Hand) -> engine.Event:
        chance = hand.chance
        if chance is not None and not chance.called and self.rng.random() < 0.6:
            return engine.Call(chance.seat, self.rng.choice((None, chance.points)))
        owing = [engine.Seat(at) for at, tiles in enumerate(hand.course.owed) if tiles]
        if owing and self.rng.random() < 0.2:
            return engine.Draw(self.rng.choice(owing), forced=True)
        current = engine.turn(game)
        assert current is not None
        assert current.seat is not None
        seat = current.seat
        held = self._held(game, hand, seat)
        plays, stacks = engine.legal_plays(state, held), engine.legal_stacks(state, held)
        if stacks and self.rng.random() < 0.8:
            return self.rng.choice(stacks)
        if current.must is engine.Must.PLAY_AGAIN:
            return self.rng.choice(plays) if plays and self.rng.random() < 0.8 else engine.Decline(seat)
        if plays and not self._may_hold_back(game, hand, current):
            return self.rng.choice(plays)
        if current.must is engine.Must.DRAW_OR_END:
            return engine.HandEnd() if self.rng.random() < 0.5 else self._draw(hand, seat)
        return self._draw(hand, seat) if current.must in DRAWS else engine.Knock(seat)

    def _may_hold_back(self, game: engine.Game, hand: engine.Hand, current: engine.Turn) -> bool:
        """Decide whether a player who can play declines to, if the rules allow it."""
        if self.rng.random() < 0.7:
            return False
        draws = current.must in DRAWS
        if (
            current.must is engine.Must.BREAK_OR_KNOCK
            and game.rules.draw is engine.Drawing.TWO
            and hand.course.drawn == 0
        ):
            return hand.boneyard > game.rules.boneyard_reserve  # only the caster of the spell may skip drawing then
        return (draws and self.rules.voluntary_draw) or (not draws and not self.rules.must_play)

    def _draw(self, hand: engine.Hand, seat: engine.Seat) -> engine.Event:
        left = hand.boneyard - self.rules.boneyard_reserve
        tiles = 1
        if self.rules.draw is engine.Drawing.TWO:
            tiles = min(self.rng.randint(1, TWO - hand.course.drawn), left)
        return self._drawn(seat, tiles) if self.rng.random() < 0.8 else engine.Boneyard(hand.boneyard - tiles)

    def _drawn(self, seat: engine.Seat, tiles: int = 1) -> engine.Draw:
        """Return a draw, of which the faces are seen half of the time."""
        is_seen = self.errors == 0 and self.rng.random() < 0.5
        return engine.Draw(seat, tiles, faces=tuple(self.boneyard[: -tiles - 1 : -1]) if is_seen else ())

    def _reveal(self, game: engine.Game, hand: engine.Hand) -> engine.Event:
        chance = hand.chance
        if chance is not None and not chance.called and self.rng.random() < 0.5:
            return engine.Call(chance.seat)
        seat = next((at for at, holding in enumerate(hand.holdings) if holding is None), None)
        if seat is None:  # only pips of some hand are known, but its tiles would decide
            return engine.HandEnd()
        tiles = self._held(game, hand, seat)
        if self.rng.random() < 0.2:
            return engine.RevealPips(engine.Seat(seat), sum(tile.pips for tile in tiles))
        return engine.Reveal(engine.Seat(seat), tiles)

    # ---- hands ----

    def _held(self, game: engine.Game, hand: engine.Hand, seat: int) -> tuple[engine.Tile, ...]:
        if self.errors == 0:
            return tuple(self.hands[seat])
        left = engine.unseen(game)
        return tuple(self.rng.sample(left, min(hand.sizes[seat], len(left))))

    def _move_tiles(self, event: engine.Event) -> None:
        """Move the tiles of an event."""
        for outcome in self.outcomes:
            if isinstance(outcome, engine.HandStarted):
                self._deal()
            elif isinstance(outcome, engine.ForcedDraw):
                self.hands[outcome.seat] += [self.boneyard.pop()]
        match event:
            case engine.Play(seat=seat, tile=tile) | engine.Stack(seat=seat, tile=tile) if self.rules.refereed:
                self.hands[seat].remove(tile)
            case engine.Draw(seat=seat, tiles=tiles, forced=False):
                self.hands[seat] += [self.boneyard.pop() for _ in range(tiles)]
            case engine.Boneyard(tiles=tiles):
                drew = next(at for at, size in enumerate(self.hand.sizes) if size > len(self.hands[at]))
                self.hands[drew] += [self.boneyard.pop() for _ in range(len(self.boneyard) - tiles)]
            case _:
                pass

    def _deal(self) -> None:
        if not self.rules.refereed:
            return
        pile = list(engine.full_set(self.rules.max_pips)) * self.rules.copies
        self.rng.shuffle(pile)
        self.hands = [[pile.pop() for _ in range(self.rules.dealt(self.seats))] for _ in range(self.seats)]
        self.boneyard = pile


def _course_of(state: engine.State) -> tuple[object, ...]:
    """Return the turn order and all other state of a hand that does not name its tiles."""
    game = state.game
    assert game is not None
    hand = game.hand
    assert hand is not None
    return (
        game.phase,
        game.scores,
        hand.sizes,
        hand.boneyard,
        hand.turn,
        hand.claims,
        hand.held,
        hand.passes,
        hand.course,
    )


def _doubles(tiles: Iterable[engine.Tile]) -> int:
    return sum(tile.is_double for tile in tiles)
