"""What a table says to others, and under which topics: from a snapshot to messages, pure. docs/mqtt.md describes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tallybone.finding import Finding, Grade
from tallybone.notify.events import Json, play_said
from tallybone.plain_text import plain
from tallybone.store.table_file import Place
from tallybone.web.shapes import PlayerShown, Snapshot
from tallybone.web.snapshot import LOBBY

VERSION = 1
"""Of what messages say: it stands in every topic and every message."""
ONLINE, OFFLINE = b"online", b"offline"
_BAD_FIRST = (Grade.PROBLEM, Grade.WARNING)
_DONE = ("play", "stack", "draw", "knock", "decline", "call", "domino")


@dataclass(frozen=True, slots=True)
class Message:
    """Something for a broker; what is retained it tells to whoever comes later, too."""

    topic: str
    payload: bytes
    is_retained: bool


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of a table."""

    prefix: str
    table: str

    def of(self, what: str) -> str:
        """Return that of something: scores, state, health, events or availability.

        >>> Topics("tallybone", "table-3").of("scores")
        'tallybone/v1/table-3/scores'
        """
        return f"{self.prefix}/v{VERSION}/{self.table}/{what}"


def scores_said(place: Place, match: str | None, shown: Snapshot) -> dict[str, Json]:
    """Return the score: it changes when points are paid, and when a match begins or ends.

    Args:
        place: Which table this is.
        match: What this match is known by; None before the first.
        shown: How the table stands.
    """
    players: list[Json] = [_player(player) for player in shown.players]
    return {
        **_head(place),
        "match": match,
        "game": shown.match.game,
        "target": shown.match.target,
        "playing": shown.match.phase != LOBBY,
        "over": shown.match.over,
        "winner": shown.match.winner,
        "players": players,
    }


def state_said(place: Place, match: str | None, shown: Snapshot) -> dict[str, Json]:
    """Return all else that is said of a match: whose turn it is, what was done last, what is asked."""
    last = next((play for play in reversed(shown.plays) if play.kind in _DONE), None)
    problems: list[Json] = [str(words) for words in shown.problems]
    return {
        **_head(place),
        "match": match,
        "phase": shown.match.phase,
        "hand": shown.match.hand,
        "turn": next((player.seat for player in shown.players if player.turn), None),
        "waits_for": str(shown.waits_for),
        "question": None if shown.question is None else str(shown.question.words),
        "last": None if last is None else play_said(last, shown),
        "count": shown.match.count,
        "boneyard": shown.match.boneyard,
        "problems": problems,
    }


def health_said(place: Place, findings: Iterable[Finding]) -> dict[str, Json]:
    """Return how the table is, by the doctor's checks."""
    found = tuple(findings)
    grades = {one.grade for one in found}
    listed: list[Json] = [
        {"part": one.part, "grade": one.grade.value, "words": plain(one.words), "mend": plain(one.mend)}
        for one in found
    ]
    worst = next((grade for grade in _BAD_FIRST if grade in grades), Grade.OK)
    return {**_head(place), "grade": worst.value, "findings": listed}


def as_payload(said: Mapping[str, Json]) -> bytes:
    """Return a message as it is sent: JSON, with everything that is no ASCII escaped."""
    return json.dumps(said, allow_nan=False, separators=(",", ":")).encode("ascii")


def _head(place: Place) -> dict[str, Json]:
    return {"v": VERSION, "table": place.table, "name": place.name, "tournament": place.tournament}


def _player(player: PlayerShown) -> dict[str, Json]:
    return {"seat": player.seat, "name": player.name, "team": player.team, "total": player.total}
