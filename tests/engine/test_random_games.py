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

from engine import (
    BONES,
    PROFILES,
    Amend,
    BranchOrder,
    Confirmed,
    Counted,
    Draw,
    Event,
    HandEnd,
    Inferred,
    Irregular,
    ItStands,
    Knock,
    Lead,
    MatchClose,
    MatchEnd,
    MatchStart,
    Must,
    NewHand,
    NodeId,
    Outcome,
    Phase,
    Play,
    Policy,
    Port,
    ProblemKind,
    Redeal,
    RedealReason,
    Reveal,
    RevealPips,
    Revision,
    Scored,
    Seat,
    Seq,
    Spinner,
    SpinnerCount,
    Spot,
    State,
    Tile,
    Turn,
    Undo,
    apply,
    count,
    describe,
    entries,
    full_set,
    legal_plays,
    problem_with,
    replay,
)
from tests.engine.random_laws import check_event, check_event_thoroughly, check_match
from tests.engine.random_players import NAMES, Players
from tests.engine.random_rules import random_rules

STRICT = replace(BONES, policy=Policy.STRICT)


@dataclass
class Reached:
    """Coverage of a run."""

    hands: Counter[str] = field(default_factory=Counter)  # by game
    events: int = 0
    outcomes: set[str] = field(default_factory=set)
    problems: set[ProblemKind] = field(default_factory=set)
    musts: set[Must] = field(default_factory=set)

    def note(self, outcomes: tuple[Outcome, ...]) -> None:
        self.events += 1
        for outcome in outcomes:
            self.outcomes.add(type(outcome).__name__)
            if isinstance(outcome, Turn):
                self.musts.add(outcome.must)
            elif isinstance(outcome, Irregular):
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
            assert all(describe(outcome, NAMES[:seats]) for outcome in players.outcomes)
            if rng.random() < 0.2:
                check_event_thoroughly(players, before, players.state.log[-1])
    if players.game.phase is not Phase.MATCH_OVER:
        players.feed(MatchClose())
        reached.note(players.outcomes)
    reached.hands[rules.name] += players.hands_dealt
    if everything:
        check_match(players)


@pytest.mark.slow
def test_random_matches_of_every_game_keep_the_invariants() -> None:
    reached = play_matches(900, seed=100_000, thorough=0.1)
    assert set(reached.hands) == {rules.name for rules in PROFILES}
    assert min(reached.hands.values()) > 20


@pytest.mark.slow
def test_twenty_thousand_random_hands_keep_the_invariants_and_cover_everything(
    record_property: Callable[[str, object], None],
) -> None:
    reached = play_matches(20_000, seed=0, thorough=0.04)
    record_property("played", str(reached))
    sys.stdout.write(f"{reached}\n")
    assert reached.hands.total() >= 20_000
    assert set(reached.hands) == {rules.name for rules in PROFILES}
    assert min(reached.hands.values()) > 500
    assert {kind.__name__ for kind in get_args(Outcome)} - reached.outcomes == set()
    assert set(ProblemKind) - reached.problems == set()
    assert set(Must) - reached.musts == set()


def test_a_violated_invariant_is_detected() -> None:
    players = Players(STRICT, 2, random.Random(1))
    players.start()
    players.feed(NewHand())
    players.hands[0].pop()
    with pytest.raises(AssertionError):
        check_event(players)


def test_an_amendment_equals_a_replay_with_the_right_action() -> None:
    rng = random.Random(1)
    for seed in range(3):
        players = Players(STRICT, 2 + seed, random.Random(seed))
        players.start()
        while players.step():
            pass
        state = players.state
        for _ in range(5):
            seq = Seq(rng.randrange(len(state.log)))
            right = state.log[seq]
            assert not isinstance(right, Revision)
            wrong = _misread(right, rng)
            misread = replay([*state.log[:seq], wrong, *state.log[seq + 1 :]])
            corrected, _ = apply(misread, Amend(seq, right))
            assert corrected.game == state.game
            assert corrected.irregular == state.irregular


def _misread(event: Event, rng: random.Random) -> Event:
    """Return a possible misreading of *event*."""
    if isinstance(event, Play):
        return replace(event, tile=rng.choice(full_set(6)), inner=None)
    return Knock(Seat(rng.randrange(4)))


# ---- counts under both rules ----


