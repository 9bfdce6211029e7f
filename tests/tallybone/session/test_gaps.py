"""Tests of reconstructing unseen plays, draws and passes, or asking about them."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import pytest

from engine import BLOCK, Call, Draw, Knock, Lead, NewHand, Play, Seat, State, entries, profile
from tallybone.json_values import from_json, to_json
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, KnockHeard
from tallybone.session.referee import Ambiguity, Places
from tests.tallybone.session.gapped_table import GapAcrossDeal, GappedTable
from tests.tallybone.session.test_session_inputs import FIRST, NEXT, SECOND_NS, led, session_with
from tests.tallybone.truth_eye import PLAYERS_OF, placed
from vision.tracking.table_view import TableView

# In cutthroat the players name the tile of a stack.
GAMES = sorted(set(PLAYERS_OF) - {"cutthroat"})
WORDS = "what happened while the table was hidden?"


@pytest.mark.parametrize("name", ["allfives", "block", "bones", "draw", "super"])
def test_a_single_unseen_play_is_inferred_with_its_draws_and_passes(name: str) -> None:
    for seed in range(100, 103):
        figures = GappedTable(profile(name), seed).run()
        assert figures.plays_right == figures.plays
        assert figures.is_right_at_end
        assert len(figures.questions) <= 1


@pytest.mark.parametrize("cause", ["in front", "off"])
@pytest.mark.parametrize("name", ["allfives", "block", "bones", "draw"])
def test_plays_missed_behind_a_person_or_during_a_restart_are_inferred(
    name: str, cause: Literal["in front", "off"]
) -> None:
    for seed in range(100, 103):
        table = GappedTable(profile(name), seed, plays=2, cause=cause)
        figures = table.run()
        assert figures.plays_right == figures.plays
        # An unheard pass while the machine is off only shows in the side of the next hand.
        is_asked = cause == "off" and figures.is_flagged_at_end
        assert is_asked or (figures.is_right_at_end and table.seats_right == figures.plays)


@pytest.mark.parametrize("knocks", [(2,), (1, 2), (1,), ()])
def test_a_knock_in_a_gap_is_a_pass_or_the_sound_of_a_tile(knocks: tuple[int, ...]) -> None:
    """Ben plays in the gap, perhaps audibly. A later pass by Cleo raises a question."""
    session = led(BLOCK, seats=3)
    for number, seat in enumerate(knocks):
        session, _ = feed(session, KnockHeard(Seat(seat)), t_ns=(10 + 5 * number) * SECOND_NS)
    session, _ = feed(session, placed(NEXT, before=(FIRST,)), t_ns=40 * SECOND_NS)
    has_passed = 2 in knocks
    if has_passed:
        (question,) = session.questions
        session, _ = feed(
            session, Answer(question.ambiguity.choices.index("Ben 5-4, Cleo passes")), t_ns=41 * SECOND_NS
        )
    assert not any(question.ambiguity.holds_up for question in session.questions)
    play, *others = session.state.log[len(led(BLOCK, seats=3).state.log) :]
    assert isinstance(play, Play)
    assert play.seat == Seat(1)
    passes = [other for other in others if isinstance(other, Knock)]
    assert passes == ([Knock(Seat(2))] if has_passed else [])


@pytest.mark.parametrize("name", GAMES)
def test_true_answers_restore_the_game_after_three_missed_plays(name: str) -> None:
    table = GappedTable(profile(name), 103, plays=3)
    figures = table.run()
    assert figures.is_right_at_end
    assert table.seats_right == figures.plays
    assert figures.questions.count(WORDS) <= 2 * table.gaps


def test_a_rejected_course_is_not_offered_again() -> None:
    table = asked_after_a_gap()
    rejected = table.session.questions[-1].ambiguity.choices
    table.feed(Answer(len(rejected) - 1))
    offered = table.session.questions[-1].ambiguity.choices
    assert offered[-1] == rejected[-1] == "something else"
    assert not set(rejected[:-1]) & set(offered)


@pytest.mark.parametrize("seed", [101, 102])
def test_unseen_draws_raise_no_question_and_are_resolved_at_the_end_of_the_hand(seed: int) -> None:
    table = GappedTable(profile("draw"), seed, gaps=1, plays=3, are_answered=False)
    table.run_until_asked()
    assert not any("draws" in words for words in table.session.questions[-1].ambiguity.choices)
    table = GappedTable(profile("draw"), seed, plays=3)
    assert table.run().is_right_at_end
    assert tiles_drawn(table.session.state) == tiles_drawn(table.steps[-1].state)


def test_a_question_does_not_change_while_play_continues() -> None:
    table = asked_after_a_gap("draw", 101)
    asked, looks = table.session.questions, table.session.places.looks
    for number in range(max(table.gap) + 1, len(table.steps)):
        if table.session.places.looks < looks + 2:
            table.go_on(number)
    assert len(table.session.places.waiting) > 3
    assert table.session.questions[-1].ambiguity == asked[-1].ambiguity


def test_an_answered_course_is_marked_until_it_is_confirmed() -> None:
    table = asked_after_a_gap()
    whole = [at for at, answer in enumerate(table.session.questions[-1].answers) if answer.places.unseen is None]
    table.feed(Answer(whole[0]))
    (question,) = table.session.questions
    assert not question.ambiguity.holds_up
    assert table.session.state.is_provisional
    table.feed(Answer(0))
    assert table.session.questions == ()
    assert not table.session.state.is_provisional


def test_a_partly_answered_question_survives_recording() -> None:
    table = asked_after_a_gap()
    table.feed(Answer(len(table.session.questions[-1].ambiguity.choices) - 1))
    places = table.session.places
    assert places.unseen is not None
    assert places.unseen.not_so
    assert from_json(to_json(places, Places), Places) == places


def test_points_called_in_a_gap_count_for_their_play() -> None:
    table = GappedTable(profile("twoset"), 102, plays=3)
    called = [number for number in table.gap if isinstance(table.steps[number].event, Call)]
    assert called  # some points were called in a gap
    assert table.run().is_right_at_end
    assert not table.session.state.irregular


def test_a_call_without_points_in_a_gap_is_reported() -> None:
    table = GappedTable(profile("twoset"), 102)
    for number in range(min(table.gap)):
        table.go_on(number)
    table.is_blind = True
    table.feed(Call(Seat(0)), 10.0)
    assert not table.session.state.irregular
    table.is_blind = False
    table.show([], ())
    assert len(table.session.state.irregular) == 1


@pytest.mark.parametrize("seed", range(100, 104))
def test_without_answers_the_likeliest_course_is_used_and_marked(seed: int) -> None:
    table = GappedTable(profile("bones"), seed, gaps=1, plays=2, are_answered=False)
    figures = table.run()
    assert table.session.questions == () or table.session.state.is_provisional
    assert figures.plays_right == figures.plays


def test_a_gap_of_many_plays_is_inferred_at_once_and_marked() -> None:
    table = GappedTable(profile("draw"), 100, gaps=1, plays=10, are_answered=False)
    table.run_until_asked()
    assert WORDS not in table.figures.questions
    assert table.session.state.is_provisional


@pytest.mark.parametrize("name", ["allfives", "block", "bones", "draw"])
@pytest.mark.parametrize(("before", "plays"), [(0, 1), (1, 0), (1, 2), (8, 2)])
def test_an_unseen_deal_is_inferred_and_an_unseen_end_is_marked(name: str, before: int, plays: int) -> None:
    for seed in range(100, 103):
        table = GapAcrossDeal(profile(name), seed, before=before, plays=plays)
        table.run()
        hands = [event for event in table.session.state.log if isinstance(event, NewHand)]
        truth, now = table._truth.game, table.session.state.game
        assert truth is not None
        assert now is not None
        assert len(hands) == 2
        assert now.totals == truth.totals or table.session.state.is_provisional or table.session.questions


@pytest.mark.parametrize("gap_s", [10, 60])
def test_a_long_gap_before_the_first_tile_may_hide_a_whole_hand(gap_s: int) -> None:
    session = session_with(BLOCK, Lead(Seat(0)))
    session, _ = feed(session, TableView((), (), ()), t_ns=SECOND_NS)
    session, _ = feed(session, placed(FIRST), t_ns=(1 + gap_s) * SECOND_NS)
    assert isinstance(session.state.log[-1], Play)
    assert session.state.is_provisional is (gap_s > 40)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(("plays", "are_answered"), [(1, True), (5, True), (3, False)])
def test_no_wrong_score_is_unreported(name: str, plays: int, *, are_answered: bool) -> None:
    for seed in range(100, 102):
        table = GappedTable(profile(name), seed, plays=plays, are_answered=are_answered)
        figures = table.run()
        is_asked = any(
            isinstance(announcement, Ambiguity)
            for announcements in table.announcements
            for announcement in announcements
        )
        assert figures.is_right_at_end or figures.is_flagged_at_end or is_asked


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("plays", [3, 5])
def test_games_with_three_gaps_end_with_the_right_score(name: str, plays: int) -> None:
    tables = [GappedTable(profile(name), seed, plays=plays) for seed in range(100, 104)]
    games = [table.run() for table in tables]
    assert all(game.is_right_at_end for game in games)
    assert sum(table.seats_right for table in tables) == sum(game.plays for game in games)


def tiles_drawn(state: State) -> Counter[Seat]:
    """Return the number of tiles drawn by each player."""
    drawn: Counter[Seat] = Counter()
    for entry in entries(state):
        if isinstance(entry.action, Draw):
            drawn[entry.action.seat] += entry.action.tiles
    return drawn


def asked_after_a_gap(name: str = "bones", seed: int = 100) -> GappedTable:
    """Return a table with an open question about three missed plays."""
    table = GappedTable(profile(name), seed, gaps=1, plays=3, are_answered=False)
    table.run_until_asked()
    assert table.session.questions[-1].ambiguity.words == WORDS
    return table
