"""Tests of comparing a replay with its recording: equality, and differences with their times."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tallybone.recording.format import Damage, Topic
from tallybone.recording.reader import read_recording
from tallybone.recording.writer import RecordingWriter
from tallybone.replay.command import compare
from tallybone.replay.run import ReplaySettings
from tallybone.sources.source import GameOverrides
from tests.tallybone.recorded_game import TruthReader, inputs, record_game, truth_reader
from vision.tracking.perception import Perception
from vision.tracking.table_view import TableView


class Run:
    """A run of the command, with its output."""

    def __init__(
        self,
        path: Path,
        overrides: GameOverrides | None = None,
        *,
        as_json: bool = False,
        perception: Perception | None = None,
    ) -> None:
        out, err = io.StringIO(), io.StringIO()
        settings = ReplaySettings(game=overrides or GameOverrides())
        self.code = compare(path, settings, as_json=as_json, perception=perception or truth_reader(), out=out, err=err)
        self.out, self.err = out.getvalue().splitlines(), err.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    record_game(tmp_path / "game.mcap")
    return tmp_path / "game.mcap"


@pytest.mark.slow
def test_an_unchanged_recording_is_equal(recording: Path) -> None:
    run = Run(recording)
    assert run.code == 0
    assert len(run.out) == 1
    assert run.out[0].startswith("equal: ")
    assert Run(recording, as_json=True).lines[0]["equal"] is True
    assert Run(recording, as_json=True).lines[0]["recorded"] > 60


def test_a_missed_tile_is_a_difference_with_its_time(recording: Path) -> None:
    views = truth_reader().left
    index = next(i for i, view in enumerate(views) if view.changes)
    blind = TruthReader([*views[:index], TableView((), (), ()), *views[index + 1 :]])
    run = Run(recording, perception=blind)
    assert run.code == 1
    assert run.out[0] == f"{len(run.out) - 1} differences"
    first = run.out[1]
    assert "recorded: event play" in first
    assert first.split()[0] == f"0:{len(_inputs_before_the_first_play()) + 1:02d}"


def _inputs_before_the_first_play() -> Sequence[object]:
    items = list(inputs())
    return items[1 : items.index(None, 1)]


def rewritten(recording: Path, change: Callable[[Topic, dict[str, Any]], dict[str, Any]]) -> Path:
    """Return a copy of a recording with changed records."""
    original, other = read_recording(recording), recording.with_name("other.mcap")
    assert original.start is not None
    with RecordingWriter(other, original.start) as writer:
        for message in original:
            assert not isinstance(message, Damage)
            payload: Any = message.payload
            if message.topic is Topic.CAMERA:
                writer.frame(message.t_ns, payload.jpeg)
            else:
                writer.write(message.topic, message.t_ns, change(message.topic, payload))
    return other


def test_a_changed_outcome_is_shown_from_both_sides(recording: Path) -> None:
    def with_99(_: Topic, fact: dict[str, Any]) -> dict[str, Any]:
        return fact | {"points": 99, "text": "99 points"} if fact.get("event") == "scored" else fact

    run = Run(rewritten(recording, with_99), as_json=True)
    head, *found = run.lines
    assert run.code == 1
    assert head["differences"] == len(found) >= 1
    assert all(difference["recorded"]["points"] == 99 != difference["now"]["points"] for difference in found)


def test_a_recording_without_provisional_totals_is_equal(recording: Path) -> None:
    def older(topic: Topic, fact: dict[str, Any]) -> dict[str, Any]:
        assert topic is not Topic.OUTCOME or fact["provisional"] is False
        return {name: value for name, value in fact.items() if name != "provisional"}

    assert Run(rewritten(recording, older), GameOverrides("bones")).out[0].startswith("equal: ")


def test_other_rules_are_compared_by_the_points_of_each_play(recording: Path) -> None:
    run = Run(recording, GameOverrides("block"), as_json=True)
    head, *found = run.lines
    assert run.code == 1
    assert head["differences"] == len(found) > 0
    assert all(difference["recorded"]["points"] > 0 == difference["now"]["points"] for difference in found)
    assert all(difference["recorded"]["play"] == difference["now"]["play"] for difference in found)
