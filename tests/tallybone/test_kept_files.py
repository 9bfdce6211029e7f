"""Tests of opening the files of a released version with the same result; `kept/` has one of each kind.

Version 0.1.0 wrote them: a live recording of a hand of bones, a simulated match as a game record, and the calibration
of a simulated table. The output for each file is stored next to it.
"""

from __future__ import annotations

import json
import re
import shutil
from io import StringIO
from pathlib import Path

import pytest

from engine import Play, entries
from tallybone.calibrate.stored import show
from tallybone.cli.games import score_record
from tallybone.play.start import session_of
from tallybone.recording.reader import read_recording
from tallybone.recording.resume import left_in
from tallybone.replay.command import replay_log
from tallybone.session.feeding import feed
from tallybone.store.calibration_file import format_calibration, load_calibration
from tallybone.terminal import Output
from tests.tallybone.truth_eye import placed
from vision.tracking.table_view import TableView

KEPT = Path(__file__).parent / "kept"
SECOND = 1_000_000_000


def expected_output(name: str) -> str:
    return (KEPT / name).read_text(encoding="utf-8")


def test_an_older_recording_replays_to_the_same_lines() -> None:
    out = StringIO()
    assert replay_log(KEPT / "recording.mcap", as_json=True, out=out, err=StringIO()) == 0
    later = re.sub(r"(}+)$", r', "provisional": false\1', expected_output("recording.jsonl"), flags=re.MULTILINE)
    later = later.replace('"words": ', '"text": ')  # renamed in 0.3
    assert out.getvalue() == later, "only fields at the end of a line may be added"


@pytest.mark.parametrize(("share", "events", "tiles"), [(0.3, 7, 4), (0.7, 13, 10), (1.0, 17, 13)])
def test_an_older_match_resumes_at_the_end_of_its_recording(
    tmp_path: Path, share: float, events: int, tiles: int
) -> None:
    data = (KEPT / "recording.mcap").read_bytes()
    path = tmp_path / "cut.mcap"
    path.write_bytes(data[: round(share * len(data))])
    left = left_in(read_recording(path))
    assert left.start.players == ("Ann", "Ben")
    assert (len(left.events), len(left.places.laid)) == (events, tiles)


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_an_older_match_goes_on_with_the_tiles_on_the_table(tmp_path: Path, share: float) -> None:
    data = (KEPT / "recording.mcap").read_bytes()
    path = tmp_path / "cut.mcap"
    path.write_bytes(data[: round(share * len(data))])
    left, whole = left_in(read_recording(path)), left_in(read_recording(KEPT / "recording.mcap"))
    session, tiles = session_of(left, t_ns=0), left.tiles
    session, _ = feed(session, TableView(tiles, (), ()), t_ns=SECOND)
    for number, tile in enumerate(whole.tiles[len(tiles) :], start=1):
        session, _ = feed(session, placed(tile, before=tiles), t_ns=(1 + 3 * number) * SECOND)
        tiles = (*tiles, tile)
    played = [entry.action for entry in entries(session.state) if isinstance(entry.action, Play)]
    true = [event for event in whole.events if isinstance(event, Play)]
    assert [(play.seat, play.tile) for play in played] == [(play.seat, play.tile) for play in true]
    assert not session.state.is_provisional


def test_an_older_game_record_scores_the_same() -> None:
    out = StringIO()
    assert score_record(KEPT / "record.dgr", as_json=True, out=out, err=StringIO()) == 0
    assert out.getvalue() == expected_output("record.jsonl")


def test_an_older_calibration_is_shown_and_written_identically(tmp_path: Path) -> None:
    path = shutil.copy(KEPT / "calibration.json", tmp_path / "calibration.json")
    out = StringIO()
    assert show(Path(path), output=Output("calibrate", out, StringIO())) == 0
    assert out.getvalue().partition("\n")[2] == expected_output("calibration.txt")
    written = json.loads(format_calibration(load_calibration(Path(path))))["calibration"]
    before = json.loads(expected_output("calibration.json"))["calibration"]
    # What a table learned for an older sound classifier means nothing to a newer one.
    for name in ("addition", "brighter_db"):
        before["knock"].pop(name, None)
    before["set"]["reader"] = before["set"].pop("eye")  # renamed in 0.3
    assert written == before
