"""What hands do besides laying: take back, put elsewhere, push, lay several or a copy; and rereading."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import (
    ALLFIVES,
    BLOCK,
    CUTTHROAT,
    SUPER,
    Amend,
    Call,
    Draw,
    Event,
    Lead,
    LeadRule,
    MatchStart,
    NewHand,
    Play,
    Port,
    Revised,
    Rules,
    Scored,
    Seat,
    Seq,
    Spot,
    Stacked,
    Tile,
    Undo,
)
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, Button, Press
from tallybone.session.session import Announcement, Session
from tallybone.session.touching import halves_of
from tests.tallybone.session.test_referee import lay, line, plays, problems, questions, seen
from vision.reading import SeenTile
from vision.tracking.table_view import Change, ChangeKind, TableView

ALL = ("Ann", "Ben", "Cleo", "Dora")


SECOND = 1_000_000_000
TWO_AT_ONCE = (seen((5, 2), (2, 0)), seen((3, 6), (-2, 0), 180))


def laid_since(session: Session, *tiles: tuple[SeenTile, int]) -> tuple[Session, tuple[Announcement, ...]]:
    """Lay tiles that one look shows, each since a time of its own."""
    changes = tuple(Change(ChangeKind.PLACED, tile, since_ns=since_ns) for tile, since_ns in tiles)
    return feed(session, TableView(tuple(tile for tile, _ in tiles), (), changes))


def removed(session: Session, *tiles: SeenTile) -> tuple[Session, tuple[object, ...]]:
    return feed(session, TableView((), (), tuple(Change(ChangeKind.REMOVED, tile) for tile in tiles)))


def moved(session: Session, before: SeenTile, now: SeenTile) -> tuple[Session, tuple[object, ...]]:
    return feed(session, TableView((now,), (), (Change(ChangeKind.MOVED, now, before),)))


def sitting(rules: Rules, *events: Event, seats: int = 2) -> Session:
    session = Session()
    free = replace(rules, lead_first=LeadRule.CHOSEN_ANY_DOUBLE if rules is SUPER else LeadRule.LOT_ANY)
    for event in (MatchStart(free, ALL[:seats]), NewHand(), Lead(Seat(0)), *events):
        session, _ = feed(session, event)
    return session


def chances(tile: SeenTile, **by_half: dict[int, float]) -> SeenTile:
    """The tile with what its halves could be: half_0, half_1."""
    first, second = (
        replace(half, chances=tuple(by_half[name].get(number, 0.0) for number in range(7))) if name in by_half else half
        for name, half in zip(("half_0", "half_1"), halves_of(tile), strict=True)
    )
    return replace(tile, halves=(first, second))


def test_the_last_play_taken_back_is_undone_and_the_player_plays_again() -> None:
    first, last = seen((3, 5), (0, 0)), seen((5, 4), (2, 0))
    session, said = removed(line(first, last), last)
    assert plays(session)[-1] == "5-4@5-3E"
    assert isinstance(session.state.log[-1], Undo)
    assert any(isinstance(one, Revised) for one in said)
    session, _ = lay(session, seen((3, 6), (-2, 0), 180))
    play = session.state.log[-1]
    assert isinstance(play, Play)
    assert (play.seat, str(play.tile)) == (1, "6-3")


def test_a_tile_that_was_only_covered_counts_as_before() -> None:
    first, last = seen((3, 5), (0, 0)), seen((5, 5), (1.5, 0), 90)
    session = line(first, last)
    before = session.state.game
    session, _ = removed(session, last)
    session, said = lay(session, last)
    assert not questions(said)
    assert session.state.game is not None
    assert before is not None
    assert session.state.game.totals == before.totals
    assert session.state.game.hand is not None
    assert before.hand is not None
    assert session.state.game.hand.turn == before.hand.turn


def test_an_earlier_tile_taken_away_is_asked_about_and_still_counts() -> None:
    first, second, last = seen((3, 5), (0, 0)), seen((5, 4), (2, 0)), seen((4, 1), (4, 0))
    session, said = removed(line(first, second, last), second)
    assert questions(said) == ["the 5-4 was removed: does it still count?"]  # type: ignore[arg-type]
    kept, _ = feed(session, Answer(0))
    assert kept.open_question is None
    assert kept.state == session.state
    undone, _ = feed(session, Answer(1))
    assert undone.state.game is not None
    assert [str(tile) for tile in undone.state.game.layout.tiles] == ["5-3"]
    assert undone.places.waiting == ()


def test_a_table_that_is_cleared_takes_nothing_back() -> None:
    tiles = seen((3, 5), (0, 0)), seen((5, 4), (2, 0)), seen((4, 1), (4, 0))
    session = line(*tiles)
    after, said = removed(session, *tiles)
    assert said == ()
    assert after.state == session.state


def test_a_tile_put_to_another_end_before_the_next_play_was_played_there() -> None:
    first, last = seen((3, 3), (0, 0), 90), seen((3, 4), (1.5, 0))
    session, said = moved(line(first, last), last, seen((4, 3), (-1.5, 0)))
    assert not questions(said)  # type: ignore[arg-type]
    assert plays(session) == ["3-3", "4-3@3-3E", "4-3@3-3W"]
    assert session.state.game is not None
    assert len(session.state.game.layout.nodes) == 2


def test_a_nudge_changes_the_place_and_not_the_game() -> None:
    first, last = seen((3, 5), (0, 0)), seen((5, 4), (2, 0))
    session = line(first, last)
    after, said = moved(session, last, seen((5, 4), (2.1, 0.55), 9))
    assert said == ()
    assert after.state == session.state
    after, _ = lay(after, seen((4, 6), (4.05, 0.85), 9))
    assert plays(after)[-1] == "6-4@5-4E"


def test_a_tile_that_was_undone_by_button_lies_idle_until_it_is_moved() -> None:
    first, last = seen((3, 5), (0, 0)), seen((5, 4), (2, 0))
    session, _ = feed(line(first, last), Press(Button.UNDO))
    session, _ = feed(session, TableView((first, last), (), ()))
    assert session.state.game is not None
    assert [str(tile) for tile in session.state.game.layout.tiles] == ["5-3"]
    session, _ = removed(session, last)
    session, _ = lay(session, seen((5, 4), (2, 0)))
    assert session.state.game is not None
    assert [str(tile) for tile in session.state.game.layout.tiles] == ["5-3", "5-4"]


def test_an_undone_play_that_is_said_again_is_the_tile_that_still_lies_there() -> None:
    session = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    play = session.state.log[-1]
    assert isinstance(play, Play)
    session, _ = feed(session, Press(Button.UNDO))
    session, _ = feed(session, play)
    assert [one.node for one in session.places.known] == [3, 6]
    assert session.places.dismissed == ()
    session, _ = lay(session, seen((4, 0), (4, 0)))
    assert plays(session)[-1] == "4-0@5-4E"


def test_a_later_tile_corrects_the_one_it_lies_against() -> None:
    read_wrong = chances(seen((5, 6), (2, 0)), half_1={6: 0.93, 4: 0.07})
    session, _ = lay(line(seen((3, 5), (0, 0))), read_wrong)
    assert plays(session)[-1] == "6-5@5-3E"
    session, said = lay(session, seen((4, 1), (4, 0)))
    assert [type(event) for event in session.state.log[-2:]] == [Amend, Play]
    assert session.state.game is not None
    assert [str(tile) for tile in session.state.game.layout.tiles] == ["5-3", "5-4", "4-1"]
    assert not session.state.irregular
    assert not questions(said)


def test_a_tile_that_lies_there_twice_corrects_the_first() -> None:
    read_wrong = chances(seen((5, 6), (2, 0)), half_1={6: 0.93, 4: 0.07})
    session, _ = lay(line(seen((3, 5), (0, 0)), seen((6, 3), (-2, 0))), read_wrong)
    session, _ = lay(session, seen((6, 5), (-4, 0), 180))
    assert session.state.game is not None
    assert [str(tile) for tile in session.state.game.layout.tiles] == ["5-3", "6-3", "5-4", "6-5"]
    assert not session.state.irregular


def test_a_toss_up_between_two_histories_is_asked_and_the_answer_settles_it() -> None:
    read_wrong = chances(seen((5, 6), (2, 0)), half_1={6: 0.99, 4: 0.01})
    session, _ = lay(line(seen((3, 5), (0, 0))), read_wrong)
    session, said = lay(session, seen((4, 1), (4, 0)))
    assert questions(said) == ["is the 6-5 on the table the 6-5 or the 5-4?"]
    right, _ = feed(session, Answer(1))
    assert right.state.game is not None
    assert [str(tile) for tile in right.state.game.layout.tiles] == ["5-3", "5-4", "4-1"]
    assert right.open_question is None
    stays, said = feed(session, Answer(0))
    assert stays.state.game is not None
    assert [str(tile) for tile in stays.state.game.layout.tiles] == ["5-3", "6-5", "4-1"]
    assert "that end needs a 6" in problems(said)[0].words


@pytest.mark.parametrize("is_said", [True, False])
def test_a_better_reading_amends_the_play_and_the_points_follow(*, is_said: bool) -> None:
    first, last = seen((3, 5), (0, 0)), chances(seen((5, 2), (2, 0)), half_1={2: 0.93, 1: 0.07})
    session, _ = lay(line(first), last)
    assert session.state.game is not None
    assert session.state.game.totals == (0, 5)
    better = chances(seen((5, 1), (2, 0)), half_1={1: 0.999})
    changes = (Change(ChangeKind.REREAD, better, last),) if is_said else ()
    session, said = feed(session, TableView((first, better), (), changes))
    assert session.state.log[-1] == Amend(Seq(4), replace(session.state.log[4], tile=Tile.parse("5-1")))  # type: ignore[arg-type]
    assert session.state.game is not None
    assert session.state.game.totals == (0, 0)
    assert any(isinstance(one, Revised) for one in said)


def test_a_worse_reading_that_the_next_tile_contradicts_changes_nothing() -> None:
    first, third = seen((3, 5), (0, 0)), seen((4, 1), (4, 0))
    before = line(first, seen((5, 4), (2, 0)), third)
    worse = chances(seen((5, 6), (2, 0)), half_1={6: 0.6, 4: 0.4})
    session, said = feed(before, TableView((first, worse, third), (), ()))
    assert (session.state, said) == (before.state, ())
    assert not session.places.known[1].is_reread


def test_what_was_corrected_by_hand_is_not_read_otherwise_again() -> None:
    first, last = seen((3, 5), (0, 0)), seen((5, 2), (2, 0))
    session = line(first, last)
    play = session.state.log[-1]
    assert isinstance(play, Play)
    session, _ = feed(session, Amend(Seq(4), replace(play, tile=Tile.parse("5-1"))))
    session, said = feed(session, TableView((first, chances(last, half_1={2: 0.9999})), (), ()))
    assert said == ()
    assert session.state.game is not None
    assert [str(tile) for tile in session.state.game.layout.tiles] == ["5-3", "5-1"]


def test_a_play_said_by_hand_takes_the_tile_that_waits() -> None:
    session, said = lay(line(seen((3, 5), (0, 0))), seen((5, 4), (2, 0), sure=(0.99, 0.5)))
    assert questions(said)
    first = session.places.known[0].node
    session, said = feed(session, Play(Seat(1), Tile.parse("5-0"), Spot(first, Port.E), 5))
    assert session.open_question is None
    assert [one.node for one in session.places.known] == [first, session.state.next_seq - 1]
    session, _ = lay(session, seen((0, 6), (4, 0)))
    assert plays(session)[-1] == "6-0@5-0E"


def test_the_order_of_two_tiles_is_asked_where_points_depend_on_it() -> None:
    session, said = lay(line(seen((3, 5), (0, 0))), *TWO_AT_ONCE)
    assert len(questions(said)) == 1
    assert questions(said)[0].startswith("several tiles appeared at once")
    assert session.open_question is not None
    choice = session.open_question.choices.index("Tom 6-3, Brian 5-2")
    session, _ = feed(session, Answer(choice))
    assert plays(session) == ["5-3", "6-3@5-3W", "5-2@5-3E"]


@pytest.mark.parametrize("is_six_first", [True, False])
def test_the_order_of_two_tiles_is_not_asked_where_it_was_to_be_seen(*, is_six_first: bool) -> None:
    since_ns = (SECOND, 0) if is_six_first else (0, SECOND)
    session, said = laid_since(line(seen((3, 5), (0, 0))), *zip(TWO_AT_ONCE, since_ns, strict=True))
    assert not questions(said)
    order = ["6-3@5-3W", "5-2@5-3E"]
    assert plays(session) == ["5-3", *(order if is_six_first else order[::-1])]


def test_the_order_of_two_tiles_is_asked_where_they_were_to_be_seen_at_nearly_the_same_time() -> None:
    _, said = laid_since(line(seen((3, 5), (0, 0))), *zip(TWO_AT_ONCE, (SECOND // 10, 0), strict=True))
    assert questions(said)[0].startswith("several tiles appeared at once")


def test_a_tile_that_was_to_be_seen_first_is_laid_last_where_it_touches_nothing_before() -> None:
    early, late = (seen((2, 4), (4, 0)), 0), (seen((5, 2), (2, 0)), SECOND)
    session, _ = laid_since(line(seen((3, 5), (0, 0))), early, late)
    assert plays(session) == ["5-3", "5-2@5-3E", "4-2@5-2E"]


def test_the_order_of_two_tiles_is_not_asked_where_it_makes_no_difference() -> None:
    session, said = lay(sitting(BLOCK), seen((3, 5), (0, 0)))
    session, said = lay(session, seen((5, 2), (2, 0)), seen((3, 6), (-2, 0), 180))
    assert not questions(said)
    assert len(plays(session)) == 3


def test_two_tiles_of_one_look_that_can_hardly_be_joined_wait() -> None:
    session, said = lay(line(seen((3, 5), (0, 0))), seen((3, 5), (2.6, 0.8)), seen((0, 0), (9, 9)))
    assert plays(session) == ["5-3"]
    assert "the 0-0 does not touch an open end" in questions(said) or session.open_question is not None


def test_a_game_that_was_begun_unseen_is_taken_in_a_legal_order_and_the_points_are_asked() -> None:
    tiles = (
        seen((4, 1), (3.5, 0)),
        seen((5, 4), (1.5, 0)),
        seen((5, 5), (0, 0), 90),
        seen((2, 5), (-1.5, 0)),
        seen((5, 0), (0, 2), 90),
    )
    session, said = lay(sitting(replace(ALLFIVES, hand=7)), *tiles)
    assert len(plays(session)) == 5
    assert not problems(said)
    assert questions(said) == ["5 tiles appeared at once: are the points right?"]
    assert len(session.state.inferred) == 5
    session, _ = feed(session, Answer(0))
    assert session.open_question is None
    assert not session.state.is_provisional


def test_a_stack_is_asked_about_where_a_hand_was_at_a_tile_and_something_can_be_stolen() -> None:
    session = sitting(CUTTHROAT, seats=4)
    for tile in (seen((2, 2), (0, 0), 90), seen((2, 1), (1.5, 0)), seen((0, 2), (-1.5, 0))):
        session, _ = lay(session, tile)
    session, _ = lay(session, seen((4, 0), (-3.5, 0)))
    assert session.state.game is not None
    assert session.state.game.count.total == 5
    handled = seen((1, 2), (1.5, 0.05), 180)
    same, said = lay(session, handled)
    assert said == ()  # nothing was called, so nothing can be stolen
    session, _ = feed(session, Call(Seat(3)))
    session, said = lay(session, handled)
    assert questions(said) == ["was a second 2-1 stacked on the 2-1?"]
    session, said = feed(session, Answer(0))
    assert any(isinstance(one, Stacked) for one in said)
    assert same.open_question is None


def test_the_stack_button_asks_nothing_where_a_hand_was_at_one_tile() -> None:
    session = sitting(CUTTHROAT, seats=4)
    for tile in (seen((2, 2), (0, 0), 90), seen((2, 1), (1.5, 0)), seen((0, 2), (-1.5, 0)), seen((4, 0), (-3.5, 0))):
        session, _ = lay(session, tile)
    session, _ = feed(session, Call(Seat(3)))
    session, _ = lay(session, seen((1, 2), (1.5, 0.05), 180))
    session, said = feed(session, Press(Button.STACK))
    assert [str(one.tile) for one in said if isinstance(one, Stacked)] == ["2-1"]
    assert session.open_question is None


def test_the_stack_button_asks_only_where_more_than_one_tile_can_be_meant() -> None:
    session = sitting(CUTTHROAT, seats=4)
    for tile in (seen((2, 2), (0, 0), 90), seen((2, 1), (1.5, 0)), seen((0, 2), (-1.5, 0)), seen((4, 0), (-3.5, 0))):
        session, _ = lay(session, tile)
    session, _ = feed(session, Call(Seat(3)))
    session, said = feed(session, Press(Button.STACK))
    assert questions(said) == ["which tile was stacked on?"]
    assert session.open_question is not None
    assert set(session.open_question.choices) >= {"on the 2-1", "on the 4-0", "nothing was stacked"}
    _, said = feed(session, Answer(session.open_question.choices.index("on the 4-0")))
    assert [str(one.tile) for one in said if isinstance(one, Stacked)] == ["4-0"]
    nothing, said = feed(session, Answer(len(session.open_question.choices) - 1))
    assert nothing.state == session.state
    assert nothing.open_question is None


def test_a_stack_that_is_pressed_while_the_one_before_is_asked_about_is_asked_about_next() -> None:
    session = sitting(CUTTHROAT, seats=4)
    for tile in (seen((2, 2), (0, 0), 90), seen((2, 1), (1.5, 0)), seen((0, 2), (-1.5, 0)), seen((4, 0), (-3.5, 0))):
        session, _ = lay(session, tile)
    session, _ = feed(session, Call(Seat(3)))
    session, _ = feed(session, Press(Button.STACK))
    for press in (Press(Button.CALL, Seat(0)), Press(Button.STACK)):
        session, said = feed(session, press)
        assert said == ()
    assert session.open_question is not None
    session, said = feed(session, Answer(session.open_question.choices.index("on the 4-0")))
    assert [(one.seat, str(one.tile)) for one in said if isinstance(one, Stacked)] == [(0, "4-0")]
    assert [one.seat for one in said if isinstance(one, Scored) and one.points > 0] == [0], "the call came first"
    assert session.open_question is not None
    session, said = feed(session, Answer(session.open_question.choices.index("on the 2-1")))
    assert [(one.seat, str(one.tile)) for one in said if isinstance(one, Stacked)] == [(1, "2-1")]
    assert session.open_question is None


def test_six_arms_begin_at_any_angle_and_a_seventh_is_reported() -> None:
    session, _ = lay(sitting(SUPER, seats=3), seen((7, 7), (0, 0), 90))
    arms = [
        seen((7, 1), (1.55, 0.0)),
        seen((2, 7), (-1.5, 0.1), 4),
        seen((7, 4), (1.05, 1.85), 55),
        seen((7, 5), (1.05, -1.85), -55),
        seen((7, 6), (-1.05, 1.85), 125),
        seen((7, 8), (-1.05, -1.85), -125),
    ]
    for tile in arms:
        session, said = lay(session, tile)
        assert not questions(said)
        assert not problems(said)
    assert [one[-1] for one in plays(session)[1:]] == ["1", "2", "3", "4", "5", "6"]
    session, _ = lay(session, seen((1, 9), (3.55, 0.0)))
    assert plays(session)[-1] == "9-1@7-1E"
    session, said = lay(session, seen((7, 12), (0.0, 2.05), 90))
    assert plays(session)[-1] == "12-7@7-77"
    assert problems(said)[0].kind == "seventh_arm"


def test_any_double_lies_against_a_13() -> None:
    session, _ = lay(sitting(SUPER, seats=3), seen((7, 7), (0, 0), 90))
    session, _ = lay(session, seen((7, 13), (1.5, 0.0)))
    session, said = lay(session, seen((4, 4), (3.0, 0.0), 90))
    assert plays(session)[-1] == "4-4@13-7E"
    assert not problems(said)


def test_a_double_in_line_goes_on_at_its_tip() -> None:
    session = sitting(BLOCK)
    for tile in (
        seen((6, 6), (0, 0)),
        seen((6, 4), (2, 0)),
        seen((2, 6), (-2, 0)),
        seen((4, 4), (4, 0)),
        seen((4, 3), (6, 0)),
    ):
        session, said = lay(session, tile)
        assert not questions(said)
        assert not problems(said)
    assert plays(session)[-1] == "4-3@4-4E"


def test_drawn_tiles_change_nothing_about_a_tile_that_waits() -> None:
    session, _ = lay(line(seen((3, 5), (0, 0))), seen((5, 4), (2, 0), sure=(0.99, 0.5)))
    session, said = feed(session, Draw(Seat(1)))
    assert not questions(said)
    assert session.open_question is not None
