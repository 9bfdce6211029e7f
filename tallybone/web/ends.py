"""Where a tile could have been laid just before an action: offered where one is put in, or was laid elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from engine import Play, Seq, Tile, Undo, apply, entries
from tallybone.session.session import Session
from tallybone.web.layout_shown import end_shown


@dataclass(frozen=True, slots=True)
class EndOffered:
    """An end that was open then, and where it lies.

    *fits* says that the tile can be played there, *taken* that the action itself has laid its tile there.
    """

    x: float
    y: float
    seq: int
    port: str
    value: int
    fits: bool
    taken: bool


def ends_before(session: Session, before: int, tile: Tile) -> tuple[EndOffered, ...] | None:
    """Return the ends that were open before the action with this name; None where there is no such action."""
    entry = next((one for one in entries(session.state) if one.seq == before), None)
    if entry is None:
        return None
    then = apply(session.state, Undo(Seq(before)))[0].game
    known = {one.node: one.place for one in session.places.known}
    own = entry.action.at if isinstance(entry.action, Play) else None
    found = []
    for end in () if then is None else then.layout.ends:
        place = known.get(end.spot.host)
        if end.playable and place is not None:
            shown = end_shown(end, place, 0)
            fits = bool(end.fits & tile.bit)
            found.append(EndOffered(shown.x, shown.y, shown.seq, shown.port, shown.value, fits, end.spot == own))
    return tuple(found)
