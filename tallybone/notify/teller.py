"""Follows the snapshots of a table and says what others have to be told, numbered, and nothing twice: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tallybone.finding import Finding
from tallybone.notify.events import Json, TableEvent, events_between
from tallybone.notify.mqtt import VERSION, health_said, scores_said, state_said
from tallybone.store.table_file import EventKind, Place
from tallybone.web.shapes import Snapshot
from tallybone.web.snapshot import LOBBY


@dataclass(frozen=True, slots=True)
class Numbered:
    """An event as it is told to others."""

    kind: EventKind
    said: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class ToTell:
    """What is new.

    Attributes:
        states: What is kept by whoever is told, by its name: only the newest counts.
        events: What has happened, in order.
    """

    states: Mapping[str, Mapping[str, Json]]
    events: tuple[Numbered, ...] = ()


class Teller:
    """Remembers what was told of a table."""

    def __init__(self, place: Place, run: str) -> None:
        """Speak for the table *place*; *run* is a word that no other run of the program has."""
        self._place, self._run = place, run
        self._before: Snapshot | None = None
        self._number: int | None = None
        self._match: str | None = None
        self._seq = 0
        self._told: dict[str, Mapping[str, Json]] = {}

    def follow(self, shown: Snapshot, number: int, at: str) -> ToTell:
        """Take how the table stands now; return what is new.

        Args:
            shown: The snapshot.
            number: Of its match: rises when another one begins.
            at: The time of day, with its zone (ISO 8601).
        """
        is_lobby = shown.match.phase == LOBBY
        is_same = is_lobby or number == self._number
        if not is_lobby:
            self._number, self._match = number, f"{self._run}-{number}"
        events = events_between(self._before, shown, is_same_match=is_same)
        self._before = shown
        states = {
            "scores": scores_said(self._place, self._match, shown),
            "state": state_said(self._place, self._match, shown),
        }
        return ToTell(self._fresh(states, at), tuple(self._numbered(one, at) for one in events))

    def health(self, findings: Iterable[Finding], at: str) -> ToTell:
        """Take how the table is; return it where that is new."""
        return ToTell(self._fresh({"health": health_said(self._place, findings)}, at))

    def _fresh(self, states: Mapping[str, dict[str, Json]], at: str) -> dict[str, Mapping[str, Json]]:
        """Return what differs from what was told last, with the time from which it holds."""
        fresh: dict[str, Mapping[str, Json]] = {}
        for name, said in states.items():
            if self._told.get(name) != said:
                self._told[name] = said
                fresh[name] = {**said, "at": at}
        return fresh

    def _numbered(self, event: TableEvent, at: str) -> Numbered:
        self._seq += 1
        head: dict[str, Json] = {
            "v": VERSION,
            "table": self._place.table,
            "name": self._place.name,
            "tournament": self._place.tournament,
            "run": self._run,
            "seq": self._seq,
            "at": at,
            "match": self._match,
            "event": event.kind.value,
        }
        return Numbered(event.kind, {**head, **event.said})
