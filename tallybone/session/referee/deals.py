"""The next deal, told from the table: it was cleared, and now a first tile lies there or a new boneyard."""

from __future__ import annotations

from dataclasses import replace

from engine import Game, NewHand, Phase, State
from tallybone.session.referee.places import Places, cleared
from tallybone.session.referee.questions import Decided

# More tiles than these lie face down beside the boneyard only while they are being shuffled and dealt.
_STRAYS = 2
# Of backs that lie close together the eye overlooks some, in simulated rows up to 2 of 7. On an otherwise empty table a
# boneyard of which it sees this share is laid out; a deal told a little early does no harm, because draws are counted
# only once the first tile lies.
_SEEN = 0.5


def judge_deal(places: Places, state: State) -> Decided | None:
    """Return that a new hand was dealt, where the table shows it; None where it does not."""
    game, around = state.game, places.around
    if game is None or not around.is_seen or not _waits_for_deal(game):
        return None
    is_first = game.hand is None
    if not (is_first or around.is_cleared) or any(around.open_counts) or around.strays > _STRAYS:
        return None
    if places.waiting:
        fresh = replace(cleared(replace(places, waiting=())), waiting=places.waiting)
        # What lay on the table when it was cleared is gone.
        return Decided((NewHand(),), fresh if is_first else replace(fresh, dismissed=()))
    if _is_laid_out(places, game, is_first=is_first):
        return Decided((NewHand(),), replace(cleared(places), dismissed=()))
    return None


def _waits_for_deal(game: Game) -> bool:
    """Return whether the next hand comes now; in a game without a target every hand is a match."""
    return game.phase is Phase.DEAL or (game.phase is Phase.MATCH_OVER and game.rules.target is None)


def _is_laid_out(places: Places, game: Game, *, is_first: bool) -> bool:
    """Return whether a whole boneyard lies on an otherwise empty table, where there was none."""
    around, seats = places.around, len(game.players)
    whole = game.rules.tiles - game.rules.dealt(seats) * seats
    is_new = is_first or around.was_empty
    is_whole = whole > 0 and _SEEN * whole <= around.yard.count <= whole
    return is_new and is_whole and not (around.lying or around.strays)
