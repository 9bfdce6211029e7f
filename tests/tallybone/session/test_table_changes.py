"""Tests of changes on the table: removed, moved, stacked and reread tiles, and several at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import engine
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, Button, Press
from tallybone.session.observations import FIRST_NAME, Observation, Piece, SortedView, TablePieces, is_at, looked
from tallybone.session.places import Known, Laid, Places, Waiting, footprint_of, halves_of
from tallybone.session.session import Announcement, Session, with_places
from tests.tallybone.session.test_referee import lay, line, look, on_table, plays, problems, questions, seen
from tests.tallybone.truth_eye import game_of, hand_of
from vision.reading import Face, SeenTile
from vision.tracking.table_view import Change, ChangeKind, TableView

ALL = ("Ann", "Ben", "Cleo", "Dora")


SECOND = 1_000_000_000
TWO_AT_ONCE = (seen((5, 2), (2, 0)), seen((3, 6), (-2, 0), 180))


def laid_since(session: Session, *tiles: tuple[SeenTile, int | None]) -> tuple[Session, tuple[Announcement, ...]]:
    """Show new tiles in a single view, each with its own time of first visibility."""
    changes = tuple(Change(ChangeKind.PLACED, tile, since_ns=since_ns) for tile, since_ns in tiles)
    return shown(session, *on_table(session), *(tile for tile, _ in tiles), changes=changes)


def shown(
    session: Session, *tiles: SeenTile, changes: tuple[Change, ...] = ()
) -> tuple[Session, tuple[Announcement, ...]]:
    """Show the whole table, three seconds after the last input."""
    return feed(session, TableView(tiles, (), changes), t_ns=session.t_ns + 3 * SECOND)


def removed(session: Session, *tiles: SeenTile) -> tuple[Session, tuple[Announcement, ...]]:
    left = (tile for tile in on_table(session) if tile not in tiles)
    return shown(session, *left, changes=tuple(Change(ChangeKind.REMOVED, tile) for tile in tiles))


def moved(session: Session, before: SeenTile, now: SeenTile) -> tuple[Session, tuple[Announcement, ...]]:
    tiles = (now if tile == before else tile for tile in on_table(session))
    return shown(session, *tiles, changes=(Change(ChangeKind.MOVED, now, before),))


def started_session(rules: engine.Rules, *events: engine.Event, seats: int = 2) -> Session:
    session = Session()
    free = replace(
        rules, lead_first=engine.LeadRule.CHOSEN_ANY_DOUBLE if rules is engine.SUPER else engine.LeadRule.LOT_ANY
    )
    for event in (engine.MatchStart(free, ALL[:seats]), engine.NewHand(), engine.Lead(engine.Seat(0)), *events):
        session, _ = feed(session, event)
    return session


def chances(tile: SeenTile, **by_half: dict[int, float]) -> SeenTile:
    """Return the tile with other chances for its halves *half_0* and *half_1*."""
    first, second = (
        replace(half, chances=tuple(by_half[name].get(number, 0.0) for number in range(7))) if name in by_half else half
        for name, half in zip(("half_0", "half_1"), halves_of(tile), strict=True)
    )
    return replace(tile, halves=(first, second))


def test_a_removed_last_tile_is_undone() -> None:
    first, last = seen((3, 5), (0, 0)), seen((5, 4), (2, 0))
    before = line(first, last)
    session, announcements = removed(before, last)
    assert plays(session) == ["5-3"]
    assert any(isinstance(announcement, engine.Revised) for announcement in announcements)
    other, _ = lay(session, seen((5, 6), (2, 0)))  # in its place
    assert (plays(other), other.places.waiting) == (["5-3", "6-5@5-3E"], ())
    again, _ = shown(Session.resumed(before.state, before.places, t_ns=before.t_ns), first, last)
    assert plays(removed(again, last)[0]) == ["5-3"]
    session, _ = lay(session, seen((3, 6), (-2, 0), 180))
    play = session.state.log[-1]
    assert isinstance(play, engine.Play)
    assert (play.seat, str(play.tile)) == (1, "6-3")
    assert not session.is_provisional


def test_a_resumed_session_has_the_places_of_the_recording() -> None:
    first, last, waiting, other = (
        seen((3, 5), (0, 0)),
        seen((5, 4), (2, 0)),
        seen((6, 6), (0, 9)),
        seen((3, 1), (-9, 0)),
    )
    state = line(first, last).state
    names = [node.id for node in state.game.layout.nodes] if state.game is not None else []
    known = tuple(
        Known(Laid(name, footprint_of(tile)), tile, is_settled=at == 1, is_missing=at == 1, name=int(name))
        for at, (name, tile) in enumerate(zip(names, (first, last), strict=True))
    )
    fresh = Waiting(waiting, (engine.Seat(1),), 5, FIRST_NAME)
    places = Places(known, (fresh,), (other,), missing=2, own=3, other=1)
    session = Session.resumed(state, places, t_ns=9)
    assert with_places(session).places == places
    assert [piece.name for piece in session.table.pieces] == [names[0], FIRST_NAME, FIRST_NAME + 1]
    assert ([piece.name for piece in session.table.lost], session.table.next_name) == ([names[1]], FIRST_NAME + 2)
    assert (list(session.idle), list(session.named), session.is_deaf) == ([FIRST_NAME + 1], [names[1]], True)
    assert [each.seqs for each in session.path] == [(), (1,), (2,), (3,), (4,)]
    assert (session.t_ns, session.is_provisional, session.questions) == (9, False, ())


@pytest.mark.parametrize(
    ("now", "changes", "stay", "moved", "fresh"),
    [
        ((None, None, None), {}, "ABC", "", 0),
        ((None, ((5, 4), (2.49, 0)), None), {}, "ABC", "B", 0),
        ((None, ((5, 4), (2.51, 0)), None), {}, "AC", "", 1),
        ((None, ((5, 4), (2, 1.49)), None), {1: ChangeKind.MOVED}, "ABC", "B", 0),
        ((None, ((5, 4), (2, 1.51)), None), {1: ChangeKind.MOVED}, "AC", "", 1),
        ((None, ((5, 4), (2, 1.49)), None), {1: ChangeKind.PLACED}, "AC", "", 1),
        ((None, ((5, 6), (2, 0)), None), {}, "ABC", "B", 0),
        ((None, ((2, 6), (2, 0)), None), {}, "AC", "", 1),
        ((((6, 5), (0, 0)), ((5, 2), (2, 0)), None), {}, "C", "", 2),  # most tiles differ: it is another layout
        ((None, (), None), {}, "ABC", "", 0),  # turned face down
        (((), (), None), {}, "C", "", 0),  # being shuffled
    ],
)
def test_a_piece_is_followed_while_it_may_be_the_same_tile(
    now: tuple[Any, ...], changes: dict[int, ChangeKind], stay: str, moved: str, fresh: int
) -> None:
    old = tuple(seen(pips, (x, 0)) for pips, x in (((3, 5), 0), ((5, 4), 2), ((4, 1), 4)))
    watched = TablePieces(tuple(Piece(engine.NodeId(at), tile) for at, tile in enumerate(old)))
    tiles = [
        tile if to is None else seen(*to) if to else SeenTile(Face.DOWN, tile.corners_px, ())
        for to, tile in zip(now, old, strict=True)
    ]
    view = TableView(tuple(tiles), (), tuple(Change(kind, tiles[at], old[at]) for at, kind in changes.items()))
    table, look = looked(watched, SortedView(view), Observation(0))
    assert [piece.name for piece in table.pieces if piece.name < FIRST_NAME] == ["ABC".index(name) for name in stay]
    assert [piece.name for piece in look.moved] == ["ABC".index(name) for name in moved]
    assert look.gone == tuple(at for at, name in enumerate("ABC") if name not in stay)
    assert [piece.name for piece in look.pieces] == [FIRST_NAME + at for at in range(fresh)]
    assert (table.next_name, look.outside) == (FIRST_NAME + fresh, sum(tile.face is Face.UP for tile in tiles))
    _, look = looked(table, SortedView(TableView(old, (), ())), Observation(1))
    backs = [piece.name for piece in look.back]
    assert backs == [piece.name for piece in table.lost if len(stay) > 1]


def test_a_covered_tile_counts_as_before() -> None:
    first, last = seen((3, 5), (0, 0)), seen((5, 5), (1.5, 0), 90)
    session = line(first, last)
    before = session.state.game
    session, _ = removed(session, last)
    session, announcements = lay(session, last)
    assert not questions(announcements)
    assert before is not None
    assert game_of(session).totals == before.totals
    assert before.hand is not None
    assert hand_of(session).turn == before.hand.turn


def test_a_removed_earlier_tile_still_counts() -> None:
    first, second, last = seen((3, 5), (0, 0)), seen((5, 4), (2, 0)), seen((4, 1), (4, 0))
    session, _ = removed(line(first, second, last), second)
    session, _ = look(session)
    assert plays(session) == ["5-3", "5-4@5-3E", "4-1@5-4E"]
    assert [known.is_missing for known in session.places.known] == [False, True, False]
    session, _ = lay(session, second)
    assert plays(session) == ["5-3", "5-4@5-3E", "4-1@5-4E"]
    assert not any(known.is_missing for known in session.places.known)


def test_clearing_the_table_undoes_nothing() -> None:
    tiles = seen((3, 5), (0, 0)), seen((5, 4), (2, 0)), seen((4, 1), (4, 0))
    session = line(*tiles)
    after, announcements = removed(session, *tiles)
    assert announcements == ()
    assert after.state == session.state


def test_a_tile_moved_before_the_next_play_counts_at_the_new_end() -> None:
    first, last = seen((3, 3), (0, 0), 90), seen((3, 4), (1.5, 0))
    session, _ = moved(line(first, last), last, seen((4, 3), (-1.5, 0)))
    assert plays(session) == ["3-3", "4-3@3-3W"]
    assert not session.state.irregular
    session, _ = lay(session, seen((3, 6), (1.5, 0)))
    assert plays(session) == ["3-3", "4-3@3-3W", "6-3@3-3E"]


def test_a_nudge_changes_only_the_position() -> None:
    first, last = seen((3, 5), (0, 0)), seen((5, 4), (2, 0))
    session = line(first, last)
    after, announcements = moved(session, last, seen((5, 4), (2.1, 0.55), 9))
    assert announcements == ()
    assert after.state == session.state
    after, _ = lay(after, seen((4, 6), (4.05, 0.85), 9))
    assert plays(after)[-1] == "6-4@5-4E"


def test_an_undone_tile_is_ignored_until_it_is_laid_or_entered_again() -> None:
    first, last = seen((3, 5), (0, 0)), seen((5, 4), (2, 0))
    before = line(first, last)
    undone, _ = feed(before, Press(Button.UNDO))
    entered, _ = feed(undone, before.state.log[-1])
    assert [known_tile.node for known_tile in entered.places.known] == [3, 6]
    assert entered.places.dismissed == ()
    assert plays(lay(entered, seen((4, 0), (4, 0)))[0])[-1] == "4-0@5-4E"
    session = undone
    session, _ = feed(session, TableView((first, last), (), ()))
    assert session.state.game is not None
    assert [str(tile) for tile in session.state.game.layout.tiles] == ["5-3"]
    session, _ = removed(session, last)
    session, _ = lay(session, seen((5, 4), (2, 0)))
    assert [str(tile) for tile in game_of(session).layout.tiles] == ["5-3", "5-4"]


@pytest.mark.parametrize(("confidence", "tile"), [(0.93, "5-4"), (0.99, "5-4"), (0.9999, "6-5")])
def test_a_later_tile_corrects_its_neighbour_or_is_reported(confidence: float, tile: str) -> None:
    read_wrong = chances(seen((5, 6), (2, 0)), half_1={6: confidence, 4: 1 - confidence})
    session, _ = lay(line(seen((3, 5), (0, 0))), read_wrong)
    assert plays(session)[-1] == "6-5@5-3E"
    session, announcements = lay(session, seen((4, 1), (4, 0)))
    assert plays(session) == ["5-3", f"{tile}@5-3E", f"4-1@{tile}E"]
    assert any("that end needs a 6" in problem.text for problem in problems(announcements)) is (tile == "6-5")
    assert any(isinstance(event, engine.Amend) for event in session.state.log) is (tile == "5-4")


def test_a_duplicate_tile_corrects_the_first() -> None:
    read_wrong = chances(seen((5, 6), (2, 0)), half_1={6: 0.93, 4: 0.07})
    session, _ = lay(line(seen((3, 5), (0, 0)), seen((6, 3), (-2, 0))), read_wrong)
    session, _ = lay(session, seen((6, 5), (-4, 0), 180))
    assert [str(tile) for tile in game_of(session).layout.tiles] == ["5-3", "6-3", "5-4", "6-5"]
    assert not session.state.irregular


@pytest.mark.parametrize("is_reported", [True, False])
def test_a_better_reading_amends_the_play_and_its_points(*, is_reported: bool) -> None:
    first, last = seen((3, 5), (0, 0)), chances(seen((5, 2), (2, 0)), half_1={2: 0.93, 1: 0.07})
    session, _ = lay(line(first), last)
    assert session.state.game is not None
    assert session.state.game.totals == (0, 5)
    better = chances(seen((5, 1), (2, 0)), half_1={1: 0.999})
    changes = (Change(ChangeKind.REREAD, better, last),) if is_reported else ()
    session, announcements = shown(session, first, better, changes=changes)
    played = session.state.log[4]
    assert isinstance(played, engine.Play)
    assert engine.Amend(engine.Seq(4), replace(played, tile=engine.Tile.parse("5-1"))) in session.state.log
    assert game_of(session).totals == (0, 0)
    assert any(isinstance(announcement, engine.Revised) for announcement in announcements)


def test_a_worse_contradicted_reading_is_ignored() -> None:
    first, third = seen((3, 5), (0, 0)), seen((4, 1), (4, 0))
    before = line(first, seen((5, 4), (2, 0)), third)
    worse = chances(seen((5, 6), (2, 0)), half_1={6: 0.6, 4: 0.4})
    session, announcements = shown(before, first, worse, third)
    assert (session.state.game, announcements) == (before.state.game, ())
    assert not session.is_provisional


def test_a_manual_correction_overrides_later_readings() -> None:
    first, last = seen((3, 5), (0, 0)), seen((5, 2), (2, 0))
    session = line(first, last)
    play = session.state.log[-1]
    assert isinstance(play, engine.Play)
    session, _ = feed(session, engine.Amend(engine.Seq(4), replace(play, tile=engine.Tile.parse("5-1"))))
    session, announcements = feed(session, TableView((first, chances(last, half_1={2: 0.9999})), (), ()))
    assert announcements == ()
    assert [str(tile) for tile in game_of(session).layout.tiles] == ["5-3", "5-1"]


def test_a_manual_play_takes_the_waiting_tile() -> None:
    session, _ = lay(line(seen((3, 5), (0, 0))), seen((5, 1), (9, 0)))
    assert len(session.places.waiting) == 1
    first = session.places.known[0].node
    session, _ = feed(
        session, engine.Play(engine.Seat(1), engine.Tile.parse("5-0"), engine.Spot(first, engine.Port.E), 5)
    )
    assert (session.places.waiting, session.is_provisional) == ((), False)
    assert [known_tile.node for known_tile in session.places.known] == [first, session.state.next_seq - 1]
    session, _ = lay(session, seen((0, 6), (11, 0)))
    assert plays(session)[-1] == "6-0@5-0E"


@pytest.mark.parametrize("since_ns", [None, (SECOND // 10, 0)], ids=["unknown times", "almost at once"])
def test_the_order_of_two_tiles_is_asked_if_points_depend_on_it(since_ns: tuple[int, int] | None) -> None:
    session = line(seen((3, 5), (0, 0)))
    tiles = zip(TWO_AT_ONCE, since_ns or (None, None), strict=True)
    session, _ = laid_since(session, *tiles)
    session, announcements = look(session)
    assert questions(announcements) == ["what is the score?"]
    assert session.open_question is not None
    five, nothing, other = session.open_question.choices
    assert {text[:5] for text in (five, nothing)} == {"Tom 5", "Tom 0"}
    assert other == "something else"
    for choice, order in (("Tom 0", ["6-3@5-3W", "5-2@5-3E"]), ("Tom 5", ["5-2@5-3E", "6-3@5-3W"])):
        at = next(at for at, text in enumerate(session.open_question.choices) if text.startswith(choice))
        answered, _ = feed(session, Answer(at))
        assert plays(answered) == ["5-3", *order]
        assert (answered.open_question, answered.is_provisional) == (None, False)


@pytest.mark.parametrize("is_six_first", [True, False])
def test_the_order_of_two_tiles_is_known_from_their_times(*, is_six_first: bool) -> None:
    since_ns = (SECOND, 0) if is_six_first else (0, SECOND)
    session, announcements = laid_since(line(seen((3, 5), (0, 0))), *zip(TWO_AT_ONCE, since_ns, strict=True))
    assert not questions(announcements)
    order = ["6-3@5-3W", "5-2@5-3E"]
    assert plays(session) == ["5-3", *(order if is_six_first else order[::-1])]


def test_the_order_of_two_tiles_is_known_if_joined_and_not_asked_without_points() -> None:
    early, late = (seen((2, 4), (4, 0)), 0), (seen((5, 2), (2, 0)), SECOND)
    session, _ = laid_since(line(seen((3, 5), (0, 0))), early, late)
    assert plays(session) == ["5-3", "5-2@5-3E", "4-2@5-2E"]
    session, _ = lay(started_session(engine.BLOCK), seen((3, 5), (0, 0)))
    session, announcements = lay(session, *TWO_AT_ONCE)
    assert not questions(announcements)
    assert len(plays(session)) == 3


def test_two_badly_placed_tiles_wait() -> None:
    session, _ = lay(line(seen((3, 5), (0, 0))), seen((3, 5), (2.6, 0.8)), seen((0, 0), (9, 9)))
    session, _ = look(session)
    assert (plays(session), len(session.places.waiting)) == (["5-3"], 2)
    assert session.is_provisional
    session, _ = lay(line(seen((3, 5), (0, 0))), seen((4, 1), (9, 0)))
    session, _ = feed(session, engine.Draw(engine.Seat(1)))
    assert len(session.places.waiting) == 1
    assert look(session)[0].is_provisional


def test_an_unseen_start_gets_a_legal_order_and_a_question_about_points() -> None:
    tiles = (
        seen((4, 1), (3.5, 0)),
        seen((5, 4), (1.5, 0)),
        seen((5, 5), (0, 0), 90),
        seen((2, 5), (-1.5, 0)),
        seen((5, 0), (0, 2), 90),
    )
    session, announcements = lay(started_session(replace(engine.ALLFIVES, hand=7)), *tiles)
    assert len(plays(session)) == 5
    assert not problems(announcements)
    session, announcements = look(session)
    assert questions(announcements) == ["what is the score?"]
    assert len(session.state.inferred) == 5
    assert session.open_question is not None
    for at in range(3):
        answered, _ = feed(session, Answer(at))
        assert session.open_question.choices[at].startswith(f"Ann {game_of(answered).totals[0]}, ")
        assert len(plays(answered)) == 5
        assert answered.open_question is None


def called() -> Session:
    """Return a game in which Dora has called five points, and a 2-1 and a 4-0 can be stacked on."""
    session = started_session(engine.CUTTHROAT, seats=4)
    for tile in (seen((2, 2), (0, 0), 90), seen((2, 1), (1.5, 0)), seen((0, 2), (-1.5, 0)), seen((4, 0), (-3.5, 0))):
        session, _ = lay(session, tile)
    session, _ = feed(session, engine.Call(engine.Seat(3)))
    assert game_of(session).totals == (0, 0, 0, 5)
    return session


def handled(session: Session, tile: SeenTile) -> tuple[Session, tuple[Announcement, ...]]:
    """Show *tile* at the place of another, as if it had been placed on it."""
    tiles = (tile if is_at(footprint_of(tile), old) else old for old in on_table(session))
    return shown(session, *tiles, changes=(Change(ChangeKind.PLACED, tile),))


def stacked(announcements: tuple[Announcement, ...]) -> list[tuple[int, str]]:
    return [
        (announcement.seat, str(announcement.tile))
        for announcement in announcements
        if isinstance(announcement, engine.Stacked)
    ]


@pytest.mark.parametrize(("after_s", "tiles"), [(1.0, [(0, "2-1")]), (5.9, [(0, "2-1")]), (6.0, [])])
def test_a_handled_tile_is_a_stack_if_the_button_is_pressed(after_s: float, tiles: list[tuple[int, str]]) -> None:
    session, announcements = handled(called(), seen((1, 2), (1.5, 0.05), 180))
    assert announcements == ()
    at_ns = session.t_ns + round(after_s * SECOND)
    session, _ = feed(session, TableView(on_table(session), (), ()), t_ns=at_ns)
    session, announcements = feed(session, Press(Button.STACK), t_ns=at_ns)
    assert stacked(announcements) == tiles
    assert (session.open_question, session.is_provisional) == (None, False)
    early = called()
    early, announcements = feed(early, Press(Button.STACK), t_ns=early.t_ns + SECOND)
    assert announcements == ()  # the button waits for the tile
    assert stacked(handled(early, seen((4, 0), (-3.5, 0.05)))[1]) == [(0, "4-0")]


def test_consecutive_stacks_steal_points_from_one_another() -> None:
    session, totals, laid = called(), [], []
    for seat, tile in ((0, seen((1, 2), (1.5, 0.05), 180)), (1, seen((4, 0), (-3.5, 0.05)))):
        session, _ = handled(session, tile)
        for press in (Press(Button.STACK), Press(Button.CALL, engine.Seat(seat))):
            session, announcements = feed(session, press, t_ns=session.t_ns + SECOND // 2)
            laid += stacked(announcements)
        totals.append(game_of(session).totals)
    assert totals[0] == (5, 0, 0, 0)
    assert laid == [(0, "2-1"), (1, "4-0")]
    assert not session.state.irregular


def test_six_arms_at_any_angle_and_a_reported_seventh() -> None:
    session, _ = lay(started_session(engine.SUPER, seats=3), seen((7, 7), (0, 0), 90))
    arms = [
        seen((7, 1), (1.55, 0.0)),
        seen((2, 7), (-1.5, 0.1), 4),
        seen((7, 4), (1.05, 1.85), 55),
        seen((7, 5), (1.05, -1.85), -55),
        seen((7, 6), (-1.05, 1.85), 125),
        seen((7, 8), (-1.05, -1.85), -125),
    ]
    for tile in arms:
        session, announcements = lay(session, tile)
        assert not questions(announcements)
        assert not problems(announcements)
    assert [play[-1] for play in plays(session)[1:]] == ["1", "2", "3", "4", "5", "6"]
    session, _ = lay(session, seen((1, 9), (3.55, 0.0)))
    assert plays(session)[-1] == "9-1@7-1E"
    on_13, _ = lay(started_session(engine.SUPER, seats=3), seen((7, 7), (0, 0), 90))
    on_13, _ = lay(on_13, seen((7, 13), (1.5, 0.0)))
    on_13, announcements = lay(on_13, seen((4, 4), (3.0, 0.0), 90))
    assert (plays(on_13)[-1], problems(announcements)) == ("4-4@13-7E", [])  # a 13 accepts any double
    session, announcements = lay(session, seen((7, 12), (0.0, 2.05), 90))
    assert plays(session)[-1] == "12-7@7-77"
    assert problems(announcements)[0].kind == "seventh_arm"


def test_a_double_in_line_continues_at_its_tip() -> None:
    session = started_session(engine.BLOCK)
    for tile in (
        seen((6, 6), (0, 0)),
        seen((6, 4), (2, 0)),
        seen((2, 6), (-2, 0)),
        seen((4, 4), (4, 0)),
        seen((4, 3), (6, 0)),
    ):
        session, announcements = lay(session, tile)
        assert not questions(announcements)
        assert not problems(announcements)
    assert plays(session)[-1] == "4-3@4-4E"
