"""All tables that were heard of, and what each has become since a version: the hub's memory, without clock or line."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import assert_never

from tallybone.hub.heard import Gone, Online, Said, Scores, State

MOST_TABLES = 5000
"""Of more than so many nobody hears: somebody fills the broker with junk."""
_MOST_GONE = 1000


@dataclass(frozen=True, slots=True)
class Table:
    """A table as far as it is known.

    Attributes:
        id: What it is called in topics.
        scores: What it says of the score; None before it has.
        state: What else it says of the same match; None for nothing.
        is_online: Whether it has a line to the broker.
        changed: When it last said something new, by its own clock but never in the future; None for never.
        version: The version in which it came to be like this.
    """

    id: str
    scores: Scores | None = None
    state: State | None = None
    is_online: bool = False
    changed: datetime | None = None
    version: int = 0


class Tables:
    """Takes what tables say, one thing after the other."""

    def __init__(self) -> None:
        """Know of no table."""
        self.version = 0
        self._tables: dict[str, Table] = {}
        self._gone: deque[tuple[int, str]] = deque(maxlen=_MOST_GONE)
        self._forgotten = 0

    def hear(self, table: str, said: Said, now: datetime) -> bool:
        """Take what a table says at the time *now*; return whether that is new."""
        before = self._tables.get(table)
        if isinstance(said, Gone):
            return self._forget(table)
        if before is None and len(self._tables) >= MOST_TABLES:
            return False
        after = _after(before or Table(table), said, now)
        if after == before:
            return False
        self.version += 1
        self._tables[table] = replace(after, version=self.version)
        return True

    def __iter__(self) -> Iterator[Table]:
        """Give every table, in the order in which they were heard of."""
        return iter(tuple(self._tables.values()))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._tables)

    def since(self, version: int) -> tuple[tuple[Table, ...], tuple[str, ...]] | None:
        """Return which have changed after a version, and the ids of those that are gone; None where nobody knows."""
        if version < self._forgotten:
            return None
        changed = tuple(one for one in self._tables.values() if one.version > version)
        return changed, tuple(table for gone, table in self._gone if gone > version and table not in self._tables)

    def _forget(self, table: str) -> bool:
        if self._tables.pop(table, None) is None:
            return False
        self.version += 1
        if len(self._gone) == _MOST_GONE:
            self._forgotten = self._gone[0][0]
        self._gone.append((self.version, table))
        return True


def _after(before: Table, said: Scores | State | Online, now: datetime) -> Table:
    match said:
        case Scores():
            return replace(before, scores=said, changed=_changed(before, said.at, now))
        case State():
            return replace(before, state=said, changed=_changed(before, said.at, now))
        case Online():
            return replace(before, is_online=said.is_online)
        case _:
            assert_never(said)


def _changed(before: Table, at: datetime | None, now: datetime) -> datetime | None:
    """Return when a table last said something; a clock that goes ahead does not make it younger than now."""
    if at is None:
        return before.changed
    at = min(at, now)
    return at if before.changed is None else max(before.changed, at)
