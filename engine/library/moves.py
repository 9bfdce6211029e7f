"""Legal moves for a hand: plays, stacks, draws, knocks and declined extra turns."""

from collections.abc import Iterable

from engine.game.questions import legal_plays, legal_stacks
from engine.game.turns import TILES_PER_DRAW, can_draw, drawable, is_exempt, turn
from engine.rules.rules import Drawing
from engine.state.events import Decline, Draw, Knock, Play, Stack
from engine.state.hand import LeadTile
from engine.state.match import Phase, State
from engine.state.outcomes import Must
from engine.tiles import Tile

LegalMove = Play | Stack | Draw | Knock | Decline
"""A move of a player in their turn."""


def legal_moves(state: State, tiles: Iterable[Tile]) -> tuple[LegalMove, ...]:
    """Return every legal move of the player whose turn it is: plays first, as `legal_plays` gives them, then stacks.

    Where two tiles are drawn, the draw is one move of both. A knock or a draw beside a play is there only if the rules
    let players hold back (`must_play`, `voluntary_draw`, the caster of a spell).

    Args:
        state: Where the match stands; nothing is legal while nobody knows who leads, and between hands.
        tiles: All that this player holds.
    """
    game = state.game
    whose = None if game is None else turn(game)
    if game is None or game.hand is None or whose is None or whose.seat is None:
        return ()
    rules, hand, seat, held = game.rules, game.hand, whose.seat, tuple(tiles)
    plays: tuple[LegalMove, ...] = legal_plays(state, held)
    if game.phase is Phase.LEAD:
        if plays or hand.lead is not LeadTile.ANY_DOUBLE:
            return plays
        if whose.must is Must.DRAW_A_DOUBLE and not whose.extra:
            return (Draw(seat),) if drawable(rules, hand) else ()
        return (Knock(seat),)
    plays = (*plays, *legal_stacks(state, held))
    if whose.must is Must.PLAY_AGAIN:
        return (*plays, Decline(seat))
    if can_draw(rules, hand):
        number = 1
        if rules.draw is Drawing.TWO:
            number = min(TILES_PER_DRAW - hand.course.drawn, drawable(rules, hand))
        return plays if plays and not rules.voluntary_draw else (*plays, Draw(seat, number))
    holds_back = not rules.must_play or is_exempt(rules, hand)
    return plays if plays and not holds_back else (*plays, Knock(seat))
