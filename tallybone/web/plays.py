"""The actions of a hand as a page lists them, so that each can be put right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engine import (
    Adjust,
    Counted,
    Draw,
    Entry,
    Game,
    Irregular,
    NodeId,
    Outcome,
    Play,
    Reason,
    Scored,
    Stack,
    Tile,
    Told,
)
from tallybone.json_values import tag_of
from tallybone.plain_text import plain
from tallybone.show.scoreboard import tell
from tallybone.web.shapes import IrregularShown, PlayShown
from tallybone.web.story import Story

_PAID = (Reason.PLAY, Reason.BONUS, Reason.STEAL)


def plays_of(told: Iterable[Told], story: Story, players: Sequence[str]) -> tuple[PlayShown, ...]:
    """Return the actions of a hand, the newest last.

    Args:
        told: What happened in it.
        story: The match; points that the table gave a play by hand are among those of the play.
        players: Names by seat, as they are shown.
    """
    by_hand = corrections(story)
    return tuple(play_shown(one, story.state.game, by_hand, players) for one in told)


def irregular_of(story: Story, players: Sequence[str]) -> tuple[IrregularShown, ...]:
    """Return what the table has not accepted yet."""
    wrong = frozenset(story.state.irregular)
    return tuple(
        IrregularShown(one.entry.seq, _wrong(one, players) or "") for one in story.told if one.entry.seq in wrong
    )


def why_of(entry: Entry) -> str:
    """Return the reason by which points that the table gives for a play are known to be for this one."""
    action = entry.action
    tile = f"{action.tile}, " if isinstance(action, Play | Stack) else ""
    return f"{tile}play {entry.seq}"


def corrections(story: Story) -> dict[str, Entry]:
    """Return the points that the table has given by hand, by their reason."""
    return {one.entry.action.why: one.entry for one in story.told if isinstance(one.entry.action, Adjust)}


def paid(told: Told) -> int:
    """Return the points that followed from a play by itself."""
    seat = seat_of(told.entry)
    scored = (one for one in told.outcomes if isinstance(one, Scored) and one.reason in _PAID)
    return sum(one.points for one in scored if one.seat == seat)


def seat_of(entry: Entry) -> int | None:
    """Return who did something; None where it is nobody's."""
    seat: int | None = getattr(entry.action, "seat", None)
    return seat


def play_shown(told: Told, game: Game | None, by_hand: Mapping[str, Entry], players: Sequence[str]) -> PlayShown:
    """Return an action as a page lists it.

    Args:
        told: The action, and what followed.
        game: The match in which its tile lies; None where that is not known.
        by_hand: Points that the table gave by hand, by their reason.
        players: Names by seat, as they are shown.
    """
    action, given = told.entry.action, by_hand.get(why_of(told.entry))
    points = paid(told) + (given.action.points if given is not None and isinstance(given.action, Adjust) else 0)
    if isinstance(action, Adjust):
        points = action.points
    return PlayShown(
        told.entry.seq,
        tag_of(type(action)),
        seat_of(told.entry),
        _pips(told, game),
        points,
        next((plain(str(one.count)) for one in told.outcomes if isinstance(one, Counted)), None),
        plain(tell(told.outcomes, players)),
        plain(tell([one for one in told.outcomes if not _is_summed(one)], players)),
        _wrong(told, players),
    )


def _is_summed(outcome: Outcome) -> bool:
    """Return whether an outcome is the count of a play, or its points, which have places of their own."""
    return isinstance(outcome, Counted) or (isinstance(outcome, Scored) and outcome.reason is Reason.PLAY)


def _pips(told: Told, game: Game | None) -> tuple[int, int] | None:
    """Return the numbers of a tile, in the order in which its halves lie where that is known."""
    action = told.entry.action
    if isinstance(action, Draw) and len(action.faces) == 1:
        return _of(action.faces[0])
    if not isinstance(action, Play | Stack):
        return None
    node = None if game is None else game.layout.find(NodeId(told.entry.seq))
    return _of(action.tile) if node is None else (node.inner, node.outer)


def _of(tile: Tile) -> tuple[int, int]:
    return (tile.high, tile.low)


def _wrong(told: Told, players: Sequence[str]) -> str | None:
    """Return what is wrong with an action, in words; None for nothing."""
    wrong = [one for one in told.outcomes if isinstance(one, Irregular)]
    return plain(tell(wrong, players)) if wrong else None
