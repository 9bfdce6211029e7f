"""Tests of the engine against the naive game in random hands: every choice, count, score and result."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

import engine
from engine import ALLFIVES, BLOCK, BONES, CUTTHROAT, DRAW, SUPER, HandPoints, LeadRule, Rules, Spinner, TieBreak
from tests.engine import naive_game
from tests.engine.naive import Action, Pair, is_double, whole_set
from tests.engine.naive_game import LineGame, Position, actions, after, scores
from tests.engine.naive_super import SuperGame, super_locked
from tests.engine.open_hands import OpenHand, naive_rules, open_hand


@dataclass(frozen=True)
class Deal:
    """A hand for both games. *yard* tiles are left to draw, and the rest of the set is unused."""

    rules: Rules
    seats: int
    hand: int
    yard: int | None = None


Draws = Callable[[random.Random], Deal]


def lines(rules: Rules, *seats: int) -> Draws:
    """Return a generator of deals with unchanged rules, sometimes with small hands."""

    def random_deal(rng: random.Random) -> Deal:
        players = rng.choice(seats)
        return Deal(rules, players, rng.choice((rules.dealt(players), 3, 4)))

    return random_deal


def six_arms(rng: random.Random) -> Deal:
    """Return a deal of the double-fifteen set, with all or a few tiles to draw."""
    seats = rng.randint(2, 4)
    rules = replace(
        SUPER,
        effects=replace(
            SUPER.effects or engine.Effects(),
            skip_on=rng.choice(list(engine.SkipOn)),
            spell_lap=rng.choice(list(engine.SpellLap)),
            spell_deadlock=rng.choice(list(engine.SpellDeadlock)),
            last_tile=rng.random() < 0.3,
        ),
        hand_points=HandPoints(
            mode=rng.choice((engine.HandMode.SIMPLE, engine.HandMode.ADVANCED)),
            tie=rng.choice((TieBreak.FEWEST_PIPS, TieBreak.NONE)),
            signed=rng.random() < 0.3,
        ),
        on_provable_block=rng.choice(list(engine.ProvableBlock)),
    )
    return Deal(rules, seats, rng.choice((4, 9)), rng.choice((None, None, 0, 5, 20)))


def six_arms_of_few_numbers(rng: random.Random) -> Deal:
    """Return a deal with a set of 28 to 55 tiles, where effects, spells and blocks are frequent."""
    numbers = rng.sample(range(7), 4)
    deal = six_arms(rng)
    assert deal.rules.effects is not None
    effects = replace(
        deal.rules.effects, draw_on=numbers[0], again_on=numbers[1], spell_on=numbers[2], reverse_on=numbers[3]
    )
    reserve = rng.choice((0, 0, 0, 2))
    rules = replace(deal.rules, max_pips=rng.choice((6, 6, 7, 9)), effects=effects, boneyard_reserve=reserve)
    return Deal(rules, deal.seats, rng.randint(2, 7), rng.choice((None, 0, 3)))


def two_sets(rng: random.Random) -> Deal:
    """Return a deal of two sets, mostly with stacks, and small hands with many duplicates."""
    rules = replace(
        rng.choice((engine.TWOSET, CUTTHROAT, CUTTHROAT, CUTTHROAT)),
        seats_min=2,
        steal_gain=rng.choice(list(engine.StealGain)),
        call_required=rng.random() < 0.7,
        unit=rng.choice((5, 5, 3, 2)),
        tally=DRAW.tally,
    )
    return Deal(rules, rng.choice((2, 3, 4, 4, 6)), rng.choice((7, 7, 4, 9)))


def partners(rng: random.Random) -> Deal:
    points = replace(BLOCK.hand_points, subtract_own=rng.random() < 0.5, tie=rng.choice(TIES))
    rules = replace(BLOCK, partners=True, partners_mode=rng.choice(list(engine.PartnersMode)), hand_points=points)
    return Deal(rules, 4, rng.choice((5, 7)))


TIES = (TieBreak.LIGHTEST_TILE, TieBreak.LIGHTEST_TILE, TieBreak.NONE)
LINE_LEADS = (LeadRule.HIGHEST_DOUBLE, LeadRule.SET_DOUBLE, LeadRule.LOT_ANY)


def any_line(rng: random.Random) -> Deal:
    """Return a deal with random options of a game without six arms."""
    unit, size = rng.choice((None, 5, 5, 3)), rng.choice((6, 6, 6, 7, 9, 12))
    rules = replace(
        rng.choice((BONES, DRAW, ALLFIVES, BLOCK)),
        max_pips=size,
        copies=rng.choice((1, 1, 1, 2)),
        seats_max=None,
        lead_first=rng.choice(LINE_LEADS),
        no_double=rng.choice((engine.NoDouble.REDEAL, engine.NoDouble.HIGHEST_TILE)),
        spinner=rng.choice((Spinner.NONE, Spinner.FIRST, Spinner.ALL)),
        branch_order=rng.choice(list(engine.BranchOrder)),
        spinner_count=rng.choice(list(engine.SpinnerCount)),
        unit=unit,
        play_divisor=rng.choice((1, 1, unit or 5)),
        draw=rng.choice((engine.Drawing.NONE, engine.Drawing.UNTIL_PLAYABLE)),
        boneyard_reserve=rng.choice((0, 0, 2)),
        on_provable_block=rng.choice(list(engine.ProvableBlock)),
        hand_points=HandPoints(
            subtract_own=rng.random() < 0.5,
            round_to=rng.choice((None, 5, 3)),
            bonus_divisor=rng.choice((1, 5, 3)),
            tie=rng.choice(TIES),
            tie_order=rng.choice(list(engine.TieOrder)),
        ),
        tally=DRAW.tally,
    )
    return Deal(rules, rng.randint(2, 4), rng.randint(2, 7), rng.choice((None, None, 0, 4)) if size < 9 else 9)


GAMES: dict[str, Draws] = {
    "bones": lines(BONES, 2, 3, 4),
    "draw": lines(DRAW, 2, 3, 4),
    "allfives": lines(ALLFIVES, 2, 3, 4),
    "block": lines(BLOCK, 2, 3, 4),
    "partners": partners,
    "super": six_arms,
    "super of few numbers": six_arms_of_few_numbers,
    "two sets": two_sets,
    "any line": any_line,
}

RARE = {
    "bones": {"went out", "blocked", "drew out"},
    "draw": {"went out", "blocked", "drew out"},
    "allfives": {"went out", "blocked", "drew out", "capped"},
    "block": {"went out", "blocked", "all knocked", "nobody won"},
    "partners": {"went out", "blocked", "all knocked", "nobody won"},
    "super": {"went out", "blocked", "spell", "starter spell", "spell and nothing to draw", "turned", "again"},
    "super of few numbers": {
        *("went out", "blocked", "all knocked", "nobody won", "spell", "starter spell", "spell and nothing to draw"),
        *("turned", "again", "six arms", "drew for a double", "locked and tiles left", "spell lapsed"),
    },
    "two sets": {"went out", "stacked", "stacked on a stack", "stacked a double", "scored below zero", "capped"},
    "any line": {"went out", "blocked", "all knocked", "nobody won", "locked and tiles left", "capped", "drew out"},
}


def dealt(deal: Deal, rng: random.Random) -> tuple[OpenHand, Position]:
    """Return both games before the first tile. Redraw deals without a possible lead or that need a redeal."""
    rules = naive_rules(deal.rules)
    while True:
        pile = whole_set(rules)
        rng.shuffle(pile)
        hands: list[list[Pair]] = [[pile.pop() for _ in range(deal.hand)] for _ in range(deal.seats)]
        yard = pile if deal.yard is None else pile[: deal.yard]
        if deal.rules.effects and not any(is_double(tile) for held in (yard, *hands) for tile in held):
            continue  # all doubles are unused
        if max(sum(map(is_double, hand)) for hand in hands) > rules.get("redeal_if_doubles_over", deal.hand):
            continue
        leader = rng.randrange(deal.seats)
        try:
            naive = naive_game.start(rules, hands, yard, leader)
        except ValueError:
            with pytest.raises(ValueError, match="nobody holds"):
                open_hand(deal.rules, hands, yard, leader)
            continue
        return open_hand(deal.rules, hands, yard, leader), naive


def agree(engine: OpenHand, naive: Position) -> dict[Action, int]:
    """Check that both games are in the same state. Return each action with its index in the engine's moves."""
    moves = engine.moves()
    choices = {engine.action(move): at for at, move in enumerate(moves)}
    assert len(choices) == len(moves)
    assert set(choices) == set(actions(naive)), engine.state.log
    assert engine.over == naive.over
    assert [[(tile.low, tile.high) for tile in hand] for hand in engine.hands] == naive.hands
    assert list(engine.hand.sizes) == [len(hand) for hand in naive.hands]
    assert engine.hand.boneyard == len(naive.boneyard)
    if engine.game.rules.unit is not None:
        assert engine.game.count.total == naive_game.count(naive), engine.state.log
    assert list(engine.paid_for_plays) == scores(naive), engine.state.log
    if moves:
        assert engine.hand.turn == naive.turn
    return choices


