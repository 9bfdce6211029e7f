"""Tests of the invariants of docs/reference/rules.md 4.2 in random matches of all games and options, with errors."""

from __future__ import annotations

import itertools
import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from tests.engine.random_laws import check_event, check_event_thoroughly, check_match
from tests.engine.random_players import NAMES, Players
from tests.engine.random_rules import random_rules

STRICT = replace(engine.BONES, policy=engine.Policy.STRICT)


@dataclass
class Reached:
    """Coverage of a run."""

    hands: Counter[str] = field(default_factory=Counter)  # by game
    events: int = 0
    outcomes: set[str] = field(default_factory=set)
    problems: set[engine.ProblemKind] = field(default_factory=set)
    musts: set[engine.Must] = field(default_factory=set)

    def note(self, outcomes: tuple[engine.Outcome, ...]) -> None:
        self.events += 1
        for outcome in outcomes:
            self.outcomes.add(type(outcome).__name__)
            if isinstance(outcome, engine.Turn):
                self.musts.add(outcome.must)
            elif isinstance(outcome, engine.Irregular):
                self.problems.add(outcome.problem.kind)

    def __str__(self) -> str:
        games = ", ".join(f"{name} {hands}" for name, hands in sorted(self.hands.items()))
        return f"{self.hands.total()} hands, {self.events} events: {games}"


def play_matches(hands: int, *, seed: int, thorough: float) -> Reached:
    """Play matches until *hands* hands are dealt. A share *thorough* of them gets every check."""
    reached = Reached()
    for number in itertools.count(seed):
        if reached.hands.total() >= hands:
            return reached
        play_match(random.Random(number), reached, thorough)
    raise AssertionError


def play_match(rng: random.Random, reached: Reached, thorough: float) -> None:
    """Play a match, and close it if it gets too long."""
    rules, seats = random_rules(rng)
    errors = rng.choice((0.0, 0.0, 0.1, 0.3))
    players = Players(rules, seats, rng, errors)
    everything = rng.random() < thorough
    players.start()
    for _ in range(rng.choice((30, 60, 120))):
        before = players.state
        if not players.step():
            break
        reached.note(players.outcomes)
        check_event(players)
        if everything:
            assert all(engine.describe(outcome, NAMES[:seats]) for outcome in players.outcomes)
            if rng.random() < 0.2:
                check_event_thoroughly(players, before, players.state.log[-1])
    if players.game.phase is not engine.Phase.MATCH_OVER:
        players.feed(engine.MatchClose())
        reached.note(players.outcomes)
    reached.hands[rules.name] += players.hands_dealt
    if everything:
        check_match(players)


@pytest.mark.slow
def test_thousands_of_random_hands_keep_the_invariants_and_cover_everything(
    record_property: Callable[[str, object], None],
) -> None:
    reached = play_matches(7_000, seed=0, thorough=0.08)
    record_property("played", str(reached))
    sys.stdout.write(f"{reached}\n")
    assert reached.hands.total() >= 7_000
    assert set(reached.hands) == {rules.name for rules in engine.PROFILES}
    assert min(reached.hands.values()) > 150
    assert {kind.__name__ for kind in get_args(engine.Outcome)} - reached.outcomes == set()
    assert set(engine.ProblemKind) - reached.problems == set()
    assert set(engine.Must) - reached.musts == set()


def test_an_amendment_equals_a_replay_with_the_right_action() -> None:
    rng = random.Random(1)
    for seed in range(3):
        players = Players(STRICT, 2 + seed, random.Random(seed))
        players.start()
        while players.step():
            pass
        state = players.state
        for _ in range(3):
            seq = engine.Seq(rng.randrange(len(state.log)))
            right = state.log[seq]
            assert not isinstance(right, engine.Revision)
            wrong = _misread(right, rng)
            misread = engine.replay([*state.log[:seq], wrong, *state.log[seq + 1 :]])
            corrected, _ = engine.apply(misread, engine.Amend(seq, right))
            assert corrected.game == state.game
            assert corrected.irregular == state.irregular


def _misread(event: engine.Event, rng: random.Random) -> engine.Event:
    """Return a possible misreading of *event*."""
    if isinstance(event, engine.Play):
        return replace(event, tile=rng.choice(engine.full_set(6)), inner=None)
    return engine.Knock(engine.Seat(rng.randrange(4)))


