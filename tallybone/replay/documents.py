"""A replay as text: a game record (.dgr), a table of the plays (.csv), or all that happened (.json)."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import replace
from io import StringIO
from typing import Any

from engine import format_record, record_of
from engine.record import Tag
from tallybone.files import ExportError
from tallybone.recording.format import SessionStart
from tallybone.replay.export import Story
from tallybone.replay.lines import clock_time

_COLUMNS = ("time", "hand", "seat", "player", "tile", "at", "count", "points")


def game_record(story: Story, start: SessionStart | None) -> str:
    """Return the match as a game record (docs/game_record.md), with its date where that is known.

    Raises:
        ExportError: If there was no game.
    """
    if story.state.game is None:
        raise ExportError("expected a game to write down, but no score was kept")
    record = record_of(story.state)
    if start is not None:
        record = replace(record, tags=(*record.tags, Tag("Date", f"{start.started_at:%Y-%m-%d}")))
    return format_record(record)


def plays_table(story: Story) -> str:
    """Return a row for each play that is in force at the end, and above them what the columns are."""
    players = () if story.state.game is None else story.state.game.players
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow((*_COLUMNS, *(f"total {name}" for name in players)))
    for play in story.plays:
        count = "" if play.count is None else play.count
        who = (play.seat + 1, players[play.seat])
        time = clock_time(play.since_ns)
        table.writerow((time, play.hand, *who, play.tile, play.at, count, play.points, *play.totals))
    return text.getvalue()


def everything(story: Story, start: SessionStart | None, result: Mapping[str, Any]) -> str:
    """Return all events, outcomes and changes of the table as one JSON document."""
    sitting = None if start is None else start.format()
    said = {
        "sitting": sitting,
        "events": story.events,
        "outcomes": story.outcomes,
        "changes": story.changes,
        "result": result,
    }
    return json.dumps(said, allow_nan=False, indent=1) + "\n"
