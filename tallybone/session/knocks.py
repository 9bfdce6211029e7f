"""Classify knocks on the table as passes, tiles put down hard, or undecided."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine import Seat
from tallybone.session.inputs import KnockHeard
from vision.tracking.table_view import TableView

# Confidence below which a knock becomes a question: a wrong or missed pass shifts every later turn.
SURE_KNOCK = 0.6
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
    """Return the waiting knocks after another knock. The second of a double knock can only raise the confidence.

    A doubtful sound from an unknown seat belongs to a knock just before or after it.
    """
    if waiting and t_ns - waiting[-1].t_ns < ONE_KNOCK_NS:
        last, seat = waiting[-1], waiting[-1].seat if knock.seat is None else knock.seat
        is_doubtful = min(last.confidence, knock.confidence) < SURE_KNOCK and None in (last.seat, knock.seat)
        if last.seat == knock.seat or is_doubtful:
            double = replace(last, seat=seat, confidence=max(last.confidence, knock.confidence))
            return (*waiting[:-1], double)
    return (*waiting, PendingKnock(knock.seat, t_ns, knock.confidence))


def passes_among(
    waiting: tuple[PendingKnock, ...],
    view: TableView | None,
    *,
    t_ns: int,
    tiles: int,
    came_from: tuple[Seat, ...] = (),
    turn: Seat | None = None,
) -> tuple[tuple[PendingKnock, ...], tuple[PendingKnock, ...]]:
    """Return the knocks that are passes, and those that are still undecided. Knocks that were tiles are dropped.

    Args:
        waiting: Undecided knocks in the order in which they were heard.
        view: Current view of the table, or None.
        t_ns: Current time in nanoseconds of a monotonic clock.
        tiles: Number of tiles that were laid or drawn since the previous view.
        came_from: Seats at the only side from which the hand of a single tile came. Empty if that is ambiguous.
        turn: Player to move before the tiles, or None.
    """
    undecided = tuple(knock for knock in waiting if _may_be_tile(knock, view, t_ns=t_ns, is_laid=tiles > 0))
    passes = tuple(knock for knock in waiting if knock not in undecided)
    if tiles == 1 and came_from:
        return _around_tile(passes, undecided, came_from, turn)
    if tiles:
        # The last knocks were the tiles. The earlier ones are passes.
        return (*passes, *undecided[: max(0, len(undecided) - tiles)]), ()
    return passes, undecided


def _around_tile(
    passes: tuple[PendingKnock, ...],
    undecided: tuple[PendingKnock, ...],
    came_from: tuple[Seat, ...],
    turn: Seat | None,
) -> tuple[tuple[PendingKnock, ...], tuple[PendingKnock, ...]]:
    """Return the passes before a tile whose side is known, and the knocks after it.

    A knock from another seat is not the tile. Unless it is that player's turn, it came after the tile.
    """
    others = [knock.seat is not None and knock.seat not in came_from for knock in undecided]
    own = [at for at, knock in enumerate(undecided) if knock.seat in came_from]
    tile = own[-1] if own else next((at for at in range(len(undecided) - 1, -1, -1) if not others[at]), None)
    first_after = len(undecided)
    while first_after and undecided[first_after - 1].seat != turn and (others[first_after - 1] or own):
        if first_after - 1 == tile:
            break
        first_after -= 1
    before = (knock for at, knock in enumerate(undecided[:first_after]) if at != tile)
    return (*passes, *before), undecided[first_after:]


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
