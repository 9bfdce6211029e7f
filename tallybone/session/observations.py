"""Observations for the decoder: what each look at the table shows, with the sounds and presses before it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine import NodeId, Seat
from tallybone.session.inputs import KnockHeard, Press
from tallybone.session.referee.places import is_at, numbers_of
from tallybone.session.touching import footprint_of
from tallybone.session.zones import SortedView
from vision.reading import Face, SeenTile
from vision.tracking.table_view import ChangeKind

# If more than this share of the pieces is gone or reads differently, those that read differently are other tiles.
_CLEARED = 0.5


@dataclass(frozen=True, slots=True)
class Piece:
    """A face-up tile outside all zones, from when it appears until it is gone.

    Attributes:
        name: Its name in the layout, if it is played.
        tile: Last reading.
        came_from: Seats at the only side from which hands came when it appeared. Empty if that is ambiguous.
        since_ns: Time at which it appeared, or None if unknown.
    """

    name: NodeId
    tile: SeenTile
    came_from: tuple[Seat, ...] = ()
    since_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """All evidence since the look before, in which the order of actions is unknown.

    Attributes:
        t_ns: Time of the look, in nanoseconds of a monotonic clock.
        pieces: Pieces that are new.
        moved: Pieces that lie elsewhere or are read differently, as they are now.
        gone: Names of the pieces that are gone.
        lying: Number of face-up tiles outside all zones.
        yard: Number of tiles in the boneyard. None at a table without a zone for it.
        is_by_hand: Whether a hand reached over the table.
        came_from: Seats at the only side from which hands came. Empty if that is ambiguous.
        shown: Open tiles in front of each seat.
        sounds: Sounds that may have been knocks.
        presses: Presses of buttons, and entered actions.
        is_deaf: Sounds and presses were not recorded, because the machine was off.
    """

    t_ns: int
    pieces: tuple[Piece, ...] = ()
    moved: tuple[Piece, ...] = ()
    gone: tuple[NodeId, ...] = ()
    lying: int = 0
    yard: int | None = None
    is_by_hand: bool = False
    came_from: tuple[Seat, ...] = ()
    shown: tuple[tuple[SeenTile, ...], ...] = ()
    sounds: tuple[KnockHeard, ...] = ()
    presses: tuple[Press, ...] = ()
    is_deaf: bool = False


@dataclass(frozen=True, slots=True)
class TablePieces:
    """Pieces on the table, as of the last look.

    Attributes:
        pieces: Face-up tiles outside all zones.
        next_name: Name of the next new piece.
    """

    pieces: tuple[Piece, ...] = ()
    next_name: int = 1


def looked(watched: TablePieces, parts: SortedView, look: Observation) -> tuple[TablePieces, Observation]:
    """Return the table after a settled view, and *look* completed by what the view shows.

    A tile is the same piece as before if it lies in the same place, or was reported as moved from there.
    """
    moved_to = {
        change.before: change.tile
        for change in parts.layout.changes
        if change.kind in (ChangeKind.MOVED, ChangeKind.TURNED) and change.before is not None
    }
    since = {change.tile: change.since_ns for change in parts.layout.changes if change.kind is ChangeKind.PLACED}
    left = [tile for tile in parts.layout.tiles if tile.face is Face.UP]
    lying = len(left)
    places = [footprint_of(moved_to.get(piece.tile, piece.tile)) for piece in watched.pieces]
    now_at = [next((tile for tile in left if is_at(place, tile)), None) for place in places]
    found = list(zip(watched.pieces, now_at, strict=True))
    others = [now is None or numbers_of(now) != numbers_of(piece.tile) for piece, now in found]
    is_cleared = sum(others) > _CLEARED * len(others)
    stayed: list[Piece] = []
    moved: list[Piece] = []
    gone: list[NodeId] = []
    for (piece, now), is_other in zip(found, others, strict=True):
        if now is None or (is_other and (is_cleared or set(numbers_of(now)).isdisjoint(numbers_of(piece.tile)))):
            gone.append(piece.name)
        else:
            left.remove(now)
            stayed.append(piece if now == piece.tile else replace(piece, tile=now))
            moved += [] if now == piece.tile else stayed[-1:]
    is_single = len(left) == 1
    fresh = tuple(
        Piece(NodeId(watched.next_name + at), tile, parts.came_from if is_single else (), since.get(tile))
        for at, tile in enumerate(left)
    )
    look = replace(
        look,
        pieces=fresh,
        moved=tuple(moved),
        gone=tuple(gone),
        lying=lying,
        is_by_hand=parts.is_by_hand,
        came_from=parts.came_from,
        shown=parts.hands,
        yard=parts.boneyard + parts.strays,
    )
    return TablePieces((*stayed, *fresh), watched.next_name + len(fresh)), look
