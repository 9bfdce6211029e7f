"""Tests of the engine against OpenSpiel: block for two players, and for two pairs.

Both award a game to the lower pip total and pay the other total. `python_team_dominoes` compares pair totals even when
a player went out, but the engine pays that player. In that case only the sums are compared.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace
from typing import Any

import pytest

import engine
from tests.engine.open_hands import OpenHand, open_hand

REASON = "the package open_spiel is not installed: pip install -e .[oracles]"
pyspiel: Any = pytest.importorskip("pyspiel", reason=REASON)
pytest.importorskip("open_spiel.python.games.block_dominoes", reason=REASON)  # registers its game
pytest.importorskip("open_spiel.python.games.team_dominoes", reason=REASON)

pytestmark = pytest.mark.slow

GAMES = 300
DEALT = 7
# "p0 tile:(1.0, 2.0) pip:1.0", with None for the first tile
ACTION = re.compile(r"p(\d) tile:\((\d)\.0, (\d)\.0\) pip:(?:(\d)\.0|None)")

TWO = replace(
    engine.BLOCK,
    lead_first=engine.LeadRule.LOT_ANY,
    hand=DEALT,
    hand_for=(),
    hand_points=engine.HandPoints(subtract_own=False, tie=engine.TieBreak.NONE),
)
PAIRS = replace(TWO, partners=True, partners_mode=engine.PartnersMode.TEAM_TOTAL)

Choice = tuple[engine.Tile, int | None]
"""A tile and the number that it is played against. None for the first tile."""


@dataclass(frozen=True)
class Variant:
    name: str
    rules: engine.Rules
    seats: int


VARIANTS = (Variant("python_block_dominoes", TWO, 2), Variant("python_team_dominoes", PAIRS, 4))


def dealt(variant: Variant, rng: random.Random) -> tuple[OpenHand, Any]:
    """Return both games before the first tile. Block deals hand by hand, the team game tile by tile."""
    pile = list(engine.full_set(6))
    rng.shuffle(pile)
    hands = [pile[seat * DEALT : (seat + 1) * DEALT] for seat in range(variant.seats)]
    order = [tile for hand in hands for tile in hand]
    if variant.seats == 4:
        order = [tile for round_ in zip(*hands, strict=True) for tile in round_]
    state = pyspiel.load_game(variant.name).new_initial_state()
    names = {state.action_to_string(pyspiel.PlayerId.CHANCE, action): action for action in state.legal_actions()}
    for tile in order:
        state.apply_action(names[f"Deal ({tile.low}.0, {tile.high}.0)"])
    pairs = [[(tile.low, tile.high) for tile in hand] for hand in hands]
    return open_hand(variant.rules, pairs, [(tile.low, tile.high) for tile in pile[len(order) :]]), state


def their_choices(state: Any) -> dict[Choice, int]:
    found: dict[Choice, int] = {}
    for action in state.legal_actions():
        match = ACTION.fullmatch(state.action_to_string(state.current_player(), action))
        assert match is not None
        assert int(match[1]) == state.current_player()
        found[engine.Tile.of(int(match[2]), int(match[3])), None if match[4] is None else int(match[4])] = action
    return found


def our_choices(now: OpenHand) -> dict[Choice, engine.Play]:
    """Return the plays. Like OpenSpiel, two ends with the same number are a single choice."""
    numbers = {end.spot: end.number for end in engine.ends(now.state)}
    found: dict[Choice, engine.Play] = {}
    for move in now.moves():
        assert isinstance(move, engine.Play)
        found[move.tile, None if move.at is None else numbers[move.at]] = move
    return found


def check_position(now: OpenHand, state: Any) -> None:
    hands = [{engine.Tile.of(int(first), int(second)) for first, second in hand} for hand in state.hands]
    assert [set(hand) for hand in now.hands] == hands
    assert sorted(end.number for end in engine.ends(now.state)) == state.open_edges
    if not now.over:
        assert now.hand.turn == state.current_player()


def play_game(variant: Variant, rng: random.Random) -> bool:
    """Play a game in both, and return whether it was blocked."""
    now, state = dealt(variant, rng)
    while not state.is_terminal():
        check_position(now, state)
        ours, theirs = our_choices(now), their_choices(state)
        assert set(ours) == set(theirs)
        choice = rng.choice(list(ours))
        state.apply_action(theirs[choice])
        now = now.after(ours[choice])
        while (moves := now.moves()) and isinstance(moves[0], engine.Knock):
            now = now.after(moves[0])
    assert now.over
    check_position(now, state)
    assert our_returns(variant, now) == list(state.returns())
    return now.hand.out is None


def our_returns(variant: Variant, now: OpenHand) -> list[int]:
    """Return the gain of each seat, negative for the losing side."""
    result = now.result()
    if now.hand.out is not None:
        assert result.winner == now.hand.out
    if variant.rules.partners:
        holdings = [engine.Holding.of(hand) for hand in now.hands]
        by_sum = engine.settle(holdings, None, variant.rules.hand_points, engine.PartnersMode.TEAM_TOTAL)
        assert now.hand.out is not None or by_sum == result
        result = by_sum
    if result.winner is None:
        return [0] * variant.seats
    return [result.points * (1 if engine.Seat(at) % 2 == result.winner % 2 else -1) for at in range(variant.seats)]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_block_agrees_with_open_spiel(variant: Variant) -> None:
    blocked = [play_game(variant, random.Random(seed)) for seed in range(GAMES)]
    assert 30 < sum(blocked) < GAMES - 30