def play_both(deal: Deal, rng: random.Random) -> Counter[str]:
    """Play a hand, compare after every event, and return the rare facts that occurred."""
    engine, naive = dealt(deal, rng)
    seen: Counter[str] = Counter()
    before: Action | None = None
    narrow = rng.random() < 0.3
    while choices := agree(engine, naive):
        action = chosen(naive, sorted(choices), rng, narrow=narrow)
        seen.update(facts(naive, action, before))
        totals = engine.game.totals
        seat = naive.turn
        engine, naive = engine.after(engine.moves()[choices[action]]), after(naive, action)
        if action.kind in ("play", "stack"):
            assert engine.paid_for_plays[seat] - totals[seat] == naive_game.play_score(naive), engine.state.log
        before = action if action.kind in ("play", "stack") else before
    seen.update(endings(naive, engine))
    paid, result = engine.paid_for_plays, engine.result()
    winner, points = naive_game.hand_result(naive)
    assert (_winner(deal.rules, result.winner), result.points) == (_winner(deal.rules, winner), points), (
        engine.state.log
    )
    bonus = [after - before for before, after in zip(paid, engine.game.totals, strict=True)]
    assert bonus == [points if seat == result.winner else 0 for seat in range(deal.seats)]
    return seen


def chosen(now: Position, choices: list[Action], rng: random.Random, *, narrow: bool) -> Action:
    """Choose an action, mostly a stack if possible. If *narrow*, prefer few distinct open numbers."""
    stacks = [action for action in choices if action.kind == "stack"]
    if stacks and rng.random() < 0.8:
        return rng.choice(stacks)
    rng.shuffle(choices)
    if narrow and isinstance(now, LineGame) and choices[0].kind == "play":
        return min(choices, key=lambda action: open_numbers(after(now, action)))
    return choices[0]


