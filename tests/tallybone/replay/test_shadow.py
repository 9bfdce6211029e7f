"""Tests of comparing a live score with a handwritten score sheet."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.record.conversion import record_of
from engine.record.text import format_record
from lab.evaluate.shadow import compare_with_sheet
from lab.matches.game_script import play_out
from lab.matches.room import pick_table
from tallybone.json_values import to_json
from tallybone.recording.format import SittingStart, Topic
from tallybone.recording.reader import write_input
from tallybone.recording.writer import RecordingWriter
from tallybone.session.inputs import Answer

PLAYERS = ("Ann", "Ben")


def match(game: str, seed: int = 3) -> engine.State:
    """Return a match of two hands."""
    rng = np.random.default_rng(seed)
    rules = engine.profile(game)
    *_, last = play_out(rng, rules=rules, players=PLAYERS, table=pick_table(rng, rules).board, hands=2)
    return last.state


def record(path: Path, log: Sequence[engine.Event], *, game: str = "bones") -> Path:
    """Write a recording of a match, with a question and its answer."""
    start = SittingStart(
        started_at=datetime(2026, 11, 25, tzinfo=UTC), players=PLAYERS, rules=game, tile_set="double-6"
    )
    with RecordingWriter(path, start) as writer:
        for t_ns, event in enumerate(log, 1):
            if not isinstance(event, engine.MatchStart):
                writer.write(Topic.EVENT, t_ns, to_json(event, engine.Event))
        writer.write(Topic.OUTCOME, len(log), {"t_ns": len(log), "event": "unclear", "text": "?", "choices": ["a"]})
        write_input(writer, Answer(0), len(log))
        write_input(writer, engine.Adjust(engine.Seat(0), 0, ""), len(log))
    return path


def sheet(path: Path, state: engine.State, *, is_mirrored: bool = False) -> Path:
    text = format_record(record_of(state))
    path.write_text(mirrored(text) if is_mirrored else text, encoding="utf-8")
    return path


def mirrored(text: str) -> str:
    """Return the same match, written from the other side of the table."""
    swapped = re.sub(r"([@:])([WENS])\b", lambda m: m[1] + {"W": "E", "E": "W", "N": "S", "S": "N"}[m[2]], text)
    return re.sub(r"(?<![\w-])(\d+)-(\d+)(?=[ \n](?!>))(?![^<]*>)", r"\2-\1", swapped)


class Comparison:
    """A run of the command, with its output."""

    def __init__(self, recordings: Sequence[Path], paper: Path) -> None:
        out, err = io.StringIO(), io.StringIO()
        self.code = compare_with_sheet(recordings, paper, as_json=True, out=out, err=err)
        self.err = err.getvalue()
        self.result: dict[str, Any] = json.loads(out.getvalue()) if out.getvalue() else {}

    def count(self, name: str) -> tuple[int, int]:
        return self.result[name]["count"], self.result[name]["total"]


@pytest.mark.parametrize("game", ["bones", "draw", "allfives", "super"])
@pytest.mark.parametrize("is_mirrored", [False, True])
def test_a_match_scored_correctly_agrees(game: str, is_mirrored: bool, tmp_path: Path) -> None:
    state = match(game)
    found = Comparison(
        [record(tmp_path / "a.mcap", state.log, game=game)], sheet(tmp_path / "a.dgr", state, is_mirrored=is_mirrored)
    )
    assert (found.code, found.err) == (0, "")
    correct, plays = found.count("plays_wholly_right")
    assert plays > 10
    assert correct == plays
    correct, hands = found.count("hands_with_the_right_totals")
    assert correct == hands
    assert (found.count("silently_wrong_hands")[0], found.count("provisional_hands")[0]) == (0, 0)
    assert found.result["totals"] == found.result["true_totals"]
    assert (found.result["questions"], found.result["answers"], found.result["corrections"]) == (1, 1, 1)


@pytest.mark.parametrize("is_wrong", [False, True])
def test_a_sheet_of_totals_is_compared_by_hand(is_wrong: bool, tmp_path: Path) -> None:
    state = match("bones")
    _, *states = accumulate(state.log, lambda before, event: engine.apply(before, event)[0], initial=engine.State())
    deals = [at for at, event in enumerate(state.log) if isinstance(event, engine.NewHand)]
    totals = [states[at].game.totals for at in (*deals, -1)]  # type: ignore[union-attr]  # a match has begun
    gained = [tuple(b - a for a, b in pairwise(seat)) for seat in zip(*totals, strict=True)]
    points = enumerate(zip(*gained, strict=True))
    hands = [f"#{at + 1} A: +{ann + is_wrong * at} B: +{ben} #end" for at, (ann, ben) in points]
    paper = tmp_path / "a.dgr"
    paper.write_text('[DGR "1"] [Rules "bones"] [Seats "A:Ann B:Ben"]\n' + "\n".join(hands), encoding="utf-8")
    found = Comparison([record(tmp_path / "a.mcap", state.log)], paper)
    assert (found.code, found.err) == (0, "")
    assert found.count("hands_with_the_right_totals") == (2 - is_wrong, 2)
    assert found.count("silently_wrong_hands") == (int(is_wrong), 2)
    assert found.count("plays_wholly_right") == (0, 0)


@pytest.mark.parametrize(("is_marked", "counts"), [(False, (0, 1)), (True, (1, 0))])
def test_a_wrong_hand_is_silent_unless_marked(is_marked: bool, counts: tuple[int, int], tmp_path: Path) -> None:
    state = match("bones")
    [*_, (seq, seat)] = [(seq, event.seat) for seq, event in enumerate(state.log) if isinstance(event, engine.Reveal)]
    wrong: list[engine.Event] = [*state.log, engine.Amend(engine.Seq(seq), engine.RevealPips(seat, 99))]
    if is_marked:
        wrong.append(engine.Inferred((engine.Seq(seq),)))
    found = Comparison([record(tmp_path / "a.mcap", wrong)], sheet(tmp_path / "a.dgr", state))
    assert found.count("hands_with_the_right_totals") == (1, 2)
    assert (found.count("provisional_hands")[0], found.count("silently_wrong_hands")[0]) == counts
    assert [mistake["flagged"] for mistake in found.result["wrong"]] == [is_marked]


def test_names_a_wrong_play(tmp_path: Path) -> None:
    state = match("bones")
    [*_, (seq, play)] = [(seq, event) for seq, event in enumerate(state.log) if isinstance(event, engine.Play)]
    wrong = [*state.log, engine.Amend(engine.Seq(seq), replace(play, seat=engine.Seat(1 - play.seat)))]
    found = Comparison([record(tmp_path / "a.mcap", wrong)], sheet(tmp_path / "a.dgr", state))
    correct, plays = found.count("seats_right")
    assert correct < plays
    assert found.result["wrong"][0]["what"].startswith("hand 2, tile")


def test_rejects_the_sheet_of_another_game_or_of_players_in_another_order(tmp_path: Path) -> None:
    state = match("bones")
    swapped = engine.replay((engine.MatchStart(engine.profile("bones"), PLAYERS[::-1]), *state.log[1:]))
    recording = record(tmp_path / "a.mcap", state.log)
    for other, message in (
        (match("draw"), "expected the game bones"),
        (swapped, "expected the players Ann, Ben in this order"),
    ):
        found = Comparison([recording], sheet(tmp_path / "a.dgr", other))
        assert found.code == 1
        assert message in found.err
