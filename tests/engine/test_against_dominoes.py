"""Tests of the engine against the package `dominoes`: four partners, and all tiles are dealt.

Its rules are those of Block with `partners_mode=all_three`: the seat that goes out gets the pips of all three others.
It awards a blocked game to the lighter pair, as `team_total` does, but pays the pips of both pairs.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

import engine
from tests.engine.open_hands import OpenHand, open_hand

dominoes: Any = pytest.importorskip(
    "dominoes", reason="the package dominoes is not installed: pip install -e .[oracles]"
)

pytestmark = pytest.mark.slow

GAMES = 300
SEATS, DEALT = 4, 7
RULES = replace(
    engine.BLOCK,
    partners=True,
    partners_mode=engine.PartnersMode.ALL_THREE,
    lead_first=engine.LeadRule.LOT_ANY,
    hand=DEALT,
    hand_for=(),
)


def dealt(rng: random.Random) -> tuple[OpenHand, Any]:
    """Return both games before the first tile. `Game.new` would use the global random generator, so deal here."""
    pile = list(engine.full_set(6))
    rng.shuffle(pile)
    hands = [pile[seat * DEALT : (seat + 1) * DEALT] for seat in range(SEATS)]
    leader = rng.randrange(SEATS)
    theirs = [dominoes.Hand([dominoes.Domino(tile.low, tile.high) for tile in hand]) for hand in hands]
    first = tuple((domino, True) for domino in theirs[leader])
    game = dominoes.Game(dominoes.Board(), theirs, [], leader, first, leader, None)
    return open_hand(RULES, [[(tile.low, tile.high) for tile in hand] for hand in hands], [], leader), game


def tile_of(domino: Any) -> engine.Tile:
    return engine.Tile.of(domino.first, domino.second)


def choices(now: OpenHand) -> dict[tuple[engine.Tile, bool], engine.Play]:
    """Return the plays by tile and side, True for west. Like `dominoes`, only west if both ends are equal."""
    same = len({end.number for end in engine.ends(now.state)}) == 1
    found = {}
    for move in now.moves():
        assert isinstance(move, engine.Play)
        west = now.action(move).place[:1] != "E"
        if west or not same:
            found[move.tile, west] = move
    return found


def passed(now: OpenHand) -> tuple[OpenHand, int]:
    """Return the hand after all players without a play have knocked, and the number of knocks."""
    knocks = 0
    while (moves := now.moves()) and isinstance(moves[0], engine.Knock):
        now, knocks = now.after(moves[0]), knocks + 1
    return now, knocks


def check_position(now: OpenHand, game: Any) -> None:
    assert [set(hand) for hand in now.hands] == [{tile_of(domino) for domino in hand} for hand in game.hands]
    if now.game.layout.nodes:
        first, *_ = now.game.layout.nodes
        west, east = first.id, first.id
        by_path = {path: node for node, path in now.paths().items()}
        west = by_path[max((path for path in by_path if path[:1] in ("", "W")), key=len)]
        east = by_path[max((path for path in by_path if path[:1] in ("", "E")), key=len)]
        nodes = {node.id: node for node in now.game.layout.nodes}
        assert (nodes[west].inner if west == first.id else nodes[west].outer) == game.board.left_end()
        assert nodes[east].outer == game.board.right_end()
    if not now.over:
        assert now.hand.turn == game.turn
        denied = [{number for claim in claims for number in claim.numbers} for claims in now.hand.claims]
        assert denied == game.missing_values()


def play_game(rng: random.Random) -> bool:
    """Play a game in both, and return whether it was blocked."""
    now, game = dealt(rng)
    while game.result is None:
        check_position(now, game)
        plays = choices(now)
        assert set(plays) == {(tile_of(domino), left) for domino, left in game.valid_moves}
        domino, left = rng.choice(game.valid_moves)
        before = len(game.moves)
        game.make_move(domino, left)
        now, knocks = passed(now.after(plays[tile_of(domino), left]))
        if game.result is None:
            assert knocks == len(game.moves) - before - 1
    assert now.over
    check_position(now, game)
    check_result(now, game.result)
    return not game.result.won


def check_result(now: OpenHand, result: Any) -> None:
    """Compare the results. Their points are positive for seats 0 and 2, and negative for the others."""
    pips = [sum(tile.pips for tile in hand) for hand in now.hands]
    if result.won:
        ours = now.result()
        assert (now.hand.out, ours.winner) == (result.player, result.player)
        assert ours.points * (-1) ** result.player == result.points
        return
    assert now.hand.out is None
    holdings = [engine.Holding.of(hand) for hand in now.hands]
    ours = engine.settle(holdings, None, RULES.hand_points, engine.PartnersMode.TEAM_TOTAL)
    if ours.winner is None:
        assert result.points == 0
    else:
        pair = ours.winner % 2
        assert ours.points == pips[1 - pair] + pips[3 - pair]
        assert (ours.points + pips[pair] + pips[pair + 2]) * (-1) ** pair == result.points


def test_partner_block_agrees_with_dominoes() -> None:
    blocked = [play_game(random.Random(seed)) for seed in range(GAMES)]
    assert 30 < sum(blocked) < GAMES - 30


def test_a_difference_is_detected() -> None:
    now, game = dealt(random.Random(1))
    domino, left = game.valid_moves[0]
    game.make_move(domino, left)
    with pytest.raises(AssertionError):
        check_position(now, game)
