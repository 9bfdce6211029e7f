"""What is said to the table, as a page lists it."""

from __future__ import annotations

from collections.abc import Sequence

from tallybone.plain_text import names_of, plain
from tallybone.session.session import Said
from tallybone.session.sitting import Happened, kind_of
from tallybone.show.scoreboard import tell
from tallybone.web.shapes import ToldShown

NOTE = "note"
"""The kind of what people have to know beside the game."""


def told_of(said: Happened | str, players: tuple[str, ...], number: int) -> tuple[ToldShown, ...]:
    """Return what was said, in one sentence; nothing where there is nothing to say.

    Args:
        said: What has happened, or a note.
        players: Names by seat.
        number: The id that it gets.
    """
    if isinstance(said, str):
        return (ToldShown(number, 0, plain(said), NOTE, None),)
    words = tell(said.said, names_of(players))
    if not words:
        return ()
    return (ToldShown(number, said.t_ns, plain(words), kind_of(said.said[0]), _seat(said.said)),)


def _seat(said: Sequence[Said]) -> int | None:
    """Return whom the first thing that was said concerns."""
    seat: int | None = getattr(said[0], "seat", None)
    return seat
