"""Tests of reversing events: scores, layout and order are restored."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine import Amend, Confirmed, Event, Inferred, ItStands, Knock, NodeId, Play, Remove, Seat, Seq, Undo, entries
from tallybone.session.course import reversal_events
from tests.tallybone.web.test_meant import FIRST, LEADS, played

WRONG = Play(Seat(0), engine.Tile(5, 6), engine.Spot(NodeId(LEADS), engine.Port.E))


def after(state: engine.State, events: Iterable[Event]) -> engine.State:
    for event in events:
        state, _ = engine.apply(state, event)
    return state


def seen(state: engine.State) -> object:
    """Return the visible state of a match, without the ids of restored actions."""
    game = state.game
    if game is None:
        return None  # the start of the match was removed
    names = {entry.seq: at for at, entry in enumerate(entries(state))}
    hand = game.hand
    tiles = [
        (node.tile, node.inner, node.joins and (names[Seq(node.joins.host)], node.joins.port))
        for node in game.layout.nodes
    ]
    ends = [(names[Seq(end.spot.host)], end.spot.port, end.number, end.playable) for end in game.layout.ends]
    wrong = [names[seq] for seq in state.irregular]
    accepted = [(entry.accepted, entry.inferred) for entry in entries(state)]
    return game.scores, game.phase, tiles, ends, wrong, accepted, hand and (hand.sizes, hand.turn, hand.boneyard)


@pytest.mark.parametrize(
    "event",
    [
        Knock(Seat(0)),
        engine.Adjust(Seat(0), 15, "kind"),
        Amend(Seq(FIRST), WRONG),
        Amend(Seq(LEADS), Play(Seat(1), engine.Tile(5, 5))),
        engine.Insert(Seq(FIRST), Knock(Seat(1))),
        Remove(Seq(LEADS)),
        Remove(Seq(FIRST)),
        Remove(Seq(10)),
        Undo(Seq(10)),
        Undo(Seq(5)),
    ],
    ids=repr,
)
def test_reversing_an_event_restores_the_match(event: Event) -> None:
    before = played()
    done = after(before, (event,))
    assert seen(done) != seen(before)
    back = reversal_events(done, len(before.log))
    assert back
    assert seen(after(done, back)) == seen(before)


def test_reversing_restores_acceptances_and_inferences() -> None:
    wrong, removals = Amend(Seq(FIRST), WRONG), (Remove(Seq(FIRST)), Undo(Seq(FIRST)))
    host = NodeId(FIRST)
    joined = next(
        entry.seq
        for entry in entries(played())
        if isinstance(entry.action, Play) and entry.action.at is not None and entry.action.at.host == host
    )
    confirmed = (Confirmed((Seq(FIRST),)), Confirmed((Seq(LEADS), Seq(FIRST), Seq(10))))
    changes: list[tuple[tuple[Event, ...], tuple[Event, ...]]] = [
        ((wrong, ItStands(Seq(FIRST))), (wrong, *removals)),
        ((ItStands(joined),), (Remove(Seq(FIRST)),)),  # the host of an accepted play
        (
            (Inferred((Seq(LEADS), Seq(FIRST))),),
            (wrong, ItStands(Seq(FIRST)), Remove(Seq(LEADS)), *removals, *confirmed),
        ),
    ]
    for earlier, events in changes:
        before = after(played(), earlier)
        assert Seq(FIRST) not in before.irregular
        for event in events:
            done = after(before, (event,))
            assert done.inferred != before.inferred or not before.inferred
            assert seen(after(done, reversal_events(done, len(before.log)))) == seen(before), event


def test_a_confirmation_of_a_removed_action_cannot_be_reversed() -> None:
    before = after(played(), (Inferred((Seq(10),)),))
    done = after(before, (Confirmed((Seq(10),)), Remove(Seq(10))))
    assert reversal_events(done, len(before.log)) == ()
    assert reversal_events(after(played(), (Confirmed((Seq(10),)),)), len(played().log)) == (), "no action was inferred"


def test_deals_unknown_events_and_superseded_events_cannot_be_reversed() -> None:
    state = played()
    assert reversal_events(state, 1) == ()
    assert reversal_events(state, -1) == ()
    assert reversal_events(state, 99) == ()
    undone = after(state, (Undo(Seq(10)), Knock(Seat(0))))
    assert reversal_events(undone, len(state.log)) == ()


Change = tuple[type[Remove | Undo | ItStands], int]


@given(st.lists(st.tuples(st.sampled_from((Remove, Undo, ItStands)), st.integers(0, 14)), max_size=6))
@settings(max_examples=20, deadline=None)
def test_a_removal_is_reversed_after_any_other_changes(
    changes: list[tuple[type[Remove | Undo | ItStands], int]],
) -> None:
    state = played()
    for kind, seq in changes:
        at, before = len(state.log), state
        state = after(state, (kind(Seq(seq)),))
        back = reversal_events(state, at)
        if back and kind is Remove:
            assert seen(after(state, back)) == seen(before)
