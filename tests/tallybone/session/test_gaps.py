"""What was laid, drawn and passed while nobody saw the table is told from what lies there, or asked; never unsaid."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import pytest

from engine import BLOCK, Call, Draw, Knock, Lead, NewHand, Play, Seat, State, entries, profile
from tallybone.json_values import from_json, to_json
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, KnockHeard
from tallybone.session.referee import Ambiguity, Places
from tests.tallybone.session.gapped_table import GapOverDeal, GappedTable
from tests.tallybone.session.test_session_inputs import FIRST, NEXT, SECOND_NS, led, sitting
from tests.tallybone.truth_eye import PLAYERS_OF, placed
from vision.tracking.table_view import TableView

# Who stacks says on which tile they see.
GAMES = sorted(set(PLAYERS_OF) - {"cutthroat"})
WORDS = "what happened while the table was hidden?"


@pytest.mark.parametrize("name", ["allfives", "block", "bones", "draw", "super"])
def test_one_play_that_nobody_saw_is_told_with_the_draws_and_passes_around_it(name: str) -> None:
    for seed in range(100, 103):
        figures = GappedTable(profile(name), seed).run()
        assert figures.plays_right == figures.plays
        assert figures.is_right_at_end
        assert len(figures.questions) <= 1


@pytest.mark.parametrize("cause", ["in front", "off"])
@pytest.mark.parametrize("name", ["allfives", "block", "bones", "draw"])
def test_plays_behind_somebody_or_before_a_restart_are_told_as_those_without_a_picture(
    name: str, cause: Literal["in front", "off"]
) -> None:
    for seed in range(100, 103):
        table = GappedTable(profile(name), seed, plays=2, cause=cause)
        figures = table.run()
        assert figures.plays_right == figures.plays
        # A pass that a machine which is off does not hear shows in the side of the next hand.
        is_asked = cause == "off" and figures.is_flagged_at_end
        assert is_asked or (figures.is_right_at_end and table.seats_right == figures.plays)


@pytest.mark.parametrize("knocks", [(2,), (1, 2), (1,), ()])
def test_a_knock_in_a_gap_is_a_pass_or_the_sound_of_a_tile(knocks: tuple[int, ...]) -> None:
    """Ben plays in the gap and may put the tile down hard. Cleo may pass after him, which is then asked about."""
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
    assert not any(one.ambiguity.holds_up for one in session.questions)
    play, *others = session.state.log[len(led(BLOCK, seats=3).state.log) :]
    assert isinstance(play, Play)
    assert play.seat == Seat(1)
    passes = [one for one in others if isinstance(one, Knock)]
    assert passes == ([Knock(Seat(2))] if has_passed else [])


@pytest.mark.parametrize("name", GAMES)
def test_true_answers_lead_to_the_true_game_whatever_three_plays_were_missed(name: str) -> None:
    table = GappedTable(profile(name), 103, plays=3)
    figures = table.run()
    assert figures.is_right_at_end
    assert table.seats_right == figures.plays
    assert figures.questions.count(WORDS) <= 2 * table.gaps


def test_a_beginning_that_is_rejected_is_not_offered_again() -> None:
    table = asked_after_a_gap()
    rejected = table.session.questions[-1].ambiguity.choices
    table.feed(Answer(len(rejected) - 1))
    again = table.session.questions[-1].ambiguity.choices
    assert again[-1] == rejected[-1] == "something else"
    assert not set(rejected[:-1]) & set(again)


@pytest.mark.parametrize("seed", [101, 102])
def test_nobody_is_asked_who_drew_how_many_tiles_and_the_end_of_the_hand_tells_it(seed: int) -> None:
    table = GappedTable(profile("draw"), seed, gaps=1, plays=3, are_answered=False)
    table.run_until_asked()
    assert not any("draws" in words for words in table.session.questions[-1].ambiguity.choices)
    table = GappedTable(profile("draw"), seed, plays=3)
    assert table.run().is_right_at_end
    assert tiles_drawn(table.session.state) == tiles_drawn(table.steps[-1].state)


def test_a_question_stays_as_it_is_while_the_players_go_on() -> None:
    table = asked_after_a_gap("draw", 101)
    asked, looks = table.session.questions, table.session.places.looks
    for number in range(max(table.gap) + 1, len(table.steps)):
        if table.session.places.looks < looks + 2:
            table.go_on(number)
    assert len(table.session.places.waiting) > 3
    assert table.session.questions[-1].ambiguity == asked[-1].ambiguity


def test_what_the_table_has_told_is_marked_until_it_is_confirmed_as_a_whole() -> None:
    table = asked_after_a_gap()
    whole = [at for at, one in enumerate(table.session.questions[-1].answers) if one.places.unseen is None]
    table.feed(Answer(whole[0]))
    (question,) = table.session.questions
    assert not question.ambiguity.holds_up
    assert table.session.state.is_provisional
    table.feed(Answer(0))
    assert table.session.questions == ()
    assert not table.session.state.is_provisional


def test_a_question_half_answered_outlives_the_recording_of_the_places() -> None:
    table = asked_after_a_gap()
    table.feed(Answer(len(table.session.questions[-1].ambiguity.choices) - 1))
    places = table.session.places
    assert places.unseen is not None
    assert places.unseen.not_so
    assert from_json(to_json(places, Places), Places) == places


def test_points_called_while_nobody_saw_the_table_count_for_the_play_that_made_them() -> None:
    table = GappedTable(profile("twoset"), 102, plays=3)
    called = [number for number in table.gap if isinstance(table.steps[number].event, Call)]
    assert called  # some were called unseen
    assert table.run().is_right_at_end
    assert not table.session.state.irregular


def test_a_call_for_nothing_is_said_though_nobody_saw_the_table() -> None:
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
def test_players_who_do_not_answer_get_the_likeliest_course_which_is_marked(seed: int) -> None:
    table = GappedTable(profile("bones"), seed, gaps=1, plays=2, are_answered=False)
    figures = table.run()
    assert table.session.questions == () or table.session.state.is_provisional
    assert figures.plays_right == figures.plays


def test_a_gap_of_many_plays_is_taken_at_once_and_marked() -> None:
    table = GappedTable(profile("draw"), 100, gaps=1, plays=10, are_answered=False)
    table.run_until_asked()
    assert WORDS not in table.figures.questions
    assert table.session.state.is_provisional


@pytest.mark.parametrize("name", ["allfives", "block", "bones", "draw"])
@pytest.mark.parametrize(("before", "plays"), [(0, 1), (1, 0), (1, 2), (8, 2)])
def test_a_deal_that_nobody_saw_is_told_and_an_end_of_a_hand_is_marked(name: str, before: int, plays: int) -> None:
    for seed in range(100, 103):
        table = GapOverDeal(profile(name), seed, before=before, plays=plays)
        table.run()
        hands = [event for event in table.session.state.log if isinstance(event, NewHand)]
        truth, now = table._truth.game, table.session.state.game
        assert truth is not None
        assert now is not None
        assert len(hands) == 2
        assert now.totals == truth.totals or table.session.state.is_provisional or table.session.questions


@pytest.mark.parametrize("gap_s", [10, 60])
def test_a_hand_may_have_been_missed_as_a_whole_before_its_first_tile(gap_s: int) -> None:
    session = sitting(BLOCK, Lead(Seat(0)))
    session, _ = feed(session, TableView((), (), ()), t_ns=SECOND_NS)
    session, _ = feed(session, placed(FIRST), t_ns=(1 + gap_s) * SECOND_NS)
    assert isinstance(session.state.log[-1], Play)
    assert session.state.is_provisional is (gap_s > 40)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(("plays", "are_answered"), [(1, True), (5, True), (3, False)])
def test_no_score_is_wrong_and_unsaid_whatever_was_missed(name: str, plays: int, *, are_answered: bool) -> None:
    for seed in range(100, 102):
        table = GappedTable(profile(name), seed, plays=plays, are_answered=are_answered)
        figures = table.run()
        is_asked = any(isinstance(one, Ambiguity) for said in table.said for one in said)
        assert figures.is_right_at_end or figures.is_flagged_at_end or is_asked


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("plays", [3, 5])
def test_games_of_which_plays_were_missed_three_times_end_right(name: str, plays: int) -> None:
    tables = [GappedTable(profile(name), seed, plays=plays) for seed in range(100, 104)]
    games = [table.run() for table in tables]
    assert all(game.is_right_at_end for game in games)
    assert sum(table.seats_right for table in tables) == sum(game.plays for game in games)


def tiles_drawn(state: State) -> Counter[Seat]:
    """Return how many tiles each player has drawn."""
    drawn: Counter[Seat] = Counter()
    for one in entries(state):
        if isinstance(one.action, Draw):
            drawn[one.action.seat] += one.action.tiles
    return drawn


def asked_after_a_gap(name: str = "bones", seed: int = 100) -> GappedTable:
    """A table at which three plays were missed, before anybody has answered what happened."""
    table = GappedTable(profile(name), seed, gaps=1, plays=3, are_answered=False)
    table.run_until_asked()
    assert table.session.questions[-1].ambiguity.words == WORDS
    return table
