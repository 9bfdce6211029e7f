"""A match that was scored live is compared with a score sheet that a person wrote."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import (
    Adjust,
    Amend,
    Event,
    Inferred,
    MatchStart,
    Play,
    Reveal,
    RevealPips,
    Seat,
    Seq,
    State,
    profile,
    replay,
)
from engine.record.log import record_of
from engine.record.text import format_record
from tallybone.evaluate.shadow import compare_with_sheet
from tallybone.json_values import to_json
from tallybone.recording.format import SittingStart, Topic
from tallybone.recording.messages import write_input
from tallybone.recording.writer import RecordingWriter
from tallybone.session.inputs import Answer
from tallybone.simulate.game_script import play_out
from tallybone.simulate.scenes import pick_table

PLAYERS = ("Ann", "Ben")


def match(game: str, seed: int = 3) -> State:
    """A match of two hands."""
    rng = np.random.default_rng(seed)
    rules = profile(game)
    *_, last = play_out(rng, rules=rules, players=PLAYERS, table=pick_table(rng, rules).board, hands=2)
    return last.state


def record(path: Path, log: Sequence[Event], *, game: str = "bones") -> Path:
    """A recording of a match that was scored so, with one question and its answer."""
    start = SittingStart(
        started_at=datetime(2026, 11, 25, tzinfo=UTC), players=PLAYERS, rules=game, tile_set="double-6"
    )
    with RecordingWriter(path, start) as writer:
        for t_ns, event in enumerate(log, 1):
            if not isinstance(event, MatchStart):
                writer.write(Topic.EVENT, t_ns, to_json(event, Event))
        writer.write(Topic.OUTCOME, len(log), {"t_ns": len(log), "event": "unclear", "words": "?", "choices": ["a"]})
        write_input(writer, Answer(0), len(log))
        write_input(writer, Adjust(Seat(0), 0, ""), len(log))
    return path


def sheet(path: Path, state: State, *, is_turned: bool = False) -> Path:
    text = format_record(record_of(state))
    path.write_text(turned(text) if is_turned else text, encoding="utf-8")
    return path


def turned(text: str) -> str:
    """The same match, written from the other side of the table."""
    swapped = re.sub(r"([@:])([WENS])\b", lambda at: at[1] + {"W": "E", "E": "W", "N": "S", "S": "N"}[at[2]], text)
    return re.sub(r"(?<![\w-])(\d+)-(\d+)(?=[ \n](?!>))(?![^<]*>)", r"\2-\1", swapped)


class Compared:
    """One run of the command."""

    def __init__(self, recordings: Sequence[Path], paper: Path) -> None:
        out, err = io.StringIO(), io.StringIO()
        self.code = compare_with_sheet(recordings, paper, as_json=True, out=out, err=err)
        self.err = err.getvalue()
        self.said: dict[str, Any] = json.loads(out.getvalue()) if out.getvalue() else {}

    def count(self, name: str) -> tuple[int, int]:
        return self.said[name]["count"], self.said[name]["total"]


@pytest.mark.parametrize("game", ["bones", "draw", "allfives", "super"])
@pytest.mark.parametrize("is_turned", [False, True])
def test_a_match_that_was_scored_rightly_agrees(game: str, is_turned: bool, tmp_path: Path) -> None:
    state = match(game)
    found = Compared(
        [record(tmp_path / "a.mcap", state.log, game=game)], sheet(tmp_path / "a.dgr", state, is_turned=is_turned)
    )
    assert (found.code, found.err) == (0, "")
    right, plays = found.count("plays_wholly_right")
    assert plays > 10
    assert right == plays
    right, hands = found.count("hands_with_the_right_totals")
    assert right == hands
    assert (found.count("silently_wrong_hands")[0], found.count("provisional_hands")[0]) == (0, 0)
    assert found.said["totals"] == found.said["true_totals"]
    assert (found.said["questions"], found.said["answers"], found.said["corrections"]) == (1, 1, 1)


@pytest.mark.parametrize(("is_marked", "counts"), [(False, (0, 1)), (True, (1, 0))])
def test_a_wrong_hand_is_silent_unless_it_is_marked(is_marked: bool, counts: tuple[int, int], tmp_path: Path) -> None:
    state = match("bones")
    [*_, (at, seat)] = [(at, event.seat) for at, event in enumerate(state.log) if isinstance(event, Reveal)]
    wrong: list[Event] = [*state.log, Amend(Seq(at), RevealPips(seat, 99))]
    if is_marked:
        wrong.append(Inferred((Seq(at),)))
    found = Compared([record(tmp_path / "a.mcap", wrong)], sheet(tmp_path / "a.dgr", state))
    assert found.count("hands_with_the_right_totals") == (1, 2)
    assert (found.count("provisional_hands")[0], found.count("silently_wrong_hands")[0]) == counts
    assert [one["flagged"] for one in found.said["wrong"]] == [is_marked]


def test_a_wrong_tile_is_named(tmp_path: Path) -> None:
    state = match("bones")
    [*_, (at, play)] = [(at, event) for at, event in enumerate(state.log) if isinstance(event, Play)]
    wrong = [*state.log, Amend(Seq(at), replace(play, seat=Seat(1 - play.seat)))]
    found = Compared([record(tmp_path / "a.mcap", wrong)], sheet(tmp_path / "a.dgr", state))
    right, plays = found.count("seats_right")
    assert right < plays
    assert found.said["wrong"][0]["what"].startswith("hand 2, tile")


def test_the_sheet_of_another_game_is_rejected(tmp_path: Path) -> None:
    state = match("bones")
    found = Compared([record(tmp_path / "a.mcap", state.log)], sheet(tmp_path / "a.dgr", match("draw")))
    assert found.code == 1
    assert "expected the game bones" in found.err


def test_players_in_another_order_are_rejected(tmp_path: Path) -> None:
    state = match("bones")
    swapped = replay((MatchStart(profile("bones"), PLAYERS[::-1]), *state.log[1:]))
    found = Compared([record(tmp_path / "a.mcap", state.log)], sheet(tmp_path / "a.dgr", swapped))
    assert found.code == 1
    assert "expected the players Ann, Ben in this order" in found.err