@given(seed=st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_the_order_of_independent_plays_does_not_change_the_count(seed: int) -> None:
    rng = random.Random(seed)
    arms = {"W": engine.Tile(1, 5), "E": engine.Tile(2, 5), "N": engine.Tile(3, 5), "S": engine.Tile(4, 5)}
    rules = replace(STRICT, branch_order=engine.BranchOrder.ANY, spinner=engine.Spinner.FIRST)
    order = list(arms)
    rng.shuffle(order)
    state = engine.replay(
        [engine.MatchStart(rules, ("A", "B")), engine.NewHand(), engine.Play(engine.Seat(0), engine.Tile(5, 5))]
    )
    for turn, arm in enumerate(order, start=1):
        state, outcomes = engine.apply(
            state, engine.Play(engine.Seat(turn % 2), arms[arm], engine.Spot(engine.NodeId(2), engine.Port(arm)))
        )
        assert not any(isinstance(outcome, engine.Irregular) for outcome in outcomes)
    assert state.game is not None
    assert str(state.game.count) == "1 + 3 + 2 + 4 = 10"


# ---- arbitrary input ----

SEATS = st.integers(-1, 4).map(engine.Seat)
TILES = st.sampled_from(engine.full_set(7))
SPOTS = st.none() | st.builds(engine.Spot, st.integers(0, 30).map(engine.NodeId), st.sampled_from(list(engine.Port)))
SEQS = st.integers(-1, 30).map(engine.Seq)
ACTIONS = st.one_of(
    st.builds(
        engine.MatchStart,
        st.sampled_from([engine.BONES, STRICT]),
        st.sampled_from([("A", "B"), ("A", "B", "C"), ("A",)]),
    ),
    st.just(engine.NewHand()),
    st.builds(engine.Redeal, st.sampled_from(list(engine.RedealReason))),
    st.builds(engine.Lead, SEATS),
    st.builds(engine.Play, SEATS, TILES, SPOTS),
    st.builds(engine.Draw, SEATS, st.integers(1, 15)),
    st.builds(engine.Knock, SEATS),
    st.just(engine.HandEnd()),
    st.builds(engine.Reveal, SEATS, st.lists(TILES, max_size=3).map(tuple)),
    st.builds(engine.RevealPips, SEATS, st.integers(0, 50)),
)
MARKED = st.lists(SEQS, max_size=4).map(tuple)
EVENTS = st.one_of(
    ACTIONS,
    st.builds(engine.Undo, SEQS),
    st.builds(engine.Amend, SEQS, ACTIONS),
    st.builds(engine.ItStands, SEQS),
    st.builds(engine.Inferred, MARKED),
    st.builds(engine.Confirmed, MARKED),
)


@given(st.lists(EVENTS, max_size=25), st.booleans())
@settings(max_examples=150, deadline=None)
def test_arbitrary_events_are_handled_and_replay(events: list[engine.Event], begun: bool) -> None:
    start: list[engine.Event] = (
        [engine.MatchStart(engine.BONES, ("A", "B")), engine.NewHand(), engine.Play(engine.Seat(0), engine.Tile(6, 6))]
        if begun
        else []
    )
    state = engine.State()
    for event in [*start, *events]:
        problem = engine.problem_with(state, event)
        state, outcomes = engine.apply(state, event)
        if problem is not None and not isinstance(event, engine.Undo | engine.Amend | engine.ItStands):
            assert any(isinstance(outcome, engine.Irregular) and outcome.problem == problem for outcome in outcomes)
        if state.game is not None:
            assert all(
                engine.describe(outcome, state.game.players)
                for outcome in outcomes
                if isinstance(outcome, engine.Counted | engine.Scored)
            )
    assert engine.replay(state.log) == state
    assert state.inferred == tuple(entry.seq for entry in engine.entries(state) if entry.inferred)
    fresh, _ = (
        engine.apply(state, engine.Undo(engine.Seq(0)))
        if engine.entries(state) and engine.entries(state)[0].seq == 0
        else (engine.State(), ())
    )
    assert engine.entries(fresh) == ()
