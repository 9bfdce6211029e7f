"""Tests of the gap benchmark: matches are compared with their truth, and any record can be corrected."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.bench_gaps import Case, follow
from benchmarks.gap_match import Answers, Follower, correction, is_alike
from benchmarks.gap_streams import KINDS, hands_over, stream_of
from engine import Amend, Inferred, Play, Remove, Reveal, RevealPips, State, apply, entries
from tallybone.session.referee import boneyard
from tallybone.session.referee.belief import log_weights


def followed(game: str, kind: str) -> Follower:
    """Return a follower after a match without answers."""
    stream = KINDS[kind](stream_of(game, 2, 7), np.random.default_rng(1))
    follower = Follower(stream, Answers.NONE, np.random.default_rng(2))
    follower.follow()
    return follower


@pytest.mark.parametrize("game", ["allfives", "block"])
def test_a_match_observed_throughout_is_correct(game: str) -> None:
    found = follow(Case("undisturbed", game, 2, Answers.NONE, 7))
    assert found.are_totals_right
    assert [hand.is_right for hand in found.hands] == [True, True]
    assert not any(hand.is_flagged or hand.is_derailed for hand in found.hands)


@pytest.mark.parametrize("is_marked", [False, True])
def test_a_wrong_hand_is_silent_unless_flagged(is_marked: bool) -> None:
    follower = followed("block", "undisturbed")
    assert follower.found.pop().is_right
    step_count = len(follower.stream.steps)
    [*_, seq] = [entry.seq for entry in entries(follower.session.state) if isinstance(entry.action, Reveal)]
    [*_, seat] = [step.event.seat for step in follower.stream.steps if isinstance(step.event, Reveal)]
    follower._feed(Amend(seq, RevealPips(seat, 99)), follower.t_ns, step_count)
    if is_marked:
        follower._feed(Inferred((seq,)), follower.t_ns, step_count)
    follower._judge(follower.stream.items[-1], 1, list(hands_over(follower.stream.steps)))
    found = follower.found[-1]
    assert not found.is_right
    assert found.is_flagged is is_marked
    assert found.is_silent is not is_marked


@pytest.mark.parametrize("game", ["bones", "super", "cutthroat"])
def test_corrections_restore_the_truth(game: str) -> None:
    truth = stream_of(game, 4 if game == "cutthroat" else 2, 7).steps[-1].state
    plays = [entry for entry in entries(truth) if isinstance(entry.action, Play)]
    current, _ = apply(truth, Remove(plays[-1].seq))
    assert not is_alike(current, truth)
    assert is_alike(corrected(current, truth), truth)


def test_only_a_few_corrections_of_guessed_draws_are_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this match, fifty were possible at once, and a look took a second."""
    weighed: list[int] = []

    def counted(*of: Any) -> Iterator[float]:
        weighed[-1] += 1
        return log_weights(*of)

    def judged(*of: Any) -> Any:
        weighed.append(0)
        return boneyard.judge_guessed(*of)

    monkeypatch.setattr(boneyard, "log_weights", counted)
    monkeypatch.setattr("tallybone.session.referee.judge_guessed", judged)
    stream = KINDS["deal"](stream_of("super", 4, 1000), np.random.default_rng([1000, 1]))
    Follower(stream, Answers.NONE, np.random.default_rng([1000, 2])).follow()
    assert 10 < max(weighed) < 30


def corrected(current: State, truth: State) -> State:
    """Return the state after all corrections."""
    for _ in range(20):
        event = correction(current, truth)
        if event is None:
            break
        current, _ = apply(current, event)
    return current


@pytest.mark.slow
def test_a_rendered_match_observed_throughout_is_correct(tmp_path: Path) -> None:
    found = follow(Case("undisturbed", "block", 2, Answers.NONE, 7), tmp_path)
    assert not found.failure
    assert found.are_totals_right
    assert [hand.is_right for hand in found.hands] == [True, True]
