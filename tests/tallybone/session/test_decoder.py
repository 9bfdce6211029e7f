"""Tests of the decoder: whole matches from perfect readings, gaps, and draws that the camera missed."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.bench_decoder import decoded, missing, stream_in
from benchmarks.gap_streams import GAMES

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", range(len(GAMES)))
def test_a_watched_match_is_decoded_as_played(seed: int) -> None:
    stream = stream_in("undisturbed", 4000 + seed)
    match = decoded(stream, lambda tiles: tiles)
    assert match.is_right
    assert match.plays == match.of


@pytest.mark.parametrize("kind", ["burst", "early", "bump", "light", "undo"])
@pytest.mark.parametrize("game", ["bones", "draw", "allfives"])
def test_totals_are_right_after_short_disturbances(kind: str, game: str) -> None:
    right = [decoded(stream_in(kind, seed, game), lambda tiles: tiles).is_right for seed in range(5000, 5003)]
    assert sum(right) >= 2


def test_hardly_a_play_is_lost_if_a_quarter_of_the_draws_is_missed() -> None:
    """A draw that was not counted makes a player out too early. The plays that follow show that it was made."""
    matches = [
        decoded(stream_in("undisturbed", seed, "draw"), missing(0.25, np.random.default_rng(seed)))
        for seed in range(2000, 2008)
    ]
    assert sum(match.plays for match in matches) >= 0.99 * sum(match.of for match in matches)
    assert sum(match.is_right for match in matches) >= 6
