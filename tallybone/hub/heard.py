"""Parse messages from the broker. They are untrusted, so everything is validated."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from tallybone.notify.mqtt import FIELDS_VERSION, OFFLINE, ONLINE, VERSION
from tallybone.plain_text import MAX_NAME, MAX_TEXT, plain

MAX_BYTES = 16 * 1024
"""Maximum size of a message in bytes. The largest that a table sends has a few thousand."""
MAX_PLAYERS = 16
_MAX_POINTS = 1_000_000
_TABLE = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_PAGE = re.compile(r"https?://[A-Za-z0-9.:\[\]-]{1,80}")
_MATCH = re.compile(r"[A-Za-z0-9_-]{1,64}")


class JunkError(ValueError):
    """A message that no table sends."""


@dataclass(frozen=True, slots=True)
class Player:
    """A player and their points. *team* is the number of the team if partners play, else None."""

    name: str
    total: int
    team: int | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """Score of a table.

    *winner* is a seat, which is an index into *players*, and None unless the match is over. *provisional* is True while
    totals rely on inferred plays. Tables with older versions do not send it. *page* is the address of the table's page.
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
    page: str | None = None


@dataclass(frozen=True, slots=True)
class MatchProgress:
    """Progress of a match: the seat to move (*turn*), the open question and the last play."""

    match: str | None
    hand: int | None
    turn: int | None
    question: str | None
    last: str | None
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Online:
    """Connection of a table to the broker."""

    is_online: bool


@dataclass(frozen=True, slots=True)
class Gone:
    """A retained message of a table was deleted, so the table is to be removed."""


TableNews: TypeAlias = Scores | MatchProgress | Online | Gone


def heard(prefix: str, topic: str, payload: bytes) -> tuple[str, TableNews]:
    """Parse a message. Return the id of the table and its news.

    Raises:
        JunkError: If no table sends such a message.
    """
    head, what = f"{prefix}/v{VERSION}/", topic.rpartition("/")[2]
    table = topic.removeprefix(head).removesuffix(f"/{what}")
    if topic != f"{head}{table}/{what}" or not _TABLE.fullmatch(table):
        raise JunkError("not a topic of a table")
    if not payload:
        return table, Gone()
    if what == "availability":
        if payload not in (ONLINE, OFFLINE):
            raise JunkError("expected online or offline")
        return table, Online(payload == ONLINE)
    if len(payload) > MAX_BYTES:
        raise JunkError("too large")
    try:
        data = json.loads(payload)
    except (ValueError, RecursionError):
        raise JunkError("not JSON") from None
    if not isinstance(data, dict) or data.get("v") not in (1, FIELDS_VERSION):
        raise JunkError(f"expected an object of version {FIELDS_VERSION} or earlier")
    if what == "scores":
        return table, scores_of(data, table)
    if what == "state":
        return table, _state(data)
    raise JunkError("not a topic of a table")


def scores_of(data: Mapping[str, Any], table: str) -> Scores:
    """Parse the score in a message. Invalid fields other than the players are replaced by defaults.

    Raises:
        JunkError: If the players or their points are missing or invalid.
    """
    listed = data.get("players")
    if not isinstance(listed, list) or len(listed) > MAX_PLAYERS:
        raise JunkError(f"expected up to {MAX_PLAYERS} players")
    players = tuple(_player(player) for player in listed)
    over, winner = data.get("over") is True, _whole(data.get("winner"), 0, len(players) - 1)
    return Scores(
        name=_text(data.get("name"), MAX_NAME) or table,
        tournament=_text(data.get("tournament"), MAX_NAME),
        match=_matching(_MATCH, data.get("match")),
        game=_text(data.get("game"), MAX_NAME) or "",
        target=_whole(data.get("target"), 0, _MAX_POINTS),
        playing=data.get("playing") is True,
        over=over,
        winner=winner if over else None,
        provisional=data.get("provisional") is True,
        players=players,
        at=_time(data.get("at")),
        page=_matching(_PAGE, data.get("page")),
    )


def _state(data: Mapping[str, Any]) -> MatchProgress:
    last = data.get("last")
    return MatchProgress(
        match=_matching(_MATCH, data.get("match")),
        hand=_whole(data.get("hand"), 0, _MAX_POINTS),
        turn=_whole(data.get("turn"), 0, MAX_PLAYERS - 1),
        question=_text(data.get("question"), MAX_TEXT),
        last=_text(last.get("text", last.get("words")), MAX_TEXT) if isinstance(last, dict) else None,
        at=_time(data.get("at")),
    )


def _player(data: object) -> Player:
    if not isinstance(data, dict):
        raise JunkError("expected a player")
    total = _whole(data.get("total"), -_MAX_POINTS, _MAX_POINTS)
    if total is None:
        raise JunkError("expected the points of a player")
    return Player(_text(data.get("name"), MAX_NAME) or "", total, _whole(data.get("team"), 0, MAX_PLAYERS))


def _text(data: object, most: int) -> str | None:
    return plain(data, most).strip() or None if isinstance(data, str) else None


def _matching(pattern: re.Pattern[str], data: object) -> str | None:
    return data if isinstance(data, str) and pattern.fullmatch(data) else None


def _whole(data: object, lowest: int, highest: int) -> int | None:
    return data if type(data) is int and lowest <= data <= highest else None  # a bool is none


def _time(data: object) -> datetime | None:
    """Return a point in time in UTC. None if it is missing or invalid, or has no time zone."""
    if not isinstance(data, str) or len(data) > 40:
        return None
    try:
        at = datetime.fromisoformat(data)
        return None if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
