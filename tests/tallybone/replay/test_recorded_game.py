"""The game of a recording, step by step: the same as it was played, also while it grows and when it is damaged."""

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
from tallybone.replay.log import logged_steps
from tallybone.replay.recorded_game import MAX_NUMBER, RecordedGame
from tallybone.replay.run import ReplaySettings
from tallybone.session.session import Session
from tallybone.sources.source import GameOverrides
from tests.tallybone.recorded_games import record_game, start_of
from tests.tallybone.recording.sittings import records_of

SECOND = 1_000_000_000


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Session]:
    """The recording of two hands of bones, and where they ended."""
    path = tmp_path_factory.mktemp("played") / "a.mcap"
    return path, record_game(path, hands=2)


def looked_at(path: Path, *, is_growing: bool = False) -> RecordedGame:
    game = RecordedGame(path, read_recording(path).start)
    with path.open("rb") as file:
        game.update(file, is_growing=is_growing)
    return game


def test_every_step_is_as_it_was_played(played: tuple[Path, Session]) -> None:
    path, session = played
    game = looked_at(path)
    assert (game.state, game.complaints) == (session.state, [])
    assert len(game.steps) == len(session.state.log) - 1  # the start of the match is none
    for number in (0, 1, 15, 16, 17, len(game.steps) - 1):
        assert game.state_after(number) == replay(session.state.log[: game.steps[number].log])
    assert [step.hand for step in game.steps] == sorted(step.hand for step in game.steps)
    assert game.steps[-1].totals == session.state.game.totals  # type: ignore[union-attr]  # it was played


def test_marks_of_inferred_actions_survive_the_hand_a_restart_and_a_replay(tmp_path: Path) -> None:
    session = record_game(tmp_path / "seen.mcap", hands=2)
    log = [event for event in session.state.log if not isinstance(event, MatchStart)]
    plays = [at for at, event in enumerate(log, 1) if isinstance(event, Play)]
    log += [Inferred((Seq(plays[0]), Seq(plays[1]), Seq(plays[-1]))), Confirmed((Seq(plays[1]),))]
    path = tmp_path / "marked.mcap"
    with RecordingWriter(path, start_of()) as writer:
        for t_ns, event in enumerate(log, 1):
            writer.write(Topic.EVENT, t_ns, to_json(event, Event))
        writer.write(Topic.TABLE, len(log), {"places": {}})
    marks = (plays[0], plays[-1])
    game = looked_at(path)
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
    assert not any(line["provisional"] for line in lines), "they were said before the marks were made"
    assert end["result"]["provisional"]
    assert Score.of(last.effects.session.state).words.endswith("provisional)")


def test_tiles_lie_where_they_lay_after_each_step(played: tuple[Path, Session]) -> None:
    path, session = played
    game = looked_at(path)
    with path.open("rb") as file:
        assert game.places_after(len(game.steps) - 1, file) == session.places
        for number, step in enumerate(game.steps):
            laid = [one.node for one in step.outcomes if isinstance(one, Placed)]
            known = {one.node for one in game.places_after(number, file).known}
            assert set(laid) <= known


def test_the_picture_of_a_step_is_the_newest_then(played: tuple[Path, Session]) -> None:
    game = looked_at(played[0])
    assert game.start_ns == SECOND
    assert game.frame_at(SECOND - 1) is None
    for step in game.steps:
        number = game.frame_at(step.t_ns)
        assert number is not None
        assert game.frame_times_ns[number] <= step.t_ns
        assert number + 1 == len(game.frame_times_ns) or game.frame_times_ns[number + 1] > step.t_ns
    assert game.frame_place(len(game.frame_times_ns)) is None
    assert game.frame_place(-1) is None


def test_a_game_that_is_being_recorded_is_followed(played: tuple[Path, Session], tmp_path: Path) -> None:
    whole = played[0].read_bytes()
    path = tmp_path / "a.mcap"
    game = RecordedGame(path, start_of())
    for size_bytes in (*range(1000, len(whole), len(whole) // 7), len(whole)):
        path.write_bytes(whole[:size_bytes])
        with path.open("rb") as file:
            game.update(file, is_growing=True)
    assert (game.state, game.complaints) == (played[1].state, [])
    assert game.steps == looked_at(played[0]).steps


def test_tiles_keep_their_names_where_an_event_is_lost(played: tuple[Path, Session], tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    whole = played[0].read_bytes()
    at = whole.index(b'"is": "lead"', whole.index(b'"is": "lead"') + 1)  # what was said, then what followed
    path.write_bytes(whole[:at] + b"X" + whole[at + 1 :])
    game = looked_at(path)
    assert "damaged" in game.complaints[0]
    nodes = [one.node for step in game.steps for one in step.outcomes if isinstance(one, Placed)]
    assert nodes == [
        one.payload["node"]  # type: ignore[index]  # JSON
        for one in records_of(played[0])
        if one.topic is Topic.OUTCOME and one.payload.get("event") == "played"  # type: ignore[union-attr]
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
def test_events_that_no_game_has_are_left_out_or_end_it(tmp_path: Path, event: dict[str, object]) -> None:
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, start_of()) as writer:
        writer.write(Topic.EVENT, 1, {"is": "new_hand"})
        if event.get("seat") == float("inf"):
            writer._write(Topic.EVENT, 2, b'{"is": "knock", "seat": 1e999}')
        else:
            writer.write(Topic.EVENT, 2, event)
    game = looked_at(path)
    assert len(game.steps) <= 2
    assert game.steps[0].hand == 1
    assert all(abs(total) <= MAX_NUMBER for step in game.steps for total in step.totals)


def test_points_beyond_all_measure_end_the_game(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, start_of()) as writer:
        writer.write(Topic.EVENT, 1, {"is": "new_hand"})
        for number in range(3):
            writer.write(Topic.EVENT, 2 + number, {"is": "adjust", "seat": 0, "points": MAX_NUMBER, "why": ""})
    game = looked_at(path)
    assert game.steps[-1].totals == (MAX_NUMBER, 0)
    assert game.complaints == ["the points are more than anybody ever had"]


def test_a_recording_without_a_game_has_no_steps(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, start_of()) as writer:
        writer.frame(1, b"\xff\xd8\xff")
    assert looked_at(path).steps == []


def test_a_file_that_another_tool_packed_is_refused_by_name(played: tuple[Path, Session], tmp_path: Path) -> None:
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
    with path.open("rb") as file, pytest.raises(RecordingError, match="packed anew"):
        game.update(file, is_growing=False)
