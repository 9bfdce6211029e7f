"""What is still out: against counting every way in which a hand can have come together, and against real hands."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import permutations

import pytest

from engine import (
    BLOCK,
    BONES,
    SUPER,
    TWOSET,
    Decline,
    Draw,
    Event,
    ForcedDraw,
    Hand,
    HandEnd,
    Irregular,
    Knock,
    Lead,
    MatchStart,
    NewHand,
    Phase,
    Policy,
    Reveal,
    Rules,
    Seat,
    State,
    Tile,
    apply,
    ends,
    full_set,
    legal_plays,
    replay,
    unseen,
)
from engine.game.questions import ends_now
from engine.game.turns import can_draw
from engine.library.chances import NumberChance, Outlook, SeatChance, chances
from tests.engine.table import OPEN_BONES, Table, tiles

A, B = Seat(0), Seat(1)
THREE = replace(OPEN_BONES, hand=3, policy=Policy.WARN)  # a knock with tiles to draw stands


def dealt(rules: Rules = THREE, *, size: int = 3) -> Table:
    """A table where seat 0 has tiles enough for any story, and seat 1 has *size*."""
    table = Table(rules)
    table.state = replay([MatchStart(rules, table.players), NewHand(dealt=(9, size))])
    return table


def open_numbers(state: State) -> tuple[int, ...]:
    return tuple(dict.fromkeys(end.number for end in ends(state) if end.playable))


# ---- every way counted ----

Step = tuple[str, int | Tile | tuple[int, ...]]
"""("gets", tiles), ("denies", numbers), ("plays", a tile), or ("plays dealt", a tile that is no drawn one)."""


@dataclass
class Watched:
    """A hand of which all that seat 1 does is written down as well."""

    table: Table
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.steps.append(("gets", self.table.hand.sizes[B]))

    def does(self, text: str) -> None:
        """ "draws 2" and "knocks" are of seat 1; "6-3@W" is a play, "6-3@W dealt" one of a tile that was dealt."""
        word, _, rest = text.partition(" ")
        if word in ("draws", "knocks"):
            self.steps.append(("denies", open_numbers(self.table.state)))
            if word == "draws":
                self.steps.append(("gets", int(rest)))
            self.table.feed(Draw(B, int(rest)) if word == "draws" else Knock(B))
            return
        if self.table.hand.turn == B:
            self.steps.append(("plays dealt" if rest else "plays", Tile.parse(word.partition("@")[0])))
        self.table.play(word)


def hands_that_agree(steps: Sequence[Step], out: Sequence[Tile]) -> Iterator[tuple[Tile, ...]]:
    """Every hand that seat 1 can hold now, once for each order in which its tiles can have come."""
    dealt = next(many for what, many in steps if what == "gets")
    assert isinstance(dealt, int)
    gets = sum(many for what, many in steps if what == "gets" and isinstance(many, int))
    played = [tile for _, tile in steps if isinstance(tile, Tile)]
    for order in permutations([*out, *played], gets):
        held: list[Tile] = []
        came = iter(order)
        for what, which in steps:
            if isinstance(which, int):
                held += [next(came) for _ in range(which)]
            elif isinstance(which, tuple):
                if any(tile.has(number) for tile in held for number in which):
                    break
            elif which not in held or (what == "plays dealt" and which not in order[:dealt]):
                break
            else:
                held.remove(which)
        else:
            yield tuple(held)


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
    "played an old tile": ["5-5", "draws 1", "5-1@W", "1-2@W", "2-3@W dealt"],
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
@pytest.mark.parametrize("seed", range(4))
def test_a_chance_is_the_share_of_the_ways_in_which_the_hand_can_have_come(story: list[str], seed: int) -> None:
    watched = Watched(dealt())
    for text in story:
        watched.does(text)
    compare(watched, 8, random.Random(seed))


@pytest.mark.parametrize("seed", range(6))
def test_of_two_sets_each_copy_is_a_tile_of_its_own(seed: int) -> None:
    watched = Watched(dealt(replace(THREE, copies=2)))
    for text in ("5-5", "draws 1", "5-1@W", "5-1@E", "draws 1"):
        watched.does(text)
    rng = random.Random(seed)
    compare(watched, 8, rng, 2 * rng.sample([tile for tile in full_set(6) if not tile.is_double], 4))


def compare(watched: Watched, size: int, rng: random.Random, out: Sequence[Tile] = ()) -> None:
    """Compare with what is counted when only some tiles are not known: *out*, or *size* of them."""
    state = watched.table.state
    known = list(unseen(watched.table.game))
    rng.shuffle(known)
    out = [tile for tile in out if known.count(tile) == 2] or known[:size]
    for tile in out:
        known.remove(tile)
    outlook = chances(state, known=known)
    hands = list(hands_that_agree(watched.steps, out))
    if not hands:
        assert not outlook.seats[B].consistent
        return
    assert outlook.seats[B].consistent
    numbers = open_numbers(state)
    assert [one.number for one in outlook.numbers] == list(numbers)
    assert [one.out for one in outlook.numbers] == [sum(tile.has(number) for tile in out) for number in numbers]
    for one in outlook.numbers:
        assert one.held[B] == pytest.approx(share(hands, (one.number,)), abs=1e-12)
    assert outlook.seats[B].can_play == pytest.approx(share(hands, numbers), abs=1e-12)


def share(hands: Sequence[tuple[Tile, ...]], numbers: Sequence[int]) -> float:
    """Of these hands the share with a tile that has one of *numbers*."""
    able = sum(any(tile.has(number) for tile in held for number in numbers) for held in hands)
    return float(Fraction(able, len(hands)))


def test_a_chance_worked_out_by_hand() -> None:
    # Out are 5-1, 5-2, 6-1 and 6-2. Tom drew on 5: his two old tiles are 6-1 and 6-2, the new one has a 5.
    # Of the boneyard's four tiles and Brian's hand nothing is said: two of four have a 5, C(2,2) / C(4,2) have none.
    out = tiles("5-1 5-2 6-1 6-2")
    table = Table(replace(THREE, hand=2)).play("5-5").feed(Draw(B))
    known = [tile for tile in unseen(table.game) if tile not in out]
    assert chances(table.state, known=known) == Outlook(
        (NumberChance(5, 2, (1 - 2 / 4, 1.0)),), (SeatChance(1 / 2, True), SeatChance(1.0, True))
    )


# ---- whose hand is known ----


def test_for_his_own_hand_a_player_has_no_doubt_and_others_do_not_hold_it() -> None:
    table = Table(THREE).play("5-5")
    others = chances(table.state)
    mine = chances(table.state, known=tiles("5-1 5-2"), seat=A)
    assert (mine.seats[A].can_play, mine.numbers[0].held[A], mine.numbers[0].out) == (1.0, 1.0, 4)
    assert 0 < mine.seats[B].can_play < others.seats[B].can_play
    assert chances(table.state, known=tiles("6-1 6-2"), seat=A).seats[A] == SeatChance(0.0, True)


def test_a_hand_that_is_shown_and_cannot_be_what_was_said_is_told() -> None:
    table = Table(THREE).play("5-5").feed(Knock(B))
    assert chances(table.state, known=tiles("5-1 6-2 6-3"), seat=B).seats[B] == SeatChance(1.0, False)


def test_hands_laid_open_are_known() -> None:
    table = Table(THREE).play("5-5").feed(HandEnd(), Reveal(A, tiles("6-1 6-2")))
    assert table.game.phase is Phase.REVEAL
    assert chances(table.state).seats[A] == SeatChance(0.0, True)
    assert chances(table.state) == chances(table.state, known=tiles("6-1 6-2"), seat=A)


def test_one_known_copy_leaves_the_other_out() -> None:
    table = Table(replace(THREE, copies=2)).play("5-5")
    assert chances(table.state).numbers[0].out == 13
    assert chances(table.state, known=tiles("5-1")).numbers[0].out == 12
    assert chances(table.state, known=tiles("5-1 5-1 5-1 5-5")).numbers[0].out == 10


# ---- what cannot be true ----


def test_of_what_contradicts_each_other_the_older_is_left_out() -> None:
    # Tom knocked on 6 and 1, then on 6 and 2. Only 4-3 and 5-4 deny both: too few for his three tiles.
    table = dealt().play("6-1").feed(Knock(B)).play("1-2@E").feed(Knock(B))
    assert [claim.numbers for claim in table.hand.claims[B] if claim.numbers] == [(6, 1), (6, 2)]
    known = all_but(table, "4-3 5-4 3-1 2-0 6-0")
    found = chances(table.state, known=known)
    # What he said last is believed, and with it 3-1 is one of his.
    assert found.seats[B] == SeatChance(0.0, False)
    assert chances(table.state, known=all_but(table, "4-3 5-4 4-4 2-0 6-0")).seats[B] == SeatChance(0.0, True)


def test_an_older_claim_that_agrees_with_the_last_is_kept_when_one_between_does_not() -> None:
    # Tom knocked on 6 and 1, on 6 and 2, on 6 and 3. Three tiles that are out agree with the first and the last.
    table = dealt().play("6-1").feed(Knock(B)).play("1-2@E").feed(Knock(B)).play("2-3@E").feed(Knock(B)).play("3-1@E")
    known = all_but(table, "5-4 2-5 2-4 1-4 6-4")
    found = chances(table.state, known=known)
    # Without the second, 1-4 is ruled out by the first alone, and he holds the other three.
    assert open_numbers(table.state) == (6, 1)
    assert found.seats[B] == SeatChance(0.0, False)
    assert found.numbers[1].held[A] == 1.0


def all_but(table: Table, out: str) -> list[Tile]:
    """All that is unseen but these tiles."""
    return [tile for tile in unseen(table.game) if tile not in tiles(out)]


def test_more_tiles_held_than_are_out_do_not_divide_by_zero() -> None:
    table = Table(THREE).play("5-5").feed(Knock(B))
    known = list(unseen(table.game))
    assert chances(table.state, known=known) == Outlook(
        (NumberChance(5, 0, (0.0, 0.0)),), (SeatChance(0.0, False), SeatChance(0.0, False))
    )
    known.remove(Tile(5, 6))
    assert chances(table.state, known=known).seats == (SeatChance(1.0, False), SeatChance(1.0, False))


# ---- when there is nothing to see ----


def test_nothing_is_told_before_the_first_tile_or_after_the_count() -> None:
    assert chances(State()) == Outlook()
    table = Table(THREE)
    assert chances(table.state) == Outlook()
    table.play("5-5").feed(HandEnd(), Reveal(A, tiles("6-1 6-2")), Reveal(B, tiles("6-3 6-4 5-1")))
    assert chances(table.state) == Outlook()


def test_closed_tips_are_no_place_and_a_spell_leaves_one() -> None:
    table = Table(THREE).play("1-3", "3-3@E", "3-5@E")
    assert [one.number for one in chances(table.state).numbers] == [1, 3, 5]
    assert [one.number for one in chances(Table(THREE).play("1-3", "3-3@E", "1-5@W").state).numbers] == [5, 3]
    spell = chances(Table(SUPER, ("A", "B", "C")).play("7-7", "7-13@1").state)
    # All with a 13 but the one that lies there, and fifteen doubles but the starter.
    assert [(one.number, one.out) for one in spell.numbers] == [(13, 15 + 14)]


# ---- laws, in hands that are really played ----


def moments(rules: Rules, seats: int, hands: int, seed: int) -> Iterator[tuple[State, list[list[Tile]], Event]]:
    """What is on the table, the hands and what was done, after each action of players who choose at random."""
    rng = random.Random(seed)
    for _ in range(hands):
        yield from one_hand(replace(rules, policy=Policy.STRICT), seats, rng)


def one_hand(rules: Rules, seats: int, rng: random.Random) -> Iterator[tuple[State, list[list[Tile]], Event]]:
    state = replay([MatchStart(rules, tuple("ABCDEF"[:seats])), NewHand()])
    pile = [*full_set(rules.max_pips)] * rules.copies
    rng.shuffle(pile)
    hands = [[pile.pop() for _ in range(rules.dealt(seats))] for _ in range(seats)]
    doubles = [[tile.high for tile in held if tile.is_double] for held in hands]
    highest = [max(found, default=-1) for found in doubles]
    most = rules.redeal_if_doubles_over
    if max(highest) < 0 or (most is not None and max(map(len, doubles)) > most):
        return
    state, _ = apply(state, Lead(Seat(highest.index(max(highest)))))
    while state.game is not None and state.game.phase in (Phase.LEAD, Phase.PLAY):
        event = choice(state, hands, rng)
        if isinstance(event, Draw):
            hands[event.seat].append(pile.pop())
        state, outcomes = apply(state, event)
        assert not any(isinstance(outcome, Irregular) for outcome in outcomes)
        for outcome in outcomes:
            if isinstance(outcome, ForcedDraw):
                hands[outcome.seat].append(pile.pop())
        if state.game is not None and state.game.phase is Phase.PLAY:
            yield state, hands, event


def choice(state: State, hands: list[list[Tile]], rng: random.Random) -> Event:
    """What the player does whose turn it is; a tile that he lays is gone from his hand."""
    hand = hand_of(state)
    assert state.game is not None
    assert hand.turn is not None
    seat = hand.turn
    plays = legal_plays(state, hands[seat])
    if plays:
        play = rng.choice(plays)
        hands[seat].remove(play.tile)
        return play
    if hand.course.extra:
        return Decline(seat)
    return Draw(seat) if can_draw(state.game.rules, hand) else Knock(seat)


def hand_of(state: State) -> Hand:
    assert state.game is not None
    assert state.game.hand is not None
    return state.game.hand


def fitting(state: State) -> int:
    """All tiles that can be played now, as bits."""
    fits = 0
    for end in ends_now(hand_of(state)):
        fits |= end.fits
    return fits


GAMES = [(BONES, 2), (BONES, 3), (BLOCK, 4), (TWOSET, 4), (replace(SUPER, hand=5), 3)]
NAMES = [f"{rules.name} for {seats}" for rules, seats in GAMES]


@pytest.mark.parametrize(("rules", "seats"), GAMES, ids=NAMES)
def test_laws_of_chances_in_random_hands(rules: Rules, seats: int) -> None:
    for state, hands, event in moments(rules, seats, 12, seed=0):
        assert state.game is not None
        outlook, fits = chances(state), fitting(state)
        not_fitting = sum(not tile.bit & fits for tile in unseen(state.game))
        for at, chance in enumerate(outlook.seats):
            each = [one.held[at] for one in outlook.numbers]
            assert chance.consistent
            assert max(each) - 1e-9 <= chance.can_play <= sum(each) + 1e-9
            if chance.can_play in (0.0, 1.0):
                assert any(tile.bit & fits for tile in hands[at]) == bool(chance.can_play)
            if len(hands[at]) > not_fitting:
                assert chance.can_play == 1.0
        for one in outlook.numbers:
            assert one.out > 0 or set(one.held) == {0.0}
        if isinstance(event, Knock) and rules.effects is None:  # after it another spell may be on
            assert outlook.seats[event.seat].can_play == 0.0


def test_the_laws_are_met_where_they_say_something() -> None:
    certain = knocked = none_out = 0
    for rules, seats in GAMES[:4]:
        for state, _, event in moments(rules, seats, 12, seed=0):
            outlook = chances(state)
            certain += any(chance.can_play == 1.0 for chance in outlook.seats)
            none_out += any(one.out == 0 for one in outlook.numbers)
            knocked += isinstance(event, Knock)
    assert min(certain, knocked, none_out) > 10


def test_who_knocked_cannot_play_on_it_until_he_draws() -> None:
    table = dealt().play("5-5").feed(Knock(B))
    assert chances(table.state).seats[B].can_play == 0.0
    table.play("5-1@W")
    held = {one.number: one.held for one in chances(table.state).numbers}
    assert held[5][B] == 0.0
    assert 0.0 < held[1][B] < held[5][A]
    table.feed(Draw(B))
    held = {one.number: one.held for one in chances(table.state).numbers}
    assert 0.0 < held[5][B] < held[5][A]


@pytest.mark.slow
@pytest.mark.parametrize(("rules", "seats"), GAMES, ids=NAMES)
def test_of_those_said_to_play_with_some_chance_about_that_share_can(rules: Rules, seats: int) -> None:
    """Within 0.08 for what is said from 0.2 to 0.4, 0.4 to 0.6 and 0.6 to 0.8, each at some hundreds of moments."""
    told: dict[int, list[tuple[float, bool]]] = {1: [], 2: [], 3: []}
    for state, hands, _ in moments(rules, seats, 130, seed=1):
        fits = fitting(state)
        for at, chance in enumerate(chances(state).seats):
            if 0.2 <= chance.can_play < 0.8:
                able = any(tile.bit & fits for tile in hands[at])
                told[int(chance.can_play * 5)].append((chance.can_play, able))
    for seen in told.values():
        assert len(seen) > 200
        said = sum(chance for chance, _ in seen) / len(seen)
        assert sum(able for _, able in seen) / len(seen) == pytest.approx(said, abs=0.08)
