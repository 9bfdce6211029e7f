"""Legal moves of a player: plays, stacks, draws, knocks and declined extra turns."""

from collections.abc import Iterable

from engine.game.questions import legal_plays, legal_stacks
from engine.game.turns import TILES_PER_DRAW, can_draw, drawable, is_exempt, turn
from engine.rules.rules import Drawing
from engine.state.events import Decline, Draw, Knock, Play, Stack
from engine.state.match import LeadTile, Phase, State
from engine.state.outcomes import Must
from engine.tiles import Tile

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
    current = None if game is None else turn(game)
    if game is None or game.hand is None or current is None or current.seat is None:
        return ()
    rules, hand, seat, held = game.rules, game.hand, current.seat, tuple(tiles)
    plays: tuple[LegalMove, ...] = legal_plays(state, held)
    if game.phase is Phase.LEAD:
        if plays or hand.lead is not LeadTile.ANY_DOUBLE:
            return plays
        if current.must is Must.DRAW_A_DOUBLE and not current.extra:
            return (Draw(seat),) if drawable(rules, hand) else ()
        return (Knock(seat),)
    plays = (*plays, *legal_stacks(state, held))
    if current.must is Must.PLAY_AGAIN:
        return (*plays, Decline(seat))
    if can_draw(rules, hand):
        number = 1
        if rules.draw is Drawing.TWO:
            number = min(TILES_PER_DRAW - hand.course.drawn, drawable(rules, hand))
        return plays if plays and not rules.voluntary_draw else (*plays, Draw(seat, number))
    may_pass = not rules.must_play or is_exempt(rules, hand)
    return plays if plays and not may_pass else (*plays, Knock(seat))
