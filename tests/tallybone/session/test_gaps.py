"""What was laid, drawn and passed while nobody saw the table is told from what lies there, or asked; never unsaid."""

from __future__ import annotations

import pytest

from engine import profile
from tallybone.session.referee import Unclear
from tests.tallybone.session.gapped_table import GappedTable
from tests.tallybone.truth_eye import PLAYERS_OF


@pytest.mark.parametrize("name", ["allfives", "block", "bones", "draw", "super"])
def test_one_play_that_nobody_saw_is_told_with_the_draws_and_passes_around_it(name: str) -> None:
    for seed in range(100, 103):
        figures = GappedTable(profile(name), seed).run()
        assert figures.plays_right == figures.plays
        assert figures.is_right_at_end
        assert len(figures.questions) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(PLAYERS_OF) - {"cutthroat"}))  # who stacks says on which tile they see
@pytest.mark.parametrize(("plays", "are_answered"), [(1, True), (5, True), (3, False)])
def test_no_score_is_wrong_and_unsaid_whatever_was_missed(name: str, plays: int, *, are_answered: bool) -> None:
    for seed in range(100, 102):
        table = GappedTable(profile(name), seed, plays=plays, are_answered=are_answered)
        figures = table.run()
        is_asked = any(isinstance(one, Unclear) for said in table.said for one in said)
        assert figures.is_right_at_end or figures.is_flagged_at_end or is_asked


@pytest.mark.slow
def test_most_games_of_which_three_times_three_plays_were_missed_end_right() -> None:
    games = [GappedTable(profile(name), seed, plays=3).run() for name in ("block", "draw") for seed in range(100, 105)]
    assert sum(game.plays_right for game in games) >= 0.9 * sum(game.plays for game in games)
    assert sum(game.is_right_at_end for game in games) >= 0.7 * len(games)
