"""Tests of stepping through a recorded game: complete, growing and damaged recordings."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from engine import Confirmed, Event, Inferred, MatchStart, Placed, Play, Seq, replay
from tallybone.json_values import to_json
from tallybone.recording.format import RecordingError, Topic
from tallybone.recording.reader import read_recording
from tallybone.recording.resume import left_in
from tallybone.recording.writer import RecordingWriter
from tallybone.replay.command import replay_log
from tallybone.replay.lines import Score
from tallybone.replay.recorded_game import MAX_NUMBER, RecordedGame, logged_steps
from tallybone.replay.run import ReplaySettings
from tallybone.session.session import Session
from tallybone.sources.source import GameOverrides
from tests.tallybone.recorded_games import record_game, start_of
from tests.tallybone.recording.sittings import records_of

SECOND = 1_000_000_000


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Session]:
    """Return the recording of two hands of bones, and the final session."""
    path = tmp_path_factory.mktemp("played") / "a.mcap"
    return path, record_game(path, hands=2)


def load_game(path: Path, *, is_growing: bool = False) -> RecordedGame:
    game = RecordedGame(path, read_recording(path).start)
    with path.open("rb") as file:
        game.update(file, is_growing=is_growing)
    return game


def test_every_step_has_the_state_of_the_live_game(played: tuple[Path, Session]) -> None:
    path, session = played
    game = load_game(path)
    assert (game.state, game.complaints) == (session.state, [])
    assert len(game.steps) == len(session.state.log) - 1  # the start of the match is not a step
    for index in (0, 1, 15, 16, 17, len(game.steps) - 1):
        assert game.state_after(index) == replay(session.state.log[: game.steps[index].log])
    assert [step.hand for step in game.steps] == sorted(step.hand for step in game.steps)
    assert game.steps[-1].totals == session.state.game.totals  # type: ignore[union-attr]  # it was played


def test_marks_of_inferred_actions_survive_a_hand_a_restart_and_a_replay(tmp_path: Path) -> None:
    session = record_game(tmp_path / "seen.mcap", hands=2)
    log = [event for event in session.state.log if not isinstance(event, MatchStart)]
    plays = [seq for seq, event in enumerate(log, 1) if isinstance(event, Play)]
    log += [Inferred((Seq(plays[0]), Seq(plays[1]), Seq(plays[-1]))), Confirmed((Seq(plays[1]),))]
    path = tmp_path / "marked.mcap"
    with RecordingWriter(path, start_of()) as writer:
        for t_ns, event in enumerate(log, 1):
            writer.write(Topic.EVENT, t_ns, to_json(event, Event))
        writer.write(Topic.TABLE, len(log), {"places": {}})
    marks = (plays[0], plays[-1])
    game = load_game(path)
    assert (game.state.inferred, game.complaints) == (marks, [])
    assert [game.state_after(len(game.steps) - back).inferred for back in (3, 2, 1)] == [
        (),
        (plays[0], plays[1], plays[-1]),
        marks,
    ]
    assert replay((session.state.log[0], *left_in(read_recording(path)).events)).inferred == marks
    *_, last = logged_steps(path, GameOverrides(), lambda complaint: pytest.fail(str(complaint)))
    assert last.effects is not None
    assert last.effects.session.state.inferred == marks
    assert last.effects.session.state.game == session.state.game
    out = StringIO()
    replay_log(path, ReplaySettings(), as_json=True, out=out)
    *lines, end = [json.loads(line) for line in out.getvalue().splitlines()]
    assert not any(line["provisional"] for line in lines), "the lines precede the marks"
    assert end["result"]["provisional"]
    assert Score.of(last.effects.session.state).text.endswith("provisional)")


def test_tiles_have_their_live_places_after_each_step(played: tuple[Path, Session]) -> None:
    path, session = played
    game = load_game(path)
    with path.open("rb") as file:
        assert game.places_after(len(game.steps) - 1, file) == session.places
        for index, step in enumerate(game.steps):
            laid = [outcome.node for outcome in step.outcomes if isinstance(outcome, Placed)]
            known = {tile.node for tile in game.places_after(index, file).known}
            assert set(laid) <= known


def test_the_image_of_a_step_is_the_latest_before_it(played: tuple[Path, Session]) -> None:
    game = load_game(played[0])
    assert game.start_ns == SECOND
    assert game.frame_at(SECOND - 1) is None
    for step in game.steps:
        index = game.frame_at(step.t_ns)
        assert index is not None
        assert game.frame_times_ns[index] <= step.t_ns
        assert index + 1 == len(game.frame_times_ns) or game.frame_times_ns[index + 1] > step.t_ns
    assert game.frame_place(len(game.frame_times_ns)) is None
    assert game.frame_place(-1) is None


def test_follows_a_growing_recording(played: tuple[Path, Session], tmp_path: Path) -> None:
    data = played[0].read_bytes()
    path = tmp_path / "a.mcap"
    game = RecordedGame(path, start_of())
    for size_bytes in (*range(1000, len(data), len(data) // 7), len(data)):
        path.write_bytes(data[:size_bytes])
        with path.open("rb") as file:
            game.update(file, is_growing=True)
    assert (game.state, game.complaints) == (played[1].state, [])
    assert game.steps == load_game(played[0]).steps


def test_a_lost_event_does_not_rename_tiles(played: tuple[Path, Session], tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    data = played[0].read_bytes()
    offset = data.index(b'"is": "lead"', data.index(b'"is": "lead"') + 1)  # the input, then the event
    path.write_bytes(data[:offset] + b"X" + data[offset + 1 :])
    game = load_game(path)
    assert "damaged" in game.complaints[0]
    nodes = [outcome.node for step in game.steps for outcome in step.outcomes if isinstance(outcome, Placed)]
    assert nodes == [
        record.payload["node"]  # type: ignore[index]  # JSON
        for record in records_of(played[0])
        if record.topic is Topic.OUTCOME and record.payload.get("event") == "played"  # type: ignore[union-attr]
    ]


@pytest.mark.parametrize(
    "event",
    [
        {"is": "adjust", "seat": 0, "points": MAX_NUMBER + 1},
        {"is": "adjust", "seat": 99, "points": 5},
        {"is": "adjust", "seat": -3, "points": 5},
        {"is": "play", "seat": 0},
        {"is": "knock", "seat": 1e999},
        {"is": "nothing of the kind"},
        {"is": "undo", "seq": -7},
        {"is": "amend", "seq": 2, "action": {"is": "amend"}},
        {"is": "lead", "seat": 10**9},
        {},
    ],
)
def test_invalid_events_are_skipped_or_end_the_game(tmp_path: Path, event: dict[str, object]) -> None:
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, start_of()) as writer:
        writer.write(Topic.EVENT, 1, {"is": "new_hand"})
        if event.get("seat") == float("inf"):
            writer._write(Topic.EVENT, 2, b'{"is": "knock", "seat": 1e999}')
        else:
            writer.write(Topic.EVENT, 2, event)
    game = load_game(path)
    assert len(game.steps) <= 2
    assert game.steps[0].hand == 1
    assert all(abs(total) <= MAX_NUMBER for step in game.steps for total in step.totals)


def test_excessive_points_end_the_game_and_pictures_alone_have_none(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, start_of()) as writer:
        writer.write(Topic.EVENT, 1, {"is": "new_hand"})
        for index in range(3):
            writer.write(Topic.EVENT, 2 + index, {"is": "adjust", "seat": 0, "points": MAX_NUMBER, "why": ""})
    game = load_game(path)
    assert game.steps[-1].totals == (MAX_NUMBER, 0)
    assert game.complaints == ["the points are impossibly high"]
    with RecordingWriter(tmp_path / "b.mcap", start_of()) as writer:
        writer.frame(1, b"\xff\xd8\xff")
    assert load_game(tmp_path / "b.mcap").steps == []  # without a game


def test_names_a_file_compressed_by_another_tool(played: tuple[Path, Session], tmp_path: Path) -> None:
    from mcap.reader import make_reader
    from mcap.writer import Writer

    path = tmp_path / "a.mcap"
    with played[0].open("rb") as old, path.open("wb") as new:
        writer = Writer(new)
        writer.start("tallybone")
        schema = writer.register_schema("any", "jsonschema", b"{}")
        channel = writer.register_channel("/event", "json", schema)
        for _, _, message in make_reader(old).iter_messages(topics=["/event"]):
            writer.add_message(channel, message.log_time, message.data, message.publish_time)
        writer.finish()
    game = RecordedGame(path, None)
    with path.open("rb") as file, pytest.raises(RecordingError, match="rewritten"):
        game.update(file, is_growing=False)
