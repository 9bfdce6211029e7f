"""Tests of putting the score right from any state: the match continues with the layout on the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

import engine
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, Button, Press
from tallybone.session.observations import numbers_of
from tallybone.session.places import Waiting
from tallybone.session.questions import Adoption, Meaning, adopting_events
from tallybone.session.session import Session
from tests.tallybone.session.simulated_table import GappedTable
from tests.tallybone.session.test_open_hands import over
from tests.tallybone.session.test_referee import lay, line, seen
from tests.tallybone.session.test_table_changes import removed
from tests.tallybone.session.zone_views import Table
from tests.tallybone.truth_eye import game_of, hand_of
from vision.tracking.table_view import Change, ChangeKind, TableView

GAMES = (engine.BONES, engine.DRAW, engine.ALLFIVES, engine.BLOCK, pytest.param(engine.SUPER, marks=pytest.mark.slow))
NAMES = ("bones", "draw", "allfives", "block", "super")
PLAYS = 5


def chosen(session: Session, *text: str) -> Session:
    """Press "Put it right" and give the answers that contain *text*."""
    session, _ = feed(session, Press(Button.TABLE))
    for wanted in text:
        asked = session.questions[-1].ambiguity
        found = [at for at, choice in enumerate(asked.choices) if wanted in choice]
        assert found, f"{wanted}: {asked.text} {asked.choices}"
        session, _ = feed(session, Answer(found[0], asked.topic))
    return session


def tiles_of(session: Session) -> Counter[engine.Tile]:
    return Counter(node.tile for node in game_of(session).layout.nodes)


def number_of(session: Session) -> int | None:
    hand = game_of(session).hand
    return None if hand is None else hand.number


def turn_of(session: Session | engine.State) -> str | None:
    """Return the name of the player to move."""
    turn = hand_of(session).turn
    return None if turn is None else game_of(session).players[turn]


def games(rules: engine.Rules, many: int) -> Iterator[tuple[GappedTable, int]]:
    """Yield games after a few plays, each with the index of its next step."""
    for seed in count():
        table = GappedTable(rules, seed, gaps=0)
        laid = table.steps_of(engine.Play)
        if len(laid) > PLAYS + 1:
            table.go_on_until(laid[PLAYS])
            yield table, laid[PLAYS]
            many -= 1
        if not many:
            return


def with_mistakes(session: Session, *events: engine.Event) -> Session:
    for event in events:
        session, _ = feed(session, event)
    return session


def undone_by_mistake(session: Session) -> Session:
    done = [entry.seq for entry in engine.entries(session.state) if isinstance(entry.action, engine.Play)]
    return with_mistakes(session, engine.Undo(done[-4]))


def dealt_by_mistake(session: Session) -> Session:
    return with_mistakes(session, engine.Abandon(), engine.NewHand())


def over_by_mistake(session: Session) -> Session:
    seq = engine.Seq(session.state.next_seq)
    return with_mistakes(session, engine.Domino(engine.Seat(0)), engine.ItStands(seq))


def entered_by_mistake(session: Session) -> Session:
    layout, turn = game_of(session).layout, hand_of(session).turn
    end = layout.ends[0]
    matching = (engine.Tile.of(end.number, other) for other in range(7))
    laid = {node.tile for node in layout.nodes}
    tile = next(tile for tile in matching if tile not in laid and not tile.is_double)
    assert turn is not None
    return with_mistakes(session, engine.Play(turn, tile, end.spot))


MISTAKES = (undone_by_mistake, dealt_by_mistake, over_by_mistake, entered_by_mistake)


@pytest.mark.parametrize(
    ("rules", "mistake"),
    [
        *((engine.BONES, mistake) for mistake in MISTAKES),
        *((engine.DRAW, undone_by_mistake), (engine.ALLFIVES, entered_by_mistake), (engine.BLOCK, dealt_by_mistake)),
        pytest.param(engine.SUPER, over_by_mistake, marks=pytest.mark.slow),
    ],
)
def test_after_a_mistake_the_hand_continues_with_the_adopted_layout(
    rules: engine.Rules, mistake: Callable[[Session], Session]
) -> None:
    for table, number in games(rules, 1):
        before, turn = tiles_of(table.session), turn_of(table.session)
        table.session = chosen(mistake(table.session), f"hand 1 goes on: it is {turn}'s turn")
        assert (tiles_of(table.session), turn_of(table.session)) == (before, turn)
        assert game_of(table.session).phase is engine.Phase.PLAY
        table.go_on_until(len(table.steps), number)
        # The undo also removed draws and passes, which cannot be seen on the table.
        is_marked = table.session.state.is_provisional and mistake is undone_by_mistake
        assert is_marked or game_of(table.session).totals == game_of(table.truth).totals


@pytest.mark.parametrize("rules", GAMES, ids=NAMES)
def test_the_layout_can_be_adopted_after_any_buttons(rules: engine.Rules) -> None:
    buttons = [button for button in Button if button is not Button.TABLE]
    for seed, (table, _) in enumerate(games(rules, 2)):
        rng = np.random.default_rng(seed)
        truth, turn = tiles_of(table.session), turn_of(table.session)
        for _ in range(8):
            seat = None if rng.random() < 0.5 else engine.Seat(int(rng.integers(2)))
            table.feed(Press(buttons[int(rng.integers(len(buttons)))], seat), float(rng.uniform(0.1, 5.0)))
            if table.session.questions and rng.random() < 0.5:
                table.feed(Answer(0))
        table.session = chosen(table.session, f"hand {number_of(table.session)} goes on: it is {turn}'s turn")
        assert (tiles_of(table.session), turn_of(table.session)) == (truth, turn)


def tiles_seen(table: GappedTable) -> Counter[engine.Tile]:
    return Counter(engine.Tile.of(*numbers_of(tile)) for tile in table.reader.tiles)


@pytest.mark.parametrize("rules", GAMES, ids=NAMES)
def test_a_gap_is_resolved_with_two_taps(rules: engine.Rules) -> None:
    table = GappedTable(rules, 1, gaps=1, plays=4, are_answered=False)
    table.run_until_seen_again()
    assert game_of(table.truth).phase is engine.Phase.PLAY
    turn = turn_of(table.truth)
    table.session = chosen(table.session, f"goes on: it is {turn}'s turn")
    assert (tiles_of(table.session), turn_of(table.session)) == (tiles_seen(table), turn)


@pytest.mark.parametrize("rules", GAMES[:4], ids=NAMES[:4])
def test_an_unseen_new_hand_is_adopted(rules: engine.Rules) -> None:
    table = GappedTable.across_deal(rules, 0, before=3, plays=3, are_answered=False)
    table.go_on_until(max(table.gap) + 2)
    is_noticed = number_of(table.session) == 2
    table.session = chosen(table.session, "hand 2 goes on" if is_noticed else "hand 2 has been dealt")
    assert (tiles_of(table.session), number_of(table.session)) == (tiles_seen(table), 2)
    assert table.session.is_provisional


def asked(session: Session) -> tuple[str, ...]:
    assert session.open_question is not None
    return session.open_question.choices


def test_the_choices_are_those_that_are_possible() -> None:
    session = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    going = [[f"hand {hand} goes on: it is {name}'s turn" for name in ("Brian", "Tom")] for hand in (1, 2)]
    nothing, unshown = "leave everything unchanged", over_by_mistake(line(seen((3, 5), (0, 0))))
    ended = with_mistakes(session, engine.Abandon())
    counted = with_mistakes(unshown, engine.RevealPips(engine.Seat(1), 5), engine.NewHand())
    assert game_of(unshown).phase is engine.Phase.REVEAL
    for now, choices in (
        (session, [*going[0], "hand 1 is over", "hand 2 has been dealt", nothing]),
        (unshown, [*going[0], "hand 2 has been dealt", nothing]),
        (ended, [*going[0], "hand 2 has been dealt", nothing]),
        (with_mistakes(ended, engine.NewHand()), [*going[1], *going[0], "hand 1 is over", nothing]),
        (counted, [*going[1], *going[0], "hand 1 is over", nothing]),
    ):
        assert asked(chosen(now)) == tuple(choices)
    assert asked(chosen(session, "is over")) == ("Brian is out", "Tom is out", "nobody can play", "it does not count")
    table = Table(engine.BONES, engine.NewHand((4, 2), 22), engine.Lead(engine.Seat(0)), yard=22)
    table.put(seen((3, 5), (0, 0)), side="bottom")
    assert asked(chosen(table.session, "is over"))[:2] == ("Ben is out", "Ann is out")  # he has fewer tiles


@pytest.mark.parametrize("turn", [engine.Seat(0), engine.Seat(1)])
def test_a_player_who_was_not_out_has_another_tile(turn: engine.Seat) -> None:
    session = chosen(over().session, f"hand 1 goes on: it is {('Ann', 'Ben')[turn]}'s turn")
    assert (game_of(session).phase, hand_of(session).turn) == (engine.Phase.PLAY, turn)
    assert (hand_of(session).sizes, hand_of(session).boneyard) == ((3, 1), 23)


def test_plays_of_missing_tiles_and_of_those_joined_to_them_are_taken_back() -> None:
    first, second, third, other = (
        seen(pips, (x, 0)) for pips, x in (((3, 5), 0), ((5, 4), 2), ((4, 1), 4), ((6, 3), -2))
    )
    whole = line(first, second, third, other)
    for gone, left in ((second, (first, other)), (third, (first, second, other))):
        session, _ = removed(whole, gone)
        session = chosen(session, "hand 1 goes on: it is Tom's turn")
        assert tiles_of(session) == Counter(engine.Tile.of(*numbers_of(tile)) for tile in left)
        assert (turn_of(session), game_of(session).phase) == ("Tom", engine.Phase.PLAY)
        assert len(session.places.dismissed) == 3 - len(left)
    known = whole.places.known
    missing = replace(whole.places, known=(*known[:3], replace(known[3], is_missing=True)))
    elsewhere = Waiting(seen((6, 3), (9, 9)))
    for waiting, dismissed, events in (
        ((elsewhere,), (), ()),
        ((), (elsewhere.tile,), ()),
        ((elsewhere,), (elsewhere.tile,), (engine.Remove(engine.Seq(known[3].node)),)),
        ((Waiting(seen((4, 2), (9, 9))),), (), (engine.Remove(engine.Seq(known[3].node)),)),
    ):
        places = replace(missing, waiting=waiting, dismissed=dismissed)
        assert adopting_events(whole.state, places, Meaning(adoption=Adoption.SAME_HAND)) == events
    others = replace(whole.places, known=(*known[:2], known[3]))  # without the third, the last would be out of turn
    assert adopting_events(whole.state, others, Meaning(adoption=Adoption.SAME_HAND)) == (
        engine.Undo(engine.Seq(known[2].node)),
    )


def test_tiles_of_two_hands_are_not_mixed() -> None:
    first, second, third = seen((3, 5), (0, 0)), seen((5, 4), (2, 0)), seen((4, 4), (3.5, 0), 90)
    others = seen((6, 6), (0, 4), 90), seen((6, 1), (1.5, 4))
    session = line(first, second, third)
    changes = [Change(ChangeKind.REMOVED, tile) for tile in (first, second, third)]
    changes += [Change(ChangeKind.PLACED, tile) for tile in others]
    session, _ = feed(session, TableView(others, (), tuple(changes)))
    if number_of(session) == 1:
        session = chosen(session, "hand 2 has been dealt")
    assert tiles_of(session) == Counter((engine.Tile.of(6, 6), engine.Tile.of(6, 1)))
    assert number_of(session) == 2
    assert session.is_provisional  # the previous hand was not counted


def test_a_deal_is_marked_unless_the_hand_before_was_counted() -> None:
    over = over_by_mistake(line(seen((3, 5), (0, 0))))
    assert game_of(over).phase is engine.Phase.REVEAL
    session = chosen(over, "hand 2 has been dealt")
    estimates = [
        entry.inferred for entry in engine.entries(session.state) if isinstance(entry.action, engine.RevealPips)
    ]
    assert (estimates, session.is_provisional) == ([True], True)
    session = with_mistakes(line(seen((3, 5), (0, 0))), engine.Abandon())
    before = session.state.next_seq
    session = chosen(session, "hand 2 has been dealt")
    assert session.state.log[before] == engine.NewHand()
    assert not any(
        entry.inferred
        for entry in engine.entries(session.state)
        if isinstance(entry.action, engine.NewHand | engine.Abandon)
    )
    assert session.state.irregular == ()


def test_a_finished_hand_is_ended_as_answered_and_a_premature_deal_is_undone() -> None:
    before = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    session = chosen(before, "hand 1 is over", "Tom is out")
    assert (game_of(session).phase, hand_of(session).out) == (engine.Phase.REVEAL, 1)
    assert game_of(chosen(before, "hand 1 is over", "nobody can play")).phase is engine.Phase.REVEAL
    assert game_of(chosen(before, "hand 1 is over", "it does not count")).phase is engine.Phase.DEAL
    over = with_mistakes(before, engine.Abandon())
    session = chosen(with_mistakes(over, engine.NewHand()), "hand 1 is over")
    assert session.state.game == over.state.game
    assert tiles_of(session) == tiles_of(over)


def test_a_wrong_answer_about_the_hand_is_put_right() -> None:
    before = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    wrong = chosen(before, "hand 2 has been dealt")
    assert number_of(wrong) == 2
    session = chosen(wrong, f"hand 1 goes on: it is {turn_of(before)}'s turn")
    assert (number_of(session), turn_of(session), tiles_of(session)) == (1, turn_of(before), tiles_of(before))
    assert game_of(session).totals == game_of(before).totals


def test_declining_or_having_no_match_changes_nothing() -> None:
    session = line(seen((3, 5), (0, 0)))
    after = chosen(session, "leave everything unchanged")
    assert (after.state, after.places) == (session.state, session.places)
    assert feed(Session(), Press(Button.TABLE)) == (Session(), ())
    again = chosen(chosen(session, "leave everything unchanged"), "leave everything unchanged")
    assert (again.state, again.questions) == (session.state, ())


def test_before_the_first_hand_only_a_deal_is_offered() -> None:
    session, _ = feed(Session(), engine.MatchStart(engine.BLOCK, ("Ann", "Ben")))
    session, _ = feed(session, Press(Button.TABLE))
    assert session.open_question is not None
    assert session.open_question.choices == ("hand 1 has been dealt", "leave everything unchanged")
    session, _ = feed(session, Answer(0, session.open_question.topic))
    assert (number_of(session), game_of(session).phase) == (1, engine.Phase.LEAD)


def test_a_hand_abandoned_before_the_lead_does_not_continue() -> None:
    session = with_mistakes(
        Session(), engine.MatchStart(engine.BLOCK, ("Ann", "Ben")), engine.NewHand(), engine.Abandon()
    )
    after = chosen(session, "hand 1 goes on")
    assert (after.state, after.adoption, after.questions) == (session.state, None, ())


def test_a_tile_apart_from_the_layout_stays_dismissed() -> None:
    laid = (seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    far = seen((6, 6), (0, 9))
    session, _ = lay(line(*laid), far)
    session = chosen(session, "hand 1 goes on")
    assert tiles_of(session) == Counter((engine.Tile.of(3, 5), engine.Tile.of(5, 4)))
    assert session.places.dismissed == (far,)
    pushed = seen((6, 6), (1, 9))
    session, announcements = feed(session, TableView((*laid, pushed), (), (Change(ChangeKind.MOVED, pushed, far),)))
    assert (session.places.dismissed, announcements) == ((pushed,), ())
