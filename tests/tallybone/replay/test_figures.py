"""Tests of the figures of a game, and of profiles over all games: averages, streaks, ratings and pairs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import profile
from tallybone.replay.figures import (
    BestPlay,
    GameFigures,
    HandFigures,
    PaidFigures,
    PairFigures,
    People,
    PlayerFigures,
    Rating,
    figures_of,
    people_in,
    rated,
)
from tests.tallybone.recorded_games import record_game
from tests.tallybone.replay.test_recorded_game import load_game
from tests.tallybone.truth_eye import game_of

ratings = st.builds(Rating, st.floats(500, 2500), st.floats(30, 350), st.floats(0.04, 0.08))


def game(
    *players: str, points: tuple[int, ...], winner: int | None = 0, is_over: bool = True, is_by_teams: bool = False
) -> GameFigures:
    """Return a game of one hand. By teams, every second seat is of the same team."""
    seats = range(len(players))
    hand = HandFigures(1, points, (4,) * len(seats), (0, *(1 for _ in seats[1:])), (0,) * len(seats), winner)
    sides = ((0, 2), (1, 3)) if is_by_teams else tuple((seat,) for seat in seats)
    best = (BestPlay(0, 1, 0, "5-5", points[0]),) if points[0] else ()
    return GameFigures(players, (hand,), (), best, points, winner, sides, is_over)


def by_name(people: People) -> dict[str, PlayerFigures]:
    return {player.name: player for player in people.players}


def test_the_ratings_are_those_of_the_example_in_the_paper() -> None:
    opponents = ((Rating(1400, 30), 1.0), (Rating(1550, 100), 0.0), (Rating(1700, 300), 0.0))
    found = rated(Rating(1500, 200, 0.06), opponents)
    # The paper rounds on the way: 1464.06, 151.52 and 0.05999.
    assert found.value == pytest.approx(1464.06, abs=0.02)
    assert found.deviation == pytest.approx(151.52, abs=0.01)
    assert found.volatility == pytest.approx(0.05999, abs=0.00001)


@given(ratings, ratings)
def test_a_win_raises_a_rating_and_a_loss_lowers_it(one: Rating, other: Rating) -> None:
    values = [rated(one, [(other, score)]).value for score in (0.0, 0.5, 1.0)]
    assert values == sorted(values)
    assert values[0] < one.value < values[2]
    # A surprising streak raises the volatility.
    assert rated(Rating(1500, 50), [(Rating(2200, 30), 1.0)] * 9).volatility > Rating().volatility


def test_names_match_without_case_and_spaces() -> None:
    people = people_in([game("Ann", "Ben", points=(10, 5)), game(" BEN", "ann ", points=(20, 0))])
    assert [(player.name, player.games, player.won) for player in people.players] == [(" BEN", 2, 1), ("ann ", 2, 1)]


def test_players_have_totals_and_averages() -> None:
    players = by_name(people_in([game("Ann", "Ben", points=(10, 5)), game("Ben", "Cleo", points=(20, 0))]))
    ben = players["Ben"]
    assert (ben.games, ben.hands, ben.points, ben.points_per_hand, ben.points_per_play) == (2, 2, 25, 12.5, 3.125)
    assert (ben.knocks_per_hand, players["Ann"].won, players["Cleo"].won) == (0.5, 1, 0)
    assert ben.best == BestPlay(0, 1, 0, "5-5", 20)
    assert players["Cleo"].best is None


def test_a_streak_counts_the_last_matches_and_ends_with_a_tie() -> None:
    wins = [game("Ann", "Ben", points=(9, 5))] * 3
    ann, ben = people_in(wins).players
    assert (ann.streak, ann.longest, ben.streak, ben.longest) == (3, 3, -3, 0)
    ann, _ = people_in([*wins, game("Ann", "Ben", points=(1, 5), winner=1)]).players
    assert (ann.streak, ann.longest) == (-1, 3)
    ann, _ = people_in([*wins, game("Ann", "Ben", points=(5, 5), winner=None)]).players
    assert (ann.streak, ann.longest, ann.won) == (0, 3, 3)


def test_an_unfinished_match_counts_only_in_the_totals() -> None:
    people = people_in([game("Ann", "Ben", points=(10, 5), winner=None, is_over=False)])
    assert people.pairs == ()
    assert [(player.games, player.points, player.rating, player.streak) for player in people.players] == [
        (1, 10, None, 0),
        (1, 5, None, 0),
    ]


def test_a_match_of_three_rates_each_pair_by_final_position() -> None:
    people = people_in([game("Ann", "Ben", "Cleo", points=(10, 5, 5))])
    assert set(people.pairs) == {
        PairFigures("Ann", "Ben", 1, 1, 0),
        PairFigures("Ann", "Cleo", 1, 1, 0),
        PairFigures("Ben", "Ann", 1, 0, 1),
        PairFigures("Ben", "Cleo", 1, 0, 0),
        PairFigures("Cleo", "Ann", 1, 0, 1),
        PairFigures("Cleo", "Ben", 1, 0, 0),
    }
    players = by_name(people)
    assert players["Ann"].rating == rated(Rating(), [(Rating(), 1.0)] * 2)
    assert players["Ben"].rating == players["Cleo"].rating == rated(Rating(), [(Rating(), 0.0), (Rating(), 0.5)])


def test_partners_win_together_and_are_not_rated_against_each_other() -> None:
    people = people_in([game("Ann", "Ben", "Cleo", "Dan", points=(1, 9, 20, 5), winner=2, is_by_teams=True)])
    players = by_name(people)
    assert [players[name].won for name in ("Ann", "Ben", "Cleo", "Dan")] == [1, 0, 1, 0]
    assert players["Ann"].rating == players["Cleo"].rating == rated(Rating(), [(Rating(), 1.0)] * 2)
    assert not any({pair.player, pair.other} == {"Ann", "Cleo"} for pair in people.pairs)


@pytest.fixture(scope="module")
def bones(tmp_path_factory: pytest.TempPathFactory) -> GameFigures:
    """Return the figures of two hands of bones."""
    path = tmp_path_factory.mktemp("bones") / "a.mcap"
    session = record_game(path, hands=2)
    found = figures_of(load_game(path))
    assert found.paid[-1].totals == game_of(session).totals
    return found


def test_plays_are_paid_and_hands_sum_to_the_totals(bones: GameFigures) -> None:
    assert bones.paid[:2] == (PaidFigures(4000, 1, (10, 0)), PaidFigures(7000, 1, (10, 5)))
    assert [hand.number for hand in bones.hands] == [1, 2]
    for seat in range(2):
        assert sum(hand.points[seat] for hand in bones.hands) == bones.paid[-1].totals[seat]
    assert bones.hands[0].winner is not None
    points = [play.points for play in bones.best]
    assert points == sorted(points, reverse=True)
    assert 0 < len(points) <= 10
    assert BestPlay(4000, 1, 0, "5-5", 10) in bones.best


def test_draws_and_knocks_are_counted(tmp_path: Path) -> None:
    session = record_game(tmp_path / "a.mcap", 3, rules=profile("draw"))
    found = figures_of(load_game(tmp_path / "a.mcap"))
    log = [type(event).__name__ for event in session.state.log]
    assert sum(sum(hand.plays) for hand in found.hands) == log.count("Play")
    assert sum(sum(hand.knocks) for hand in found.hands) == log.count("Knock")
    assert sum(sum(hand.draws) for hand in found.hands) >= log.count("Draw") > 0
