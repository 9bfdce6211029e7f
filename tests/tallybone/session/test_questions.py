"""Tests of the question about the likeliest totals: its choices, with the actions on which they depend."""

from __future__ import annotations

from math import log

import pytest

import engine
from engine.state.events import Action
from engine.value import changed
from tallybone.session.course import MatchCourse, Named
from tallybone.session.observations import Observation, Piece
from tallybone.session.questions import Ambiguity, Doubt, Meaning, Question, ask_about_totals, doubtful_actions, guesses
from tests.tallybone.session.test_referee import seen
from tests.tallybone.session.test_session_inputs import led

ANN, BEN, PIECE = engine.Seat(0), engine.Seat(1), engine.NodeId(7)
PLAY = engine.Play(BEN, engine.Tile.parse("5-4"), engine.Spot(engine.NodeId(3), engine.Port.E), 5)
session = led(engine.BONES)
assert session.decoder is not None
BASE = session.decoder.beam[0]


def after(course: MatchCourse, totals: tuple[int, int], *actions: Action, share: float = 0.0) -> MatchCourse:
    """Return a course after a look with *actions*. All plays are of the same piece."""
    named = tuple(Named(action, PIECE if isinstance(action, engine.Play) else 0) for action in actions)
    game = changed(course.game, totals=totals)
    return changed(course, before=course, actions=named, game=game, log_weight=log(share) if share else 0.0)


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ((), ""),
        ((engine.NewHand(),), ""),
        ((PLAY,), "Ben played the 5-4"),
        ((engine.Stack(BEN, engine.Tile.parse("5-4"), engine.NodeId(3)),), "Ben stacked a second 5-4"),
        ((engine.Draw(BEN),), "Ben drew 1 tile"),
        ((engine.Draw(ANN, 2),), "Ann drew 2 tiles"),
        ((engine.Knock(BEN), engine.Call(ANN), PLAY), "Ben passed and Ann called the points"),
        ((engine.Lead(BEN),), "Ben led"),
        ((engine.Reveal(ANN, (engine.Tile.parse("6-4"), engine.Tile.parse("1-1"))),), "Ann had 12 pips left"),
        ((engine.RevealPips(BEN, 7),), "Ben had 7 pips left"),
        ((engine.HandEnd(),), "the hand ended"),
        ((engine.Abandon(),), "the hand ended"),
        ((engine.Decline(BEN),), "Ben acted"),
    ],
)
def test_a_choice_names_the_actions_on_which_it_depends(actions: tuple[Action, ...], words: str) -> None:
    without, with_them = after(BASE, (0, 5), share=0.6), after(BASE, (0, 10), *actions, share=0.4)
    for beam, is_best in (((without, with_them), False), ((with_them, without), True)):
        question = ask_about_totals(Doubt.of(beam), {PIECE: Piece(PIECE, seen((5, 4), (2, 0)))})
        choices = {"Ben 5" + (f", if not: {words}" if words else ""), "Ben 10" + (f", if {words}" if words else "")}
        assert set(question.ambiguity.choices) == {*choices, "something else"}
        shown = is_best and len(actions) == 1 and isinstance(actions[0], engine.Play)
        assert question.ambiguity.tile == (seen((5, 4), (2, 0)) if shown else None)
        said = (((BEN, 5),), ((BEN, 10),))
        assert [answer.confirmed for answer in question.answers] == [*(said[::-1] if is_best else said), ()]
        assert sorted(question.answers[-1].denied) == sorted(said)


def test_up_to_three_totals_of_at_least_two_percent_are_offered() -> None:
    shares = {(0, 5): 0.5, (5, 5): 0.3, (5, 0): 0.1, (10, 0): 0.085, (20, 0): 0.015}
    beam = [
        after(BASE, totals, engine.Draw(BEN, at + 1), share=share) for at, (totals, share) in enumerate(shares.items())
    ]
    doubt = Doubt.of(beam)
    found = {course.game.totals: share for course, share in doubt.by_totals}
    assert list(found) == list(shares)
    assert list(found.values()) == pytest.approx(list(shares.values()))
    question = ask_about_totals(doubt, {})
    assert question.ambiguity.choices == (
        "Ann 0, Ben 5, if Ben drew 1 tile",
        "Ann 5, Ben 5, if Ben drew 2 tiles",
        "Ann 5, Ben 0, if Ben drew 3 tiles",
        "something else",
    )
    assert question.ambiguity.topic == "if Ben drew 1 tile / if Ben drew 2 tiles / if Ben drew 3 tiles"
    assert (doubt.is_certain, doubt.is_asked) == (False, True)


@pytest.mark.parametrize(
    ("share", "certain", "asked"),
    [(0.981, True, False), (0.979, False, False), (0.901, False, False), (0.899, False, True)],
)
def test_totals_are_certain_or_asked_by_their_share(share: float, *, certain: bool, asked: bool) -> None:
    best, other = after(BASE, (0, 5), PLAY, share=share / 2), after(BASE, (0, 10), engine.Draw(BEN), share=1 - share)
    same = after(BASE, (0, 5), engine.Knock(BEN), share=share / 2)
    doubt = Doubt.of([best, other, same])
    assert (doubt.is_certain, doubt.is_asked) == (certain, asked)
    assert doubtful_actions(doubt, {(3, 1)}) == ({(3, 1)} if certain else {(3, 1), (0, 0)})
    odd = Doubt.of([changed(best, left=(Piece(PIECE, seen((5, 4), (2, 0))),)), other, same])
    assert not odd.is_certain


def test_after_a_look_with_many_tiles_the_weights_count_half() -> None:
    many = [after(BASE, (0, 5 * at), *(PLAY,) * 4, share=share) for at, share in enumerate((0.8, 0.2))]
    assert [share for _, share in Doubt.of(many).by_totals] == pytest.approx([2 / 3, 1 / 3])
    few = [after(BASE, (0, 5 * at), *(PLAY,) * 3, share=share) for at, share in enumerate((0.8, 0.2))]
    assert [share for _, share in Doubt.of(few).by_totals] == pytest.approx([0.8, 0.2])
    assert ask_about_totals(Doubt.of(many), {}).answers[0].confirmed == ((ANN, 0), (BEN, 0))  # all totals may be wrong
    assert ask_about_totals(Doubt.of(few), {}).answers[0].confirmed == ((BEN, 0),)


def test_estimates_of_unseen_ends_are_guesses_unless_they_were_entered() -> None:
    first = after(BASE, (0, 0), engine.Abandon(), engine.NewHand())
    second = after(
        after(first, (0, 0), PLAY), (0, 0), engine.Knock(ANN), engine.RevealPips(BEN, 7), engine.RevealPips(ANN, 3)
    )
    looks = [Observation(0), Observation(0), Observation(0, presses=(engine.RevealPips(ANN, 3),))]
    assert guesses(second, looks) == {(0, 1), (2, 0)}
    assert guesses(second, [Observation(0, presses=(engine.Abandon(),)), *looks[1:]]) == {(0, 1)}
    assert guesses(first, looks[:1]) == {(0, 0)}


def test_a_question_has_an_answer_for_each_choice() -> None:
    with pytest.raises(ValueError, match="expected 2 answers, got 1"):
        Question(Ambiguity(None, "?", ("a", "b")), (Meaning(),))
    assert Ambiguity(None, "?").topic == "?"
    assert Ambiguity(None, "?", ("b", "a")).topic == "a / b"
