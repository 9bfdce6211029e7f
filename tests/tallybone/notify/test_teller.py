"""Tests of the published state and events of a table."""

from __future__ import annotations

import json

from tallybone.finding import ok, problem, warning
from tallybone.notify.mqtt import Teller, Topics, as_payload
from tallybone.store.table_file import TableIdentity
from tests.tallybone.notify.snapshots import lobby, match, played, players, shown

AT = "2026-05-01T20:00:00.000+02:00"
PLACE = TableIdentity("table-3", "Table 3", "spring")


def test_scores_and_state_are_published_when_they_change() -> None:
    teller = Teller(PLACE, "run")
    assert set(teller.follow(shown(0, 0), 1, AT).states) == {"scores", "state"}
    assert teller.follow(shown(0, 0), 1, AT).states == {}
    assert set(teller.follow(shown(0, 0, plays=(played(1),)), 1, AT).states) == {"state"}
    published = teller.follow(shown(10, 0, plays=(played(1, points=10),)), 1, AT)
    assert published.states["scores"] == {
        "v": 2,
        "table": "table-3",
        "name": "Table 3",
        "tournament": "spring",
        "match": "run-1",
        "game": "bones",
        "target": 150,
        "playing": True,
        "over": False,
        "winner": None,
        "provisional": False,
        "players": [
            {"seat": 0, "name": "Ann", "team": None, "total": 10},
            {"seat": 1, "name": "Ben", "team": None, "total": 0},
        ],
        "at": AT,
    }


def test_events_are_numbered_from_the_start_of_the_run() -> None:
    teller = Teller(PLACE, "run")
    teller.follow(lobby(), 0, AT)
    first = teller.follow(shown(), 1, AT).events
    second = teller.follow(shown(5, 0, plays=(played(1, points=5),)), 1, AT).events
    assert [event.payload["seq"] for event in (*first, *second)] == [1, 2, 3]
    assert second[1].payload["event"] == "points"
    assert {event.payload["run"] for event in (*first, *second)} == {"run"}
    assert Topics("club/tables", "a-1").of("availability") == "club/tables/v1/a-1/availability"
    hostile = Teller(PLACE, "run").follow(shown(players=players(0, 0, names=("Ünal", "</script>\"'"))), 1, AT)
    payload = as_payload(hostile.states["scores"])
    assert payload.isascii()
    assert [player["name"] for player in json.loads(payload)["players"]] == ["Ünal", "</script>\"'"]


def test_a_match_keeps_its_id_in_the_lobby() -> None:
    teller = Teller(PLACE, "run")
    over = shown(150, 20, match=match(over=True, winner=0))
    names = [
        teller.follow(snapshot, number, AT).states["scores"]["match"]
        for snapshot, number in ((lobby(), 0), (over, 1), (lobby(150, 20), 2), (shown(), 2))
    ]
    assert names == [None, "run-1", "run-1", "run-2"]


def test_the_grade_of_health_is_the_worst_of_its_findings() -> None:
    teller = Teller(PLACE, "run")
    assert teller.health((ok("camera", "works"),), AT).states["health"]["grade"] == "ok"
    assert teller.health((ok("camera", "works"),), AT).states == {}
    health = teller.health((warning("heat", "80 °C"), problem("camera", "gone", "plug it in")), AT).states["health"]
    assert health["grade"] == "problem"
    assert health["findings"] == [
        {"part": "heat", "grade": "warning", "text": "80 °C", "remedy": ""},
        {"part": "camera", "grade": "problem", "text": "gone", "remedy": "plug it in"},
    ]
