"""Tests of perft: the number of action sequences from a deal, in the engine, on its board, and in the naive game.

The table prevents the implementations from drifting together. A sequence counts every choice of a player: plays,
stacks, draws, knocks and declined extra turns. Points are called at once. `python -m tests.engine.test_perft 700`
writes the table, perft.json, again, with about 700 positions per deal.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import engine
from tests.engine.naive import Action, Pair, whole_set
from tests.engine.naive_game import Position, actions, after, start
from tests.engine.naive_super import SuperGame
from tests.engine.open_hands import naive_rules, open_hand


@dataclass(frozen=True)
class Deal:
    """A fixed deal. Seat 0 gets *held*, and the rest is shuffled with *seed*."""

    rules: engine.Rules
    seats: int
    hand: int
    seed: int = 1
    held: str = ""
    yard: int | None = None
    reaches: str = ""

    def hands(self) -> tuple[list[list[Pair]], list[Pair]]:
        pile = whole_set(naive_rules(self.rules))
        first = [pair(word) for word in self.held.split()]
        for tile in first:
            pile.remove(tile)
        random.Random(self.seed).shuffle(pile)
        hands = [[*(first if seat == 0 else ())] for seat in range(self.seats)]
        for hand in hands:
            hand += [pile.pop() for _ in range(self.hand - len(hand))]
        return hands, pile if self.yard is None else pile[: self.yard]

    def engine(self) -> engine.Table:
        return open_hand(self.rules, *self.hands()).table

    def naive(self) -> Position:
        return start(naive_rules(self.rules), *self.hands())


def pair(text: str) -> Pair:
    low, high = sorted(int(number) for number in text.split("-"))
    return low, high


def effects(**changes: object) -> engine.Rules:
    assert engine.SUPER.effects is not None
    return replace(engine.SUPER, effects=replace(engine.SUPER.effects, **changes))  # type: ignore[arg-type]  # fields of Effects


FIVE_UP = replace(engine.ALLFIVES, spinner=engine.Spinner.ALL, branch_order=engine.BranchOrder.SIDES_FIRST)
PAIRS = replace(engine.BLOCK, partners=True, partners_mode=engine.PartnersMode.TEAM_TOTAL)
# A double-six set where 6, 5, 4 and 1 have the effects of 15, 14, 13 and 3, so that they occur in every hand.
SIX = replace(engine.SUPER, max_pips=6, effects=engine.Effects(draw_on=6, again_on=5, spell_on=4, reverse_on=1))
SIX_ONCE = replace(SIX, effects=replace(SIX.effects or engine.Effects(), spell_lap=engine.SpellLap.CASTER_ONCE))

DEALS: dict[str, Deal] = {
    "bones, 2": Deal(engine.BONES, 2, 7),
    "bones, 3": Deal(engine.BONES, 3, 7, seed=2),
    "bones, 4": Deal(engine.BONES, 4, 7, seed=3),
    "bones, double-nine": Deal(replace(engine.BONES, max_pips=9), 3, 7, seed=4),
    "bones, no spinner": Deal(replace(engine.BONES, spinner=engine.Spinner.NONE), 2, 7),
    "bones, every double branches": Deal(replace(engine.BONES, spinner=engine.Spinner.ALL), 2, 7),
    "bones, sides and tips at once": Deal(replace(engine.BONES, branch_order=engine.BranchOrder.ANY), 2, 7),
    "draw, 2": Deal(engine.DRAW, 2, 7),
    "draw, 4": Deal(engine.DRAW, 4, 7, seed=2),
    "draw, double-twelve": Deal(replace(engine.DRAW, max_pips=12), 4, 7, seed=3),
    "allfives, 2": Deal(engine.ALLFIVES, 2, 7),
    "allfives, 3": Deal(engine.ALLFIVES, 3, 5, seed=2),
    "allfives, 5-5 leads": Deal(engine.ALLFIVES, 2, 7, held="5-5 5-4 5-3 5-2 5-1 5-0"),
    "five-up": Deal(FIVE_UP, 2, 7),
    "block, 2": Deal(engine.BLOCK, 2, 7, reaches="blocked, out"),
    "block, 3": Deal(engine.BLOCK, 3, 5, seed=2, reaches="blocked"),
    "block, 4": Deal(engine.BLOCK, 4, 5, seed=3),
    "block, partners": Deal(PAIRS, 4, 7, seed=4),
    "twoset, 4": Deal(engine.TWOSET, 4, 7),
    "twoset, 6": Deal(engine.TWOSET, 6, 7, seed=2),
    "cutthroat, 4": Deal(engine.CUTTHROAT, 4, 7, reaches="stack"),
    "cutthroat, stacks": Deal(
        replace(engine.CUTTHROAT, seats_min=2), 2, 7, seed=5, held="5-5 5-0 5-0 4-1", reaches="stack"
    ),
    "super, 2": Deal(engine.SUPER, 2, 9, reaches="again, spell"),
    "super, 3": Deal(engine.SUPER, 3, 9, seed=2, reaches="again, spell, turned"),
    "super, 4": Deal(engine.SUPER, 4, 9, seed=3, reaches="again, turned"),
    "super, three tiles": Deal(engine.SUPER, 3, 3, seed=4, yard=12, reaches="again, blocked, out, turned"),
    "super, 13-13 starts": Deal(
        engine.SUPER,
        3,
        5,
        seed=5,
        held="13-13 13-2 13-14 13-5",
        reaches="again, six arms, spell, starter spell, turned",
    ),
    "super, 14-14 starts": Deal(
        engine.SUPER, 3, 5, seed=6, held="14-14 14-13 14-3 14-0", reaches="again, out, spell, turned"
    ),
    "super, 15-15 starts": Deal(
        engine.SUPER, 3, 5, seed=7, held="15-15 15-13 15-14 15-3", reaches="again, spell, turned"
    ),
    "super, 3-3 starts": Deal(engine.SUPER, 4, 5, seed=8, held="3-3 13-3 14-3 15-3", reaches="again, spell, turned"),
    "super, nobody has a double": Deal(engine.SUPER, 2, 2, seed=9, held="1-2 13-4", reaches="again, out, spell"),
    "super, a blank skips": Deal(
        effects(skip_on=engine.SkipOn.BLANK),
        3,
        4,
        seed=10,
        held="0-0 0-13 0-14",
        reaches="again, out, six arms, spell, turned",
    ),
    "super, caster once": Deal(
        effects(spell_lap=engine.SpellLap.CASTER_ONCE), 2, 4, seed=11, held="7-7 7-13 1-1", reaches="again, spell"
    ),
    "super, a few tiles to draw": Deal(
        engine.SUPER, 3, 6, seed=12, held="7-7 7-13 7-14 7-15 7-3", yard=3, reaches="again, blocked, spell, turned"
    ),
    "super of six, 2": Deal(SIX, 2, 5, reaches="again, out, spell"),
    "super of six, 3": Deal(SIX, 3, 4, seed=2, reaches="again, out, spell, turned"),
    "super of six, 4": Deal(SIX, 4, 4, seed=3, reaches="again, spell, turned"),
    "super of six, 4-4 starts": Deal(
        SIX, 2, 6, seed=4, held="4-4 4-5 4-6 4-1 4-0 0-0", yard=2, reaches="again, six arms, spell, starter spell"
    ),
    "super of six, nothing to draw": Deal(SIX, 2, 6, seed=5, held="2-2 2-4 2-5 2-6", yard=0, reaches="again, spell"),
    "super of six, caster once": Deal(SIX_ONCE, 2, 5, seed=6, held="2-2 2-4 2-5", reaches="again, out, spell"),
}

# Numbers of sequences by depth, from 1.
PERFT: dict[str, str] = json.loads(Path(__file__).with_name("perft.json").read_text(encoding="utf-8"))


def perfts(table: engine.Table, depth: int) -> tuple[int, ...]:
    """Return the numbers of sequences of 1, 2, ... *depth* moves."""
    return tuple(engine.perft(table, moves) for moves in range(1, depth + 1))


def board_perft(board: engine.HandBoard, depth: int) -> tuple[int, ...]:
    """Return the same numbers from a board that is changed in place."""
    moves = board.moves()
    if depth == 1:
        return (len(moves),)
    totals = [0] * (depth - 1)
    for move in moves:
        board.push(move)
        totals = [sum(pair) for pair in zip(totals, board_perft(board, depth - 1), strict=True)]
        board.pop()
    return (len(moves), *totals)


def naive_perft(now: Position, depth: int, seen: Counter[str]) -> tuple[int, ...]:
    """Return the same numbers from the naive game. Add the rare facts of the tree to *seen*."""
    found = actions(now)
    seen.update(facts(now, found))
    if depth == 1:
        return (len(found),)
    longer = [naive_perft(after(now, action), depth - 1, seen) for action in found] or [(0,) * (depth - 1)]
    return (len(found), *map(sum, zip(*longer, strict=True)))


def facts(now: Position, found: list[Action]) -> Iterator[str]:
    """Yield the rare facts about a position."""
    if now.over:
        yield "out" if now.out is not None else "blocked"
    for action in found:
        if action.kind == "stack":
            yield "stack"
    if isinstance(now, SuperGame):
        if now.spell:
            yield "starter spell" if now.spell == "new" else "spell"
        if now.extra:
            yield "again"
        if now.direction < 0:
            yield "turned"
        if len(now.arms) == 6:
            yield "six arms"


@pytest.mark.parametrize("name", DEALS)
def test_all_implementations_match_the_table(name: str) -> None:
    deal, expected = DEALS[name], tuple(int(number) for number in PERFT[name].split())
    seen: Counter[str] = Counter()
    table = deal.engine()
    assert perfts(table, len(expected)) == expected
    assert board_perft(engine.HandBoard(table.game, table.hands, table.boneyard), len(expected)) == expected
    assert naive_perft(deal.naive(), len(expected), seen) == expected
    assert set(seen) >= set(deal.reaches.split(", ")) - {""}, seen


@pytest.mark.parametrize("rules", [rules for rules in engine.PROFILES if rules.refereed], ids=lambda rules: rules.name)
def test_ten_deals_of_every_game_are_equal(rules: engine.Rules) -> None:
    compared = 0
    for seed in range(60):
        deal = Deal(rules, max(rules.seats_min, 2 + seed % 3), 2 + seed % 6, seed)
        try:
            table = deal.engine()
        except engine.EngineError:  # Nobody can lead.
            continue
        if compared == 10:
            return
        compared += 1
        counted: tuple[int, ...] = (1,)
        board = engine.HandBoard(table.game, table.hands, table.boneyard)
        while sum(counted) < 150 and counted[-1] and len(counted) < 30:
            counted = board_perft(board, len(counted) + 1)
        assert perfts(table, len(counted)) == counted
        assert naive_perft(deal.naive(), len(counted), Counter()) == counted
    pytest.fail(f"only {compared} of the deals can be led")


def test_a_small_draw_game_counted_by_hand() -> None:
    # There are two possible hands. 1-2, 2-2, draw 1-1, play it, draw 0-0, knock, knock: seven actions.
    # 3-4, draw 1-1, draw 0-0, knock, knock: five.
    now = start(naive_rules(engine.DRAW), [[(1, 2), (3, 4)], [(2, 2), (5, 6)]], [(0, 0), (1, 1)])
    assert naive_perft(now, 8, Counter()) == (2, 2, 2, 2, 2, 1, 1, 0)


def test_the_trees_cover_rare_cases() -> None:
    wanted = {"stack", "out", "blocked", "spell", "starter spell", "again", "turned", "six arms"}
    assert {fact for deal in DEALS.values() for fact in deal.reaches.split(", ")} >= wanted


if __name__ == "__main__":
    found: dict[str, str] = {}
    for name, deal in DEALS.items():
        counted: tuple[int, ...] = (1,)
        while sum(counted) < int(sys.argv[1]) and len(counted) < 40 and counted[-1]:
            counted = perfts(deal.engine(), len(counted) + 1)
        assert naive_perft(deal.naive(), len(counted), Counter()) == counted, name
        found[name] = " ".join(map(str, counted))
    Path(__file__).with_name("perft.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