def open_numbers(now: Position) -> int:
    """Return a sort key that prefers few distinct open numbers, and then more open ends."""
    assert isinstance(now, LineGame)
    numbers = [now.layout.number(place) for place in now.layout.open_places()]
    return 100 * len(set(numbers)) - sum(numbers.count(number) for number in numbers)


def _winner(rules: Rules, winner: int | None) -> int | None:
    """Return the winner, or the winning pair if pairs are totalled."""
    pairs = rules.partners and rules.partners_mode is engine.PartnersMode.TEAM_TOTAL
    return winner % 2 if pairs and winner is not None else winner


def facts(now: Position, action: Action, before: Action | None) -> Iterator[str]:
    """Yield the rare facts about an action."""
    if action.kind == "stack":
        yield "stacked"
        if is_double(action.tile):
            yield "stacked a double"
        if before is not None and before.kind == "stack":
            yield "stacked on a stack"
    if min(scores(now)) < 0:
        yield "scored below zero"
    if isinstance(now, SuperGame):
        yield from six_arm_facts(now, action)
    else:
        if any(now.layout.branches(at) and now.layout.neighbours(at) > 2 for at in now.layout.laid):
            yield "capped"
        if action.kind == "draw" and len(now.boneyard) == 1:
            yield "drew out"
        if action.kind == "draw" and now.layout.locked(now.rules):
            yield "locked and tiles left"


def six_arm_facts(now: SuperGame, action: Action) -> Iterator[str]:
    if now.spell:
        yield "starter spell" if now.spell == "new" else "spell"
        if action.kind == "knock" and not now.boneyard:
            yield "spell and nothing to draw"
            if after(now, action).over is False and now.knocks == len(now.hands) - 1:
                yield "spell lapsed"
    if now.extra:
        yield "again"
    if now.direction < 0:
        yield "turned"
    if len(now.arms) == 6:
        yield "six arms"
    if now.starter is None and action.kind == "draw":
        yield "drew for a double"
    if action.kind == "draw" and now.starter is not None and super_locked(now):
        yield "locked and tiles left"


def endings(now: Position, engine: OpenHand) -> Iterator[str]:
    yield "blocked" if now.out is None else "went out"
    if now.knocks >= len(now.hands):
        yield "all knocked"
    if now.out is None and naive_game.hand_result(now)[0] is None:
        yield "nobody won"


def compare(name: str, hands: int, seed: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    for number in range(hands):
        rng = random.Random(seed + number)
        seen.update(set(play_both(GAMES[name](rng), rng)))
    return seen


@pytest.mark.parametrize("name", GAMES)
def test_random_hands_agree(name: str) -> None:
    compare(name, 2, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_hundreds_of_random_hands_agree_and_cover_rare_cases(name: str) -> None:
    seen = compare(name, 400, seed=1000)
    assert set(seen) >= RARE[name], (RARE[name] - set(seen), seen)
