"""Tests of chances against exhaustive enumeration of possible hands, and against simulated hands."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import permutations

import pytest

import engine
from engine.game.questions import can_draw, ends_now
from engine.library.chances import NumberChance, Outlook, SeatChance, chances
from tests.engine.table import OPEN_BONES, Table, tiles

A, B = engine.Seat(0), engine.Seat(1)
SAMPLES = 1500
ERROR = 4 * 0.5 / SAMPLES**0.5
THREE = replace(OPEN_BONES, hand=3, policy=engine.Policy.WARN)  # accepts a knock with tiles to draw


def dealt(rules: engine.Rules = THREE, *, size: int = 3) -> Table:
    """Return a table where seat 0 has enough tiles for any story, and seat 1 has *size*."""
    table = Table(rules)
    table.state = engine.replay([engine.MatchStart(rules, table.players), engine.NewHand(dealt=(9, size))])
    return table


def open_numbers(state: engine.State) -> tuple[int, ...]:
    return tuple(dict.fromkeys(end.number for end in engine.ends(state) if end.playable))


Made = tuple[engine.Tile, tuple[int, ...]]
Step = tuple[str, int | tuple[int, ...] | Made]
"""("gets", number), ("denies", numbers), or ("plays", (tile, number of each open end))."""


@dataclass
class Watched:
    """A hand that records every action of seat 1."""

    table: Table
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.steps.append(("gets", self.table.hand.sizes[B]))

    def does(self, text: str) -> None:
        """Apply "draws 2" or "knocks" of seat 1, or a play "6-3@W"."""
        word, _, rest = text.partition(" ")
        if word in ("draws", "knocks"):
            self.steps.append(("denies", open_numbers(self.table.state)))
            if word == "draws":
                self.steps.append(("gets", int(rest)))
            self.table.feed(engine.Draw(B, int(rest)) if word == "draws" else engine.Knock(B))
            return
        if self.table.hand.turn == B:
            numbers = tuple(end.number for end in engine.ends(self.table.state) if end.playable)
            self.steps.append(("plays", (engine.Tile.parse(word.partition("@")[0]), numbers)))
        self.table.play(word)


def hands_that_agree(
    steps: Sequence[Step], out: Sequence[engine.Tile]
) -> Iterator[tuple[tuple[engine.Tile, ...], Fraction]]:
    """Yield every possible hand of seat 1, once for each possible order of its tiles, and its weight.

    The weight is the probability of the plays made, for a player who chooses at random among all legal plays.
    """
    gets = sum(amount for kind, amount in steps if kind == "gets" and isinstance(amount, int))
    played = [
        tile for _, what in steps if isinstance(what, tuple) for tile in what[:1] if isinstance(tile, engine.Tile)
    ]
    for order in permutations([*out, *played], gets):
        held: list[engine.Tile] = []
        arriving, weight = iter(order), Fraction(1)
        for kind, which in steps:
            if isinstance(which, int):
                held += [next(arriving) for _ in range(which)]
            elif kind == "denies":
                if any(tile.has(number) for tile in held for number in which if isinstance(number, int)):
                    break
            else:
                tile, numbers = which
                assert isinstance(tile, engine.Tile)
                assert isinstance(numbers, tuple)
                if tile not in held:
                    break
                weight /= sum(each.has(number) for each in set(held) for number in numbers)
                held.remove(tile)
        else:
            yield tuple(held), weight


STORIES = {
    "only dealt": ["5-5"],
    "has just drawn": ["5-5", "draws 1"],
    "knocked, other numbers open now": ["5-5", "knocks", "5-1@W"],
    "drew two at once": ["5-5", "draws 2"],
    "drew and played it": ["5-5", "draws 1", "draws 1", "5-1@W"],
    "drew, played it, and knocked": ["5-5", "draws 1", "draws 1", "5-1@W", "5-2@E", "knocks"],
    "drew, played it, and drew on other numbers": ["5-5", "draws 1", "5-1@W", "1-2@W", "draws 1"],
    "knocked twice, then drew": ["5-5", "knocks", "5-1@W", "knocks", "5-2@E", "draws 1"],
    "drew, then knocked on another number, then drew": ["6-3", "draws 1", "3-4@E", "4-1@E", "draws 1"],
    "played an old tile": ["5-5", "draws 1", "5-1@W", "1-2@W", "2-3@W"],
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
@pytest.mark.parametrize("seed", range(2))
def test_a_chance_is_the_share_of_possible_hands(story: list[str], seed: int) -> None:
    watched = Watched(dealt())
    for text in story:
        watched.does(text)
    compare(watched, 8, random.Random(seed))


@pytest.mark.parametrize("seed", range(6))
def test_copies_of_two_sets_are_distinct_tiles(seed: int) -> None:
    watched = Watched(dealt(replace(THREE, copies=2)))
    for text in ("5-5", "draws 1", "5-1@W", "5-1@E", "draws 1"):
        watched.does(text)
    rng = random.Random(seed)
    compare(watched, 8, rng, 2 * rng.sample([tile for tile in engine.full_set(6) if not tile.is_double], 4))


def compare(watched: Watched, size: int, rng: random.Random, out: Sequence[engine.Tile] = ()) -> None:
    """Compare the chances with an enumeration where only the tiles *out*, or *size* tiles, are unknown."""
    state = watched.table.state
    known = list(engine.unseen(watched.table.game))
    rng.shuffle(known)
    out = [tile for tile in out if known.count(tile) == 2] or known[:size]
    for tile in out:
        known.remove(tile)
    # Seat 0 holds all other tiles: its hand would compete for the unknown ones.
    outlook = chances(state, known=known, seat=A, samples=SAMPLES)
    hands = list(hands_that_agree(watched.steps, out))
    if not hands:
        assert not outlook.seats[B].consistent
        return
    assert outlook.seats[B].consistent
    numbers = open_numbers(state)
    assert [chance.number for chance in outlook.numbers] == list(numbers)
    assert [chance.out for chance in outlook.numbers] == [sum(tile.has(number) for tile in out) for number in numbers]
    for chance in outlook.numbers:
        assert chance.held[B] == pytest.approx(share(hands, (chance.number,)), abs=ERROR)
    assert outlook.seats[B].can_play == pytest.approx(share(hands, numbers), abs=ERROR)


def share(hands: Sequence[tuple[tuple[engine.Tile, ...], Fraction]], numbers: Sequence[int]) -> float:
    """Return the weight of the *hands* that contain any of *numbers*, as a share."""
    able = sum(weight for held, weight in hands if any(tile.has(number) for tile in held for number in numbers))
    return float(able / sum(weight for _, weight in hands))


def test_a_chance_calculated_by_hand() -> None:
    # 5-1, 5-2, 6-1 and 6-2 are out. Tom drew on 5, so his two dealt tiles are 6-1 and 6-2, and the new one has a 5.
    # Brian's last tile is then the other 5, although two of the four tiles have none.
    out = tiles("5-1 5-2 6-1 6-2")
    table = Table(replace(THREE, hand=2)).play("5-5").feed(engine.Draw(B))
    known = [tile for tile in engine.unseen(table.game) if tile not in out]
    assert chances(table.state, known=known) == Outlook(
        (NumberChance(5, 2, (1.0, 1.0)),), (SeatChance(1.0, True), SeatChance(1.0, True))
    )


def test_a_known_hand_is_certain_and_excluded_from_the_others() -> None:
    table = Table(THREE).play("5-5")
    others = chances(table.state)
    mine = chances(table.state, known=tiles("5-1 5-2"), seat=A)
    assert (mine.seats[A].can_play, mine.numbers[0].held[A], mine.numbers[0].out) == (1.0, 1.0, 4)
    assert 0 < mine.seats[B].can_play < others.seats[B].can_play
    assert chances(table.state, known=tiles("6-1 6-2"), seat=A).seats[A] == SeatChance(0.0, True)
    table = Table(THREE).play("5-5").feed(engine.HandEnd(), engine.Reveal(A, tiles("6-1 6-2")))
    assert table.game.phase is engine.Phase.REVEAL
    assert chances(table.state).seats[A] == SeatChance(0.0, True)
    assert chances(table.state) == chances(table.state, known=tiles("6-1 6-2"), seat=A)
    table = Table(replace(THREE, copies=2)).play("5-5")
    assert chances(table.state).numbers[0].out == 13
    assert chances(table.state, known=tiles("5-1")).numbers[0].out == 12
    assert chances(table.state, known=tiles("5-1 5-1 5-1 5-5")).numbers[0].out == 10


def test_a_known_hand_may_contradict_a_claim() -> None:
    table = Table(THREE).play("5-5").feed(engine.Knock(B))
    assert chances(table.state, known=tiles("5-1 6-2 6-3"), seat=B).seats[B] == SeatChance(1.0, False)
    table = Table(THREE).play("5-5").feed(engine.Knock(B))
    assert chances(table.state, known=tiles("6-1 6-2 6-3"), seat=B).seats[B] == SeatChance(0.0, True)
    table.play("5-1@W").feed(engine.Draw(B))  # he had no 5 and no 1, and drew one tile since
    assert chances(table.state, known=tiles("6-3 6-2 4-1"), seat=B).seats[B] == SeatChance(1.0, True)
    assert chances(table.state, known=tiles("6-3 5-2 4-1"), seat=B).seats[B] == SeatChance(1.0, False)


def test_the_older_of_two_contradicting_claims_is_ignored() -> None:
    # Tom knocked on 6 and 1, then on 6 and 2. Only 4-3 and 5-4 satisfy both, too few for his three tiles.
    table = dealt().play("6-1").feed(engine.Knock(B)).play("1-2@E").feed(engine.Knock(B))
    assert [claim.numbers for claim in table.hand.claims[B] if claim.numbers] == [(6, 1), (6, 2)]
    known = all_but(table, "4-3 5-4 3-1 2-0 6-0")
    found = chances(table.state, known=known)
    # His last claim is used, and with it he holds 3-1.
    assert found.seats[B] == SeatChance(0.0, False)
    assert chances(table.state, known=all_but(table, "4-3 5-4 4-4 2-0 6-0")).seats[B] == SeatChance(0.0, True)
    # Tom knocked on 6 and 1, on 6 and 2, and on 6 and 3. Three remaining tiles satisfy the first and the last claim.
    table = (
        dealt()
        .play("6-1")
        .feed(engine.Knock(B))
        .play("1-2@E")
        .feed(engine.Knock(B))
        .play("2-3@E")
        .feed(engine.Knock(B))
        .play("3-1@E")
    )
    known = all_but(table, "5-4 2-5 2-4 1-4 6-4")
    found = chances(table.state, known=known)
    # Without the second claim, the first alone rules out 1-4, and he holds the other three.
    assert open_numbers(table.state) == (6, 1)
    assert found.seats[B] == SeatChance(0.0, False)
    assert found.numbers[1].held[A] == 1.0


def all_but(table: Table, out: str) -> list[engine.Tile]:
    """Return the unseen tiles except *out*."""
    return [tile for tile in engine.unseen(table.game) if tile not in tiles(out)]


def test_fewer_tiles_out_than_held_does_not_divide_by_zero() -> None:
    table = Table(THREE).play("5-5").feed(engine.Knock(B))
    known = list(engine.unseen(table.game))
    assert chances(table.state, known=known) == Outlook(
        (NumberChance(5, 0, (0.0, 0.0)),), (SeatChance(0.0, False), SeatChance(0.0, False))
    )
    known.remove(engine.Tile(5, 6))
    one, other = chances(table.state, known=known).seats
    assert (one.consistent, other.consistent, one.can_play + other.can_play) == (False, False, 1.0)


def test_chances_are_empty_before_the_first_tile_and_after_the_count() -> None:
    assert chances(engine.State()) == Outlook()
    table = Table(THREE)
    assert chances(table.state) == Outlook()
    table.play("5-5").feed(engine.HandEnd(), engine.Reveal(A, tiles("6-1 6-2")), engine.Reveal(B, tiles("6-3 6-4 5-1")))
    assert chances(table.state) == Outlook()


def test_closed_ports_have_no_chances_and_a_spell_leaves_one_number() -> None:
    table = Table(THREE).play("1-3", "3-3@E", "3-5@E")
    assert [chance.number for chance in chances(table.state).numbers] == [1, 3, 5]
    assert [chance.number for chance in chances(Table(THREE).play("1-3", "3-3@E", "1-5@W").state).numbers] == [5, 3]
    spell = chances(Table(engine.SUPER, ("A", "B", "C")).play("7-7", "7-13@1").state)
    # All tiles with a 13 except the one on the table, and fifteen doubles except the starter.
    assert [(chance.number, chance.out) for chance in spell.numbers] == [(13, 15 + 14)]


def moments(
    rules: engine.Rules, seats: int, hands: int, seed: int
) -> Iterator[tuple[engine.State, list[list[engine.Tile]], engine.Event]]:
    """Yield the state, the hands and the event after each action of random players."""
    rng = random.Random(seed)
    for _ in range(hands):
        yield from simulated_hand(replace(rules, policy=engine.Policy.STRICT), seats, rng)


def simulated_hand(
    rules: engine.Rules, seats: int, rng: random.Random
) -> Iterator[tuple[engine.State, list[list[engine.Tile]], engine.Event]]:
    state = engine.replay([engine.MatchStart(rules, tuple("ABCDEF"[:seats])), engine.NewHand()])
    pile = [*engine.full_set(rules.max_pips)] * rules.copies
    rng.shuffle(pile)
    hands = [[pile.pop() for _ in range(rules.dealt(seats))] for _ in range(seats)]
    doubles = [[tile.high for tile in held if tile.is_double] for held in hands]
    highest = [max(found, default=-1) for found in doubles]
    most = rules.redeal_if_doubles_over
    if max(highest) < 0 or (most is not None and max(map(len, doubles)) > most):
        return
    state, _ = engine.apply(state, engine.Lead(engine.Seat(highest.index(max(highest)))))
    while state.game is not None and state.game.phase in (engine.Phase.LEAD, engine.Phase.PLAY):
        event = choice(state, hands, rng)
        if isinstance(event, engine.Draw):
            hands[event.seat].append(pile.pop())
        state, outcomes = engine.apply(state, event)
        assert not any(isinstance(outcome, engine.Irregular) for outcome in outcomes)
        for outcome in outcomes:
            if isinstance(outcome, engine.ForcedDraw):
                hands[outcome.seat].append(pile.pop())
        if state.game is not None and state.game.phase is engine.Phase.PLAY:
            yield state, hands, event


def choice(state: engine.State, hands: list[list[engine.Tile]], rng: random.Random) -> engine.Event:
    """Return the action of the player to move, and remove a played tile from their hand."""
    hand = hand_of(state)
    assert state.game is not None
    assert hand.turn is not None
    seat = hand.turn
    plays = engine.legal_plays(state, hands[seat])
    if plays:
        play = rng.choice(plays)
        hands[seat].remove(play.tile)
        return play
    if hand.course.extra:
        return engine.Decline(seat)
    return engine.Draw(seat) if can_draw(state.game.rules, hand) else engine.Knock(seat)


def hand_of(state: engine.State) -> engine.Hand:
    assert state.game is not None
    assert state.game.hand is not None
    return state.game.hand


def playable_mask(state: engine.State) -> int:
    """Return all tiles that can be played now, as a bit mask."""
    fits = 0
    for end in ends_now(hand_of(state)):
        fits |= end.fits
    return fits


SIX_ARMS = replace(engine.SUPER, hand=5)
GAMES = [(engine.BONES, 2), (engine.BONES, 3), (engine.BLOCK, 4), (engine.TWOSET, 4), (SIX_ARMS, 3)]
NAMES = [f"{rules.name} for {seats}" for rules, seats in GAMES]


@pytest.mark.parametrize(("rules", "seats"), GAMES, ids=NAMES)
def test_laws_of_chances_in_random_hands(rules: engine.Rules, seats: int) -> None:
    hands_played = {engine.TWOSET: 2, SIX_ARMS: 1}.get(rules, 6)
    for state, hands, event in moments(rules, seats, hands_played, seed=0):
        assert state.game is not None
        outlook, fits = chances(state, samples=40), playable_mask(state)
        not_fitting = sum(not tile.bit & fits for tile in engine.unseen(state.game))
        for at, chance in enumerate(outlook.seats):
            each = [number.held[at] for number in outlook.numbers]
            assert chance.consistent
            assert max(each) - 1e-9 <= chance.can_play <= sum(each) + 1e-9
            if len(hands[at]) > not_fitting:
                assert chance.can_play == 1.0
        for number in outlook.numbers:
            assert number.out > 0 or set(number.held) == {0.0}
        if isinstance(event, engine.Knock) and rules.effects is None:  # another spell may be active after it
            assert outlook.seats[event.seat].can_play == 0.0


@pytest.mark.slow
def test_the_simulated_hands_cover_the_interesting_cases() -> None:
    certain = knocked = none_out = 0
    for rules, seats in GAMES[:3]:
        for state, _, event in moments(rules, seats, 12, seed=0):
            outlook = chances(state, samples=20)
            certain += any(chance.can_play == 1.0 for chance in outlook.seats)
            none_out += any(number.out == 0 for number in outlook.numbers)
            knocked += isinstance(event, engine.Knock)
    assert min(certain, knocked, none_out) > 10


def test_a_player_who_knocked_cannot_play_those_numbers_until_they_draw() -> None:
    table = dealt().play("5-5").feed(engine.Knock(B))
    assert chances(table.state).seats[B].can_play == 0.0
    table.play("5-1@W")
    held = {chance.number: chance.held for chance in chances(table.state).numbers}
    assert held[5][B] == 0.0
    assert 0.0 < held[1][B] < held[5][A]
    table.feed(engine.Draw(B))
    held = {chance.number: chance.held for chance in chances(table.state).numbers}
    assert 0.0 < held[5][B] < held[5][A]


@pytest.mark.slow
@pytest.mark.parametrize(("rules", "seats"), GAMES, ids=NAMES)
def test_chances_are_calibrated(rules: engine.Rules, seats: int) -> None:
    """Observed shares are within 0.08 of the chances in the bins 0.2 to 0.4, 0.4 to 0.6 and 0.6 to 0.8."""
    bins: dict[int, list[tuple[float, bool]]] = {1: [], 2: [], 3: []}
    for at, (state, hands, _) in enumerate(moments(rules, seats, 130, seed=1)):
        if at % (24 if rules.effects is not None else 5):
            continue
        fits = playable_mask(state)
        for seat, chance in enumerate(chances(state, samples=200).seats):
            if 0.2 <= chance.can_play < 0.8:
                able = any(tile.bit & fits for tile in hands[seat])
                bins[int(chance.can_play * 5)].append((chance.can_play, able))
    for seen in bins.values():
        assert len(seen) > 40
        expected = sum(chance for chance, _ in seen) / len(seen)
        assert sum(able for _, able in seen) / len(seen) == pytest.approx(expected, abs=0.08)
