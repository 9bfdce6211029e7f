"""A table with all tiles known: deal, play and count whole matches, and count sequences of moves (perft).

`engine.game.fold` referees events without knowing the hands. A `Table` is the dealer: it shuffles, holds all hands and
the boneyard, and applies forced events at once, so that players only choose among legal moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field
from random import Random

from engine.errors import EngineError
from engine.game import questions
from engine.game.closing import name_problems
from engine.game.fold import apply, problem_with
from engine.library.chances import sampled_hands, shown_hands, without
from engine.rules.rules import Drawing, NoDouble, Rules, deal_problems
from engine.state import events
from engine.state.events import (
    Action,
    Decline,
    Draw,
    HandEnd,
    Knock,
    MatchStart,
    NewHand,
    Play,
    Redeal,
    RedealReason,
    Seat,
    Stack,
)
from engine.state.match import ClaimKind, Game, Hand, LeadTile, Phase, State
from engine.state.outcomes import ForcedDraw, Must, Outcome, Problem, Weight
from engine.tiles import Tile, full_set, tile_of
from engine.value import changed, value

LegalMove = Play | Stack | Draw | Knock | Decline
"""A move of the player to move."""


def legal_moves(state: State, tiles: Iterable[Tile]) -> tuple[LegalMove, ...]:
    """Return every legal move of the player to move: plays in the order of `legal_plays`, then stacks, then others.

    A draw of two tiles is a single move. If there is a play, a knock or draw is legal only if the rules allow it
    (`must_play`, `voluntary_draw`, the caster of a spell). Empty while the leader is unknown, and between hands.

    Args:
        state: State of the match.
        tiles: All tiles in the player's hand.
    """
    game = state.game
    current = None if game is None else questions.turn(game)
    if game is None or game.hand is None or current is None or current.seat is None:
        return ()
    rules, hand, seat, held = game.rules, game.hand, current.seat, tuple(tiles)
    plays: tuple[LegalMove, ...] = questions.legal_plays(state, held)
    if game.phase is Phase.LEAD:
        if plays or hand.lead is not LeadTile.ANY_DOUBLE:
            return plays
        if current.must is Must.DRAW_A_DOUBLE and not current.extra:
            return (Draw(seat),) if questions.drawable(rules, hand) else ()
        return (Knock(seat),)
    plays = (*plays, *questions.legal_stacks(state, held))
    if current.must is Must.PLAY_AGAIN:
        return (*plays, Decline(seat))
    if questions.can_draw(rules, hand):
        number = 1
        if rules.draw is Drawing.TWO:
            number = min(questions.TILES_PER_DRAW - hand.course.drawn, questions.drawable(rules, hand))
        return plays if plays and not rules.voluntary_draw else (*plays, Draw(seat, number))
    may_pass = not rules.must_play or questions.is_exempt(rules, hand)
    return plays if plays and not may_pass else (*plays, Knock(seat))


# Deals tried before giving up. The rarest lead, 18-18 for two players with one tile each, takes 95 deals on average.
_MAX_SHUFFLES = 10_000
_FEWEST_PARTICLES = 40
_MAX_TRIES = 250


class IllegalMove(EngineError):  # noqa: N818 - the usual term in games
    """A move that the rules or the player's hand do not allow.

    Attributes:
        problem: Problem by the rules. None if only the player's hand does not allow the move.
    """

    def __init__(self, text: str, problem: Problem | None = None) -> None:
        self.problem = problem
        super().__init__(text)


@value
class SeatView:
    """A player's view of a table: their own hand and the public state.

    Attributes:
        seat: Seat of the player.
        tiles: Tiles in their hand.
        state: Public state: layout, scores, hand sizes and the event log.
    """

    seat: Seat
    tiles: tuple[Tile, ...]
    state: State

    @property
    def game(self) -> Game:
        """The match: rules, players, totals, layout, count and current hand."""
        if self.state.game is None:
            raise EngineError("no match has started")
        return self.state.game

    @property
    def moves(self) -> tuple[LegalMove, ...]:
        """Legal moves of this player. Empty if it is not their turn."""
        current = None if self.state.game is None else questions.turn(self.state.game)
        return legal_moves(self.state, self.tiles) if current is not None and current.seat == self.seat else ()

    @property
    def unseen(self) -> tuple[Tile, ...]:
        """Tiles in the boneyard and in other hands, from 0-0 upwards. A tile appears once for each copy."""
        return () if self.state.game is None else tuple(without(questions.unseen(self.state.game), self.tiles))

    def sample(self, rng: Random) -> Table:
        """Return one of `samples`."""
        return self.samples(rng, 1)[0]

    def samples(self, rng: Random, number: int) -> list[Table]:
        """Return tables with random deals of the unseen tiles that agree with what all players did.

        Each is as likely as it is for players who choose at random among their legal plays. Claims that contradict
        younger ones are ignored. Many at once take less time than one by one, but some of them may be equal.

        Raises:
            EngineError: If no match has started, *rng* is not a `Random`, *number* is not positive, there are too few
                tiles, or no deal agrees with the lead.
        """
        _require_random(rng)
        if number < 1:
            raise EngineError(f"expected 1 deal or more, got {number}")
        game = self.game
        if game.hand is None:
            return [Table(self.state, ((),) * len(game.players))] * number
        hand, shown = game.hand, {**shown_hands(game.hand), int(self.seat): self.tiles}
        hidden = [at for at in range(len(hand.sizes)) if at not in shown]
        left = [
            tile.bit for tile in without(questions.unseen(game), (tile for tiles in shown.values() for tile in tiles))
        ]
        needed = sum(hand.sizes[at] for at in hidden) + hand.boneyard
        if needed > len(left):
            raise EngineError(f"a deal needs {needed} unseen tiles, and {len(left)} are left")
        found: list[Table] = []
        for _ in range(_MAX_TRIES):
            particles, _ = sampled_hands(self.state, left, hidden, rng, max(_FEWEST_PARTICLES, 2 * number))
            rng.shuffle(particles)
            for rest, hands in particles:
                rng.shuffle(rest := list(rest))
                held = {**shown, **{at: tuple(map(tile_of, bits)) for at, bits in hands.items()}}
                boneyard = tuple(map(tile_of, rest[: hand.boneyard]))
                table = Table(self.state, tuple(held[at] for at in sorted(held)), boneyard)
                if table._is_plausible():
                    found.append(table)
                if len(found) == number:
                    return found
        raise EngineError(f"none of {_MAX_TRIES * _FEWEST_PARTICLES} deals agrees with what the players did")


@value
class Table:
    """A match with all tiles known. Tables are immutable: each step returns a new one.

    Forced events are applied automatically: points are called, players without a double to lead pass, and at the end of
    a hand all tiles are shown and counted.

    Attributes:
        state: Public state, as for `apply`.
        hands: Tiles in each hand, by seat.
        boneyard: Tiles left to draw, drawn from the end.
        outcomes: Outcomes of the last step, in order. Ignored in comparisons.
    """

    state: State
    hands: tuple[tuple[Tile, ...], ...]
    boneyard: tuple[Tile, ...] = ()
    outcomes: tuple[Outcome, ...] = field(default=(), compare=False)

    @classmethod
    def start(cls, rules: Rules, players: Sequence[str]) -> Table:
        """Return a match before its first deal. *players* are the names by seat, clockwise.

        Raises:
            EngineError: If *rules* do not allow this number of players, or two have the same name.
        """
        problems = (*deal_problems(rules, len(players)), *name_problems(players))
        if not rules.refereed:
            problems = (f"{rules.name} has no hands to deal",)
        if problems:
            raise EngineError("; ".join(problems))
        state, outcomes = apply(State(), MatchStart(rules, tuple(players)))
        return cls(state, ((),) * len(players), (), outcomes)

    @property
    def game(self) -> Game:
        """The match: rules, players, totals, layout, count and current hand."""
        assert self.state.game is not None  # set by `start`
        return self.state.game

    @property
    def turn(self) -> Seat | None:
        """Seat to move. None if a deal is due, and when the match is over."""
        playing = self.game.phase in (Phase.LEAD, Phase.PLAY) and self.redeal is None
        return self._hand.turn if playing else None

    @property
    def view(self) -> SeatView:
        """View of the player to move.

        Raises:
            EngineError: If `turn` is None.
        """
        if self.turn is None:
            raise EngineError("nobody is to move: deal, unless the match is over")
        return self.seen_by(self.turn)

    @property
    def moves(self) -> tuple[LegalMove, ...]:
        """Legal moves of the player to move. Empty if `turn` is None."""
        seat = self.turn
        return () if seat is None else legal_moves(self.state, self.hands[seat])

    @property
    def is_over(self) -> bool:
        """True if the match is over. `game.winner` is its winner."""
        return self.game.phase is Phase.MATCH_OVER

    @property
    def awaits_deal(self) -> bool:
        """True if a deal is due: before each hand, and if nobody can lead."""
        return self.game.phase is Phase.DEAL or self.redeal is not None

    @property
    def redeal(self) -> RedealReason | None:
        """Reason why the hand must be dealt again, or None."""
        if self.game.phase is not Phase.LEAD:
            return None
        rules, hand = self.game.rules, self._hand
        most, is_fresh = rules.redeal_if_doubles_over, not (hand.course.drawn or hand.course.without_double)
        if most is not None and is_fresh and any(sum(tile.is_double for tile in held) > most for held in self.hands):
            return RedealReason.TOO_MANY_DOUBLES
        draws = rules.no_double is NoDouble.DRAW_ONE_IN_TURN and hand.lead is LeadTile.ANY_DOUBLE
        if self._holders_of_a_lead() or (draws and questions.drawable(rules, hand)):
            return None
        return RedealReason.NO_DOUBLE

    def seen_by(self, seat: int) -> SeatView:
        """Return the view of the player at *seat*.

        Raises:
            EngineError: If there is no such seat.
        """
        self._require_seat("seat", seat)
        return SeatView(Seat(seat), self.hands[seat], self.state)

    def deal(self, rng: Random) -> Table:
        """Return the table after a random deal. Deals again as long as the rules require it.

        Args:
            rng: Random generator that shuffles, and draws lots for the lead.

        Raises:
            EngineError: If no deal is due, *rng* is not a `Random`, or none of 10,000 deals can be played.
        """
        _require_random(rng)
        rules, seats = self.game.rules, len(self.game.players)
        each, pile = rules.dealt(seats), list(full_set(rules.max_pips)) * rules.copies
        table = self
        for _ in range(_MAX_SHUFFLES):
            rng.shuffle(pile)
            hands = tuple(tuple(pile[each * at : each * (at + 1)]) for at in range(seats))
            table = table._dealt(hands, tuple(pile[each * seats :]))
            if table.redeal is None:
                return table._led_by(rng.choice(table._leaders()))
        raise EngineError(f"{rules.name}: none of {_MAX_SHUFFLES} deals can be played: {table.redeal}")

    def deal_these(self, hands: Sequence[Sequence[Tile]], boneyard: Sequence[Tile] = (), *, leader: int = 0) -> Table:
        """Return the table after a deal of known tiles.

        Args:
            hands: Tiles of each hand, by seat.
            boneyard: Tiles of the boneyard, drawn from the end. All other tiles are out of play.
            leader: Seat that leads, unless the tiles or the previous hand determine it.

        Raises:
            EngineError: If no deal is due, *leader* is not a seat, the tiles are not a deal of the game, or the deal
                requires a redeal.
        """
        self._require_seat("leader", leader)
        held = tuple(tuple(hand) for hand in hands)
        _require_deal(self.game, held, tuple(boneyard))
        table = self._dealt(held, tuple(boneyard))
        if table.redeal is RedealReason.TOO_MANY_DOUBLES:
            raise EngineError("somebody holds so many doubles that everybody has to deal again")
        if table.redeal is not None:
            raise EngineError("nobody holds a tile that may be led")
        leaders = table._leaders()
        return table._led_by(Seat(leader) if leader in leaders else leaders[0])

    def play_or_raise(self, move: LegalMove | HandEnd) -> Table:
        """Return the table after *move* and the forced events that follow.

        Accepts all `moves`, and equivalent plays: on another free arm of a starter, or without the inner number. In a
        blocked hand with tiles left to draw, it also accepts `HandEnd`.

        Raises:
            IllegalMove: If the rules or the player's hand do not allow the move.
            EngineError: If *move* is not a move.
        """
        _require_move(move)
        moves = self.moves
        if move not in moves:
            problem = problem_with(self.state, move)
            if problem is not None:
                raise IllegalMove(problem.text, problem)
            if not (isinstance(move, HandEnd) or _is_like_one_of(move, moves)):
                raise IllegalMove(
                    f"{_move_text(move)} is no legal move; these are: {', '.join(map(_move_text, moves))}"
                )
        return self.after(move)

    def after(self, move: LegalMove | HandEnd) -> Table:
        """Return the table after a *move* that is known to be legal. Faster than `play_or_raise`, for searches.

        Raises:
            EngineError: If *move* is not a move, its seat does not exist, or its tile is not in the player's hand.
        """
        _require_move(move)
        if not isinstance(move, HandEnd):
            self._require_seat("seat", move.seat)
        table = changed(self, outcomes=())
        match move:
            case Play(seat=seat, tile=tile) | Stack(seat=seat, tile=tile):
                held = list(self.hands[seat])
                if tile not in held:
                    raise IllegalMove(
                        f"{tile} is not in the hand of seat {seat}: {', '.join(map(str, held)) or 'empty'}"
                    )
                held.remove(tile)
                table = changed(table, hands=(*self.hands[:seat], tuple(held), *self.hands[seat + 1 :]))
            case Draw(seat=seat, tiles=tiles):
                table = table._drawn(seat, tiles)
            case _:
                pass
        return table._with(move)._without_choice()

    @property
    def _hand(self) -> Hand:
        if self.game.hand is None:
            raise EngineError("no tiles have been dealt: call deal() before the first move")
        return self.game.hand

    def _require_seat(self, name: str, seat: int) -> None:
        if not _is_whole(seat) or seat >= len(self.hands):
            raise EngineError(f"{name} must be 0 to {len(self.hands) - 1}, but got {seat!r}")

    def _dealt(self, hands: tuple[tuple[Tile, ...], ...], boneyard: tuple[Tile, ...]) -> Table:
        """Return the table after a deal or redeal, before a leader is set."""
        reason = self.redeal
        event: Action = NewHand() if reason is None else Redeal(reason)
        if sum(map(len, hands)) + len(boneyard) < self.game.rules.tiles:
            event = NewHand(boneyard=len(boneyard))
        problem = problem_with(self.state, event)
        if problem is not None and problem.weight is Weight.IMPOSSIBLE:
            raise EngineError(problem.text)
        return Table(self.state, hands, boneyard)._with(event)

    def _is_plausible(self) -> bool:
        """Return True unless the hands would have been dealt again, or another seat would lead."""
        if self.game.phase is Phase.LEAD:
            return self._hand.turn in self._leaders() and self.redeal is None
        kept = (
            len([tile for tile in held if tile.bit & claim.denied]) <= claim.allowed
            for held, claims in zip(self.hands, self._hand.claims, strict=True)
            for claim in claims
            if claim.kind is ClaimKind.KEPT_DEAL
        )
        return self.game.phase is not Phase.PLAY or all(kept)

    def _led_by(self, leader: Seat) -> Table:
        """Return the table with *leader* set, unless the rules determine the leader."""
        table = self if self._hand.turn is not None else self._with(events.Lead(leader))
        return table._without_choice()

    def _leaders(self) -> tuple[Seat, ...]:
        if self._hand.lead in (LeadTile.ANY, LeadTile.ANY_DOUBLE):
            return tuple(Seat(at) for at in range(len(self.hands)))
        return self._holders_of_a_lead()

    def _holders_of_a_lead(self) -> tuple[Seat, ...]:
        rules, every = self.game.rules, [tile for held in self.hands for tile in held]
        match self._hand.lead:
            case LeadTile.ANY:
                leaders = every
            case LeadTile.ANY_DOUBLE:
                leaders = [tile for tile in every if tile.is_double]
            case LeadTile.SET_DOUBLE:
                leaders = [Tile(rules.max_pips, rules.max_pips)]
            case _:
                best = questions.highest_leader(rules, every)
                leaders = [] if best is None else [best]
        return tuple(Seat(at) for at, held in enumerate(self.hands) if any(tile in leaders for tile in held))

    def _with(self, event: Action) -> Table:
        """Return the table after *event* and the draws that it forces."""
        state, outcomes = apply(self.state, event)
        table = changed(self, state=state, outcomes=(*self.outcomes, *outcomes))
        for outcome in outcomes:
            if isinstance(outcome, ForcedDraw):
                table = table._drawn(outcome.seat, outcome.tiles)
        return table

    def _drawn(self, seat: Seat, tiles: int) -> Table:
        rest, drawn = self.boneyard[:-tiles], self.boneyard[: -tiles - 1 : -1]
        held = (*self.hands[seat], *drawn)
        return changed(self, hands=(*self.hands[:seat], held, *self.hands[seat + 1 :]), boneyard=rest)

    def _without_choice(self) -> Table:
        """Return the table after all forced events."""
        table = self
        while (event := table._forced()) is not None:
            table = table._with(event)
        return table

    def _forced(self) -> Action | None:
        """Return the next forced event, or None if players have a choice or a deal is due."""
        phase, hand = self.game.phase, self._hand
        if phase in (Phase.PLAY, Phase.REVEAL) and hand.chance is not None and not hand.chance.called:
            return events.Call(hand.chance.seat, hand.chance.points)
        if phase is Phase.REVEAL:
            hidden = hand.holdings.index(None)
            return events.Reveal(Seat(hidden), self.hands[hidden])
        if phase is Phase.LEAD and len(moves := self.moves) == 1 and isinstance(moves[0], events.Knock):
            return moves[0]
        return None


def perft(table: Table, depth: int) -> int:
    """Count the sequences of *depth* moves before the next deal. The usual test of a move generator.

    >>> from engine import BLOCK
    >>> table = Table.start(BLOCK, ("Ann", "Ben")).deal(Random(1))
    >>> [perft(table, depth) for depth in range(5)]
    [1, 1, 6, 10, 38]

    Raises:
        EngineError: If *depth* is not an integer of 0 or more.
    """
    if not _is_whole(depth):
        raise EngineError(f"depth must be a whole number from 0 upwards, but got {depth!r}")
    if depth == 0:
        return 1
    moves = table.moves
    return len(moves) if depth == 1 else sum(perft(table.after(move), depth - 1) for move in moves)


def _is_like_one_of(move: LegalMove | HandEnd, moves: Sequence[LegalMove]) -> bool:
    """Return True if *move* is a play and *moves* has one of the same seat and tile. Its spot was checked already."""
    return isinstance(move, Play) and any(
        isinstance(other, Play) and (other.seat, other.tile) == (move.seat, move.tile) for other in moves
    )


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and number >= 0


def _require_random(rng: object) -> None:
    if not isinstance(rng, Random):
        raise EngineError(f"rng must be a random.Random, such as Random(5), but got {rng!r}")


def _require_move(move: object) -> None:
    if not isinstance(move, LegalMove | HandEnd):
        raise EngineError(f"move must be a Play, Stack, Draw, Knock, Decline or HandEnd, but got {move!r}")


def _move_text(move: object) -> str:
    """Return a move as text for a message."""
    name = type(move).__name__
    return f"{name} {move.tile}" if isinstance(move, Play | Stack) else name


def _require_deal(game: Game, hands: tuple[tuple[Tile, ...], ...], boneyard: tuple[Tile, ...]) -> None:
    """Raise EngineError unless *hands* and *boneyard* can be dealt. The boneyard may have any size."""
    rules, seats = game.rules, len(game.players)
    if [*map(len, hands)] != [rules.dealt(seats)] * seats:
        sizes = ", ".join(str(len(hand)) for hand in hands)
        raise EngineError(f"hands: expected {seats} hands of {rules.dealt(seats)} tiles, got {sizes}")
    dealt = Counter(tile for tiles in (*hands, boneyard) for tile in tiles)
    for tile, number in dealt.items():
        if tile.high > rules.max_pips or number > rules.copies:
            raise EngineError(f"{tile}: dealt {number} times, the game has {rules.copies} up to {rules.max_pips}")
