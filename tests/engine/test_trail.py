"""Tests of the growing tuple that holds the log of a match, and of corrections in constant time."""

from __future__ import annotations

import copy
import threading
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.game.fold import entries_in
from engine.value import Trail


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9))))
def test_a_trail_is_a_tuple_whatever_was_added_to_others(steps: list[tuple[int, int]]) -> None:
    trails: list[tuple[Trail[int], tuple[int, ...]]] = [(Trail(), ())]
    for at, item in steps:
        trail, known = trails[at % len(trails)]
        trails.append((trail.with_item(item), (*known, item)))
    for trail, known in trails:
        assert trail == known
        assert (hash(trail), len(trail), repr(trail)) == (hash(known), len(known), repr(known))
        assert (trail[1:], trail[::-1], trail[-1:]) == (known[1:], known[::-1], known[-1:])
        assert copy.deepcopy(trail) == known
        assert trail.until(2) == known[:2]
        with pytest.raises(IndexError):
            trail[len(known)]


def test_threads_may_add_to_one_trail_at_once() -> None:
    trail = Trail(range(100))
    found: list[Trail[int]] = []

    def add(item: int) -> None:
        found.extend(trail.with_item(item).with_item(-item) for _ in range(2000))

    threads = [threading.Thread(target=add, args=(1000 + at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8000
    assert all(each[:100] == tuple(range(100)) and each[100] == -each[101] for each in found)


def long_match() -> engine.State:
    rng = Random(3)
    table = engine.Table.start(replace(engine.BONES, target=100_000), ("Ann", "Ben"))
    while len(table.state.log) < 600:
        table = table.deal(rng) if table.awaits_deal else table.after(rng.choice(table.moves))
    return table.state


LONG = long_match()


@pytest.mark.parametrize("seed", range(4))
def test_corrections_of_a_state_are_those_of_its_log(seed: int) -> None:
    """The state after corrections is that of a match in which the remaining actions were all there ever was."""
    rng, state = Random(seed), LONG
    for _ in range(12):
        entry = rng.choice(engine.entries(state)[2:])
        seqs = tuple(each.seq for each in rng.sample(engine.entries(state), 2))
        changes: list[engine.Revision] = [engine.Remove(entry.seq), engine.Inferred(seqs), engine.Confirmed(seqs)]
        if isinstance(entry.action, engine.Play):
            changes.append(engine.Amend(entry.seq, replace(entry.action, seat=engine.Seat(1 - entry.action.seat))))
        if rng.random() < 0.2:
            changes.append(engine.Undo(engine.entries(state)[-rng.randrange(1, 30)].seq))
        state, _ = engine.apply(state, rng.choice(changes))
    assert engine.entries(state) == entries_in(state.log)
    again = engine.replay(state.log)
    assert (again.game, again.irregular, again.inferred) == (state.game, state.irregular, state.inferred)
    before = [step.before for step in state.steps]
    assert before == [step.before for step in again.steps]


def test_a_correction_plays_only_what_follows_it() -> None:
    first, last = LONG.steps[40].entry.seq, LONG.steps[-1].entry.seq
    undone, _ = engine.apply(LONG, engine.Undo(last))
    assert undone.steps[:-1] == LONG.steps[:-2]
    assert all(one is other for one, other in zip(undone.steps, LONG.steps, strict=False))
    assert engine.apply(LONG, engine.Undo(first))[0].game == LONG.steps[40].before
    assert engine.apply(LONG, engine.Remove(engine.Seq(10**6)))[0].steps == LONG.steps
