"""A replay against its recording: equal to the last outcome, or what differs, with its time, on both sides."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tallybone.recording.format import Damage, Topic
from tallybone.recording.reader import read_recording
from tallybone.recording.writer import RecordingWriter
from tallybone.replay.command import compare
from tallybone.replay.run import ReplaySettings
from tallybone.sources.source import GameOverrides
from tests.tallybone.recorded_game import TruthEye, eye, record_game, shown
from vision.tracking.perception import Perception
from vision.tracking.table_view import TableView


class Run:
    """One run of the command and what it left behind."""

    def __init__(
        self, path: Path, wish: GameOverrides | None = None, *, as_json: bool = False, by: Perception | None = None
    ) -> None:
        out, err = io.StringIO(), io.StringIO()
        wishes = ReplaySettings(game=wish or GameOverrides())
        self.code = compare(path, wishes, as_json=as_json, perception=by or eye(), out=out, err=err)
        self.out, self.err = out.getvalue().splitlines(), err.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    record_game(tmp_path / "game.mcap")
    return tmp_path / "game.mcap"


@pytest.mark.slow
def test_the_same_again_is_equal(recording: Path) -> None:
    run = Run(recording)
    assert run.code == 0
    assert len(run.out) == 1
    assert run.out[0].startswith("equal: ")
    assert Run(recording, as_json=True).lines[0]["equal"] is True
    assert Run(recording, as_json=True).lines[0]["recorded"] > 60


def test_a_tile_that_is_not_seen_any_more_is_a_difference_with_its_time(recording: Path) -> None:
    looks = eye().left
    at = next(number for number, view in enumerate(looks) if view.changes)
    blind = TruthEye([*looks[:at], TableView((), (), ()), *looks[at + 1 :]])
    run = Run(recording, by=blind)
    assert run.code == 1
    assert run.out[0] == f"{len(run.out) - 1} differences"
    first = run.out[1]
    assert "recorded: event play" in first
    assert first.split()[0] == f"0:{len(_inputs_before_the_first_play()) + 1:02d}"


def _inputs_before_the_first_play() -> Sequence[object]:
    items = list(shown())
    return items[1 : items.index(None, 1)]


def test_an_outcome_that_was_recorded_otherwise_is_shown_from_both_sides(recording: Path) -> None:
    kept, other = read_recording(recording), recording.with_name("other.mcap")
    assert kept.start is not None
    with RecordingWriter(other, kept.start) as writer:
        for one in kept:
            assert not isinstance(one, Damage)
            payload: Any = one.payload
            if one.topic is Topic.CAMERA:
                writer.frame(one.t_ns, payload.jpeg)
                continue
            if payload.get("event") == "scored":
                payload = {**payload, "points": 99, "words": "99 points"}
            writer.write(one.topic, one.t_ns, payload)
    run = Run(other, as_json=True)
    head, *found = run.lines
    assert run.code == 1
    assert head["differences"] == len(found) >= 1
    assert all(one["recorded"]["points"] == 99 != one["now"]["points"] for one in found)


def test_a_recording_that_says_nothing_of_provisional_totals_is_equal(recording: Path) -> None:
    kept, older = read_recording(recording), recording.with_name("older.mcap")
    assert kept.start is not None
    with RecordingWriter(older, kept.start) as writer:
        for one in kept:
            assert not isinstance(one, Damage)
            payload: Any = one.payload
            if one.topic is Topic.CAMERA:
                writer.frame(one.t_ns, payload.jpeg)
                continue
            if one.topic is Topic.OUTCOME:
                assert payload.pop("provisional") is False
            writer.write(one.topic, one.t_ns, payload)
    assert Run(older).code == 0


def test_by_other_rules_the_points_of_each_play_are_compared(recording: Path) -> None:
    run = Run(recording, GameOverrides("block"), as_json=True)
    head, *found = run.lines
    assert run.code == 1
    assert head["differences"] == len(found) > 0
    assert all(one["recorded"]["points"] > 0 == one["now"]["points"] for one in found)
    assert all(one["recorded"]["play"] == one["now"]["play"] for one in found)


def test_the_same_rules_said_again_are_no_other_rules(recording: Path) -> None:
    assert Run(recording, GameOverrides("bones")).out[0].startswith("equal: ")
