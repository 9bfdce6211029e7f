"""A table at which the totals are in question, because half a tile is read as a 4 or a 2."""

from __future__ import annotations

from dataclasses import replace

from tallybone.session.feeding import feed
from tallybone.session.places import halves_of
from tallybone.session.session import Announcement, Session
from tests.tallybone.session.test_referee import lay, line, seen
from vision.reading import SeenTile
from vision.tracking.table_view import TableView

SECOND_NS = 1_000_000_000
FIRST = seen((3, 5), (0, 0))
AFTER = seen((3, 1), (-2, 0), 180)
"""A tile at the other end."""
CHOICES = ("Tom 0, if Tom played the 5-4", "Tom 5, if Tom played the 5-2", "something else")


def read_as(tile: SeenTile, other: int, chance: float = 0.4) -> SeenTile:
    """Return a tile whose second half may also have *other* pips."""
    first, second = halves_of(tile)
    chances = tuple({second.pips: 1.0 - chance, other: chance}.get(pips, 0.0) for pips in range(7))
    return replace(tile, halves=(first, replace(second, confidence=1.0 - chance, chances=chances)))


DOUBTED = read_as(seen((5, 4), (2, 0)), 2)
"""The tile in question."""


def asked() -> Session:
    """Return a game of bones after Brian's 5-3 and Tom's 5-4, or 5-2 for 5 points."""
    session, _ = lay(line(FIRST), DOUBTED)
    said: tuple[Announcement, ...] = ()
    for _ in range(3):
        session, new = feed(session, TableView((FIRST, DOUBTED), (), ()), t_ns=session.t_ns + 3 * SECOND_NS)
        said = (*said, *new)
    assert session.open_question is not None
    assert session.open_question.choices == CHOICES
    assert said == (session.open_question,)
    return session
