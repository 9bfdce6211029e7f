"""Tests of judging recordings with ground truth: figures, mistakes, and the command."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lab.commands import simulate
from lab.evaluate.command import are_sessions, evaluate_sessions
from lab.evaluate.hands import TruthError, read_truth
from lab.evaluate.session_report import Figures
from lab.evaluate.sessions import SessionJudged, judge_session
from lab.matches.simulation import simulation_settings
from tallybone.choices import Difficulty
from tallybone.replay.shadow import wrong_in
from tests.tallybone.recorded_game import TruthReader, record_game
from tests.tallybone.true_game import STILL_NS, record_true_game, with_pips, without
from vision.tracking.table_view import TableView


@pytest.fixture(name="session")
def _session(tmp_path: Path) -> tuple[Path, tuple[TableView, ...]]:
    path = tmp_path / "game.mcap"
    return path, record_true_game(path)


def judged_by(path: Path, seen: Iterable[TableView]) -> SessionJudged:
    return judge_session(path, perception=TruthReader(tuple(seen)))


def test_a_perfect_reader_scores_a_hand_wholly_right(session: tuple[Path, tuple[TableView, ...]]) -> None:
    path, seen = session
    found = judged_by(path, seen)
    figures = Figures.of([found])
    assert figures.plays > 10
    assert figures.share(figures.wholly_right) == 1.0
    assert (figures.hands, figures.totals_right, figures.ends_right, figures.winners_right) == (1, 1, 1, 1)
    assert (figures.eye_found, figures.eye_right, figures.eye_spare) == (figures.plays, figures.plays, 0)
    assert (figures.unflagged, figures.spare) == (0, 0)
    assert not list(wrong_in(found.hands))
    assert (found.look, found.difficulty, found.game) == ("classic-felt", "easy", "bones of 2, double-six")
    assert found.seen_totals == found.true_totals


def test_judges_every_hand_of_a_match(tmp_path: Path) -> None:
    path = tmp_path / "game.mcap"
    found = judged_by(path, record_true_game(path, seed=3, hands=2))
    assert [hand.number for hand in found.hands] == [1, 2]
    assert all(hand.is_score_right and hand.is_end_right for hand in found.hands)


def test_latency_is_measured_from_the_last_motion(session: tuple[Path, tuple[TableView, ...]]) -> None:
    path, seen = session
    found = judged_by(path, seen)
    assert {latency.settled_ms for latency in found.latencies} == {STILL_NS / 1e6}
    assert all(latency.judged_ms > 0 for latency in found.latencies)


def test_a_missed_tile_counts_for_the_reader_and_the_rules(session: tuple[Path, tuple[TableView, ...]]) -> None:
    path, seen = session
    last = seen[-1].changes[0].tile
    found = judged_by(path, without(seen, last))
    figures = Figures.of([found])
    assert figures.eye_found == figures.plays - 1
    assert figures.wholly_right == figures.plays - 1
    assert not found.hands[0].is_end_right
    assert any("scored: nothing" in mistake.text for mistake in wrong_in(found.hands))


def test_a_misread_tile_counts_for_the_reader(session: tuple[Path, tuple[TableView, ...]]) -> None:
    path, seen = session
    first = seen[1].changes[0].tile
    misread = with_pips(seen[1], first, (6, 6))
    found = judged_by(path, [seen[0], misread, *(replace(misread, changes=()) for _ in seen[2:])])
    assert (found.reader.found, found.reader.right, found.reader.spare) == (1, 0, 0)
    played = found.hands[0].plays[0]
    assert played.seen is not None
    assert not played.is_tile_right


def test_rejects_a_recording_without_truth(tmp_path: Path) -> None:
    path = tmp_path / "game.mcap"
    record_game(path)
    with pytest.raises(TruthError, match="has no ground truth"):
        read_truth(path)


def test_the_truth_at_a_time_includes_completed_events(session: tuple[Path, tuple[TableView, ...]]) -> None:
    path, _ = session
    truth = read_truth(path)
    second = truth.events[1]
    assert truth.state_at(second.t_ns - 1).log == (truth.events[0].event,)
    assert truth.state_at(second.t_ns).log == (truth.events[0].event, second.event)
    assert truth.tiles_at(0) == ()
    assert len(truth.tiles_at(truth.tiles_ns[-1])) == len(truth.tiles[-1]) > 10


class Command:
    """`tallybone evaluate SESSION...` with a perfect reader."""

    def __init__(self, seen: tuple[TableView, ...]) -> None:
        self._seen = seen
        self.out = self.err = ""

    def run(self, *paths: Path, **options: Any) -> int:
        out, err = io.StringIO(), io.StringIO()
        code = evaluate_sessions(paths, judge=partial(judged_by, seen=self._seen), out=out, err=err, **options)
        self.out, self.err = out.getvalue(), err.getvalue()
        return code


def test_the_command_prints_tables_by_game_look_and_difficulty(
    session: tuple[Path, tuple[TableView, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    path, seen = session
    command = Command(seen)
    assert command.run(path) == 0, command.err
    for text in ("bones of 2", "classic-felt", "easy", "Nothing was wrong"):
        assert text in command.out
    assert max(len(line) for line in command.out.splitlines()) <= 80


def test_json_has_a_line_per_recording_and_a_total(session: tuple[Path, tuple[TableView, ...]]) -> None:
    path, seen = session
    command = Command(seen)
    assert command.run(path.parent, as_json=True) == 0, command.err
    line, last = map(json.loads, command.out.splitlines())
    assert (line["file"], line["game"], line["look"]) == ("game.mcap", "bones", "classic-felt")
    assert line["wholly_right"] == line["plays"] == last["total"]["plays"]
    assert line["wrong"] == []


def test_an_invalid_recording_is_named_and_the_others_are_judged(session: tuple[Path, tuple[TableView, ...]]) -> None:
    path, seen = session
    (path.parent / "broken.mcap").write_bytes(b"no recording")
    command = Command(seen)
    assert command.run(path.parent, as_json=True) == 1
    assert "broken.mcap" in command.err
    assert json.loads(command.out.splitlines()[-1])["total"]["sessions"] == 1


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    command = Command(())
    assert command.run(tmp_path) == 1
    assert "expected recordings (.mcap) in it, but there are none" in command.err


def test_distinguishes_labels_from_recordings(tmp_path: Path) -> None:
    assert not are_sessions([tmp_path / "labels.json", tmp_path])
    assert are_sessions([tmp_path / "game.mcap"])
    assert are_sessions([tmp_path])


@pytest.mark.slow
@pytest.mark.parametrize(("game", "players", "seed"), [("bones", 2, 1), ("block", 2, 8)])
def test_a_rendered_hand_is_scored_as_played(game: str, players: int, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "hand.mcap"
    settings = simulation_settings(
        game, players=players, seed=seed, hands=1, look="classic-felt", difficulty=Difficulty.NORMAL
    )
    assert simulate(path, settings, out=io.StringIO()) == 0
    found = judge_session(path)
    assert [mistake.text for mistake in wrong_in(found.hands)] == []
    assert found.is_winner_right
