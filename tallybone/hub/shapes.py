"""What the page of all tables is sent: frozen values whose fields are the JSON that docs/mqtt.md describes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tallybone.hub.standings import Standing
from tallybone.hub.tables import Table

MOST_STANDINGS = 50
"""So many of each tournament are in a snapshot; all are in `standings`."""


@dataclass(frozen=True, slots=True)
class PlayerSeen:
    """A player at a table; *turn* where the table waits for him, *won* where the match is over."""

    name: str
    total: int
    team: int | None
    turn: bool
    won: bool


@dataclass(frozen=True, slots=True)
class TableSeen:
    """A table: *asks* is what it asks its players, *changed* the time at which it last said something new (UTC)."""

    id: str
    name: str
    tournament: str | None
    online: bool
    game: str
    target: int | None
    playing: bool
    over: bool
    hand: int | None
    players: tuple[PlayerSeen, ...]
    asks: str | None
    last: str | None
    changed: str | None


@dataclass(frozen=True, slots=True)
class TournamentSeen:
    """The standings of a tournament; *name* is null for matches that belong to none, *players* how many there are."""

    name: str | None
    players: int
    standings: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class HubShown:
    """The tables of a hub: all of them, or with *whole* false those that have changed; *gone* are the ids of others.

    *line* says what is wrong with the line to the broker; *standings* are null where they have not changed.
    """

    version: int
    whole: bool
    line: str | None
    tables: tuple[TableSeen, ...]
    gone: tuple[str, ...]
    standings: tuple[TournamentSeen, ...] | None


def table_seen(table: Table) -> TableSeen:
    """Return a table as it is shown; what it says of another match than its score is old."""
    scores, state = table.scores, table.state
    if state is not None and (scores is None or state.match != scores.match):
        state = None
    is_played = scores is not None and scores.playing and not scores.over
    players = () if scores is None else scores.players
    turn = state.turn if state is not None and is_played else None
    winner = None if scores is None else scores.winner
    team = None if winner is None else players[winner].team
    seen = tuple(
        PlayerSeen(
            one.name, one.total, one.team, seat == turn, seat == winner or (team is not None and team == one.team)
        )
        for seat, one in enumerate(players)
    )
    return TableSeen(
        id=table.id,
        name=table.id if scores is None else scores.name,
        tournament=None if scores is None else scores.tournament,
        online=table.is_online,
        game="" if scores is None else scores.game,
        target=None if scores is None else scores.target,
        playing=is_played,
        over=scores is not None and scores.over,
        hand=None if state is None or not is_played else state.hand,
        players=seen,
        asks=state.question if state is not None and is_played else None,
        last=None if state is None else state.last,
        changed=None if table.changed is None else table.changed.isoformat(timespec="seconds"),
    )


def tournaments_seen(
    standings: Mapping[str | None, tuple[Standing, ...]], most: int | None = MOST_STANDINGS
) -> tuple[TournamentSeen, ...]:
    """Return the standings of all tournaments, by name; at most so many of each."""
    named = sorted(standings.items(), key=lambda one: (one[0] is None, one[0] or ""))
    return tuple(TournamentSeen(name, len(rows), rows[:most]) for name, rows in named)


def found(tables: Iterable[TableSeen], wanted: str) -> tuple[TableSeen, ...]:
    """Return the tables whose name, tournament or players have a text in them; "" is in all of them."""
    key = folded(wanted)
    return tuple(table for table in tables if key in folded(" \n".join(_words(table))))


def folded(text: str) -> str:
    """Return a text as it is looked for: without capitals and accents.

    >>> folded("ÉVA Müller")
    'eva muller'
    """
    apart = unicodedata.normalize("NFD", text.casefold())
    return "".join(one for one in apart if not unicodedata.combining(one))


def _words(table: TableSeen) -> Iterable[str]:
    return (table.name, table.id, table.tournament or "", *(player.name for player in table.players))
