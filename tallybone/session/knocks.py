"""Sort knocks on the table: passes, tiles that were put down hard, and those that wait on."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine import Seat
from tallybone.session.inputs import KnockHeard
from vision.tracking.table_view import TableView

# A tile that is put down hard sounds like a knock, and is seen once the hand has left and the picture has settled:
# until then a knock says nothing. Players who knock leave the table as it is for longer than this.
KNOCK_WAITS_NS = 2_000_000_000
# Two knocks of one player within this time are one pass.
ONE_KNOCK_NS = 700_000_000


@dataclass(frozen=True, slots=True)
class PendingKnock:
    """A knock that may still turn out to be a tile.

    Attributes:
        seat: The player who knocked; None if unknown.
        t_ns: When.
        confidence: How sure the sensor is, 0 to 1.
    """

    seat: Seat | None
    t_ns: int
    confidence: float


def joined(waiting: tuple[PendingKnock, ...], knock: KnockHeard, t_ns: int) -> tuple[PendingKnock, ...]:
    """Return the waiting knocks after one more; the second of a double knock only makes the first surer."""
    if waiting and waiting[-1].seat == knock.seat and t_ns - waiting[-1].t_ns < ONE_KNOCK_NS:
        surer = replace(waiting[-1], confidence=max(waiting[-1].confidence, knock.confidence))
        return (*waiting[:-1], surer)
    return (*waiting, PendingKnock(knock.seat, t_ns, knock.confidence))


def passes_among(
    waiting: tuple[PendingKnock, ...], view: TableView | None, *, t_ns: int, tiles: int
) -> tuple[tuple[PendingKnock, ...], tuple[PendingKnock, ...]]:
    """Return the knocks that are passes by now, and those that wait on.

    Args:
        waiting: In the order in which they were heard.
        view: The table now; None without a look at it.
        t_ns: Now.
        tiles: How many tiles this look shows to have been laid down or taken.
    """
    doubtful = tuple(one for one in waiting if _may_be_tile(one, view, t_ns=t_ns, is_laid=tiles > 0))
    passes = tuple(one for one in waiting if one not in doubtful)
    if tiles:
        # The last of them were the tiles; what was heard before them was not.
        return (*passes, *doubtful[: max(0, len(doubtful) - tiles)]), ()
    return passes, doubtful


def _may_be_tile(heard: PendingKnock, view: TableView | None, *, t_ns: int, is_laid: bool) -> bool:
    """Return whether a knock may have been a tile put down hard.

    While a hand is over the table, and in the look that shows what it did, every knock since it came may be. While the
    table is lost nobody knows what was laid.
    """
    if view is not None and view.lost is not None:
        return True
    age_ns = t_ns - heard.t_ns
    if age_ns < KNOCK_WAITS_NS or view is None or view.moved_since_ns is None:
        return age_ns < KNOCK_WAITS_NS
    return (is_laid or not view.is_settled) and heard.t_ns >= view.moved_since_ns
