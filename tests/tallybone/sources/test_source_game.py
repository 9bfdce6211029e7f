"""Tests of replaying a game: outcomes, scores, and output in lines and sentences."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import NewHand
from tallybone.recording.format import Topic
from tallybone.recording.reader import write_input
from tallybone.recording.writer import RecordingWriter
from tallybone.replay.command import compare, replay
from tallybone.replay.run import ReplaySettings
from tallybone.sources.source import GameOverrides
from tests.tallybone.recorded_game import BEGINS_NS, TruthReader, inputs, record_game, truth_reader, write_pictures
from tests.tallybone.recording.sittings import START
from tests.tallybone.truth_eye import newest_tile, placed, script
from vision.tracking.perception import Perception
from vision.tracking.table_view import TableView

NOTHING = TableView((), (), ())


class Run:
    """A run of the command, with its output."""

    def __init__(
        self,
        path: Path,
        settings: ReplaySettings | None = None,
        *,
        as_json: bool = True,
        perception: Perception | None = None,
    ) -> None:
        out, err = io.StringIO(), io.StringIO()
        self.code = replay(path, settings, as_json=as_json, perception=perception or truth_reader(), out=out, err=err)
        self.out, self.err = out.getvalue(), err.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recorded") / "game.mcap"
    record_game(path)
    return path


@pytest.mark.slow
def test_a_recorded_game_replays_to_the_same_outcomes(tmp_path: Path) -> None:
    live = [line for step in record_game(tmp_path / "game.mcap") for line in step.lines]
    run = Run(tmp_path / "game.mcap")
    assert (run.code, run.err) == (0, "")
    replayed = [line for line in run.lines[:-1] if "frame" not in line]
    assert len(live) > 40
    assert replayed == json.loads(json.dumps(live))
    assert Run(tmp_path / "game.mcap").out == run.out


def test_the_result_has_frames_changes_and_score(tmp_path: Path) -> None:
    last = record_game(tmp_path / "game.mcap")[-1]
    game = last.session.state.game
    assert game is not None
    plays = sum(item is None for item in inputs()) - 1
    none = dict.fromkeys(("moved", "removed", "turned", "stacked", "reread", "unsure", "problems", "asked", "open"), 0)
    totals = dict(zip(("Ann", "Ben"), game.totals, strict=True))
    score = {"hands": 1, "totals": totals, "provisional": False, "winner": None, "plays": plays}
    counts = {"frames": plays + 1, "placed": plays, "tiles": plays}
    assert Run(tmp_path / "game.mcap").lines[-1]["result"] == counts | none | score
    assert max(game.totals) > 0


def test_sentences_have_elapsed_times_and_a_play_is_a_single_one(recording: Path) -> None:
    sentences = Run(recording, as_json=False).out.splitlines()
    assert sentences[0] == "0:00 match: Ann, Ben"
    scored = next(line for line in sentences if "scores" in line)
    assert re.fullmatch(r"0:\d\d (Ann|Ben) plays \d-\d: \d.* = (\d+), scores \2", scored)


def test_without_a_game_only_table_changes_are_reported(recording: Path) -> None:
    run = Run(recording, ReplaySettings(game=GameOverrides("free")))
    assert {line.get("event", "result") for line in run.lines} == {"placed", "result"}
    assert "totals" not in run.lines[-1]["result"]


def test_other_rules_and_options_change_the_score_of_the_same_tiles(recording: Path) -> None:
    fives, block = Run(recording).lines, Run(recording, ReplaySettings(game=GameOverrides("block"))).lines
    assert any(line["event"] == "scored" for line in fives[:-1])
    in_play = [line for line in block[:-1] if line["event"] == "scored" and line["reason"] == "play"]
    assert in_play == []
    assert block[-1]["result"]["plays"] == fives[-1]["result"]["plays"]
    overrides = GameOverrides(options=("target=5",), players=("Mia", "Noa"))
    short = Run(recording, ReplaySettings(game=overrides)).lines[-1]["result"]
    assert (fives[-1]["result"]["winner"], short["winner"] in short["totals"]) == (None, True)
    assert list(short["totals"]) == ["Mia", "Noa"]
    first = next(index for index, line in enumerate(fives) if line["event"] == "placed")
    assert (bool(fives[first]["frame"]), fives[first + 1]["event"]) == (True, "played")
    assert fives[first]["t_ns"] == fives[first + 1]["t_ns"] > BEGINS_NS


@pytest.mark.parametrize(
    ("overrides", "error"),
    [
        (GameOverrides("bones", ("target=much",)), "target"),
        (GameOverrides("free", ("target=5",)), "target"),
        (GameOverrides(players=("Ann",)), "got 1"),
    ],
)
def test_rejects_an_unplayable_game(recording: Path, overrides: GameOverrides, error: str) -> None:
    run = Run(recording, ReplaySettings(game=overrides))
    assert (run.code, run.out) == (2, "")
    assert error in run.err


def test_a_folder_deals_the_hand_automatically_and_replays_identically(tmp_path: Path) -> None:
    table, steps = script(1)
    seen = [newest_tile(table, step) for step in steps if step.is_seen][:2]
    views = (NOTHING, placed(seen[0]), placed(seen[1], before=(seen[0],)))
    folder, overrides = write_pictures(tmp_path / "pictures", 3), GameOverrides("bones", players=("Ann", "Ben"))
    first = Run(folder, ReplaySettings(game=overrides, record=tmp_path / "a.mcap"), perception=TruthReader(views))
    replayed = Run(tmp_path / "a.mcap", perception=TruthReader(views))
    assert [line["event"] for line in first.lines[:-1]].count("played") == 2
    assert first.lines[-1]["result"]["plays"] == 2
    assert replayed.out == first.out
    assert (first.code, replayed.code) == (0, 0)
    compared = io.StringIO()
    assert compare(tmp_path / "a.mcap", perception=TruthReader(views), out=compared) == 0
    assert compared.getvalue().startswith("equal: ")


def test_a_lost_table_and_its_recovery_are_reported_once(tmp_path: Path) -> None:
    lost = replace(NOTHING, lost="the table is not recognized")
    folder = write_pictures(tmp_path / "pictures", 5)
    for overrides in (GameOverrides("free"), GameOverrides("bones")):
        views = (NOTHING, lost, lost, NOTHING, NOTHING)
        lines = Run(folder, ReplaySettings(game=overrides), perception=TruthReader(views)).lines
        reports = [
            (line["event"], line["frame"], line["text"]) for line in lines if line.get("event") in ("lost", "found")
        ]
        assert reports == [
            ("lost", "001.jpg", "the table is not recognized"),
            ("found", "003.jpg", "the table is recognized again"),
        ]
        text = Run(folder, ReplaySettings(game=overrides), as_json=False, perception=TruthReader(views)).out
        assert text.count("the table is not recognized") == text.count("is recognized again") == 1


def test_an_unknown_input_affects_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, START) as writer:
        write_input(writer, NewHand(), BEGINS_NS)
        writer.write(Topic.BUTTON, BEGINS_NS + 1, {"button": "dance"})
        write_input(writer, NewHand(), BEGINS_NS + 2)
    run = Run(path)
    assert run.code == 1
    assert "record 1: " in run.err
    assert "dance" in run.err
    assert [line.get("event") for line in run.lines].count("hand_started") == 1


@pytest.mark.slow
def test_another_process_prints_identical_output(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "pictures", 2)
    record = tmp_path / "a.mcap"
    Run(folder, ReplaySettings(game=GameOverrides("bones"), record=record), perception=TruthReader((NOTHING, NOTHING)))
    command = [str(Path(sys.executable).with_name("tallybone")), "replay", str(record), "--json"]
    env = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    first, second = (
        subprocess.run(command, capture_output=True, env=environment, check=True).stdout for environment in env
    )
    assert first == second
    assert b'"totals": {"Player 1": 0, "Player 2": 0}' in first
