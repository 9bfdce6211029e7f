"""Players who choose at random: who know the rules and their tiles, or who do not care about either."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from engine import (
    Boneyard,
    Call,
    Decline,
    Draw,
    Drawing,
    Event,
    ForcedDraw,
    Game,
    Hand,
    HandEnd,
    HandStarted,
    Irregular,
    Knock,
    Lead,
    MatchClose,
    MatchStart,
    Must,
    NewHand,
    Outcome,
    Phase,
    Play,
    Redeal,
    RedealReason,
    Reveal,
    RevealPips,
    Rules,
    Seat,
    Stack,
    State,
    Tile,
    Turn,
    apply,
    full_set,
    highest_leader,
    legal_plays,
    legal_stacks,
    problem_with,
    turn,
    unseen,
)
from tests.engine.random_errors import REVISIONS, random_error

ROLL_CALLS = (Must.LEAD_HIGHEST_DOUBLE, Must.LEAD_SET_DOUBLE, Must.RACE)
DRAWS = (Must.PLAY_OR_DRAW, Must.BREAK_OR_DRAW, Must.START_ARM_OR_DRAW)
NAMES = tuple("ABCDEFGH")
TWO = 2  # tiles of a draw where two are drawn


@dataclass
class Players:
    """One match; `errors` is how often something comes in that makes no sense.

    Without errors the players alone know who holds what, and nothing they do may be irregular. With errors nobody
    knows: whoever plays has any tiles that have not been seen.
    """

    rules: Rules
    seats: int
    rng: random.Random
    errors: float = 0.0
    state: State = field(default_factory=State)
    outcomes: tuple[Outcome, ...] = ()
    hands: list[list[Tile]] = field(default_factory=list)
    boneyard: list[Tile] = field(default_factory=list)
    hands_dealt: int = 0

    @property
    def game(self) -> Game:
        assert self.state.game is not None
        return self.state.game

    @property
    def hand(self) -> Hand:
        assert self.game.hand is not None
        return self.game.hand

    def start(self) -> None:
        self.feed(MatchStart(self.rules, NAMES[: self.seats]))

    def feed(self, event: Event) -> None:
        """Let it happen; what is wrong with it is in the outcomes, and nowhere else."""
        before, problem = self.state, problem_with(self.state, event)
        self.state, self.outcomes = apply(before, event)
        told = [outcome for outcome in self.outcomes if isinstance(outcome, Irregular)]
        if problem is None:
            assert isinstance(event, REVISIONS) or not told, event
        else:
            assert told, event
            assert told[0].problem == problem
            assert told[0].stands or self.state.game is before.game, event
        self.hands_dealt += self.outcomes[:1] != () and isinstance(self.outcomes[0], HandStarted)  # and no redeal
        if self.errors == 0:
            assert problem is None, (event, problem, before.log)
            self._move_tiles(event)

    def step(self) -> bool:
        """Let one more thing happen; False when the match is over."""
        if self.rng.random() < self.errors:
            self.feed(random_error(self.state, self.rng))
            return True
        event = self._sensible(self.state)
        if event is None:
            return False
        if isinstance(event, Knock | Decline) and self._goes_without_saying(event):
            shadow, _ = apply(self.state, event)
            after = self._sensible(shadow)
            if isinstance(after, Play | Stack | Draw | Knock) and self._is_seen_to_go_on(event.seat, after):
                self.feed(after)
                assert _course_of(self.state) == _course_of(apply(shadow, after)[0]), self.state.log
                return True
        self.feed(event)
        return True

    # ---- what a player does ----

    def _goes_without_saying(self, event: Knock | Decline) -> bool:
        """Whether the next player may just go on instead."""
        if self.rng.random() < 0.5:
            return False
        whose = turn(self.game)
        return whose is not None and whose.extra and whose.seat == event.seat

    def _is_seen_to_go_on(self, done: Seat, after: Play | Stack | Draw | Knock) -> bool:
        """Whether what comes next cannot be taken for a move of *done*, and is no forced draw that is seen late."""
        return after.seat != done and not (isinstance(after, Draw) and after.forced)

    def _sensible(self, state: State) -> Event | None:
        game = state.game
        if game is None:
            return MatchStart(self.rules, NAMES[: self.seats])
        hand = game.hand
        if not self.rules.refereed:
            return self._of_free_tiles(state, game)
        if hand is None or game.phase is Phase.DEAL:
            return NewHand()
        match game.phase:
            case Phase.LEAD:
                return self._lead(state, game, hand)
            case Phase.PLAY:
                return self._play(state, game, hand)
            case Phase.REVEAL:
                return self._reveal(game, hand)
            case _:
                return None

    def _of_free_tiles(self, state: State, game: Game) -> Event | None:
        if game.phase is Phase.MATCH_OVER:
            return None
        if game.hand is None or self.rng.random() < 0.1:
            return NewHand() if game.hand is None or game.hand.number < 3 else MatchClose()
        left = unseen(game)
        plays = legal_plays(state, self.rng.sample(left, min(5, len(left))))
        if not plays or self.rng.random() < 0.1:
            return Play(Seat(0), self.rng.choice(left)) if left else MatchClose()
        return self.rng.choice(plays)

    def _lead(self, state: State, game: Game, hand: Hand) -> Event:
        whose = turn(game)
        assert whose is not None
        held = [self._held(game, hand, seat) for seat in range(self.seats)]
        most = self.rules.redeal_if_doubles_over
        if most is not None and not hand.course.drawn and any(_doubles(tiles) > most for tiles in held):
            return Redeal(RedealReason.TOO_MANY_DOUBLES)
        if whose.must in ROLL_CALLS:
            return self._roll_call(state, hand, whose, held)
        if whose.seat is None:
            return Lead(Seat(self.rng.randrange(self.seats)))
        plays = legal_plays(state, held[whose.seat])
        if plays:
            return self.rng.choice(plays)
        if whose.must is Must.DRAW_A_DOUBLE and hand.course.drawn == 0:
            can = hand.boneyard > self.rules.boneyard_reserve and self.rules.draw is not Drawing.NONE
            return Draw(whose.seat) if can else Redeal(RedealReason.NO_DOUBLE)
        return Knock(whose.seat)

    def _roll_call(self, state: State, hand: Hand, whose: Turn, held: list[tuple[Tile, ...]]) -> Event:
        top = Tile(self.rules.max_pips, self.rules.max_pips)
        every = tuple(one for tiles in held for one in tiles)
        best = highest_leader(self.rules, every)
        if whose.must is Must.LEAD_SET_DOUBLE:
            best = top if top in every else None
        if best is None:
            return Redeal(RedealReason.NO_DOUBLE)
        leader = Seat(next(seat for seat, tiles in enumerate(held) if best in tiles))
        if hand.turn != leader and (hand.turn is not None or self.rng.random() < 0.5):
            return Lead(leader)
        (play,) = legal_plays(state, held[leader], seat=leader)
        return play

    def _play(self, state: State, game: Game, hand: Hand) -> Event:
        chance = hand.chance
        if chance is not None and not chance.called and self.rng.random() < 0.6:
            return Call(chance.seat, self.rng.choice((None, chance.points)))
        owing = [Seat(at) for at, tiles in enumerate(hand.course.owed) if tiles]
        if owing and self.rng.random() < 0.2:
            return Draw(self.rng.choice(owing), forced=True)
        whose = turn(game)
        assert whose is not None
        assert whose.seat is not None
        seat = whose.seat
        held = self._held(game, hand, seat)
        plays, stacks = legal_plays(state, held), legal_stacks(state, held)
        if stacks and self.rng.random() < 0.8:
            return self.rng.choice(stacks)
        if whose.must is Must.PLAY_AGAIN:
            return self.rng.choice(plays) if plays and self.rng.random() < 0.8 else Decline(seat)
        if plays and not self._may_hold_back(game, hand, whose):
            return self.rng.choice(plays)
        if whose.must is Must.DRAW_OR_END:
            return HandEnd() if self.rng.random() < 0.5 else self._draw(hand, seat)
        return self._draw(hand, seat) if whose.must in DRAWS else Knock(seat)

    def _may_hold_back(self, game: Game, hand: Hand, whose: Turn) -> bool:
        """Whether this once a player who can play does not, where that is agreed."""
        if self.rng.random() < 0.7:
            return False
        draws = whose.must in DRAWS
        if whose.must is Must.BREAK_OR_KNOCK and game.rules.draw is Drawing.TWO and hand.course.drawn == 0:
            return hand.boneyard > game.rules.boneyard_reserve  # only the caster of the spell need not draw then
        return (draws and self.rules.voluntary_draw) or (not draws and not self.rules.must_play)

    def _draw(self, hand: Hand, seat: Seat) -> Event:
        left = hand.boneyard - self.rules.boneyard_reserve
        tiles = 1
        if self.rules.draw is Drawing.TWO:
            tiles = min(self.rng.randint(1, TWO - hand.course.drawn), left)
        return Draw(seat, tiles) if self.rng.random() < 0.8 else Boneyard(hand.boneyard - tiles)

    def _reveal(self, game: Game, hand: Hand) -> Event:
        chance = hand.chance
        if chance is not None and not chance.called and self.rng.random() < 0.5:
            return Call(chance.seat)
        seat = next((at for at, holding in enumerate(hand.holdings) if holding is None), None)
        if seat is None:  # somebody's pips are known, and his tiles would decide
            return HandEnd()
        tiles = self._held(game, hand, seat)
        if self.rng.random() < 0.2:
            return RevealPips(Seat(seat), sum(tile.pips for tile in tiles))
        return Reveal(Seat(seat), tiles)

    # ---- who holds what ----

    def _held(self, game: Game, hand: Hand, seat: int) -> tuple[Tile, ...]:
        if self.errors == 0:
            return tuple(self.hands[seat])
        left = unseen(game)
        return tuple(self.rng.sample(left, min(hand.sizes[seat], len(left))))

    def _move_tiles(self, event: Event) -> None:
        """Do with the tiles what the event says."""
        for outcome in self.outcomes:
            if isinstance(outcome, HandStarted):
                self._deal()
            elif isinstance(outcome, ForcedDraw):
                self.hands[outcome.seat] += [self.boneyard.pop()]
        match event:
            case Play(seat=seat, tile=tile) | Stack(seat=seat, tile=tile) if self.rules.refereed:
                self.hands[seat].remove(tile)
            case Draw(seat=seat, tiles=tiles, forced=False):
                self.hands[seat] += [self.boneyard.pop() for _ in range(tiles)]
            case Boneyard(tiles=tiles):
                drew = next(at for at, size in enumerate(self.hand.sizes) if size > len(self.hands[at]))
                self.hands[drew] += [self.boneyard.pop() for _ in range(len(self.boneyard) - tiles)]
            case _:
                pass

    def _deal(self) -> None:
        if not self.rules.refereed:
            return
        pile = list(full_set(self.rules.max_pips)) * self.rules.copies
        self.rng.shuffle(pile)
        self.hands = [[pile.pop() for _ in range(self.rules.dealt(self.seats))] for _ in range(self.seats)]
        self.boneyard = pile


def _course_of(state: State) -> tuple[object, ...]:
    """How the turn goes round, and all else of a hand that does not name its tiles."""
    game = state.game
    assert game is not None
    hand = game.hand
    assert hand is not None
    return game.phase, game.scores, hand.sizes, hand.boneyard, hand.turn, hand.claims, hand.passes, hand.course


def _doubles(tiles: Iterable[Tile]) -> int:
    return sum(tile.is_double for tile in tiles)
