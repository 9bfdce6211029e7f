"""Tests of replaying the log of a recording: unchanged, by other rules, and from damaged files."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tallybone.recording.format import Damage, Topic
from tallybone.recording.reader import read_recording
from tallybone.recording.writer import RecordingWriter
from tallybone.replay.command import replay, replay_log
from tallybone.replay.run import ReplaySettings
from tallybone.session.sitting import Step
from tallybone.sources.source import GameOverrides
from tests.tallybone.recorded_game import record_game, truth_reader
from tests.tallybone.recording.sittings import START, jpeg


class Run:
    """A run of the command, with its output."""

    def __init__(self, path: Path, overrides: GameOverrides | None = None, *, as_json: bool = True) -> None:
        out, err = io.StringIO(), io.StringIO()
        self.code = replay_log(
            path, ReplaySettings(game=overrides or GameOverrides()), as_json=as_json, out=out, err=err
        )
        self.out, self.err = out.getvalue(), err.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def result(self) -> dict[str, Any]:
        return dict(self.lines[-1]["result"])


@pytest.fixture
def live(tmp_path: Path) -> list[Step]:
    return record_game(tmp_path / "game.mcap", hands=2)


def points_for_plays(run: Run) -> list[str]:
    return [line["text"] for line in run.lines[:-1] if line["event"] == "scored" and line["reason"] == "play"]


def totals(step: Step) -> dict[str, int]:
    game = step.session.state.game
    assert game is not None
    return dict(zip(game.players, game.totals, strict=True))


@pytest.mark.slow
def test_the_log_gives_the_live_outcomes(live: list[Step], tmp_path: Path) -> None:
    run = Run(tmp_path / "game.mcap")
    assert (run.code, run.err) == (0, "")
    assert run.lines[:-1] == json.loads(json.dumps([line for step in live for line in step.lines]))
    assert run.result["totals"] == totals(live[-1])
    assert run.result["hands"] == 2


@pytest.mark.slow
def test_other_options_change_the_score_of_the_same_plays(live: list[Step], tmp_path: Path) -> None:
    path = tmp_path / "game.mcap"
    block = Run(path, GameOverrides("block")).lines[:-1]
    assert not [line for line in block if line["event"] == "scored" and line["reason"] == "play"]
    assert Run(path, GameOverrides(options=("target=5",))).result["winner"] is not None


@pytest.mark.slow
def test_sentences_match_those_of_a_full_replay_and_end_with_the_score(live: list[Step], tmp_path: Path) -> None:
    sentences = Run(tmp_path / "game.mcap", as_json=False).out.splitlines()
    full = io.StringIO()
    replay(tmp_path / "game.mcap", perception=truth_reader(hands=2), out=full)
    assert full.getvalue().splitlines() == sentences
    assert sentences[0] == "0:00 match: Ann, Ben"
    assert sentences[-1].startswith(", ".join(f"{name} {points}" for name, points in totals(live[-1]).items()))


@pytest.mark.slow
def test_a_truncated_or_damaged_recording_is_scored_as_far_as_possible(live: list[Step], tmp_path: Path) -> None:
    path = tmp_path / "game.mcap"
    data = path.read_bytes()
    full = Run(path).lines[:-1]
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(data[: len(data) // 3])
    run = Run(cut)
    assert run.code == 1
    assert "cut" in run.err or "end" in run.err
    assert 3 < len(run.lines) < len(full)
    assert run.lines[:-1] == full[: len(run.lines) - 1]
    damaged = tmp_path / "damaged.mcap"
    damaged.write_bytes(data.replace(b'["Ann", "Ben"]', b'["Ann", "Bzn"]', 1))
    assert "give --rules and --players" in Run(damaged).err
    assert Run(damaged, GameOverrides("bones", players=("Ann", "Ben"))).result == Run(path).result


@pytest.mark.slow
def test_a_lost_event_does_not_rename_later_tiles(live: list[Step], tmp_path: Path) -> None:
    path, damaged = tmp_path / "drawn.mcap", tmp_path / "damaged.mcap"
    record_game(path, seed=5)
    data = path.read_bytes()
    events = [message for message in read_recording(path) if not isinstance(message, Damage)]
    draws = [message for message in events if message.topic is Topic.EVENT and '"draw"' in json.dumps(message.payload)]
    assert draws, "the game must contain a draw"
    text = json.dumps(draws[0].payload).encode()
    offset = data.index(text, data.index(text) + 1)  # the first is the input, the second the log
    damaged.write_bytes(data[:offset] + b"#" + data[offset + 1 :])
    full, run = Run(path), Run(damaged)
    assert run.code == 1
    # The player who drew seems to have a tile less, and to go out two plays before the end.
    assert run.result["plays"] == full.result["plays"] - 2
    assert points_for_plays(run) == points_for_plays(full)[:-1] != []


def test_images_without_a_game_have_no_score(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "a.mcap", replace(START, rules="free")) as writer:
        writer.frame(0, jpeg(0))
    run = Run(tmp_path / "a.mcap")
    assert run.code == 1
    assert "it has no score" in run.err
