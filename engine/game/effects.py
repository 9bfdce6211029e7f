"""Effects of tiles in the six-arm game: draw, spell, reverse, skip. See docs/reference/rules.md 3.5."""

from engine.game.claims import after_draw
from engine.rules.rules import Effects, Rules, SkipOn
from engine.state.events import Seat
from engine.state.layout import Port
from engine.state.match import Course, Hand, Spell
from engine.state.outcomes import ForcedDraw, Outcome, Spelled, Turned
from engine.value import changed, value


@value
class EffectTile:
    """A tile that takes effect: its outer number, its arm (None for the first tile), and whether it is a double."""

    number: int
    arm: Port | None
    is_double: bool


def take_effect(hand: Hand, seat: Seat, rules: Rules, effects: Effects) -> tuple[Hand, tuple[Outcome, ...]]:
    """Return the hand after the effects of the outer number of the last tile. The turn is not passed yet.

    A first tile that is no double has two outer numbers and no effect. The standard rules do not allow it.
    """
    starter, node = hand.layout.nodes[0], hand.layout.nodes[-1]
    if node.joins is None and not node.tile.is_double:
        return hand, ()
    laid, spell = EffectTile(node.outer, node.arm, node.tile.is_double), hand.course.spell
    has_room = any(end.spot.host == starter.id for end in hand.layout.ends)
    outcomes: tuple[Outcome, ...] = ()
    if spell is not None and _is_broken(spell, laid, has_room=has_room):
        outcomes = (Spelled(spell.caster, spell.arm, is_on=False),)
    if laid.number == effects.draw_on:
        hand, drawn = force_draws(hand, seat, rules)
        outcomes = (*outcomes, *drawn)
    course = course_after(hand.course, seat, laid, effects, len(hand.sizes), has_room=has_room)
    if course.direction != hand.course.direction:
        outcomes = (*outcomes, Turned(course.direction > 0))
    if course.spell is not None and course.spell is not spell:
        outcomes = (*outcomes, Spelled(seat, laid.arm, is_on=True))
    return changed(hand, course=course), outcomes


def course_after(
    course: Course, seat: Seat, laid: EffectTile, effects: Effects, seats: int, *, has_room: bool
) -> Course:
    """Return the turn state after *seat* laid a tile that takes effect. *has_room*: the starter has a free arm."""
    spell, skip = course.spell, course.skip
    if laid.number == effects.spell_on and (spell is None or spell.arm is not None):
        spell = Spell(seat, laid.arm)
    elif spell is not None and _is_broken(spell, laid, has_room=has_room):
        spell = None
    if effects.skip_on is SkipOn.BLANK:
        skip |= laid.number == 0
    elif effects.skip_on is SkipOn.DOUBLE:
        skip |= laid.is_double and laid.arm is not None and laid.number != effects.spell_on
    direction = -course.direction if laid.number == effects.reverse_on and seats > 2 else course.direction
    return Course(direction, spell, laid.number == effects.again_on, skip, 0, course.without_double, course.owed)


def force_draws(hand: Hand, seat: Seat, rules: Rules) -> tuple[Hand, tuple[Outcome, ...]]:
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


def _is_broken(spell: Spell, laid: EffectTile, *, has_room: bool) -> bool:
    """Return True if a tile breaks a spell: it covers the end of its arm, or takes the starter's last arm."""
    return not has_room if spell.arm is None else laid.arm is spell.arm