@given(seed=st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_open_halves_differs_from_until_capped_by_the_open_sides_of_a_capped_spinner(seed: int) -> None:
    rng = random.Random(seed)
    rules = replace(
        STRICT, branch_order=rng.choice(list(BranchOrder)), hand=14, target=10_000, match_end=MatchEnd.END_OF_HAND
    )
    state = replay([MatchStart(rules, ("A", "B")), NewHand()])
    for _ in range(16):
        plays = legal_plays(state, full_set(6))
        if not plays:
            break
        state, _ = apply(state, rng.choice(plays))
        assert state.game is not None
        layout = state.game.layout
        halves = count(layout, SpinnerCount.OPEN_HALVES).total
        capped = count(layout, SpinnerCount.UNTIL_CAPPED).total
        covered = 0 if layout.spinner is None else len(layout.covered(layout.spinner))
        pips = 0 if layout.spinner is None else layout.spinner.tile.high
        assert halves - capped == (pips * (4 - covered) if covered >= 2 else 0)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_the_order_of_independent_plays_does_not_change_the_count(seed: int) -> None:
    rng = random.Random(seed)
    arms = {"W": Tile(1, 5), "E": Tile(2, 5), "N": Tile(3, 5), "S": Tile(4, 5)}
    rules = replace(STRICT, branch_order=BranchOrder.ANY, spinner=Spinner.FIRST)
    order = list(arms)
    rng.shuffle(order)
    state = replay([MatchStart(rules, ("A", "B")), NewHand(), Play(Seat(0), Tile(5, 5))])
    for turn, arm in enumerate(order, start=1):
        state, outcomes = apply(state, Play(Seat(turn % 2), arms[arm], Spot(NodeId(2), Port(arm))))
        assert not any(isinstance(outcome, Irregular) for outcome in outcomes)
    assert state.game is not None
    assert str(state.game.count) == "1 + 3 + 2 + 4 = 10"


# ---- arbitrary input ----

SEATS = st.integers(-1, 4).map(Seat)
TILES = st.sampled_from(full_set(7))
SPOTS = st.none() | st.builds(Spot, st.integers(0, 30).map(NodeId), st.sampled_from(list(Port)))
SEQS = st.integers(-1, 30).map(Seq)
ACTIONS = st.one_of(
    st.builds(MatchStart, st.sampled_from([BONES, STRICT]), st.sampled_from([("A", "B"), ("A", "B", "C"), ("A",)])),
    st.just(NewHand()),
    st.builds(Redeal, st.sampled_from(list(RedealReason))),
    st.builds(Lead, SEATS),
    st.builds(Play, SEATS, TILES, SPOTS),
    st.builds(Draw, SEATS, st.integers(1, 15)),
    st.builds(Knock, SEATS),
    st.just(HandEnd()),
    st.builds(Reveal, SEATS, st.lists(TILES, max_size=3).map(tuple)),
    st.builds(RevealPips, SEATS, st.integers(0, 50)),
)
MARKED = st.lists(SEQS, max_size=4).map(tuple)
EVENTS = st.one_of(
    ACTIONS,
    st.builds(Undo, SEQS),
    st.builds(Amend, SEQS, ACTIONS),
    st.builds(ItStands, SEQS),
    st.builds(Inferred, MARKED),
    st.builds(Confirmed, MARKED),
)


@pytest.mark.slow
@given(st.lists(EVENTS, max_size=25), st.booleans())
@settings(max_examples=150, deadline=None)
def test_arbitrary_events_are_handled_and_replay(events: list[Event], begun: bool) -> None:
    start: list[Event] = [MatchStart(BONES, ("A", "B")), NewHand(), Play(Seat(0), Tile(6, 6))] if begun else []
    state = State()
    for event in [*start, *events]:
        problem = problem_with(state, event)
        state, outcomes = apply(state, event)
        if problem is not None and not isinstance(event, Undo | Amend | ItStands):
            assert any(isinstance(outcome, Irregular) and outcome.problem == problem for outcome in outcomes)
        if state.game is not None:
            assert all(
                describe(outcome, state.game.players) for outcome in outcomes if isinstance(outcome, Counted | Scored)
            )
    assert replay(state.log) == state
    assert state.inferred == tuple(entry.seq for entry in entries(state) if entry.inferred)
    fresh, _ = apply(state, Undo(Seq(0))) if entries(state) and entries(state)[0].seq == 0 else (State(), ())
    assert entries(fresh) == ()
