"""Tests of `tallybone sessions`: table, JSON, and deletion of old recordings."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tallybone.choices import parse_size
from tallybone.recording.writer import RecordingWriter
from tallybone.show.recordings import print_recordings, recording_quota
from tallybone.store.house import HOUSE_NAME, HouseSettings, save_house
from tests.tallybone.cli.test_app import tallybone
from tests.tallybone.recording.sittings import START, jpeg, write


class Run:
    """A run of the command, with its output."""

    def __init__(self, folder: Path | None, *, as_json: bool = True, keep_bytes: int | None = None) -> None:
        out, err = io.StringIO(), io.StringIO()
        self.code = print_recordings(folder, as_json=as_json, keep_bytes=keep_bytes, out=out, err=err)
        self.out, self.err = out.getvalue(), err.getvalue()


def test_each_recording_is_a_line_of_json(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap")
    run = Run(tmp_path)
    first, last = [json.loads(line) for line in run.out.splitlines()]
    assert first == {
        "path": str(path),
        "started_at": "2026-11-21T18:30:05+00:00",
        "players": ["Ann", "Bob"],
        "rules": "bones",
        "totals": [10, 10],
        "frames": 3,
        "length_s": 2.0,
        "size_bytes": path.stat().st_size,
        "running": False,
        "damage": [],
    }
    assert last == {"result": {"recordings": 1, "size_bytes": path.stat().st_size, "deleted": []}}
    assert (run.code, run.err) == (0, "")


def test_the_table_shows_date_players_result_and_size(tmp_path: Path) -> None:
    write(tmp_path / "a.mcap")
    with RecordingWriter(tmp_path / "b.mcap", replace(START, players=("\x1b[31mEve",))):
        run = Run(tmp_path, as_json=False)
    assert "a.mcap" in run.out
    for expected in ("2026-11-21 18:30", "Ann, Bob", "bones", "10 : 10", "0:00:02", "KB", "running", "2 recordings"):
        assert expected in " ".join(run.out.split()), expected
    assert "\x1b" not in run.out


def test_an_invalid_file_is_named_and_the_others_are_listed_or_deleted(tmp_path: Path) -> None:
    write(tmp_path / "a.mcap")
    (tmp_path / "b.mcap").write_bytes(jpeg(1))
    run = Run(tmp_path)
    assert run.code == 1
    assert f"tallybone sessions: {tmp_path / 'b.mcap'}: expected a recording" in run.err
    assert len(run.out.splitlines()) == 2
    (tmp_path / "b.mcap").unlink()
    assert json.loads(Run(tmp_path, keep_bytes=0).out) == {
        "result": {"recordings": 0, "size_bytes": 0, "deleted": ["a.mcap"]}
    }
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named_but_the_default_one_is_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "nowhere" in Run(tmp_path / "nowhere").err
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert Run(None).code == 0
    assert (tmp_path / "tallybone" / "sessions").is_dir()


def test_rejects_an_invalid_size() -> None:
    for size in ("", "many", "-1", "5 XB", "1e9", "5MiB", "9" * 40):
        with pytest.raises(ValueError, match="expected a size"):
            parse_size(size)
    result = tallybone("sessions", "--keep=many")
    assert (result.returncode, "--keep" in result.stderr) == (2, True)


def test_the_quota_is_that_of_the_house_settings(tmp_path: Path) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path)}
    assert recording_quota(environment, tmp_path) == 20 * 10**9
    save_house(HouseSettings(keep_bytes=3 * 10**9), tmp_path / "tallybone" / HOUSE_NAME)
    assert recording_quota(environment, tmp_path) == 3 * 10**9
    (tmp_path / "tallybone" / HOUSE_NAME).write_text("{")
    with pytest.raises(ValueError, match="cannot be read"):  # so nothing is deleted
        recording_quota(environment, tmp_path)
