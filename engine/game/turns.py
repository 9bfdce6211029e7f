"""Turn order and the current player's options. See docs/reference/rules.md 2.3 and, for the six-arm game, 3.5."""

from typing import Protocol

from engine.rules.rules import Drawing, NoDouble, ProvableBlock, Rules, SpellLap
from engine.state.events import Draw, Seat
from engine.state.match import Course, Game, Hand, LeadTile, Phase, Spell
from engine.state.outcomes import Must, Skipped, Turn
from engine.value import changed

TILES_PER_DRAW = 2
"""Number of tiles in a draw under `Drawing.TWO`."""

_MUST_LEAD = {
    LeadTile.ANY: Must.LEAD_ANY,
    LeadTile.ANY_DOUBLE: Must.LEAD_DOUBLE,
    LeadTile.HIGHEST_DOUBLE: Must.LEAD_HIGHEST_DOUBLE,
    LeadTile.RACE: Must.RACE,
    LeadTile.SET_DOUBLE: Must.LEAD_SET_DOUBLE,
}


class TurnState(Protocol):
    """Part of a `Hand` on which the options to draw and pass depend."""

    @property
    def boneyard(self) -> int: ...  # noqa: D102
    @property
    def turn(self) -> Seat | None: ...  # noqa: D102
    @property
    def course(self) -> Course: ...  # noqa: D102


def turn(game: Game) -> Turn | None:
    """Return the current turn and its task, or None if nobody is to move."""
    hand, rules = game.hand, game.rules
    if hand is None or not rules.refereed:
        return None
    course = hand.course
    if game.phase is not Phase.PLAY:
        must = Must.DRAW_A_DOUBLE if draws_for_lead(game, hand) else _MUST_LEAD[hand.lead]
        return Turn(hand.turn, must, course.drawn > 0) if game.phase is Phase.LEAD else None
    if course.extra:
        return Turn(hand.turn, Must.PLAY_AGAIN, extra=True)
    draws = can_draw(rules, hand)
    if course.spell is None:
        must = Must.PLAY_OR_DRAW if draws else Must.PLAY_OR_KNOCK
        if draws and hand.locked and rules.on_provable_block is ProvableBlock.ANNOUNCE:
            must = Must.DRAW_OR_END
    elif course.spell.arm is None:
        must = Must.START_ARM_OR_DRAW if draws else Must.START_ARM_OR_KNOCK
    else:
        must = Must.BREAK_OR_DRAW if draws else Must.BREAK_OR_KNOCK
    return Turn(hand.turn, must, course.drawn > 0 and not draws)


def drawable(rules: Rules, hand: TurnState) -> int:
    """Return the number of boneyard tiles that may be drawn."""
    return 0 if rules.draw is Drawing.NONE else max(0, hand.boneyard - rules.boneyard_reserve)


def can_draw(rules: Rules, hand: TurnState) -> bool:
    """Return True if the player to move must draw when they cannot play."""
    if drawable(rules, hand) == 0:
        return False
    if rules.draw is Drawing.UNTIL_PLAYABLE:
        return True
    return hand.course.drawn < TILES_PER_DRAW and not hand.course.extra and not is_exempt(rules, hand)


def tiles_to_draw(rules: Rules, hand: TurnState) -> int:
    """Return 1 if the player has drawn one of two tiles and must draw the other before playing, else 0."""
    return int(rules.draw is Drawing.TWO and hand.course.drawn > 0 and can_draw(rules, hand))


def is_exempt(rules: Rules, hand: TurnState) -> bool:
    """Return True if the player to move cast the spell and may pass without drawing. See docs/reference/rules.md A2-5.

    False if there is nothing to draw.
    """
    spell, effects = hand.course.spell, rules.effects
    if spell is None or spell.arm is None or effects is None or hand.turn != spell.caster or not drawable(rules, hand):
        return False
    return effects.spell_lap is SpellLap.CASTER_EXEMPT or spell.returns > 1


def draws_for_lead(game: Game, hand: Hand) -> bool:
    """Return True if all players have declared that they have no double, so each draws one tile in turn."""
    one_in_turn = game.rules.no_double is NoDouble.DRAW_ONE_IN_TURN and hand.lead is LeadTile.ANY_DOUBLE
    return one_in_turn and hand.course.without_double >= len(game.players)


def owes(hand: Hand, action: Draw) -> bool:
    """Return True if another player's tile forced this draw, so the engine has already counted it."""
    owed = hand.course.owed
    return bool(owed) and owed[action.seat] >= action.tiles and (action.forced or hand.turn != action.seat)


def pass_turn(hand: Hand, seat: Seat) -> tuple[Hand, tuple[Skipped, ...]]:
    """Return the hand after the turn of *seat* ends, with a `Skipped` outcome if a player loses a turn."""
    seats = len(hand.sizes)
    skipped = (Skipped(Seat((seat + hand.course.direction) % seats)),) if hand.course.skip else ()
    course, after = passed(hand.course, seat, seats)
    return changed(hand, turn=after, course=course), skipped


def passed(course: Course, seat: Seat, seats: int) -> tuple[Course, Seat]:
    """Return the turn state after the turn of *seat* ends, and the seat that moves next."""
    after = Seat((seat + course.direction * (1 + course.skip)) % seats)
    spell = course.spell
    if spell is not None and after == spell.caster:
        spell = Spell(spell.caster, spell.arm, spell.returns + 1)
    return Course(course.direction, spell, without_double=course.without_double, owed=course.owed), after
