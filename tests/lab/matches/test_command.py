"""Tests of `tallybone simulate`: output and errors."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lab.commands import simulate
from lab.matches.simulation import simulation_settings
from tallybone.choices import TileSet
from tallybone.cli.app import app
from tallybone.recording.format import Topic
from tallybone.recording.reader import RecordedMessage, read_recording
from tallybone.sources.source import source_at


@pytest.mark.slow
def test_a_hand_is_recorded_and_summarised(tmp_path: Path) -> None:
    out, path = io.StringIO(), tmp_path / "a.mcap"
    settings = simulation_settings("bones", players=2, seed=43, hands=1, look="classic-felt", fps=2)
    assert simulate(path, settings, as_json=True, out=out) == 0
    (line,) = out.getvalue().splitlines()
    summary = json.loads(line)
    records = [record for record in read_recording(path) if isinstance(record, RecordedMessage)]
    truth: list[Any] = [record.payload for record in records if record.topic is Topic.TRUTH]
    assert summary["file"] == str(path)
    assert summary["frames"] == sum(record.topic is Topic.CAMERA for record in records)
    assert summary["hands"] == 1
    events = [line["event"]["is"] for line in truth if line["kind"] == "event"]
    assert summary["plays"] == events.count("play") > 5
    assert summary["seconds"] == pytest.approx(summary["frames"] / 2, abs=0.5)
    assert truth[-1]["kind"] == "record"
    start = source_at(path).start
    assert start is not None
    assert TileSet(start.tile_set) is TileSet.DOUBLE_6


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    path, err = tmp_path / "a.mcap", io.StringIO()
    path.write_bytes(b"mine")
    assert simulate(path, simulation_settings("bones", players=2, seed=1), err=err) == 1
    assert err.getvalue() == f"tallybone simulate: {path}: cannot create the recording: there is a file of that name\n"
    assert path.read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rules", "twoset"), "twoset is for 4 to 6 players, got 2"),
        (("--looks", "pink"), "unknown look"),
        (("--options", "sets=7"), "sets"),
        (("--difficulty", "very"), "difficulty"),
    ],
    ids=["players", "look", "options", "difficulty"],
)
def test_invalid_options_are_rejected_before_anything_is_written(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = CliRunner().invoke(app, ["simulate", "--out", str(tmp_path / "a.mcap"), *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert not (tmp_path / "a.mcap").exists()
