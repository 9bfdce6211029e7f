"""Turn messages of a broker into values; check everything, since anybody may have written them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from tallybone.notify.mqtt import OFFLINE, ONLINE, VERSION
from tallybone.plain_text import MOST_NAME, MOST_WORDS, plain

MOST_BYTES = 16 * 1024
"""Of a message; a table's largest has a few thousand."""
MOST_PLAYERS = 16
_MOST_POINTS = 1_000_000
_TABLE = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_MATCH = re.compile(r"[A-Za-z0-9_-]{1,64}")


class JunkError(ValueError):
    """A message that no table has written."""


@dataclass(frozen=True, slots=True)
class Player:
    """A player of a match, and the points; *team* is a number where partners play."""

    name: str
    total: int
    team: int | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """The score of a table; *winner* is a seat, the place of a player in *players*.

    *provisional* is true while totals rely on plays that nobody saw or confirmed; older tables do not send it.
    """

    name: str
    tournament: str | None = None
    match: str | None = None
    game: str = ""
    target: int | None = None
    playing: bool = False
    over: bool = False
    winner: int | None = None
    provisional: bool = False
    players: tuple[Player, ...] = ()
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class MatchProgress:
    """Progress of a match at a table: whose *turn* it is (a seat), its open question, the last play."""

    match: str | None
    hand: int | None
    turn: int | None
    question: str | None
    last: str | None
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Online:
    """Whether a table has a line to the broker."""

    is_online: bool


@dataclass(frozen=True, slots=True)
class Gone:
    """Somebody has deleted the messages of a table."""


TableNews: TypeAlias = Scores | MatchProgress | Online | Gone


def heard(prefix: str, topic: str, payload: bytes) -> tuple[str, TableNews]:
    """Return the id of a table, and its news.

    Raises:
        JunkError: If no table can have sent this.
    """
    head, what = f"{prefix}/v{VERSION}/", topic.rpartition("/")[2]
    table = topic.removeprefix(head).removesuffix(f"/{what}")
    if topic != f"{head}{table}/{what}" or not _TABLE.fullmatch(table):
        raise JunkError("this is no topic of a table")
    if not payload:
        return table, Gone()
    if what == "availability":
        if payload not in (ONLINE, OFFLINE):
            raise JunkError("expected online or offline")
        return table, Online(payload == ONLINE)
    said = _object(payload)
    if what == "scores":
        return table, scores_of(said, table)
    if what == "state":
        return table, _state(said)
    raise JunkError("this is no topic of a table")


def _object(payload: bytes) -> Mapping[str, Any]:
    if len(payload) > MOST_BYTES:
        raise JunkError("this is too large")
    try:
        said = json.loads(payload)
    except (ValueError, RecursionError):
        raise JunkError("this is no JSON") from None
    if not isinstance(said, dict) or said.get("v") != VERSION:
        raise JunkError(f"expected an object of version {VERSION}")
    return said


def scores_of(said: Mapping[str, Any], table: str) -> Scores:
    """Return the score in a message.

    Raises:
        JunkError: If there is none in it.
    """
    listed = said.get("players")
    if not isinstance(listed, list) or len(listed) > MOST_PLAYERS:
        raise JunkError(f"expected up to {MOST_PLAYERS} players")
    players = tuple(_player(one) for one in listed)
    over, winner = said.get("over") is True, _whole(said.get("winner"), 0, len(players) - 1)
    return Scores(
        name=_text(said.get("name"), MOST_NAME) or table,
        tournament=_text(said.get("tournament"), MOST_NAME),
        match=_match(said.get("match")),
        game=_text(said.get("game"), MOST_NAME) or "",
        target=_whole(said.get("target"), 0, _MOST_POINTS),
        playing=said.get("playing") is True,
        over=over,
        winner=winner if over else None,
        provisional=said.get("provisional") is True,
        players=players,
        at=_time(said.get("at")),
    )


def _state(said: Mapping[str, Any]) -> MatchProgress:
    last = said.get("last")
    return MatchProgress(
        match=_match(said.get("match")),
        hand=_whole(said.get("hand"), 0, _MOST_POINTS),
        turn=_whole(said.get("turn"), 0, MOST_PLAYERS - 1),
        question=_text(said.get("question"), MOST_WORDS),
        last=_text(last.get("words"), MOST_WORDS) if isinstance(last, dict) else None,
        at=_time(said.get("at")),
    )


def _player(said: object) -> Player:
    if not isinstance(said, dict):
        raise JunkError("expected a player")
    total = _whole(said.get("total"), -_MOST_POINTS, _MOST_POINTS)
    if total is None:
        raise JunkError("expected the points of a player")
    return Player(_text(said.get("name"), MOST_NAME) or "", total, _whole(said.get("team"), 0, MOST_PLAYERS))


def _text(said: object, most: int) -> str | None:
    return plain(said, most).strip() or None if isinstance(said, str) else None


def _match(said: object) -> str | None:
    return said if isinstance(said, str) and _MATCH.fullmatch(said) else None


def _whole(said: object, lowest: int, highest: int) -> int | None:
    return said if type(said) is int and lowest <= said <= highest else None  # a bool is none


def _time(said: object) -> datetime | None:
    """Return a time of day, in UTC; None for none."""
    if not isinstance(said, str) or len(said) > 40:
        return None
    try:
        at = datetime.fromisoformat(said)
        return None if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
