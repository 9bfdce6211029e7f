"""Tests of the gap benchmark: matches are compared with their truth, and wrong totals need a mark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine import Adjust, Inferred, Seat, apply, entries
from lab.bench.gaps import Answers, Case, Follower, MatchFound, follow, main, without_zones
from lab.bench.material.gap_streams import KINDS, PRESSING, Item, Stream, stream_of


def followed(stream: Stream) -> tuple[Follower, MatchFound]:
    """Return the follower after a match in which nobody answers, and the evaluation."""
    follower = Follower(stream, Answers.NONE, np.random.default_rng(2))
    return follower, follower.follow()


@pytest.mark.parametrize("game", ["allfives", "block", "draw"])
def test_an_undisturbed_match_is_right_without_marks_and_questions(game: str) -> None:
    found = follow(Case("undisturbed", game, 2, Answers.NONE, 7))
    assert found.is_right
    assert not found.failure
    assert (found.is_marked, found.questions) == (False, 0)
    assert (found.plays, found.kept) == (found.of, found.of)


def test_pips_entered_for_an_earlier_hand_do_not_end_the_doubt_about_this_one() -> None:
    found = follow(Case("deal", "bones", 2, Answers.TRUE, 8001))
    assert found.taps > 0
    assert not found.is_silent


@pytest.mark.parametrize("is_marked", [False, True])
def test_a_wrong_match_is_silent_unless_marked(is_marked: bool) -> None:
    stream = stream_of("block", 2, 7)
    follower, found = followed(stream)
    assert found.is_right
    last = stream.steps[-1]
    more, _ = apply(last.state, Adjust(Seat(0), 5, ""))
    stream = replace(stream, steps=(*stream.steps[:-1], replace(last, state=more)))  # Ann has really won more
    if is_marked:
        [*_, entry] = entries(follower.session.state)
        end = stream.items[-1]
        stream = replace(stream, items=(*stream.items, Item(end.t_ns, end.tiles, end.done, Inferred((entry.seq,)))))
    found = followed(stream)[1]
    assert not found.is_right
    assert found.is_marked is is_marked
    assert found.is_silent is not is_marked


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"undisturbed"}))
def test_each_kind_hides_or_disturbs_something(kind: str) -> None:
    before = stream_of("draw", 3, 7, presses=kind in PRESSING)
    after = KINDS[kind](before, np.random.default_rng(1))
    assert after.gaps > 0
    assert after.items != before.items
    assert after.steps == before.steps


@pytest.mark.slow
def test_a_table_without_zones_has_neither_buttons_nor_sounds() -> None:
    stream = without_zones(stream_of("draw", 2, 7))
    assert not stream.zones
    assert all(item.event is None for item in stream.items)
    found = followed(stream)[1]
    assert not found.failure
    assert not found.is_silent


def test_the_benchmark_succeeds_without_silently_wrong_matches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--kind", "undisturbed", "--game", "block", "--answers", "none", "--only", "7"]) == 0
    assert "1 right (100 %)" in capsys.readouterr().out


@pytest.mark.slow
def test_an_undisturbed_rendered_match_is_right(tmp_path: Path) -> None:
    found = follow(Case("undisturbed", "block", 2, Answers.NONE, 7), tmp_path)
    assert not found.failure
    assert found.is_right
    assert not found.is_marked
    assert (found.plays, found.kept) == (found.of, found.of)
