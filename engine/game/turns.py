"""Turn order and the current player's options. See docs/reference/rules.md 2.3 and, for the six-arm game, 3.5."""

from typing import Protocol

from engine.rules.rules import Drawing, NoDouble, ProvableBlock, Rules, SpellLap
from engine.state.events import Seat
from engine.state.hand import NO_COURSE, Course, Hand, LeadTile, Spell
from engine.state.match import Game, Phase
from engine.state.outcomes import Must, Outcome, Skipped, Turn
from engine.value import changed

TILES_PER_DRAW = 2
"""Number of tiles in a draw under `Drawing.TWO`."""


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
    hand = game.hand
    if hand is None or not game.rules.refereed:
        return None
    if game.phase is Phase.PLAY:
        return _turn_in_play(game.rules, hand)
    if game.phase is Phase.LEAD:
        return Turn(hand.turn, _must_lead(game, hand), extra=hand.course.drawn > 0)
    return None


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
    if rules.draw is not Drawing.TWO or not hand.course.drawn or not can_draw(rules, hand):
        return 0
    return min(TILES_PER_DRAW - hand.course.drawn, drawable(rules, hand))


def is_exempt(rules: Rules, hand: TurnState) -> bool:
    """Return True if the player to move cast the spell and may pass without drawing. See docs/reference/rules.md A2-5.

    False if there is nothing to draw.
    """
    spell = hand.course.spell
    if spell is None or spell.arm is None or rules.effects is None or hand.turn != spell.caster:
        return False
    if drawable(rules, hand) == 0:
        return False
    return rules.effects.spell_lap is SpellLap.CASTER_EXEMPT or spell.returns > 1


def is_optional(game: Game, hand: Hand) -> bool:
    """Return True if the next player may already act. Their action then ends the current turn."""
    course = hand.course
    if course.extra:
        return True
    return course.drawn > 0 and (game.phase is Phase.LEAD or not can_draw(game.rules, hand))


def next_seat(game: Game, hand: Hand) -> Seat | None:
    """Return the seat that moves next, or None while the seat to move is unknown."""
    return None if hand.turn is None else pass_turn(hand, hand.turn, len(game.players))[0].turn


def pass_turn(hand: Hand, seat: Seat, seats: int) -> tuple[Hand, tuple[Outcome, ...]]:
    """Return the hand after the turn of *seat* ends, with a `Skipped` outcome if a player loses a turn."""
    course, skipped = hand.course, Seat((seat + hand.course.direction) % seats)
    course, after = passed(course, seat, seats)
    return changed(hand, turn=after, course=course), (Skipped(skipped),) if hand.course.skip else ()


def passed(course: Course, seat: Seat, seats: int) -> tuple[Course, Seat]:
    """Return the turn state after the turn of *seat* ends, and the seat that moves next."""
    after = Seat((seat + course.direction * (1 + course.skip)) % seats)
    spell = course.spell
    if spell is not None and after == spell.caster:
        spell = Spell(spell.caster, spell.arm, spell.returns + 1)
    return Course(course.direction, spell, without_double=course.without_double, owed=course.owed), after


def draws_for_lead(game: Game, hand: Hand) -> bool:
    """Return True if all players have declared that they have no double, so each draws one tile in turn."""
    one_in_turn = game.rules.no_double is NoDouble.DRAW_ONE_IN_TURN and hand.lead is LeadTile.ANY_DOUBLE
    return one_in_turn and hand.course.without_double >= len(game.players)


def _must_lead(game: Game, hand: Hand) -> Must:
    """Return the task of the leader."""
    match hand.lead:
        case LeadTile.ANY:
            return Must.LEAD_ANY
        case LeadTile.ANY_DOUBLE:
            return Must.DRAW_A_DOUBLE if draws_for_lead(game, hand) else Must.LEAD_DOUBLE
        case LeadTile.HIGHEST_DOUBLE:
            return Must.LEAD_HIGHEST_DOUBLE
        case LeadTile.RACE:
            return Must.RACE
        case LeadTile.SET_DOUBLE:
            return Must.LEAD_SET_DOUBLE


def _turn_in_play(rules: Rules, hand: Hand) -> Turn:
    """Return the current turn after the lead."""
    course, draws = hand.course, can_draw(rules, hand)
    if course is NO_COURSE:
        if not draws:
            return Turn(hand.turn, Must.PLAY_OR_KNOCK)
        return Turn(hand.turn, _must_draw(rules, hand))
    if course.extra:
        return Turn(hand.turn, Must.PLAY_AGAIN, extra=True)
    optional = course.drawn > 0 and not draws
    musts = (Must.PLAY_OR_KNOCK, _must_draw(rules, hand))
    if course.spell is not None:
        musts = (Must.BREAK_OR_KNOCK, Must.BREAK_OR_DRAW)
        if course.spell.arm is None:
            musts = (Must.START_ARM_OR_KNOCK, Must.START_ARM_OR_DRAW)
    return Turn(hand.turn, musts[draws], optional)


def _must_draw(rules: Rules, hand: Hand) -> Must:
    """Return the task of a player who may have to draw. If the layout is blocked, they may end the hand instead."""
    can_end = hand.locked and rules.on_provable_block is ProvableBlock.ANNOUNCE
    return Must.DRAW_OR_END if can_end else Must.PLAY_OR_DRAW
