"""A hand that the engine referees while all tiles are known: over its public interface only, and told in naive words.

The engine sees no hands, so who can do what is worked out here from `legal_plays`, `legal_stacks` and the `Must` of the
turn. What leaves no choice (a call of points, a knock of somebody without a double to lead) is done at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine import (
    Call,
    Claimable,
    Decline,
    Draw,
    Drawing,
    Event,
    ForcedDraw,
    Game,
    Hand,
    HandOver,
    HandResult,
    Irregular,
    Knock,
    Lead,
    LeadRule,
    MatchStart,
    Must,
    NewHand,
    NodeId,
    NoDouble,
    Outcome,
    Phase,
    Play,
    Policy,
    Port,
    ProblemKind,
    Reveal,
    Rules,
    Seat,
    SpellLap,
    Stack,
    State,
    Tile,
    apply,
    highest_leader,
    legal_plays,
    legal_stacks,
    turn,
)
from tests.engine.naive import DECLINE, DRAW, KNOCK, Action, Pair

ROLL_CALLS = (Must.LEAD_HIGHEST_DOUBLE, Must.LEAD_SET_DOUBLE, Must.RACE)
SPELLS = (Must.BREAK_OR_DRAW, Must.BREAK_OR_KNOCK)
DRAWS = (Must.PLAY_OR_DRAW, Must.BREAK_OR_DRAW, Must.START_ARM_OR_DRAW, Must.DRAW_OR_END)
TWO = 2  # tiles of a draw in the six-arm game
SHORT_OF_TILES = ProblemKind.WRONG_DEAL  # a deal may leave tiles of the set in the box


def tile(pair: Pair) -> Tile:
    return Tile.of(*pair)


def pair(one: Tile) -> Pair:
    return one.low, one.high


@dataclass(frozen=True)
class OpenHand:
    """One hand, all tiles known; the boneyard is drawn from its end."""

    state: State
    hands: tuple[tuple[Tile, ...], ...]
    boneyard: tuple[Tile, ...]
    outcomes: tuple[Outcome, ...] = ()

    @property
    def game(self) -> Game:
        assert self.state.game is not None
        return self.state.game

    @property
    def hand(self) -> Hand:
        assert self.game.hand is not None
        return self.game.hand

    @property
    def over(self) -> bool:
        return self.game.phase not in (Phase.LEAD, Phase.PLAY)

    def moves(self) -> tuple[Event, ...]:
        """All that the player whose turn it is can do; nothing when the hand is over."""
        whose = None if self.over else turn(self.game)
        if whose is None:
            return ()
        assert whose.seat is not None
        seat, must = whose.seat, whose.must
        held = self.hands[seat]
        plays: tuple[Event, ...] = (*legal_plays(self.state, held), *legal_stacks(self.state, held))
        if must is Must.PLAY_AGAIN:
            return (*plays, Decline(seat))
        if must in SPELLS and self._is_exempt(seat):
            return (*plays, Knock(seat))
        if plays:
            return plays
        if must is Must.DRAW_A_DOUBLE:
            return (Draw(seat),)
        if must in DRAWS:
            left = len(self.boneyard) - self.game.rules.boneyard_reserve
            return (Draw(seat, min(TWO, left) if self.game.rules.draw is Drawing.TWO else 1),)
        return (Knock(seat),)

    def after(self, move: Event) -> OpenHand:
        """The hand after one of `moves`, and after what leaves no choice then."""
        now = replace(self._fed(move), outcomes=())._with(move)
        told = list(now.outcomes)
        while (forced := now._forced(told)) is not None:
            now = now._with(forced)
            told += now.outcomes
        return replace(now, outcomes=tuple(told))

    def revealed(self) -> tuple[HandResult, OpenHand]:
        """The result, when the hand is over and all hands have been laid open."""
        now = self
        for seat, holding in enumerate(self.hand.holdings):
            if holding is None:
                now = now._with(Reveal(Seat(seat), now.hands[seat]))
        (result,) = [outcome.result for outcome in now.outcomes if isinstance(outcome, HandOver)]
        return result, now

    def action(self, move: Event) -> Action:
        """The same in naive words; places are the ways of naive.py."""
        match move:
            case Draw():
                return DRAW
            case Knock():
                return KNOCK
            case Decline():
                return DECLINE
            case Play(tile=laid, at=None):
                return Action("play", pair(laid))
            case Play(tile=laid, at=at) if at is not None:
                host = self.game.layout.nodes[0]
                if not host.is_starter:
                    return Action("play", pair(laid), self.ways()[at.host] + _step(at.port, first=at.host == host.id))
                if at.host == host.id:
                    return Action("play", pair(laid), "new")
                return Action("play", pair(laid), f"arm{self.arms()[at.host]}")
            case Stack(tile=laid, on=node):
                return Action("stack", pair(laid), self.ways()[node])
            case _:
                raise AssertionError(move)

    def ways(self) -> dict[NodeId, str]:
        """The way of naive.py to each tile."""
        found: dict[NodeId, str] = {}
        for node in self.game.layout.nodes:
            at = node.joins
            found[node.id] = "" if at is None else found[at.host] + _step(at.port, first=found[at.host] == "")
        return found

    def arms(self) -> dict[NodeId, int]:
        """Which arm each tile but the starter lies on, in the order in which they were started."""
        starter = self.game.layout.nodes[0].id
        found: dict[NodeId, int] = {}
        for node in self.game.layout.nodes[1:]:
            assert node.joins is not None
            new = node.joins.host == starter
            found[node.id] = max(found.values(), default=0) + 1 if new else found[node.joins.host]
        return found

    def _forced(self, told: Sequence[Outcome]) -> Event | None:
        """What has to come next, whatever the players want."""
        for outcome in reversed(told):
            if isinstance(outcome, Claimable):
                if self.hand.chance is not None and not self.hand.chance.called:
                    return Call(outcome.seat, outcome.points)
                break
        if self.game.phase is not Phase.LEAD:
            return None
        whose = turn(self.game)
        assert whose is not None
        if whose.seat is None:
            return None
        without = not any(one.is_double for one in self.hands[whose.seat])
        if without and (whose.must is Must.LEAD_DOUBLE or (whose.must is Must.DRAW_A_DOUBLE and whose.extra)):
            return Knock(whose.seat)
        return None

    def _is_exempt(self, seat: Seat) -> bool:
        """Whether the caster of a spell need not break it now. docs/rules.md A2-5."""
        spell, effects = self.hand.course.spell, self.game.rules.effects
        if spell is None or effects is None or spell.arm is None or spell.caster != seat:
            return False
        return effects.spell_lap is SpellLap.CASTER_EXEMPT or spell.returns > 1

    def _with(self, event: Event) -> OpenHand:
        """The hand after any event; nothing may be wrong with it."""
        state, outcomes = apply(self.state, event)
        hands, boneyard = self.hands, self.boneyard
        for outcome in outcomes:
            assert not isinstance(outcome, Irregular), (outcome, state.log)
            if isinstance(outcome, ForcedDraw):
                hands, boneyard = _drawn(hands, boneyard, outcome.seat, outcome.tiles)
        return OpenHand(state, hands, boneyard, outcomes)

    def _fed(self, move: Event) -> OpenHand:
        """The hand with the tiles where *move* puts them."""
        match move:
            case Play(seat=seat, tile=laid) | Stack(seat=seat, tile=laid):
                held = list(self.hands[seat])
                held.remove(laid)
                return replace(self, hands=(*self.hands[:seat], tuple(held), *self.hands[seat + 1 :]))
            case Draw(seat=seat, tiles=tiles):
                hands, boneyard = _drawn(self.hands, self.boneyard, seat, tiles)
                return replace(self, hands=hands, boneyard=boneyard)
            case _:
                return self


def open_hand(rules: Rules, hands: Sequence[Sequence[Pair]], boneyard: Sequence[Pair], leader: int = 0) -> OpenHand:
    """The position before the first tile; *leader* leads where the tiles do not say who does.

    Raises:
        ValueError: If nobody can lead and everybody has to draw new tiles.
    """
    held = tuple(tuple(tile(one) for one in hand) for hand in hands)
    left = tuple(tile(one) for one in boneyard)
    rules = replace(rules, hand=len(hands[0]), hand_for=(), target=None, policy=Policy.STRICT)
    state, _ = apply(State(), MatchStart(rules, tuple("ABCDEFGHIJKLMNOP"[: len(hands)])))
    state, outcomes = apply(state, NewHand(boneyard=len(left)))
    assert all(one.problem.kind is SHORT_OF_TILES for one in outcomes if isinstance(one, Irregular))
    now = OpenHand(state, held, left)
    now = now._with(Lead(Seat(_leader(now, leader))))
    while (forced := now._forced(())) is not None:
        now = now._with(forced)
    return replace(now, outcomes=())


def naive_rules(rules: Rules) -> dict[str, Any]:
    """The same rules in the words of docs/rules.md 2.7, for the naive game."""
    points, effects = rules.hand_points, rules.effects
    found: dict[str, Any] = {
        "set": rules.max_pips,
        "copies": rules.copies,
        "hand": {seats: rules.dealt(seats) for seats in range(2, 16)},
        "spinner": str(rules.spinner),
        "branch_order": str(rules.branch_order),
        "spinner_count": str(rules.spinner_count),
        "unit": rules.unit,
        "play_divisor": rules.play_divisor,
        "draw": str(rules.draw),
        "boneyard_reserve": rules.boneyard_reserve,
        "on_provable_block": str(rules.on_provable_block),
        "cutthroat": rules.cutthroat,
        "gain": str(rules.steal_gain),
        "partners": rules.partners,
        "partners_mode": str(rules.partners_mode),
        "lead_first": _lead_text(rules),
        "hand_points": {
            "subtract_own": points.subtract_own,
            "round_to": points.round_to,
            "bonus_divisor": points.bonus_divisor,
            "tie": str(points.tie),
            "tie_order": str(points.tie_order),
            "mode": str(points.mode),
            "signed": points.signed,
        },
    }
    if effects is not None:
        found |= {name: getattr(effects, name) for name in ("draw_on", "again_on", "spell_on", "reverse_on")}
        found |= {name: str(getattr(effects, name)) for name in ("skip_on", "spell_lap", "spell_deadlock")}
        found["effects_before_end"] = effects.last_tile
    if rules.redeal_if_doubles_over is not None:
        found["redeal_if_doubles_over"] = rules.redeal_if_doubles_over
    return found


def _lead_text(rules: Rules) -> str:
    if rules.lead_first is LeadRule.HIGHEST_DOUBLE and rules.no_double is NoDouble.HIGHEST_TILE:
        return "highest_double_else_highest_single"
    return str(rules.lead_first)


def _leader(now: OpenHand, leader: int) -> int:
    """Who leads: by the roll call, where there is one."""
    whose, rules = turn(now.game), now.game.rules
    assert whose is not None
    if whose.must not in ROLL_CALLS:
        return leader
    top = Tile(rules.max_pips, rules.max_pips)
    if whose.must is Must.LEAD_SET_DOUBLE:
        best: Tile | None = top if any(top in held for held in now.hands) else None
    else:
        best = highest_leader(rules, tuple(one for held in now.hands for one in held))
    if best is None:
        raise ValueError("nobody holds the tile that has to be led")
    return next(seat for seat, held in enumerate(now.hands) if best in held)


def _drawn(
    hands: tuple[tuple[Tile, ...], ...], boneyard: tuple[Tile, ...], seat: int, tiles: int
) -> tuple[tuple[tuple[Tile, ...], ...], tuple[Tile, ...]]:
    """Hands and boneyard after *seat* took tiles from its end."""
    drawn, left = tuple(reversed(boneyard[len(boneyard) - tiles :])), boneyard[: len(boneyard) - tiles]
    return (*hands[:seat], (*hands[seat], *drawn), *hands[seat + 1 :]), left


def _step(port: Port, *, first: bool) -> str:
    """What a port adds to a way: only of the first tile W and E are different sides."""
    return "+" if port is Port.E and not first else str(port)
