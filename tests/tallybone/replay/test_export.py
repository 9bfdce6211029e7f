"""Tests of exports: each file is complete, or does not exist."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import cv2
import pytest

from engine import parse_record, play_record
from tallybone.recording.reader import read_recording
from tallybone.replay.command import replay, replay_log
from tallybone.replay.export import ExportFiles, format_csv, plays_table
from tallybone.replay.recorded_game import RecordedGame, transcript_of
from tallybone.replay.run import ReplaySettings
from tallybone.session.sitting import Step
from tallybone.sources.source import GameOverrides
from tests.tallybone.recorded_game import record_game, truth_reader
from tests.tallybone.recorded_games import record_game as record_live_game
from tests.tallybone.recording.sittings import jpeg


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[Step]]:
    """Return a recorded game of two hands, and its steps."""
    path = tmp_path_factory.mktemp("recorded") / "game.mcap"
    live = record_game(path, hands=2)
    return path.read_bytes(), live


class Table:
    """A recorded game, and the folder for exports."""

    def __init__(self, folder: Path, recorded: tuple[bytes, list[Step]]) -> None:
        self.folder, self.path = folder, folder / "game.mcap"
        data, self.live = recorded
        self.path.write_bytes(data)
        game = self.live[-1].session.state.game
        assert game is not None
        self.totals = game.totals

    def export(
        self, *names: str, is_forced: bool = False, log_only: bool = False, rules: str | None = None
    ) -> tuple[int, str]:
        """Export, and return the exit code and the errors."""
        out, err = io.StringIO(), io.StringIO()
        exports = ExportFiles(tuple(self.folder / name for name in names), is_forced)
        settings = ReplaySettings(game=GameOverrides(rules))
        if log_only:
            return replay_log(self.path, settings, exports=exports, out=out, err=err), err.getvalue()
        code = replay(self.path, settings, exports=exports, perception=truth_reader(hands=2), out=out, err=err)
        return code, err.getvalue()

    def outcomes(self) -> list[dict[str, Any]]:
        return [line for step in self.live for line in json.loads(json.dumps(step.lines))]

    def exported(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()} - {"game.mcap"}


@pytest.fixture
def table(tmp_path: Path, recorded: tuple[bytes, list[Step]]) -> Table:
    return Table(tmp_path, recorded)


@pytest.mark.slow
@pytest.mark.parametrize("log_only", [False, True])
def test_the_game_record_the_table_and_the_document_are_complete(table: Table, log_only: bool) -> None:
    assert table.export("a.dgr", "a.csv", "a.json", log_only=log_only) == (0, "")
    text = (table.folder / "a.dgr").read_text()
    played = play_record(parse_record(text))
    assert played.result.totals == table.totals
    assert (played.result.hands, played.result.problems) == (2, 0)
    assert '[Date "2026-11-21"]' in text
    check_table(table)
    document = json.loads((table.folder / "a.json").read_text())
    assert document["outcomes"] == table.outcomes()
    assert [event["is"] for event in document["events"][:3]] == ["match_start", "new_hand", "lead"]
    assert len(document["events"]) == len(table.live[-1].session.state.log)
    assert {change["event"] for change in document["changes"]} == (set() if log_only else {"placed", "removed"})
    assert list(document["result"]["totals"].values()) == list(table.totals)
    assert document["sitting"]["rules"] == "bones"


def check_table(table: Table) -> None:
    """Check that the CSV file has a row per play with count and points."""
    with (table.folder / "a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    outcomes = table.outcomes()
    played = [line for line in outcomes if line["event"] == "played"]
    paid = [line for line in outcomes if line["event"] == "scored" and line["reason"] == "play"]
    assert [f"{row['player']} plays {row['tile']}" for row in rows] == [line["text"] for line in played]
    assert [int(row["points"]) for row in rows if row["points"] != "0"] == [line["points"] for line in paid]
    assert [row["hand"] for row in rows] == sorted(row["hand"] for row in rows)
    assert {row["hand"] for row in rows} == {"1", "2"}
    assert [row for row in rows if not row["at"]] == [rows[0], next(row for row in rows if row["hand"] == "2")]
    scored = next(row for row in rows if row["points"] != "0")
    assert scored["count"] == scored["points"]
    last = next(line["totals"] for line in reversed(outcomes) if line["event"] == "played")
    assert [int(rows[-1]["total Ann"]), int(rows[-1]["total Ben"])] >= last


def test_a_name_is_never_a_formula_in_a_spreadsheet(tmp_path: Path) -> None:
    name, path = "=cmd|' /C calc'!A0", tmp_path / "game.mcap"
    record_live_game(path, players=(name, "Ben"))
    game = RecordedGame(path, read_recording(path).start)
    with path.open("rb") as file:
        game.update(file, is_growing=False)
    text = plays_table(transcript_of(game))
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {row["player"] for row in rows} == {"Ben", f"'{name}"}
    for prefix in ("=", "+", "-", "@", "\t=", "\r=", "\n=", " =", "\u200e=", "\uff1d"):
        ((cell,),) = csv.reader(io.StringIO(format_csv([(f"{prefix}cmd|' /C calc'!A0",)]), newline=""))
        assert cell.startswith("'"), prefix
        assert cell.endswith(f"{prefix[-1]}cmd|' /C calc'!A0")
    assert format_csv([("-5", -5, 0)]) == "'-5,-5,0\n"  # numbers are not escaped


@pytest.mark.slow
def test_a_video_has_each_picture_at_its_time_and_a_caption_bar(table: Table) -> None:
    pytest.importorskip("av", reason="av is not installed: pip install '.[video]'")
    assert table.export("a.mp4") == (0, "")
    video = cv2.VideoCapture(str(table.folder / "a.mp4"))
    frames, times_ms = [], []
    while (read := video.read())[0]:
        frames.append(read[1])
        times_ms.append(round(video.get(cv2.CAP_PROP_POS_MSEC)))
    video.release()
    pictures = [step.t_ns // 1_000_000 for step in table.live if step.view is not None]
    assert times_ms[:-1] == [time - pictures[0] for time in pictures]
    assert times_ms[-1] == times_ms[-2] + 900  # the last picture is shown for a second
    assert frames[0].shape == (48 + 56, 64, 3)
    assert int(frames[0][:40].std()) < 12 < int(frames[-1][48:].std())


@pytest.mark.slow
def test_an_existing_file_is_replaced_only_with_force(table: Table) -> None:
    (table.folder / "a.csv").write_text("mine")
    code, complaint = table.export("a.csv", "b.dgr")
    assert code == 1
    assert "--force" in complaint
    assert (table.folder / "a.csv").read_text() == "mine"
    assert table.exported() == {"a.csv"}
    assert table.export("a.csv", is_forced=True) == (0, "")
    assert (table.folder / "a.csv").read_text().startswith("time,hand")


@pytest.mark.slow
def test_a_failed_export_leaves_no_files(table: Table) -> None:
    assert table.export("a.dgr", "a.mp4", rules="free")[0] == 1
    assert table.exported() == set()
    for name, wanted, expected in (("a.txt", 2, ".dgr"), ("no/a.csv", 1, "no folder"), ("a.mp4", 2, "--log-only")):
        code, complaint = table.export(name, log_only=True)
        assert code == wanted
        assert expected in complaint
    assert table.exported() == set()


@pytest.mark.slow
def test_a_recording_without_images_gives_no_video(table: Table) -> None:
    data = table.path.read_bytes()
    table.path.write_bytes(data.replace(b"\xff\xd8\xff", jpeg(0, 0)[:2] + b"\0"))
    code, complaint = table.export("a.mp4")
    assert code == 1
    assert complaint
    assert table.exported() == set()
