"""Follows a table item by item, as a live table does: pictures go to the eye, and all of it to the game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from engine import MatchStart
from tallybone.json_values import JsonValueError
from tallybone.play.start import session_of
from tallybone.recording.damage import Damage
from tallybone.recording.errors import RecordingError
from tallybone.recording.format import Pictures
from tallybone.recording.resume import Left
from tallybone.session.sitting import Happened, Look, Sitting, opened
from tallybone.session.zones import Zones
from tallybone.sources.shots import Shot
from tallybone.sources.source import Given, Item
from vision.changes import PictureSizeError
from vision.errors import VisionError
from vision.perception import Perception
from vision.table_view import TableView
from vision.watch import Watch

_NO_EMPTY_TABLE = "it should show the empty table; without it nothing can be told from what is printed"


@dataclass(frozen=True, slots=True)
class Seen:
    """What one item has brought about.

    Attributes:
        t_ns: When it came in.
        since_ns: The same, from the first item on.
        frame: What the picture is called; empty for what is no picture.
        view: The table after it, if it was a picture that could be looked at.
        happened: What it meant in the game, if there is one.
    """

    t_ns: int
    since_ns: int
    frame: str
    view: TableView | None = None
    happened: Happened | None = None


class Machine(Protocol):
    """What items are fed to."""

    def feed(self, item: Shot | Given) -> TableView | Happened | None:
        """Load an item and return what it has brought about; None where it is of no use without a game."""


def look_of(perception: Perception, pictures: Pictures) -> Look:
    """Return what follows pictures of a kind: it reads each of them, or those on which nothing moves any more."""
    match pictures:
        case Pictures.SETTLED:
            return lambda frame: perception.feed(frame.image)
        case Pictures.MOVING:
            return Watch(perception).feed


class TableOnly:
    """Follows what lies on the table, and keeps no score."""

    def __init__(self, look: Look) -> None:
        """Look at every frame with *look*."""
        self._look = look

    def feed(self, item: Shot | Given) -> TableView | None:
        """Load a picture and return the table after it; None for what is no picture."""
        return None if isinstance(item, Given) else self._look(item.frame)


class WholeGame:
    """Follows the table and the game."""

    def __init__(self, look: Look, match: MatchStart, zones: Zones | None = None, *, left: Left | None = None) -> None:
        """Begin the match, or go on where it was *left*; *opening* is what there is to say before the first item."""
        if left is None:
            session, said = opened(match.rules, match.players, zones)
            happened = Happened(0, session, said, session.state.log)
        else:
            session = session_of(left, match, t_ns=left.t_ns)
            happened = Happened(left.t_ns, session, (), session.state.log)
        self._sitting = Sitting(look, session)
        self.opening = Seen(happened.t_ns, 0, "", None, happened)

    def feed(self, item: Shot | Given) -> Happened:
        """Load an item and return what it has brought about."""
        came = item.load() if isinstance(item, Given) else item.frame
        return self._sitting.feed(came, item.t_ns)


def follow(
    items: Iterable[Item], machine: Machine, path: Path, complain: Callable[[str], None], *, needs_first: bool
) -> Iterator[Seen]:
    """Yield what each item brings about, and complain of those that cannot be used.

    Args:
        items: What came in, in feeding order.
        machine: What follows it.
        path: What it comes from, for complaints.
        complain: Takes each complaint.
        needs_first: Whether all is over where the first picture cannot be looked at.

    Raises:
        RecordingError: If it cannot be recorded.
    """
    begins_ns: int | None = None
    is_first = needs_first
    for item in items:
        if isinstance(item, Damage):
            complain(f"{path}: {item}")
            continue
        begins_ns = item.t_ns if begins_ns is None else begins_ns
        seen = _fed(item, begins_ns, machine, complain)
        if seen is None:
            continue
        yield seen
        if is_first and isinstance(item, Shot):
            if seen.view is None:
                complain(f"{item.where}: {_NO_EMPTY_TABLE}")
                return
            is_first = False


def _fed(item: Shot | Given, begins_ns: int, machine: Machine, complain: Callable[[str], None]) -> Seen | None:
    """Return what an item brings about; None for nothing that counts."""
    seen = Seen(item.t_ns, item.t_ns - begins_ns, item.name if isinstance(item, Shot) else "")
    try:
        found = machine.feed(item)
    except RecordingError:
        raise
    except (VisionError, OSError, JsonValueError) as error:
        says_where = not isinstance(error, PictureSizeError | JsonValueError)
        complain(str(error) if says_where else f"{item.where}: {error}")
        return seen if isinstance(item, Shot) else None
    if isinstance(found, Happened):
        return replace(seen, view=found.view, happened=found)
    return None if found is None else replace(seen, view=found)
