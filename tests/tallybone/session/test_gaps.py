"""Tests of plays, draws, passes and deals that nobody saw: the totals are right, asked or marked."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from engine import BLOCK, Call, Irregular, Knock, NewHand, Play, Seat, entries, profile
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, Button, KnockHeard, Press
from tests.tallybone.session.gapped_table import GapAcrossDeal, GappedTable
from tests.tallybone.session.test_session_inputs import NEXT_LAID, SECOND_NS, led
from tests.tallybone.truth_eye import PLAYERS_OF

# In cutthroat the players name the tile of a stack.
GAMES = sorted(set(PLAYERS_OF) - {"cutthroat"})
Cause = Literal["no picture", "in front", "off"]
CAUSES: tuple[Cause, ...] = ("no picture", "in front", "off")


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("cause", CAUSES)
def test_a_single_unseen_play_is_inferred_with_its_draws_and_passes(name: str, cause: Cause) -> None:
    for seed in (100, 101)[: 1 if name == "super" else 2]:
        table = GappedTable(profile(name), seed, cause=cause)
        figures = table.run()
        assert table.seats_right == figures.plays
        assert figures.is_right_at_end


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(
    ("plays", "cause", "are_answered"),
    [(2, "in front", True), (2, "off", False), (3, "no picture", False), (10, "no picture", True)],
)
def test_totals_after_several_unseen_plays_are_right_or_marked(
    name: str, plays: int, cause: Cause, *, are_answered: bool
) -> None:
    for seed in (100, 102)[: 1 if name == "super" else 2]:
        table = GappedTable(profile(name), seed, plays=plays, cause=cause, are_answered=are_answered, gaps=2)
        figures = table.run()
        assert figures.is_right_at_end or figures.is_flagged_at_end


@pytest.mark.parametrize("name", ["allfives", "bones", "draw"])
def test_true_answers_restore_the_totals_after_three_missed_plays(name: str) -> None:
    for seed in (100, 103):
        figures = GappedTable(profile(name), seed, plays=3).run()
        assert figures.is_right_at_end
        assert len(figures.questions) <= 3


@pytest.mark.parametrize(
    ("knocks", "course"),
    [
        ((), [("Play", 1)]),
        ((1,), [("Play", 1)]),
        ((2,), [("Play", 1), ("Knock", 2)]),
        ((1, 2), [("Knock", 1), ("Play", 2)]),
    ],
)
def test_a_knock_in_a_gap_is_a_pass_or_the_sound_of_a_tile(
    knocks: tuple[int, ...], course: list[tuple[str, int]]
) -> None:
    session = led(BLOCK, seats=3)
    for number, seat in enumerate(knocks):
        session, _ = feed(session, KnockHeard(Seat(seat)), t_ns=(10 + 5 * number) * SECOND_NS)
    session, _ = feed(session, NEXT_LAID, t_ns=40 * SECOND_NS)
    later = [entry.action for entry in entries(session.state)][4:]
    assert [(type(action).__name__, action.seat) for action in later if isinstance(action, Play | Knock)] == course


def asked_after_a_gap() -> GappedTable:
    """Return a table with an open question about the order of three missed plays."""
    table = GappedTable(profile("bones"), 100, gaps=1, plays=3, are_answered=False)
    table.run_until_seen_again(1)
    assert table.session.open_question is not None
    return table


def test_a_question_after_a_long_gap_states_all_totals() -> None:
    for seed in (103, 104):  # the courses agree on the total of one player
        table = GappedTable(profile("allfives"), seed, gaps=1, plays=5, are_answered=False)
        table.run_until_seen_again(2)
        assert table.session.questions
        for question in table.session.questions:
            for text in question.ambiguity.choices[:-1]:
                assert text.startswith("Ann ")
                assert ", Ben " in text


def test_rejected_totals_are_not_offered_again() -> None:
    session = asked_after_a_gap().session
    assert session.open_question is not None
    *rejected, other = session.open_question.choices
    assert other == "something else"
    session, _ = feed(session, Answer(len(rejected)), t_ns=session.t_ns + SECOND_NS)
    for at in range(2):
        assert session.seen is not None
        session, _ = feed(session, replace(session.seen, changes=()), t_ns=session.t_ns + (3 + at) * SECOND_NS)
        assert not any(text in question.ambiguity.choices for text in rejected for question in session.questions)
    assert session.is_provisional


def test_a_question_does_not_hold_up_the_game_and_an_answer_settles_it() -> None:
    table = asked_after_a_gap()
    first = max(table.gap) + 2
    for number in range(first, first + 5):
        table.go_on(number)
    truth = table._truth.game
    assert truth is not None
    question = table.session.open_question
    assert question is not None
    names = ", ".join(f"{name} {total}" for name, total in zip(truth.players, truth.totals, strict=True))
    at = next(at for at, text in enumerate(question.choices) if text.split(", if")[0] in names)
    session, _ = feed(table.session, Answer(at), t_ns=table.t_ns + SECOND_NS)
    assert session.state.game is not None
    assert session.state.game.totals == truth.totals
    assert (session.questions, session.is_provisional) == ((), False)


def test_points_called_in_a_gap_count_for_their_play() -> None:
    table = GappedTable(profile("twoset"), 102, plays=3)
    assert any(isinstance(table.steps[number].event, Call) for number in table.gap)
    assert table.run().is_right_at_end
    assert not table.session.state.irregular


def test_a_call_without_points_in_a_gap_is_reported_once_the_table_is_seen() -> None:
    table = GappedTable(profile("twoset"), 102)
    for number in range(min(table.gap)):
        table.go_on(number)
    table.is_blind = True
    table.feed(Press(Button.CALL, Seat(0)), 10.0)
    assert not table.session.state.irregular
    table.is_blind = False
    for _ in range(2):
        table.show([], ())
    reported = [one for announcements in table.announcements for one in announcements if isinstance(one, Irregular)]
    assert len(reported) == 1


@pytest.mark.parametrize("name", ["allfives", "block", "bones", "draw"])
@pytest.mark.parametrize(("before", "plays"), [(0, 1), (1, 0), (1, 2), (8, 2)])
def test_an_unseen_deal_is_inferred_and_an_unseen_end_is_marked(name: str, before: int, plays: int) -> None:
    for seed in (100, 101):
        table = GapAcrossDeal(profile(name), seed, before=before, plays=plays)
        figures = table.run()
        hands = [entry for entry in entries(table.session.state) if isinstance(entry.action, NewHand)]
        assert len(hands) == 2
        truth, now = table._truth.game, table.session.state.game
        assert truth is not None
        assert now is not None
        assert now.totals == truth.totals or figures.is_flagged_at_end


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("plays", [3, 5])
def test_games_with_three_gaps_end_with_right_or_marked_totals(name: str, plays: int) -> None:
    tables = [GappedTable(profile(name), seed, plays=plays) for seed in range(100, 106)]
    games = [table.run() for table in tables]
    assert all(game.is_right_at_end or game.is_flagged_at_end for game in games)
    assert sum(game.is_right_at_end for game in games) >= (4 if plays == 3 else 1)
