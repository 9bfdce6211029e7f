"""Draw, knock, decline, count the boneyard: actions that lay no tile on the table. docs/rules.md 2.3, 3.5."""

from engine.game.claims import DREW, KNOCKED, cannot_play, drew, said, without_double
from engine.game.closing import GameUpdate, close_hand, prepend
from engine.game.effects import end_spell
from engine.game.judge_turn import owes
from engine.game.turns import advanced, drawable, following, is_exempt, is_optional
from engine.rules.rules import Drawing, SpellDeadlock
from engine.state.events import Action, Draw, Knock, Play, Seat, Stack
from engine.state.hand import NO_COURSE, Claim, Hand
from engine.state.match import Game, Phase
from engine.state.outcomes import Declined, Drew, Ending, Outcome, Passed
from engine.value import changed

_SHOWS_A_PASS = (Play, Stack, Draw, Knock)
"""Actions of the next player that show that the previous player is done."""


def caught_up(game: Game, hand: Hand, action: Action) -> tuple[Game, Hand, tuple[Outcome, ...]]:
    """Return the match as *action* finds it: the turn passed on when the next player shows that the one before is done.

    A draw that another's play has forced shows nothing of the kind, and a pass that ends the hand has to be said.
    """
    if not isinstance(action, _SHOWS_A_PASS) or (isinstance(action, Draw) and action.forced):
        return game, hand, ()
    if hand.turn is None or hand.turn == action.seat or not is_optional(game, hand):
        return game, hand, ()
    if following(game, hand) != action.seat:
        return game, hand, ()
    after, told = decline(game, hand) if hand.course.extra else knock(game, hand, hand.turn)
    if after.hand is None or after.phase is not game.phase:
        return game, hand, ()
    return after, after.hand, told


def draw(game: Game, hand: Hand, action: Draw) -> GameUpdate:
    """Return the match with tiles drawn, which says that the player could not play."""
    seat, left = action.seat, max(0, hand.boneyard - action.tiles)
    if owes(hand, action):
        owed = tuple(number - action.tiles if at == seat else number for at, number in enumerate(hand.course.owed))
        return changed(game, hand=changed(hand, course=changed(hand.course, owed=owed))), ()
    claims, course = _claims_of_a_draw(game, hand, action), hand.course
    if hand.turn == seat and (game.rules.draw is Drawing.TWO or game.phase is Phase.LEAD):
        course = changed(course, drawn=course.drawn + action.tiles)
    sizes = tuple(size + action.tiles if at == seat else size for at, size in enumerate(hand.sizes))
    hand = changed(hand, sizes=sizes, boneyard=left, claims=claims, course=course)
    game = changed(game, hand=hand)
    told = (Drew(seat, action.tiles, left),)
    if hand.locked and left <= game.rules.boneyard_reserve and game.phase is Phase.PLAY:
        return prepend(told, close_hand(game, hand, Ending.BLOCKED_BY_PROOF, None))
    return game, told


def _claims_of_a_draw(game: Game, hand: Hand, action: Draw) -> tuple[tuple[Claim, ...], ...]:
    """Return the claims of all players after one of them draws."""
    seat, claims = action.seat, hand.claims
    if hand.turn != seat or game.rules.voluntary_draw:
        return drew(claims, seat, action.tiles, action.faces)
    if game.phase is Phase.LEAD:
        return drew(said(claims, seat, without_double(game.rules)), seat, action.tiles, action.faces)
    if hand.course.drawn:  # the second of two tiles is owed: it does not deny the first
        return drew(claims, seat, action.tiles, action.faces)
    # Of several tiles drawn until one can be played only the last can be, but each draw is a reset. docs/rules.md 2.6.
    return drew(said(claims, seat, cannot_play(hand, game.rules, DREW)), seat, action.tiles, action.faces)


def knock(game: Game, hand: Hand, seat: Seat) -> GameUpdate:
    """Return the match with the turn passed on, and the hand closed when all have knocked in succession."""
    if game.phase is Phase.LEAD:
        return _without_lead(game, hand, seat)
    claims = hand.claims
    if game.rules.must_play and not is_exempt(game.rules, hand):
        claims = said(claims, seat, cannot_play(hand, game.rules, KNOCKED))
    hand = changed(hand, claims=claims, passes=hand.passes + 1, turn=Seat((seat + 1) % len(game.players)))
    told: tuple[Outcome, ...] = (Passed(seat, hand.passes),)
    if hand.course is not NO_COURSE:
        hand, skipped = advanced(hand, seat, len(game.players))
        told = (*told, *skipped)
    game = changed(game, hand=hand)
    # Where a lap of passes can leave tiles to draw, the caster of a spell among them, it blocks nothing yet.
    if hand.passes < len(game.players) or (game.rules.draw is Drawing.TWO and drawable(game.rules, hand)):
        return game, told
    effects = game.rules.effects
    if hand.course.spell is not None and effects is not None and effects.spell_deadlock is SpellDeadlock.LAPSES:
        hand, lifted = end_spell(changed(hand, passes=0))
        return changed(game, hand=hand), (*told, *lifted)
    return prepend(told, close_hand(game, hand, Ending.BLOCKED_BY_KNOCKS, None))


def decline(game: Game, hand: Hand) -> GameUpdate:
    """Return the match with an extra turn given up."""
    assert hand.turn is not None  # somebody has an extra turn
    seat = hand.turn
    hand, skipped = advanced(hand, seat, len(game.players))
    return changed(game, hand=hand), (Declined(seat), *skipped)


def _without_lead(game: Game, hand: Hand, seat: Seat) -> GameUpdate:
    """Return the match with the chance to lead passed on: *seat* has no double. docs/rules.md 3.5."""
    drawn = hand.course.drawn
    hand, _ = advanced(hand, seat, len(game.players))
    without = hand.course.without_double + (0 if drawn else 1)
    hand = changed(
        hand,
        claims=said(hand.claims, seat, without_double(game.rules)),
        course=changed(hand.course, without_double=without),
    )
    return changed(game, hand=hand), (Passed(seat, without, instead_of_leading=True),)
