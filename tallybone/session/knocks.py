"""Classify knocks on the table as passes, tiles put down hard, or undecided."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine import Seat
from tallybone.session.inputs import KnockHeard
from vision.tracking.table_view import TableView

# Minimum time for which a knock stays undecided. A tile put down hard sounds the same, but is detected within this
# time, after the hand has left and the view has settled.
KNOCK_WAITS_NS = 2_000_000_000
# Two knocks from the same seat that are less than this apart are a single pass.
ONE_KNOCK_NS = 700_000_000


@dataclass(frozen=True, slots=True)
class PendingKnock:
    """A knock that may still turn out to be a tile.

    Attributes:
        seat: Seat of the player who knocked, or None if unknown.
        t_ns: Time in nanoseconds of a monotonic clock.
        confidence: Confidence of the sensor, 0 to 1.
    """

    seat: Seat | None
    t_ns: int
    confidence: float


def joined(waiting: tuple[PendingKnock, ...], knock: KnockHeard, t_ns: int) -> tuple[PendingKnock, ...]:
    """Return the waiting knocks after another knock. The second of a double knock can only raise the confidence."""
    if waiting and waiting[-1].seat == knock.seat and t_ns - waiting[-1].t_ns < ONE_KNOCK_NS:
        double = replace(waiting[-1], confidence=max(waiting[-1].confidence, knock.confidence))
        return (*waiting[:-1], double)
    return (*waiting, PendingKnock(knock.seat, t_ns, knock.confidence))


def passes_among(
    waiting: tuple[PendingKnock, ...], view: TableView | None, *, t_ns: int, tiles: int
) -> tuple[tuple[PendingKnock, ...], tuple[PendingKnock, ...]]:
    """Return the knocks that are passes, and those that are still undecided. Knocks that were tiles are dropped.

    Args:
        waiting: Undecided knocks in the order in which they were heard.
        view: Current view of the table, or None.
        t_ns: Current time in nanoseconds of a monotonic clock.
        tiles: Number of tiles that were laid or drawn since the previous view.
    """
    undecided = tuple(knock for knock in waiting if _may_be_tile(knock, view, t_ns=t_ns, is_laid=tiles > 0))
    passes = tuple(knock for knock in waiting if knock not in undecided)
    if tiles:
        # The last knocks were the tiles. The earlier ones are passes.
        return (*passes, *undecided[: max(0, len(undecided) - tiles)]), ()
    return passes, undecided


def _may_be_tile(heard: PendingKnock, view: TableView | None, *, t_ns: int, is_laid: bool) -> bool:
    """Return True if a knock may have been a tile put down hard.

    This is so for every knock within the last KNOCK_WAITS_NS, and for every knock since motion began until a settled
    view shows no new tile. While the camera pose is lost, it is so for all knocks.
    """
    if view is not None and view.lost is not None:
        return True
    age_ns = t_ns - heard.t_ns
    if age_ns < KNOCK_WAITS_NS or view is None or view.moved_since_ns is None:
        return age_ns < KNOCK_WAITS_NS
    return (is_laid or not view.is_settled) and heard.t_ns >= view.moved_since_ns
