"""Messages of tables for tests of the hub, valid and invalid."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
PREFIX = "tallybone"


def topic(table: str, kind: str) -> str:
    return f"{PREFIX}/v1/{table}/{kind}"


def scores(*totals: int, names: tuple[str, ...] = ("Ann", "Ben"), **more: Any) -> bytes:
    players = [
        {"seat": seat, "name": name, "team": None, "total": total}
        for seat, (name, total) in enumerate(zip(names, totals or (0, 0), strict=True))
    ]
    values = {
        "v": 2,
        "table": "t",
        "name": "Table 3",
        "tournament": None,
        "match": "run-1",
        "game": "bones",
        "target": 150,
        "playing": True,
        "over": False,
        "winner": None,
        "players": players,
        "at": "2026-05-01T20:00:00.000+02:00",
    }
    return json.dumps({**values, **more}).encode()


def state(**more: Any) -> bytes:
    values = {"v": 2, "match": "run-1", "hand": 2, "turn": 1, "question": None, "last": None, "at": None}
    return json.dumps({**values, **more}).encode()
