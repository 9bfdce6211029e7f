"""The log of a recording judged again: as live, by other rules, and with what is left of a damaged file."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tallybone.recording.format import Damage, Topic
from tallybone.recording.index import records_on
from tallybone.recording.reader import read_recording
from tallybone.recording.writer import RecordingWriter
from tallybone.replay.command import replay, replay_log
from tallybone.replay.run import ReplaySettings
from tallybone.session.sitting import Step
from tallybone.sources.source import GameOverrides
from tests.tallybone.recorded_game import eye, record_game
from tests.tallybone.recording.sittings import START, jpeg


class Run:
    """One run of the command and what it left behind."""

    def __init__(self, path: Path, wish: GameOverrides | None = None, *, as_json: bool = True) -> None:
        out, err = io.StringIO(), io.StringIO()
        self.code = replay_log(path, ReplaySettings(game=wish or GameOverrides()), as_json=as_json, out=out, err=err)
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


def paid_for_plays(run: Run) -> list[str]:
    return [line["words"] for line in run.lines[:-1] if line["event"] == "scored" and line["reason"] == "play"]


def totals(happened: Step) -> dict[str, int]:
    game = happened.session.state.game
    assert game is not None
    return dict(zip(game.players, game.totals, strict=True))


@pytest.mark.slow
def test_the_log_says_what_was_said_live(live: list[Step], tmp_path: Path) -> None:
    run = Run(tmp_path / "game.mcap")
    assert (run.code, run.err) == (0, "")
    assert run.lines[:-1] == json.loads(json.dumps([line for one in live for line in one.lines]))
    assert run.result["totals"] == totals(live[-1])
    assert run.result["hands"] == 2


@pytest.mark.slow
def test_other_options_score_the_same_plays_otherwise(live: list[Step], tmp_path: Path) -> None:
    path = tmp_path / "game.mcap"
    block = Run(path, GameOverrides("block")).lines[:-1]
    assert not [line for line in block if line["event"] == "scored" and line["reason"] == "play"]
    assert Run(path, GameOverrides(options=("target=5",))).result["winner"] is not None


@pytest.mark.slow
def test_sentences_have_the_times_of_a_replay_with_pictures_and_end_with_the_score(
    live: list[Step], tmp_path: Path
) -> None:
    said = Run(tmp_path / "game.mcap", as_json=False).out.splitlines()
    full = io.StringIO()
    replay(tmp_path / "game.mcap", perception=eye(hands=2), out=full)
    assert full.getvalue().splitlines() == said
    assert said[0] == "0:00 match: Ann, Ben"
    assert said[-1].startswith(", ".join(f"{name} {points}" for name, points in totals(live[-1]).items()))


@pytest.mark.slow
def test_a_recording_without_its_end_or_its_beginning_is_scored_with_what_is_there(
    live: list[Step], tmp_path: Path
) -> None:
    path = tmp_path / "game.mcap"
    data = path.read_bytes()
    whole = Run(path).lines[:-1]
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(data[: len(data) // 3])
    run = Run(cut)
    assert run.code == 1
    assert "cut" in run.err or "end" in run.err
    assert 3 < len(run.lines) < len(whole)
    assert run.lines[:-1] == whole[: len(run.lines) - 1]
    spoiled = tmp_path / "spoiled.mcap"
    spoiled.write_bytes(data.replace(b'["Ann", "Ben"]', b'["Ann", "Bzn"]', 1))
    assert "give --rules and --players" in Run(spoiled).err
    assert Run(spoiled, GameOverrides("bones", players=("Ann", "Ben"))).result == Run(path).result


@pytest.mark.slow
def test_a_lost_event_leaves_the_later_tiles_their_names(live: list[Step], tmp_path: Path) -> None:
    path, spoiled = tmp_path / "drawn.mcap", tmp_path / "spoiled.mcap"
    record_game(path, seed=5)
    data = path.read_bytes()
    events = [one for one in read_recording(path) if not isinstance(one, Damage)]
    draws = [one for one in events if one.topic is Topic.EVENT and '"draw"' in json.dumps(one.payload)]
    assert draws, "this game needs a draw"
    text = json.dumps(draws[0].payload).encode()
    at = data.index(text, data.index(text) + 1)  # the first is the input, the second the log
    spoiled.write_bytes(data[:at] + b"#" + data[at + 1 :])
    whole, run = Run(path), Run(spoiled)
    assert run.code == 1
    # Who drew it seems to have a tile less, and so to be out two plays before the end.
    assert run.result["plays"] == whole.result["plays"] - 2
    assert paid_for_plays(run) == paid_for_plays(whole)[:-1] != []


@pytest.mark.slow
def test_the_index_leads_to_the_same_records_as_reading_all(live: list[Step], tmp_path: Path) -> None:
    path, unfinished = tmp_path / "game.mcap", tmp_path / "unfinished.mcap"
    topics = (Topic.EVENT, Topic.OUTCOME)
    all_of_it = [one for one in read_recording(path) if not isinstance(one, Damage) and one.topic in topics]
    assert len(all_of_it) > 50
    assert list(records_on(path, topics)) == all_of_it
    data = path.read_bytes()
    unfinished.write_bytes(data[: len(data) - 20])
    assert [one for one in records_on(unfinished, topics) if not isinstance(one, Damage)] == all_of_it


def test_pictures_without_a_game_have_no_score(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "a.mcap", replace(START, rules="free")) as writer:
        writer.frame(0, jpeg(0))
    run = Run(tmp_path / "a.mcap")
    assert run.code == 1
    assert "no score was kept" in run.err
