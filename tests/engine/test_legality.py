"""The judge refuses exactly the plays that the generator does not list."""

from __future__ import annotations

import random

import pytest

from engine import BONES, PROFILES, Phase, Play, Rules, Seat, Stack, Table, Weight, legal_plays, turn, unseen
from engine.game.judge import problems_with
from engine.state.layout import Spot
from engine.tiles import Tile

GAMES = [rules for rules in PROFILES if rules.refereed]


def candidates(table: Table, tile: Tile) -> list[Play]:
    """Return plays of *tile* by every seat at every port of every tile on the table, either way round."""
    spots: list[Spot | None] = [Spot(node.id, port) for node in table.game.layout.nodes for port in node.ports]
    return [
        Play(Seat(seat), tile, spot, inner)
        for seat in range(len(table.hands))
        for spot in spots or [None]
        for inner in dict.fromkeys((tile.low, tile.high))
    ]


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_a_play_is_refused_unless_it_is_listed(rules: Rules) -> None:
    rng = random.Random(5)
    table = Table.start(rules, tuple("ABCD")).deal(rng)
    seen, share = [0, 0], 0.2 if rules.effects else 0.4
    while table.turn is not None:
        now = turn(table.game)
        # After an optional turn, the next player may act as well.
        if table.game.phase is Phase.PLAY and rng.random() < share and now is not None and not now.extra:
            for tile in rng.sample(unseen(table.game), 2):
                listed = {(play.seat, play.tile, play.at, play.inner) for play in legal_plays(table.state, [tile])}
                for play in candidates(table, tile):
                    worst = [problem.weight for problem in problems_with(table.game, play)]
                    is_legal = not any(weight is not Weight.NOTED for weight in worst)
                    end = None if play.at is None else table.game.layout.end_at(play.at)
                    if rules.effects is not None and end is not None and end.ways == 6:
                        continue  # Only the first of the free arms is listed.
                    is_listed = (play.seat, play.tile, play.at, play.inner) in listed
                    assert is_legal == is_listed, (play, problems_with(table.game, play))
                    seen[is_legal] += 1
        table = table.after(rng.choice(table.moves))
    assert min(seen) > 5


def test_the_most_severe_problem_comes_first() -> None:
    table = Table.start(BONES, ("A", "B")).deal(random.Random(1))
    table = table.after(table.moves[0])
    (node,) = table.game.layout.nodes
    problems = problems_with(table.game, Stack(Seat(0), Tile(0, 1), node.id))
    assert [problem.weight for problem in problems] == [Weight.IMPOSSIBLE, *[Weight.ILLEGAL] * (len(problems) - 1)]
    assert len(problems) > 1
