"""Tests of putting the score right from any state: the match continues with the layout on the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from engine import (
    ALLFIVES,
    BLOCK,
    BONES,
    DRAW,
    SUPER,
    Abandon,
    Domino,
    Event,
    ItStands,
    Lead,
    MatchStart,
    NewHand,
    Phase,
    Play,
    Remove,
    RevealPips,
    Rules,
    Seat,
    Seq,
    Tile,
    Undo,
    entries,
)
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, Button, Press
from tallybone.session.observations import numbers_of
from tallybone.session.places import Waiting
from tallybone.session.questions import Adoption, Meaning, adopting_events
from tallybone.session.session import Session
from tests.tallybone.session.gapped_table import GapAcrossDeal, GappedTable
from tests.tallybone.session.test_open_hands import over
from tests.tallybone.session.test_referee import lay, line, seen
from tests.tallybone.session.test_table_changes import removed
from tests.tallybone.session.zone_views import Table
from vision.tracking.table_view import Change, ChangeKind, TableView

GAMES = (BONES, DRAW, ALLFIVES, BLOCK, SUPER)
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


def tiles_of(session: Session) -> Counter[Tile]:
    assert session.state.game is not None
    return Counter(node.tile for node in session.state.game.layout.nodes)


def number_of(session: Session) -> int | None:
    game = session.state.game
    return None if game is None or game.hand is None else game.hand.number


def turn_of(session: Session) -> str | None:
    """Return the name of the player to move."""
    game = session.state.game
    return None if game is None or game.hand is None or game.hand.turn is None else game.players[game.hand.turn]


def phase_of(session: Session) -> Phase | None:
    return None if session.state.game is None else session.state.game.phase


def games(rules: Rules, many: int = 2) -> Iterator[tuple[GappedTable, int]]:
    """Yield games after a few plays, each with the index of its next step."""
    for seed in count():
        table = GappedTable(rules, seed, gaps=0)
        laid = [number for number, step in enumerate(table.steps) if isinstance(step.event, Play)]
        if len(laid) > PLAYS + 1:
            for number in range(laid[PLAYS]):
                table.go_on(number)
            yield table, laid[PLAYS]
            many -= 1
        if not many:
            return


def with_mistakes(session: Session, *events: Event) -> Session:
    for event in events:
        session, _ = feed(session, event)
    return session


def undone_by_mistake(session: Session) -> Session:
    done = [entry.seq for entry in entries(session.state) if isinstance(entry.action, Play)]
    return with_mistakes(session, Undo(done[-4]))


def dealt_by_mistake(session: Session) -> Session:
    return with_mistakes(session, Abandon(), NewHand())


def over_by_mistake(session: Session) -> Session:
    seq = Seq(session.state.next_seq)
    return with_mistakes(session, Domino(Seat(0)), ItStands(seq))


def entered_by_mistake(session: Session) -> Session:
    assert session.state.game is not None
    assert session.state.game.hand is not None
    layout, turn = session.state.game.layout, session.state.game.hand.turn
    end = layout.ends[0]
    matching = (Tile.of(end.number, other) for other in range(7))
    laid = {node.tile for node in layout.nodes}
    tile = next(tile for tile in matching if tile not in laid and not tile.is_double)
    assert turn is not None
    return with_mistakes(session, Play(turn, tile, end.spot))


MISTAKES = (undone_by_mistake, dealt_by_mistake, over_by_mistake, entered_by_mistake)


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_after_a_mistake_the_hand_continues_with_the_adopted_layout(
    rules: Rules, mistake: Callable[[Session], Session]
) -> None:
    for table, number in games(rules):
        before, turn = tiles_of(table.session), turn_of(table.session)
        table.session = chosen(mistake(table.session), f"hand 1 goes on: it is {turn}'s turn")
        assert (tiles_of(table.session), turn_of(table.session)) == (before, turn)
        assert phase_of(table.session) is Phase.PLAY
        for at in range(number, len(table.steps)):
            table.go_on(at)
        truth = table.steps[-1].state.game
        now = table.session.state
        assert truth is not None
        assert now.game is not None
        # The undo also removed draws and passes, which cannot be seen on the table.
        is_marked = now.is_provisional and mistake is undone_by_mistake
        assert is_marked or now.game.totals == truth.totals


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_the_layout_can_be_adopted_after_any_buttons(rules: Rules) -> None:
    buttons = [button for button in Button if button is not Button.TABLE]
    for seed, (table, _) in enumerate(games(rules, 3)):
        rng = np.random.default_rng(seed)
        truth, turn = tiles_of(table.session), turn_of(table.session)
        for _ in range(8):
            seat = None if rng.random() < 0.5 else Seat(int(rng.integers(2)))
            table.feed(Press(buttons[int(rng.integers(len(buttons)))], seat), float(rng.uniform(0.1, 5.0)))
            if table.session.questions and rng.random() < 0.5:
                table.feed(Answer(0))
        table.session = chosen(table.session, f"hand {number_of(table.session)} goes on: it is {turn}'s turn")
        assert (tiles_of(table.session), turn_of(table.session)) == (truth, turn)


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_a_gap_is_resolved_with_two_taps(rules: Rules) -> None:
    for seed in range(3):
        table = GappedTable(rules, seed, gaps=1, plays=4, are_answered=False)
        table.run_until_seen_again(1)
        on_table = Counter(Tile.of(*numbers_of(tile)) for tile in table.reader.tiles)
        truth = table._truth.game
        assert truth is not None
        assert truth.hand is not None
        if truth.phase is Phase.PLAY and truth.hand.turn is not None:
            name = truth.players[truth.hand.turn]
            table.session = chosen(table.session, f"goes on: it is {name}'s turn")
            assert (tiles_of(table.session), turn_of(table.session)) == (on_table, name)


@pytest.mark.parametrize("rules", GAMES[:4], ids=lambda rules: rules.name)
def test_an_unseen_new_hand_is_adopted(rules: Rules) -> None:
    for seed in range(3):
        table = GapAcrossDeal(rules, seed, before=3, plays=3, are_answered=False)
        for number in range(max(table.gap) + 2):
            table.go_on(number)
        on_table = Counter(Tile.of(*numbers_of(tile)) for tile in table.reader.tiles)
        is_noticed = number_of(table.session) == 2
        table.session = chosen(table.session, "hand 2 goes on" if is_noticed else "hand 2 has been dealt")
        assert tiles_of(table.session) == on_table
        assert number_of(table.session) == 2
        assert table.session.is_provisional


def asked(session: Session) -> tuple[str, ...]:
    assert session.open_question is not None
    return session.open_question.choices


def test_the_choices_are_those_that_are_possible() -> None:
    session = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    going = [[f"hand {hand} goes on: it is {name}'s turn" for name in ("Brian", "Tom")] for hand in (1, 2)]
    nothing, unshown = "leave everything unchanged", over_by_mistake(line(seen((3, 5), (0, 0))))
    ended = with_mistakes(session, Abandon())
    counted = with_mistakes(unshown, RevealPips(Seat(1), 5), NewHand())
    assert phase_of(unshown) is Phase.REVEAL
    for now, choices in (
        (session, [*going[0], "hand 1 is over", "hand 2 has been dealt", nothing]),
        (unshown, [*going[0], "hand 2 has been dealt", nothing]),
        (ended, [*going[0], "hand 2 has been dealt", nothing]),
        (with_mistakes(ended, NewHand()), [*going[1], *going[0], "hand 1 is over", nothing]),
        (counted, [*going[1], *going[0], "hand 1 is over", nothing]),
    ):
        assert asked(chosen(now)) == tuple(choices)
    assert asked(chosen(session, "is over")) == ("Brian is out", "Tom is out", "nobody can play", "it does not count")
    table = Table(BONES, NewHand((4, 2), 22), Lead(Seat(0)), yard=22)
    table.put(seen((3, 5), (0, 0)), side="bottom")
    assert asked(chosen(table.session, "is over"))[:2] == ("Ben is out", "Ann is out")  # he has fewer tiles


@pytest.mark.parametrize("turn", [Seat(0), Seat(1)])
def test_a_player_who_was_not_out_has_another_tile(turn: Seat) -> None:
    session = chosen(over().session, f"hand 1 goes on: it is {('Ann', 'Ben')[turn]}'s turn")
    assert session.state.game is not None
    assert session.state.game.hand is not None
    assert (phase_of(session), session.state.game.hand.turn) == (Phase.PLAY, turn)
    assert (session.state.game.hand.sizes, session.state.game.hand.boneyard) == ((3, 1), 23)


def test_plays_of_missing_tiles_and_of_those_joined_to_them_are_taken_back() -> None:
    first, second, third, other = (
        seen(pips, (x, 0)) for pips, x in (((3, 5), 0), ((5, 4), 2), ((4, 1), 4), ((6, 3), -2))
    )
    whole = line(first, second, third, other)
    for gone, left in ((second, (first, other)), (third, (first, second, other))):
        session, _ = removed(whole, gone)
        session = chosen(session, "hand 1 goes on: it is Tom's turn")
        assert tiles_of(session) == Counter(Tile.of(*numbers_of(tile)) for tile in left)
        assert (turn_of(session), phase_of(session)) == ("Tom", Phase.PLAY)
        assert len(session.places.dismissed) == 3 - len(left)
    known = whole.places.known
    missing = replace(whole.places, known=(*known[:3], replace(known[3], is_missing=True)))
    elsewhere = Waiting(seen((6, 3), (9, 9)))
    for waiting, dismissed, events in (
        ((elsewhere,), (), ()),
        ((), (elsewhere.tile,), ()),
        ((elsewhere,), (elsewhere.tile,), (Remove(Seq(known[3].node)),)),
        ((Waiting(seen((4, 2), (9, 9))),), (), (Remove(Seq(known[3].node)),)),
    ):
        places = replace(missing, waiting=waiting, dismissed=dismissed)
        assert adopting_events(whole.state, places, Meaning(adoption=Adoption.SAME_HAND)) == events
    others = replace(whole.places, known=(*known[:2], known[3]))  # without the third, the last would be out of turn
    assert adopting_events(whole.state, others, Meaning(adoption=Adoption.SAME_HAND)) == (Undo(Seq(known[2].node)),)


def test_tiles_of_two_hands_are_not_mixed() -> None:
    first, second, third = seen((3, 5), (0, 0)), seen((5, 4), (2, 0)), seen((4, 4), (3.5, 0), 90)
    others = seen((6, 6), (0, 4), 90), seen((6, 1), (1.5, 4))
    session = line(first, second, third)
    changes = [Change(ChangeKind.REMOVED, tile) for tile in (first, second, third)]
    changes += [Change(ChangeKind.PLACED, tile) for tile in others]
    session, _ = feed(session, TableView(others, (), tuple(changes)))
    if number_of(session) == 1:
        session = chosen(session, "hand 2 has been dealt")
    assert tiles_of(session) == Counter((Tile.of(6, 6), Tile.of(6, 1)))
    assert number_of(session) == 2
    assert session.is_provisional  # the previous hand was not counted


def test_hands_that_were_not_shown_before_a_deal_are_estimates() -> None:
    over = over_by_mistake(line(seen((3, 5), (0, 0))))
    assert phase_of(over) is Phase.REVEAL
    session = chosen(over, "hand 2 has been dealt")
    estimates = [entry.inferred for entry in entries(session.state) if isinstance(entry.action, RevealPips)]
    assert estimates == [True]
    assert session.is_provisional


def test_a_hand_dealt_after_a_counted_hand_is_not_marked() -> None:
    session = with_mistakes(line(seen((3, 5), (0, 0))), Abandon())
    before = session.state.next_seq
    session = chosen(session, "hand 2 has been dealt")
    assert session.state.log[before] == NewHand()
    assert not any(entry.inferred for entry in entries(session.state) if isinstance(entry.action, NewHand | Abandon))
    assert session.state.irregular == ()


def test_a_finished_hand_is_ended_as_answered() -> None:
    tiles = seen((3, 5), (0, 0)), seen((5, 4), (2, 0))
    session = chosen(line(*tiles), "hand 1 is over", "Tom is out")
    assert phase_of(session) is Phase.REVEAL
    assert session.state.game is not None
    assert session.state.game.hand is not None
    assert session.state.game.hand.out == 1
    assert phase_of(chosen(line(*tiles), "hand 1 is over", "nobody can play")) is Phase.REVEAL
    assert phase_of(chosen(line(*tiles), "hand 1 is over", "it does not count")) is Phase.DEAL


def test_a_premature_deal_is_undone() -> None:
    tiles = seen((3, 5), (0, 0)), seen((5, 4), (2, 0))
    over = with_mistakes(line(*tiles), Abandon())
    session = chosen(with_mistakes(over, NewHand()), "hand 1 is over")
    assert session.state.game == over.state.game
    assert tiles_of(session) == tiles_of(over)


def test_a_wrong_answer_about_the_hand_is_put_right() -> None:
    before = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    wrong = chosen(before, "hand 2 has been dealt")
    assert number_of(wrong) == 2
    session = chosen(wrong, f"hand 1 goes on: it is {turn_of(before)}'s turn")
    assert (number_of(session), turn_of(session), tiles_of(session)) == (1, turn_of(before), tiles_of(before))
    assert session.state.game is not None
    assert before.state.game is not None
    assert session.state.game.totals == before.state.game.totals


def test_declining_or_having_no_match_changes_nothing() -> None:
    session = line(seen((3, 5), (0, 0)))
    after = chosen(session, "leave everything unchanged")
    assert (after.state, after.places) == (session.state, session.places)
    assert feed(Session(), Press(Button.TABLE)) == (Session(), ())
    again = chosen(chosen(session, "leave everything unchanged"), "leave everything unchanged")
    assert (again.state, again.questions) == (session.state, ())


def test_before_the_first_hand_only_a_deal_is_offered() -> None:
    session, _ = feed(Session(), MatchStart(BLOCK, ("Ann", "Ben")))
    session, _ = feed(session, Press(Button.TABLE))
    assert session.open_question is not None
    assert session.open_question.choices == ("hand 1 has been dealt", "leave everything unchanged")
    session, _ = feed(session, Answer(0, session.open_question.topic))
    assert (number_of(session), phase_of(session)) == (1, Phase.LEAD)


def test_a_hand_abandoned_before_the_lead_does_not_continue() -> None:
    session = with_mistakes(Session(), MatchStart(BLOCK, ("Ann", "Ben")), NewHand(), Abandon())
    after = chosen(session, "hand 1 goes on")
    assert (after.state, after.adoption, after.questions) == (session.state, None, ())


def test_a_tile_apart_from_the_layout_stays_dismissed() -> None:
    laid = (seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    far = seen((6, 6), (0, 9))
    session, _ = lay(line(*laid), far)
    session = chosen(session, "hand 1 goes on")
    assert tiles_of(session) == Counter((Tile.of(3, 5), Tile.of(5, 4)))
    assert session.places.dismissed == (far,)
    pushed = seen((6, 6), (1, 9))
    session, announcements = feed(session, TableView((*laid, pushed), (), (Change(ChangeKind.MOVED, pushed, far),)))
    assert (session.places.dismissed, announcements) == ((pushed,), ())
