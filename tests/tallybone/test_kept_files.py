"""Files that a released version wrote open today to the same result; `kept/` has one of each kind.

Version 0.1.0 wrote them: a hand of bones as a live table records it, a simulated match as a game record, and the
calibration of a simulated table. What it said of each stands beside it.
"""

from __future__ import annotations

import re
import shutil
from io import StringIO
from pathlib import Path

import pytest

from tallybone.calibrate.stored import show
from tallybone.cli.games import score_record
from tallybone.recording.reader import read_recording
from tallybone.recording.resume import left_in
from tallybone.replay.command import replay_log
from tallybone.store.calibration_file import format_calibration, load_calibration
from tallybone.terminal import Output

KEPT = Path(__file__).parent / "kept"


def said_of(name: str) -> str:
    return (KEPT / name).read_text(encoding="utf-8")


def test_a_recording_of_before_replays_to_the_same_lines() -> None:
    out = StringIO()
    assert replay_log(KEPT / "recording.mcap", as_json=True, out=out, err=StringIO()) == 0
    later = re.sub(r"(}+)$", r', "provisional": false\1', said_of("recording.jsonl"), flags=re.MULTILINE)
    assert out.getvalue() == later, "a field may be added at the end of a line, nothing else may change"


@pytest.mark.parametrize(("share", "events", "tiles"), [(0.3, 7, 4), (0.7, 13, 10), (1.0, 17, 13)])
def test_a_match_of_before_goes_on_where_its_recording_ends(
    tmp_path: Path, share: float, events: int, tiles: int
) -> None:
    data = (KEPT / "recording.mcap").read_bytes()
    path = tmp_path / "cut.mcap"
    path.write_bytes(data[: round(share * len(data))])
    left = left_in(read_recording(path))
    assert left.start.players == ("Ann", "Ben")
    assert (len(left.events), len(left.places.laid)) == (events, tiles)


def test_a_game_record_of_before_scores_the_same() -> None:
    out = StringIO()
    assert score_record(KEPT / "record.dgr", as_json=True, out=out, err=StringIO()) == 0
    assert out.getvalue() == said_of("record.jsonl")


def test_a_calibration_of_before_says_the_same_and_is_written_as_it_was(tmp_path: Path) -> None:
    path = shutil.copy(KEPT / "calibration.json", tmp_path / "calibration.json")
    out = StringIO()
    assert show(Path(path), output=Output("calibrate", out, StringIO())) == 0
    assert out.getvalue().partition("\n")[2] == said_of("calibration.txt")
    assert format_calibration(load_calibration(Path(path))) == said_of("calibration.json")
