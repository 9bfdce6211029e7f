"""Effects of tiles in the six-arm game: draw, spell, reverse, skip. See docs/reference/rules.md 3.5."""

from engine.game.claims import after_draw
from engine.rules.rules import Effects, Rules, SkipOn
from engine.state.events import Seat
from engine.state.hand import Hand, Spell
from engine.state.layout import Node
from engine.state.outcomes import ForcedDraw, Outcome, Spelled, Turned
from engine.value import changed

HandUpdate = tuple[Hand, tuple[Outcome, ...]]
"""The hand after an effect, and its outcomes."""


def take_effect(hand: Hand, seat: Seat, laid: Node, rules: Rules, effects: Effects) -> HandUpdate:
    """Return the hand after the effects of the outer number of *laid*. The turn is not passed yet.

    A first tile that is no double has two outer numbers and no effect. The standard rules do not allow it.
    """
    if laid.joins is None and not laid.tile.is_double:
        return hand, ()
    starter_spell = hand.course.spell is not None and hand.course.spell.arm is None
    hand, outcomes = _break_spell(hand, laid)
    if laid.outer == effects.draw_on:
        hand, drawn = force_draws(hand, seat, rules)
        outcomes = (*outcomes, *drawn)
    course = hand.course
    if laid.outer == effects.reverse_on and len(hand.sizes) > 2:
        course = changed(course, direction=-course.direction)
        outcomes = (*outcomes, Turned(course.direction > 0))
    if _skips_next(laid, effects):
        course = changed(course, skip=True)
    if laid.outer == effects.spell_on and not starter_spell:
        course = changed(course, spell=Spell(seat, laid.arm))
        outcomes = (*outcomes, Spelled(seat, laid.arm, is_on=True))
    return changed(hand, course=changed(course, extra=laid.outer == effects.again_on, drawn=0)), outcomes


def force_draws(hand: Hand, seat: Seat, rules: Rules) -> HandUpdate:
    """Return the hand after everybody but *seat* draws one tile, in turn order.

    It stops early when no tile may be drawn from the boneyard.
    """
    seats = len(hand.sizes)
    sizes, owed, claims, boneyard = list(hand.sizes), list(hand.course.owed or (0,) * seats), hand.claims, hand.boneyard
    outcomes: list[Outcome] = []
    for away in range(1, seats):
        at = (seat + away * hand.course.direction) % seats
        if boneyard <= rules.boneyard_reserve:
            break
        boneyard -= 1
        sizes[at] += 1
        owed[at] += 1
        claims = after_draw(claims, at, 1)
        outcomes.append(ForcedDraw(Seat(at), 1, boneyard))
    course = changed(hand.course, owed=tuple(owed))
    return changed(hand, sizes=tuple(sizes), boneyard=boneyard, claims=claims, course=course), tuple(outcomes)


def end_spell(hand: Hand) -> HandUpdate:
    """Return the hand without its spell, which was broken or can no longer be broken.

    See docs/reference/rules.md A2-6.
    """
    spell = hand.course.spell
    assert spell is not None  # checked by the callers
    outcomes = (Spelled(spell.caster, spell.arm, is_on=False),)
    return changed(hand, course=changed(hand.course, spell=None)), outcomes


def _break_spell(hand: Hand, laid: Node) -> HandUpdate:
    """Return the hand, without its spell if *laid* breaks the spell.

    A tile breaks the spell on an arm by covering that arm's end, and the spell on the starter by taking its last arm.
    """
    spell = hand.course.spell
    if spell is None:
        return hand, ()
    if spell.arm is None:
        starter = hand.layout.nodes[0].id
        has_room = any(end.spot.host == starter for end in hand.layout.ends)
        return (hand, ()) if has_room else end_spell(hand)
    return (hand, ()) if laid.arm is not spell.arm else end_spell(hand)


def _skips_next(laid: Node, effects: Effects) -> bool:
    """Return True if the next player loses their turn."""
    match effects.skip_on:
        case SkipOn.NONE:
            return False
        case SkipOn.BLANK:
            return laid.outer == 0
        case SkipOn.DOUBLE:
            return laid.tile.is_double and laid.joins is not None and laid.outer != effects.spell_on
