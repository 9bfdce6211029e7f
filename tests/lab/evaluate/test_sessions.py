"""Tests of judging recordings with ground truth: figures, mistakes, and the command."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from engine import BONES, Amend, Event, Lead, MatchStart, NewHand, NodeId, Play, Remove, Seat, Seq, Spot, State, Tile
from engine import replay as fold
from engine.state.layout import Port
from lab.commands import simulate
from lab.evaluate.command import are_sessions, evaluate_sessions
from lab.evaluate.session_report import Figures
from lab.evaluate.sessions import SessionJudged, TruthError, judge_session, read_truth
from lab.matches.judged_hands import HandJudged, hand_scored, is_unflagged, judge_hand, wrong_plays_in
from lab.matches.simulation import simulation_settings
from lab.matches.stage import CameraPush, PushTime
from tallybone.choices import Difficulty
from tests.tallybone.recorded_game import TruthReader, record_game
from tests.tallybone.true_game import STILL_NS, record_true_game, with_pips, without
from tests.tallybone.truth_eye import script
from vision.tracking.table_view import TableView


@pytest.fixture(name="session")
def _session(tmp_path: Path) -> tuple[Path, tuple[TableView, ...]]:
    path = tmp_path / "game.mcap"
    return path, record_true_game(path)


def judged_by(path: Path, seen: Iterable[TableView]) -> SessionJudged:
    return judge_session(path, perception=TruthReader(tuple(seen)))


def test_a_perfect_reader_scores_a_hand_wholly_right(session: tuple[Path, tuple[TableView, ...]]) -> None:
    path, seen = session
    found = judged_by(path, seen)
    figures = Figures.of([found])
    assert figures.plays > 10
    assert figures.share(figures.wholly_right) == 1.0
    assert (figures.hands, figures.totals_right, figures.ends_right, figures.winners_right) == (1, 1, 1, 1)
    assert (figures.eye_found, figures.eye_right, figures.eye_spare) == (figures.plays, figures.plays, 0)
    assert (figures.unflagged, figures.spare) == (0, 0)
    assert not list(wrong_plays_in(found.hands))
    assert (found.look, found.difficulty, found.game) == ("classic-felt", "easy", "bones of 2, double-six")
    assert found.seen_totals == found.true_totals


def test_judges_every_hand_of_a_match(tmp_path: Path) -> None:
    path = tmp_path / "game.mcap"
    found = judged_by(path, record_true_game(path, seed=3, hands=2))
    assert [hand.number for hand in found.hands] == [1, 2]
    assert all(hand.is_score_right and hand.is_end_right for hand in found.hands)


def test_latency_is_measured_from_the_last_motion(session: tuple[Path, tuple[TableView, ...]]) -> None:
    path, seen = session
    found = judged_by(path, seen)
    assert {latency.settled_ms for latency in found.latencies} == {STILL_NS / 1e6}
    assert all(latency.judged_ms > 0 for latency in found.latencies)


def test_a_missed_tile_counts_for_the_reader_and_the_rules(session: tuple[Path, tuple[TableView, ...]]) -> None:
    path, seen = session
    last = seen[-1].changes[0].tile
    found = judged_by(path, without(seen, last))
    figures = Figures.of([found])
    assert figures.eye_found == figures.plays - 1
    assert figures.wholly_right == figures.plays - 1
    assert not found.hands[0].is_end_right
    assert any("scored: nothing" in mistake.text for mistake in wrong_plays_in(found.hands))


def test_a_misread_tile_counts_for_the_reader(session: tuple[Path, tuple[TableView, ...]]) -> None:
    path, seen = session
    first = seen[1].changes[0].tile
    misread = with_pips(seen[1], first, (6, 6))
    found = judged_by(path, [seen[0], misread, *(replace(misread, changes=()) for _ in seen[2:])])
    assert (found.reader.found, found.reader.right, found.reader.spare) == (1, 0, 0)
    played = found.hands[0].plays[0]
    assert played.seen is not None
    assert not played.is_tile_right


def test_rejects_a_recording_without_truth(tmp_path: Path) -> None:
    path = tmp_path / "game.mcap"
    record_game(path)
    with pytest.raises(TruthError, match="has no ground truth"):
        read_truth(path)


def test_the_truth_at_a_time_includes_completed_events(session: tuple[Path, tuple[TableView, ...]]) -> None:
    path, _ = session
    truth = read_truth(path)
    second = truth.events[1]
    assert truth.state_at(second.t_ns - 1).log == (truth.events[0].event,)
    assert truth.state_at(second.t_ns).log == (truth.events[0].event, second.event)
    assert truth.tiles_at(0) == ()
    assert len(truth.tiles_at(truth.tiles_ns[-1])) == len(truth.tiles[-1]) > 10


class Command:
    """`tallybone evaluate SESSION...` with a perfect reader."""

    def __init__(self, seen: tuple[TableView, ...]) -> None:
        self._seen = seen
        self.out = self.err = ""

    def run(self, *paths: Path, **options: Any) -> int:
        out, err = io.StringIO(), io.StringIO()
        code = evaluate_sessions(paths, judge=partial(judged_by, seen=self._seen), out=out, err=err, **options)
        self.out, self.err = out.getvalue(), err.getvalue()
        return code


def test_the_command_prints_tables_by_game_look_and_difficulty(
    session: tuple[Path, tuple[TableView, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    path, seen = session
    command = Command(seen)
    assert command.run(path) == 0, command.err
    for text in ("bones of 2", "classic-felt", "easy", "Nothing was wrong"):
        assert text in command.out
    assert max(len(line) for line in command.out.splitlines()) <= 80


def test_json_has_a_line_per_recording_and_a_total(session: tuple[Path, tuple[TableView, ...]]) -> None:
    path, seen = session
    command = Command(seen)
    assert command.run(path.parent, as_json=True) == 0, command.err
    line, last = map(json.loads, command.out.splitlines())
    assert (line["file"], line["game"], line["look"]) == ("game.mcap", "bones", "classic-felt")
    assert line["wholly_right"] == line["plays"] == last["total"]["plays"]
    assert line["wrong"] == []


def test_an_invalid_recording_is_named_and_the_others_are_judged(session: tuple[Path, tuple[TableView, ...]]) -> None:
    path, seen = session
    (path.parent / "broken.mcap").write_bytes(b"no recording")
    command = Command(seen)
    assert command.run(path.parent, as_json=True) == 1
    assert "broken.mcap" in command.err
    assert json.loads(command.out.splitlines()[-1])["total"]["sessions"] == 1


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    command = Command(())
    assert command.run(tmp_path) == 1
    assert "expected recordings (.mcap) in it, but there are none" in command.err


def test_distinguishes_labels_from_recordings(tmp_path: Path) -> None:
    assert not are_sessions([tmp_path / "labels.json", tmp_path])
    assert are_sessions([tmp_path / "game.mcap"])
    assert are_sessions([tmp_path])


@pytest.mark.slow
def test_a_rendered_hand_is_scored_as_played(tmp_path: Path) -> None:
    path = tmp_path / "hand.mcap"
    settings = simulation_settings(
        "bones", players=2, seed=1, hands=1, look="classic-felt", difficulty=Difficulty.NORMAL
    )
    assert simulate(path, settings, out=io.StringIO()) == 0
    found = judge_session(path)
    assert [mistake.text for mistake in wrong_plays_in(found.hands)] == []
    assert found.is_winner_right


# Tests of judging hands: each mistake is counted once, at its place.


@cache
def whole_hand() -> State:
    """Return the match after a complete hand."""
    *_, last = script(1)[1]
    return last.state


def judged(truth: State, seen: State) -> HandJudged:
    return judge_hand(1, hand_scored(truth, ()), hand_scored(seen, ()), closed_ns=5, is_flagged=False)


def short_hand() -> list[MatchStart | NewHand | Lead | Play]:
    """Return a hand of three tiles in a row. The second scores ten, the third nothing."""
    first, second = NodeId(3), NodeId(4)
    return [
        MatchStart(BONES, ("Ann", "Ben")),
        NewHand(),
        Lead(Seat(0)),
        Play(Seat(0), Tile(5, 5), None, 5),
        Play(Seat(1), Tile(0, 5), Spot(first, Port.E), 5),
        Play(Seat(0), Tile(0, 6), Spot(second, Port.E), 0),
    ]


def test_points_count_for_the_tile_before_the_next() -> None:
    found = hand_scored(fold(short_hand()), ())
    assert [tile.points for tile in found.laid] == [10, 10, 0]
    assert found.gained == (10, 10)
    assert found.over is None
    assert hand_scored(fold(short_hand()), (10, 0)).gained == (0, 10)


def test_the_result_of_a_hand_belongs_to_no_tile_and_another_ending_is_wrong() -> None:
    found = hand_scored(whole_hand(), ())
    assert found.over is not None
    assert found.over.result.points > 0
    assert sum(tile.points for tile in found.laid) == sum(found.gained) - found.over.result.points
    assert judged(whole_hand(), whole_hand()).is_score_right
    hand = judge_hand(1, found, replace(found, over=None), closed_ns=5, is_flagged=False)
    assert (hand.are_totals_right, hand.is_end_right) == (True, False)


# Whether tile, place, seat and points are right.
ALL, NONE = "tpsv", ""
WEST = Play(Seat(1), Tile(0, 5), Spot(NodeId(3), Port.W), 5)


@pytest.mark.parametrize(
    ("true", "scored", "right", "spare"),
    [
        (short_hand(), short_hand(), [ALL, ALL, ALL], []),
        (
            short_hand(),
            [*short_hand(), Amend(Seq(5), Play(Seat(1), Tile(0, 6), Spot(NodeId(4), Port.E), 0))],
            [ALL, ALL, "tpv"],
            [],
        ),
        (short_hand(), [*short_hand()[:4], WEST, short_hand()[5]], [ALL, "tsv", ALL], []),
        (short_hand(), [*short_hand(), Remove(Seq(4))], [ALL, NONE, NONE], []),
        (short_hand()[:-1], short_hand(), [ALL, ALL], [Tile(0, 6)]),
        (short_hand(), None, [NONE] * 3, []),
    ],
    ids=["as played", "another player", "another end", "missed tile", "never played", "missed hand"],
)
def test_each_mistake_counts_once_at_its_place(
    true: list[Event], scored: list[Event] | None, right: list[str], spare: list[Tile]
) -> None:
    seen = None if scored is None else hand_scored(fold(scored), ())
    hand = judge_hand(1, hand_scored(fold(true), ()), seen, closed_ns=5, is_flagged=False)
    assert [
        "t" * play.is_tile_right + "p" * play.is_place_right + "s" * play.is_seat_right + "v" * play.are_points_right
        for play in hand.plays
    ] == right
    assert [play.is_wholly_right for play in hand.plays] == [letters == ALL for letters in right]
    assert [tile.tile for tile in hand.spare] == spare
    assert hand.is_score_right == (not spare and all("v" in letters for letters in right))
    assert hand.is_end_right == (scored is not None)


def test_a_misread_tile_does_not_affect_the_places_of_later_ones() -> None:
    events = short_hand()
    events[5] = Play(Seat(0), Tile(0, 4), Spot(NodeId(4), Port.E), 0)
    next_play = Play(Seat(1), Tile(2, 6), Spot(NodeId(5), Port.E), 6)
    seen = fold([*events, replace(next_play, tile=Tile(2, 4), inner=4)])
    hand = judged(fold([*short_hand(), next_play]), seen)
    assert [play.is_tile_right for play in hand.plays] == [True, True, False, False]
    assert [play.seen.tile for play in hand.plays if play.seen] == [tile.tile for tile in hand_scored(seen, ()).laid]


def test_a_wrong_score_without_a_flag_is_unflagged() -> None:
    correct, wrong = hand_scored(fold(short_hand()), ()), hand_scored(fold([*short_hand(), Remove(Seq(4))]), ())
    hands = [
        judge_hand(1, correct, seen, closed_ns=5, is_flagged=flagged)
        for seen in (correct, wrong)
        for flagged in (True, False)
    ]
    assert [is_unflagged(hand) for hand in hands] == [False, False, False, True]


# Tests of a game with camera bumps: detection, alignment and the score.


def judged_game(path: Path, *pushes: CameraPush) -> SessionJudged:
    settings = simulation_settings(
        "draw", players=2, seed=12, look="classic-felt", difficulty=Difficulty.EASY, plays=5, pushes=pushes
    )
    assert simulate(path, settings, out=StringIO()) == 0
    return judge_session(path)


@pytest.mark.slow
def test_a_bump_during_a_play_is_detected_and_costs_nothing(tmp_path: Path) -> None:
    session = judged_game(tmp_path / "a.mcap", CameraPush(2, PushTime.LAYING, 24.0, -14.0, 1.5))
    figures = Figures.of([session])
    assert (figures.wholly_right, figures.plays, figures.spare, figures.unflagged) == (5, 5, 0, 0)
    straight, bumped = session.camera
    assert straight.aim.is_straight
    assert not bumped.aim.is_straight
    assert bumped.error_px < 1.5
    assert {observation.lost for observation in session.camera} == {None}


@pytest.mark.slow
def test_a_large_push_suspends_the_game_until_the_camera_is_back(tmp_path: Path) -> None:
    away = CameraPush(2, PushTime.BEFORE, 120.0, -70.0, 0.0)  # the boneyard is at the top right
    session = judged_game(tmp_path / "a.mcap", away, CameraPush(4, PushTime.BEFORE, 1.0, 1.0, 0.1))
    message = [observation.lost for observation in session.camera]
    assert any(text is not None and "put it back" in text for text in message)
    assert message[-1] is None
    assert session.camera[-1].error_px < 1.5
    assert Figures.of([session]).unflagged == 0
