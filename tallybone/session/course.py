"""A possible course of a match."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import count
from typing import NamedTuple

from engine import Abandon, Action, Game, NewHand, Phase, RevealPips, Seat, Tile, unseen
from engine.value import value
from tallybone.session.inputs import Button, KnockHeard, Press
from tallybone.session.observations import Piece
from tallybone.session.touching import Laid

# Cost of a look, beyond one for each action, from which totals are provisional. Undisturbed hands reach 3, and of the
# hands that were decoded wrongly, nearly all reach 5.
SURPRISING = 4.7


class Named(NamedTuple):
    """An action of a course, and for a play the name of its piece. Otherwise 0."""

    action: Action
    name: int = 0


@value
class MatchCourse:
    """A possible course of the match up to a look, or while the actions before a look are added.

    Attributes:
        game: The match.
        laid: Names and places of the layout's tiles.
        left: Pieces that are not explained.
        sounds, presses: Sounds and presses of the look that are not explained.
        missing: Number of tiles of the boneyard that are not detected. None before the first count of a hand.
        missing_first: The same at the first count of the hand.
        own, other: Number of hands that came from their player's side, and from another.
        log_weight: Log weight.
        actions: Actions since the look before, in order.
        before: The course at the look before.
        is_swept: The layout of a finished hand is gone from the table.
        awaited: Presses that may still follow their actions: button, seat, time, and by how much that is likelier.
        refused: Number of presses in this hand that are not explained.
        untaken: Number of tiles drawn by a press and not taken yet, and the time of the press.
        surprise: Highest cost of a look in this hand, beyond one for each of its actions.
        is_showing: Tiles are open in front of a player although the hand is in play.
    """

    game: Game
    laid: tuple[Laid, ...] = ()
    left: tuple[Piece, ...] = ()
    sounds: tuple[KnockHeard, ...] = ()
    presses: tuple[Press | Action, ...] = ()
    missing: int | None = None
    missing_first: int | None = None
    own: int = 0
    other: int = 0
    log_weight: float = 0.0
    actions: tuple[Named, ...] = ()
    before: MatchCourse | None = None
    is_swept: bool = False
    awaited: tuple[tuple[Button, Seat, int, float], ...] = ()
    refused: int = 0
    untaken: tuple[int, int] = (0, 0)
    surprise: float = 0.0
    is_showing: bool = False

    @property
    def key(self) -> Hashable:
        """Everything on which later actions depend. Of two courses with the same key, the likelier is followed."""
        game, hand = self.game, self.game.hand
        if hand is None:
            return (game.phase, self.left, self.sounds, self.presses)
        return (
            game.totals,
            game.phase,
            hand.turn,
            hand.sizes,
            hand.boneyard,
            hand.out,
            hand.chance,
            hand.course,
            game.layout.once,
            game.layout.twice,
            game.layout.ends,
            game.layout.stacked,
            self.left,
            self.sounds,
            self.presses,
            self.awaited,
            hand.claims,
        )

    def chain(self) -> list[MatchCourse]:
        """Return the courses from before the hand to this one. Each but the first has the actions before a look."""
        found = [self]
        while found[-1].before is not None:
            found.append(found[-1].before)
            if any(isinstance(each.action, NewHand) for each in found[-2].actions):
                break
        return found[::-1]

    @property
    def is_odd(self) -> bool:
        """True if something on the table is not explained: pieces, sounds, or the boneyard's count."""
        is_in_play = self.game.phase in (Phase.LEAD, Phase.PLAY, Phase.REVEAL)
        is_miscounted = self.missing is not None and self.missing != self.missing_first
        is_odd = bool(self.left) or self.is_showing or self.surprise >= SURPRISING
        return is_odd or (is_in_play and is_miscounted)


def _likely_pips(game: Game, seat: Seat) -> int:
    """Return the expected pips of a hand that was not shown: exact if no other tile is unknown, else the average."""
    tiles, hand = unseen(game), game.hand
    assert hand is not None
    for holding in hand.holdings:
        tiles = _without(tiles, (holding.tiles if holding is not None else None) or ())
    return round(sum(tile.pips for tile in tiles) * hand.sizes[seat] / max(1, len(tiles)))


def unseen_end(game: Game) -> tuple[Abandon | RevealPips, ...]:
    """Return actions that end the hand although nobody saw its end, without a tie. Empty if no hand is in progress."""
    hand = game.hand
    if hand is None or game.phase not in (Phase.LEAD, Phase.PLAY, Phase.REVEAL):
        return ()
    if game.phase is not Phase.REVEAL:
        return (Abandon(),)
    taken, ends = {held.pips for held in hand.holdings if held is not None}, list[RevealPips]()
    for at, held in enumerate(hand.holdings):
        if held is None and at != hand.out:
            pips = next(pips for pips in count(_likely_pips(game, Seat(at))) if pips not in taken)
            taken.add(pips)
            ends.append(RevealPips(Seat(at), pips))
    return tuple(ends)


def _without(tiles: Sequence[Tile], gone: Sequence[Tile]) -> tuple[Tile, ...]:
    left = list(tiles)
    for tile in gone:
        if tile in left:
            left.remove(tile)
    return tuple(left)
