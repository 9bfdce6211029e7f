"""Tests that recordings with renamed players and exchanged places replay to the same scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import NewHand, Rename, Renamed, Seat, Swap, Swapped, format_record, history, parse_record, record_of
from engine.record.play import play_record
from tallybone.recording.survey import survey
from tallybone.replay.command import replay
from tallybone.replay.export import plays_table
from tallybone.replay.figures import figures_of
from tallybone.replay.recorded_game import transcript_of
from tallybone.session.inputs import Button, Press
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand
from tallybone.web.recordings.shown import list_recordings, steps_shown
from tests.tallybone.recorded_game import inputs, record_game, truth_reader
from tests.tallybone.replay.test_recorded_game import load_game
from tests.tallybone.truth_eye import PLAYERS, game_of

HANDS = 2
INPUTS = tuple(inputs(hands=HANDS))
DEALS = [at for at, item in enumerate(INPUTS) if isinstance(item, NewHand)]
SWAP, ADA = Swap(Seat(0), Seat(1)), Rename(Seat(0), "Ada")

changes = st.lists(
    st.one_of(
        st.just(SWAP),
        st.builds(Rename, st.sampled_from([Seat(0), Seat(1)]), st.sampled_from(["Ada", "Ida", "ada", ""])),
        st.just(Press(Button.UNDO)),
    ),
    max_size=3,
)
moments = st.one_of(st.sampled_from(DEALS), st.integers(0, len(INPUTS) - 1))


def recorded(path: Path, before: Mapping[int, Sequence[ByHand]]) -> Session:
    return record_game(path, hands=HANDS, before=before)[-1].session


@pytest.mark.slow
@settings(max_examples=5, deadline=None)
@given(st.dictionaries(moments, changes, max_size=3))
def test_a_recording_replays_to_the_same_names_and_scores(before: dict[int, list[ByHand]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "game.mcap"
        live = recorded(path, before).state
        game = load_game(path)
        assert (game.state, game.complaints) == (live, [])
        figures = figures_of(game)
        players, totals = game_of(live).players, game_of(live).totals
        assert figures.players == players
        assert tuple(sum(hand.points[seat] for hand in figures.hands) for seat in range(2)) == totals
        found = survey(path)
        assert (found.players, found.facts.totals) == (players, totals)
        if not live.irregular:
            played = play_record(parse_record(format_record(record_of(live))))
            assert (played.result.totals, played.lines[-1].game.players) == (totals, players)


@pytest.mark.slow
def test_a_full_replay_follows_renames_and_swaps(tmp_path: Path) -> None:
    path = tmp_path / "game.mcap"
    live = recorded(path, {3: [ADA], DEALS[-1]: [SWAP]}).state
    changed = [one for told in history(live) for one in told.outcomes if isinstance(one, Renamed | Swapped)]
    assert changed == [Renamed(Seat(0), PLAYERS[0], "Ada"), Swapped(Seat(0), Seat(1))]
    out = StringIO()
    assert replay(path, perception=truth_reader(hands=HANDS), out=out) == 0
    assert f"{game_of(live).players[0]} {game_of(live).totals[0]}" in out.getvalue()
    assert f"{game_of(live).players[1]} {game_of(live).totals[1]}" in out.getvalue()


@pytest.mark.slow
def test_plays_before_a_swap_belong_to_the_person_who_made_them(tmp_path: Path) -> None:
    path = tmp_path / "game.mcap"
    plain, swapped = tmp_path / "plain.mcap", path
    recorded(plain, {})
    recorded(swapped, {DEALS[-1]: [SWAP]})
    rows = [plays_table(transcript_of(load_game(one))).splitlines() for one in (plain, swapped)]
    first = [[line.split(",") for line in lines[1:] if line.split(",")[1] == "1"] for lines in rows]
    assert [row[3] for row in first[0]] == [row[3] for row in first[1]], "the names in the first hand"
    assert [(row[-2], row[-1]) for row in first[0]] == [(row[-1], row[-2]) for row in first[1]], "the totals"
    steps = steps_shown(load_game(swapped), is_running=False)
    assert steps.players == (PLAYERS[1], PLAYERS[0])
    assert [step.text for step in steps.steps if step.kind == "swap"] == ["Ben and Ann change places"]
    assert list_recordings([survey(swapped)], []).recordings[0].players == (PLAYERS[1], PLAYERS[0])
