"""Apply actions that lay no tile: draw, knock, decline. See docs/reference/rules.md 2.3 and 3.5."""

from engine.game.claims import add_claim, after_draw, claim_of, no_double
from engine.game.closing import GameUpdate, close_hand, prepend
from engine.game.effects import end_spell
from engine.game.judge_turn import owes
from engine.game.turns import drawable, is_optional, next_seat, pass_turn
from engine.rules.rules import Drawing, SpellDeadlock
from engine.state.events import Action, Draw, Knock, Play, Seat, Stack
from engine.state.hand import NO_COURSE, Hand
from engine.state.match import Game, Phase
from engine.state.outcomes import Declined, Drew, Ending, Outcome, Passed
from engine.tiles import bits_of
from engine.value import changed

_IMPLIES_PASS = (Play, Stack, Draw, Knock)
"""Actions of the next player which imply that the previous player is done."""


def with_implied_pass(game: Game, hand: Hand, action: Action) -> tuple[Game, Hand, tuple[Outcome, ...]]:
    """Pass the turn on if *action* of the next player implies that the current player is done.

    A forced draw implies nothing. A pass that would end the hand is never implied. Only a player who can decline an
    extra turn, or has drawn, is passed over.

    Returns:
        The game, its hand and the outcomes of the implied pass, if any.
    """
    if not isinstance(action, _IMPLIES_PASS) or (isinstance(action, Draw) and action.forced):
        return game, hand, ()
    if hand.turn is None or hand.turn == action.seat or not is_optional(game, hand):
        return game, hand, ()
    if next_seat(game, hand) != action.seat:
        return game, hand, ()
    after, outcomes = decline(game, hand) if hand.course.extra else knock(game, hand, hand.turn)
    if after.hand is None or after.phase is not game.phase:
        return game, hand, ()
    return after, after.hand, outcomes


def draw(game: Game, hand: Hand, action: Draw) -> GameUpdate:
    """Return the match after a draw. Unless draws are voluntary, drawing claims that the player could not play.

    A forced draw has already been counted, so it only settles what the seat owes. If no tile fits and none is left to
    draw, the hand ends.
    """
    seat, left = action.seat, max(0, hand.boneyard - action.tiles)
    held = hand.held
    if action.faces:
        seen = bits_of(action.faces)
        held = tuple(bits | seen if at == seat else bits for at, bits in enumerate(held))
    if owes(hand, action):
        owed = tuple(number - action.tiles if at == seat else number for at, number in enumerate(hand.course.owed))
        return changed(game, hand=changed(hand, held=held, course=changed(hand.course, owed=owed))), ()
    claim, claims, course = claim_of(game, hand, action), hand.claims, hand.course
    if claim is not None:
        claims = add_claim(claims, seat, claim)
    claims = after_draw(claims, seat, action.tiles, action.faces)
    if hand.turn == seat and (game.rules.draw is Drawing.TWO or game.phase is Phase.LEAD):
        course = changed(course, drawn=course.drawn + action.tiles)
    sizes = tuple(size + action.tiles if at == seat else size for at, size in enumerate(hand.sizes))
    hand = changed(hand, sizes=sizes, boneyard=left, claims=claims, held=held, course=course)
    game = changed(game, hand=hand)
    outcomes = (Drew(seat, action.tiles, left),)
    if hand.locked and left <= game.rules.boneyard_reserve and game.phase is Phase.PLAY:
        return prepend(outcomes, close_hand(game, hand, Ending.BLOCKED_BY_PROOF, None))
    return game, outcomes


def knock(game: Game, hand: Hand, seat: Seat) -> GameUpdate:
    """Return the match after a knock. If all players have knocked in succession, the hand ends or a spell lapses."""
    if game.phase is Phase.LEAD:
        return _without_lead(game, hand, seat)
    claim, claims = claim_of(game, hand, Knock(seat)), hand.claims
    if claim is not None:
        claims = add_claim(claims, seat, claim)
    hand = changed(hand, claims=claims, passes=hand.passes + 1, turn=Seat((seat + 1) % len(game.players)))
    outcomes: tuple[Outcome, ...] = (Passed(seat, hand.passes),)
    if hand.course is not NO_COURSE:
        hand, skipped = pass_turn(hand, seat, len(game.players))
        outcomes = (*outcomes, *skipped)
    game = changed(game, hand=hand)
    # If all have passed but tiles can be drawn (the caster of a spell may pass without drawing), the hand goes on.
    if hand.passes < len(game.players) or (game.rules.draw is Drawing.TWO and drawable(game.rules, hand)):
        return game, outcomes
    effects = game.rules.effects
    if hand.course.spell is not None and effects is not None and effects.spell_deadlock is SpellDeadlock.LAPSES:
        hand, lifted = end_spell(changed(hand, passes=0))
        return changed(game, hand=hand), (*outcomes, *lifted)
    return prepend(outcomes, close_hand(game, hand, Ending.BLOCKED_BY_KNOCKS, None))


def decline(game: Game, hand: Hand) -> GameUpdate:
    """Return the match after an extra turn is declined."""
    assert hand.turn is not None  # an extra turn belongs to a seat
    seat = hand.turn
    hand, skipped = pass_turn(hand, seat, len(game.players))
    return changed(game, hand=hand), (Declined(seat), *skipped)


def _without_lead(game: Game, hand: Hand, seat: Seat) -> GameUpdate:
    """Return the match after *seat* declares to have no double to lead. See docs/reference/rules.md 3.5."""
    drawn = hand.course.drawn
    hand, _ = pass_turn(hand, seat, len(game.players))
    without = hand.course.without_double + (0 if drawn else 1)
    hand = changed(
        hand,
        claims=add_claim(hand.claims, seat, no_double(game.rules)),
        course=changed(hand.course, without_double=without),
    )
    return changed(game, hand=hand), (Passed(seat, without, instead_of_leading=True),)
