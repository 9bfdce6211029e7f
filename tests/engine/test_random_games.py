"""Whole matches between players who choose at random: seeded, compared with the naive game, and RULES.md 4.2."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import (
    BONES,
    Amend,
    BranchOrder,
    Counted,
    Draw,
    Event,
    HandEnd,
    HouseTally,
    Irregular,
    ItStands,
    Knock,
    Lead,
    MatchEnd,
    MatchStart,
    NewHand,
    NodeId,
    Phase,
    Play,
    Policy,
    Port,
    Redeal,
    RedealReason,
    Reveal,
    RevealPips,
    Rules,
    Scored,
    Seat,
    Seq,
    Spinner,
    SpinnerCount,
    Spot,
    State,
    TallyStyle,
    TargetTest,
    Tile,
    Undo,
    apply,
    count,
    describe,
    ends,
    full_set,
    history,
    legal_plays,
    problem_with,
    replay,
    unseen,
)
from tests.engine.naive import NaiveBones

STRICT = replace(BONES, policy=Policy.STRICT)


@dataclass
class Players:
    """Players who know the rules and choose at random; they alone know the hands."""

    rules: Rules
    seats: int
    rng: random.Random
    state: State = field(default_factory=State)
    hands: list[list[Tile]] = field(default_factory=list)
    boneyard: list[Tile] = field(default_factory=list)
    naive: NaiveBones = field(default_factory=NaiveBones)

    def feed(self, event: Event) -> None:
        assert problem_with(self.state, event) is None, event
        self.state, outcomes = apply(self.state, event)
        assert self.state.game is not None
        assert all(describe(outcome, self.state.game.players) for outcome in outcomes)

    def match(self, most_hands: int = 40) -> State:
        self.feed(MatchStart(self.rules, tuple("ABCDEFGH"[: self.seats])))
        for _ in range(most_hands):
            self.feed(NewHand())
            self.deal()
            while self.move():
                self.check()
            if self.state.game is not None and self.state.game.phase is Phase.MATCH_OVER:
                break
        return self.state

    def deal(self) -> None:
        self.naive = NaiveBones()
        while True:
            pile = list(full_set(self.rules.max_pips))
            self.rng.shuffle(pile)
            self.hands = [[pile.pop() for _ in range(self.rules.hand)] for _ in range(self.seats)]
            self.boneyard = pile
            doubles = [sum(tile.is_double for tile in hand) for hand in self.hands]
            if max(doubles) > 3:
                self.feed(Redeal(RedealReason.TOO_MANY_DOUBLES))
            elif self.roll_call and not any(doubles):
                self.feed(Redeal(RedealReason.NO_DOUBLE))
            else:
                break
        if self.roll_call:
            held = [max((tile.high for tile in hand if tile.is_double), default=-1) for hand in self.hands]
            self.feed(Lead(Seat(held.index(max(held)))))

    @property
    def roll_call(self) -> bool:
        assert self.state.game is not None
        assert self.state.game.hand is not None
        return self.state.game.hand.roll_call

    def move(self) -> bool:
        """Do what the table waits for; False when it waits for the next hand."""
        game = self.state.game
        assert game is not None
        assert game.hand is not None
        if game.phase is Phase.REVEAL:
            for at, holding in enumerate(game.hand.holdings):
                if holding is None:
                    self.feed(Reveal(Seat(at), tuple(self.hands[at])))
            return False
        if game.phase not in (Phase.LEAD, Phase.PLAY):
            return False
        assert game.hand.turn is not None
        seat = Seat(game.hand.turn)
        plays = legal_plays(self.state, tuple(self.hands[seat]))
        if game.hand.layout.nodes:
            moves = self.naive.moves([(tile.low, tile.high) for tile in self.hands[seat]])
            assert len(plays) == len(moves)
        if plays:
            self.play(self.rng.choice(plays))
        elif game.hand.locked:
            self.feed(HandEnd())
        elif self.boneyard:
            self.hands[seat].append(self.boneyard.pop())
            self.feed(Draw(seat))
        else:
            self.feed(Knock(seat))
        return True

    def play(self, play: Play) -> None:
        arm = next((end.arm.value for end in ends(self.state) if end.spot == play.at), "")
        self.naive.play((play.tile.low, play.tile.high), arm)
        self.hands[play.seat].remove(play.tile)
        self.feed(play)

    def check(self) -> None:
        """What holds after every move."""
        game = self.state.game
        assert game is not None
        hand = game.hand
        assert hand is not None
        if hand.layout.nodes:
            assert game.count.total == self.naive.count()
        assert list(hand.sizes) == [len(held) for held in self.hands]
        assert hand.boneyard == len(self.boneyard)
        assert sum(hand.sizes) + hand.boneyard + len(hand.layout.nodes) == self.rules.tiles
        out = sorted(
            [*self.boneyard, *(tile for held in self.hands for tile in held)], key=lambda tile: (tile.high, tile.low)
        )
        assert list(unseen(game)) == out
        if hand.locked:
            assert legal_plays(self.state, full_set(self.rules.max_pips), seat=hand.turn) == ()


GAMES = [
    (STRICT, 2),
    (STRICT, 3),
    (STRICT, 4),
    (replace(STRICT, max_pips=9), 4),
    (replace(STRICT, target=100, match_end=MatchEnd.END_OF_HAND, target_test=TargetTest.EXCEED), 3),
]


def matches(number: int) -> Iterator[tuple[Players, State]]:
    for seed in range(number):
        rules, seats = GAMES[seed % len(GAMES)]
        players = Players(rules, seats, random.Random(seed))
        yield players, players.match()


def test_random_matches_keep_every_law() -> None:
    keep_every_law(15)


@pytest.mark.slow
def test_hundreds_of_random_matches_keep_every_law() -> None:
    keep_every_law(100)


def keep_every_law(number: int) -> None:
    hands, finished = 0, 0
    for _, state in matches(number):
        game = state.game
        assert game is not None
        assert game.hand is not None
        hands += game.hand.number
        finished += game.phase is Phase.MATCH_OVER
        told = [outcome for one in history(state) for outcome in one.outcomes]
        assert not any(isinstance(outcome, Irregular) for outcome in told)
        paid = [outcome for outcome in told if isinstance(outcome, Scored)]
        for seat, total in enumerate(game.totals):
            assert sum(score.points for score in paid if score.seat == seat) == total
            assert game.tally(Seat(seat)) == HouseTally.of(score.points for score in paid if score.seat == seat)
    assert replay(state.log) == state
    assert finished == number
    assert hands > 4 * number


def test_undo_of_any_action_is_the_state_before_it() -> None:
    rng = random.Random(2)
    for _, state in matches(5):
        before = State()
        for event in state.log:
            after, _ = apply(before, event)
            if rng.random() < 0.05:  # each is a replay
                undone, _ = apply(after, Undo(before.next_seq))
                assert undone.game == before.game
                assert undone.entries == before.entries
            before = after


def test_an_amendment_is_what_a_replay_with_the_right_action_gives() -> None:
    rng = random.Random(1)
    for _, state in matches(3):
        for _ in range(5):
            seq = Seq(rng.randrange(len(state.log)))
            right = state.log[seq]
            assert not isinstance(right, Undo | Amend | ItStands)
            wrong = _misread(right, rng)
            misread = replay([*state.log[:seq], wrong, *state.log[seq + 1 :]])
            corrected, _ = apply(misread, Amend(seq, right))
            assert corrected.game == state.game
            assert corrected.irregular == state.irregular


def _misread(event: Event, rng: random.Random) -> Event:
    """What the eye might have made of it."""
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
        covered = 0 if layout.spinner is None else len(layout.spinner.covered)
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


# ---- nothing that comes in can wedge or break it ----

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
EVENTS = st.one_of(ACTIONS, st.builds(Undo, SEQS), st.builds(Amend, SEQS, ACTIONS), st.builds(ItStands, SEQS))


@given(st.lists(EVENTS, max_size=25), st.booleans())
@settings(max_examples=150, deadline=None)
def test_whatever_comes_in_is_answered_and_replays(events: list[Event], begun: bool) -> None:
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
    fresh, _ = apply(state, Undo(Seq(0))) if state.entries and state.entries[0].seq == 0 else (State(), ())
    assert fresh.entries == ()


@pytest.mark.parametrize("tally", list(TallyStyle))
def test_points_are_whole_whatever_the_tally(tally: TallyStyle) -> None:
    players = Players(replace(STRICT, tally=tally), 2, random.Random(3))
    game = players.match().game
    assert game is not None
    assert all(total % 5 == 0 for total in game.totals)
