"""Tests of the hub's tables: changes since a version, standings and results."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tallybone.hub import hall as memory
from tallybone.hub.hall import Tables, matching_tables, table_seen
from tallybone.hub.heard import Gone, Online, Scores, TableNews, heard
from tallybone.hub.standings import MatchResult, PlayerResult, Results, Standing, standings
from tests.tallybone.hub.messages import NOW, PREFIX, scores, state, topic


def parsed(kind: str, payload: bytes) -> TableNews:
    return heard(PREFIX, topic("t", kind), payload)[1]


def score(*totals: int, **more: Any) -> Scores:
    news = parsed("scores", scores(*totals, **more))
    assert isinstance(news, Scores)
    return news


def over(*totals: int, winner: int, **more: Any) -> Scores:
    return score(*totals, over=True, winner=winner, **more)


def test_only_changes_since_a_version_are_returned() -> None:
    tables = Tables()
    for name in "abc":
        tables.hear(name, score(0, 0), NOW)
    before = tables.version
    tables.hear("b", score(5, 0), NOW)
    tables.hear("c", Gone(), NOW)
    since = tables.since(before)
    assert since is not None
    assert ([table.id for table in since[0]], since[1]) == (["b"], ("c",))
    assert [table.id for table in tables] == ["a", "b"]
    before = tables.version
    assert not tables.hear("b", score(5, 0), NOW)  # an unchanged message
    assert tables.version == before
    tables.hear("a", Gone(), NOW)
    tables.hear("a", score(0, 0), NOW)
    since = tables.since(before)
    assert since is not None
    assert since[1] == ()  # a table that returns is not gone


def test_an_outdated_viewer_gets_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = Tables()
    for index in range(1002):
        tables.hear(f"t{index}", Online(is_online=True), NOW)
        tables.hear(f"t{index}", Gone(), NOW)
    assert tables.since(1) is None
    assert tables.since(tables.version) == ((), ())


def test_the_number_of_tables_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MAX_TABLES", 3)
    tables = Tables()
    accepted = [tables.hear(f"t{index}", Online(is_online=True), NOW) for index in range(5)]
    assert accepted == [True, True, True, False, False]
    assert tables.hear("t1", score(1, 2), NOW), "known tables must still be updated"


def test_a_table_shows_its_turn() -> None:
    tables = Tables()
    tables.hear("a", score(15, 5), NOW)
    tables.hear("a", parsed("state", state(question="Which end?")), NOW)
    tables.hear("a", Online(is_online=True), NOW)
    shown = table_seen(next(iter(tables)))
    assert (shown.name, shown.online, shown.playing, shown.hand, shown.asks) == ("Table 3", True, True, 2, "Which end?")
    turns = [(player.name, player.total, player.turn) for player in shown.players]
    assert (turns, shown.provisional) == ([("Ann", 15, False), ("Ben", 5, True)], False)
    for news in (Online(is_online=False), parsed("state", state(match="run-0"))):  # offline, or of another match
        tables.hear("a", news, NOW)
        assert not any(player.turn for player in table_seen(next(iter(tables))).players)
        tables.hear("a", Online(is_online=True), NOW)
    tables.hear("a", score(15, 5, provisional=True, at=(NOW + timedelta(days=900)).isoformat()), NOW)
    assert table_seen(next(iter(tables))).provisional
    assert next(iter(tables)).changed == NOW  # despite a fast clock


def test_partners_win_together() -> None:
    tables = Tables()
    four = [{"name": name, "total": 9, "team": index % 2} for index, name in enumerate("ABCD")]
    tables.hear("a", over(0, 0, winner=1, players=four), NOW)
    assert [player.won for player in table_seen(next(iter(tables))).players] == [False, True, False, True]


def test_finds_a_table_by_part_of_a_name_ignoring_accents() -> None:
    tables = Tables()
    tables.hear("a", score(0, 0, names=("Éva", "Ben")), NOW)
    tables.hear("b", score(0, 0, names=("Cid", "Dan"), name="Window", tournament="Spring"), NOW)
    shown = tuple(map(table_seen, tables))
    assert [[table.id for table in matching_tables(shown, key)] for key in ("eva", "WIND", "spr", "", "zoe")] == [
        ["a"],
        ["b"],
        ["b"],
        ["a", "b"],
        [],
    ]


def test_standings_count_each_match_once_by_wins_then_points() -> None:
    results = Results(None)
    results.take("t1", over(150, 40, winner=0))
    results.take("t1", over(150, 40, winner=0))
    results.take("t1", over(150, 40, winner=0, playing=False))
    results.take("t2", over(100, 150, winner=1, names=("ANN", "Cid")))
    results.take("t3", over(150, 40, winner=0))
    results.take("t3", score(140, 40))  # an undone win
    assert standings(results) == {
        None: (
            Standing(1, "Ann", 2, 1, 250),
            Standing(2, "Cid", 1, 1, 150),
            Standing(3, "Ben", 1, 0, 40),
        )
    }


def test_names_that_differ_in_case_and_spaces_are_one_player_in_standings() -> None:
    names = ("Ann Lee", "ann  LEE", "A\u200bnn Lee")
    results = [MatchResult(name, None, "bones", None, (PlayerResult(name, 5, won=True),)) for name in names]
    assert standings(results) == {None: (Standing(1, "Ann Lee", 3, 3, 15),)}


def test_equal_players_share_a_rank_and_tournaments_are_separate() -> None:
    results = Results(None)
    results.take("t1", over(150, 40, winner=0, tournament="A"))
    results.take("t2", over(150, 40, winner=0, tournament="A", names=("Cid", "Dan")))
    results.take("t3", over(150, 0, winner=0, tournament="B"))
    ranked = standings(results)
    assert [(standing.rank, standing.player) for standing in ranked["A"]] == [
        (1, "Ann"),
        (1, "Cid"),
        (3, "Ben"),
        (3, "Dan"),
    ]
    assert [standing.player for standing in ranked["B"]] == ["Ann", "Ben"]


def test_results_survive_a_restart_with_any_damage_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "state" / "results.jsonl"
    first = Results(path)
    first.take("t1", over(150, 40, winner=0))
    first.take("t2", over(40, 150, winner=1, match="m2"))
    first.take("t2", score(40, 140, match="m2"))
    data = path.read_bytes()
    for length in range(0, len(data), 3):
        path.write_bytes(data[:length] + (b"" if length % 2 else b"\xff"))
        restarted = Results(path)
        restarted.take("t3", over(150, 7, winner=0, match="m3"))
        assert [result.key for result in Results(path)][-1] == "t3/m3"
    path.write_bytes(data)
    assert [result.key for result in Results(path)] == ["t1/run-1"]


def test_a_file_that_has_grown_is_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallybone.hub.standings.MAX_LINES", 10)
    monkeypatch.setattr("tallybone.hub.standings.MAX_RESULTS", 3)
    path = tmp_path / "results.jsonl"
    results = Results(path)
    for index in range(40):
        results.take("t", over(150, index, winner=0, match=f"m{index}"))
    assert len(path.read_bytes().splitlines()) < 30
    assert [result.key for result in Results(path)][-3:] == ["t/m37", "t/m38", "t/m39"]


def test_an_unwritable_folder_loses_only_the_file(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    results = Results(tmp_path / "file" / "results.jsonl")
    results.take("t1", over(150, 40, winner=0))
    assert len(tuple(results)) == 1
    assert "results cannot be saved" in caplog.text
    assert "results cannot be saved" in str(results.problem)
    (tmp_path / "file").unlink()
    results.take("t2", over(150, 40, winner=0))
    assert not results.problem, "results must be stored again"
