"""Tests of the decoder: whole matches from perfect readings, disturbances, and draws that the camera missed."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.bench_decoder import decoded, missing, stream_in
from benchmarks.gap_streams import GAMES


@pytest.mark.parametrize("seed", range(len(GAMES)))
def test_a_watched_match_is_decoded_as_played(seed: int) -> None:
    match = decoded(stream_in("undisturbed", 4000 + seed), lambda tiles: tiles)
    assert match.is_right
    assert match.plays == match.of


@pytest.mark.parametrize(
    ("kind", "game", "seed"),
    [
        ("burst", "draw", 6000),
        ("early", "bones", 6001),
        ("late", "cutthroat", 6002),
        ("bump", "bones", 6003),
        ("light", "allfives", 6004),
        ("undo", "block", 6005),
        ("restart", "block", 6008),
    ],
)
def test_totals_are_right_after_a_disturbance(kind: str, game: str, seed: int) -> None:
    assert decoded(stream_in(kind, seed, game), lambda tiles: tiles).is_right


def test_play_goes_on_after_a_hand_that_ended_unseen() -> None:
    match = decoded(stream_in("deal", 6006, "bones"), lambda tiles: tiles)
    assert match.plays >= match.of - 4


def test_hardly_a_play_is_lost_if_a_quarter_of_the_draws_is_missed() -> None:
    """A draw that was not counted makes a player out too early. The plays that follow show that it was made."""
    matches = [
        decoded(stream_in("undisturbed", seed, "draw"), missing(0.25, np.random.default_rng(seed)))
        for seed in range(2000, 2008)
    ]
    assert sum(match.plays for match in matches) >= 0.99 * sum(match.of for match in matches)
    assert sum(match.is_right for match in matches) >= 6
