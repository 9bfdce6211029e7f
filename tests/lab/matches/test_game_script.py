"""Tests of the scripted game of the demo: legal, complete, and reproducible by seed."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from engine import (
    CUTTHROAT,
    Draw,
    HandEnd,
    Knock,
    Lead,
    MatchStart,
    NewHand,
    Phase,
    Play,
    Redeal,
    RedealReason,
    Reveal,
    Stack,
    State,
    Tile,
    apply,
    full_set,
    problem_with,
    profile,
)
from lab.matches.game_script import play_out
from lab.matches.room import pick_table
from tallybone.session.places import overlap
from tests.tallybone.truth_eye import PLAYERS_OF, game, script

# 34 ends blocked, proven by knocks. 51 ends by the button.
SEEDS = (*range(28), 51, 105)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_event_breaks_the_rules(seed: int) -> None:
    state = State()
    for step in game(seed)[1]:
        assert problem_with(state, step.event) is None
        state, _ = apply(state, step.event)
        assert state == step.state


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hand_is_played_to_its_end_and_every_tile_exists_once(seed: int) -> None:
    steps = game(seed)[1]
    end = steps[-1].state.game
    assert end is not None
    assert end.hand is not None
    assert end.phase in (Phase.DEAL, Phase.MATCH_OVER)
    held = [tile for holding in end.hand.holdings if holding is not None for tile in holding.tiles or ()]
    seen: list[Tile] = [*end.layout.tiles, *held]
    assert len(seen) == len(set(seen))
    assert set(seen) <= set(full_set(6))
    assert len(seen) + end.hand.boneyard == 28


@pytest.mark.parametrize("seed", SEEDS)
def test_the_scene_shows_the_layout_after_every_step(seed: int) -> None:
    table, steps = game(seed)
    for step in steps:
        layout = step.state.game.layout if step.state.game is not None else None
        assert layout is not None
        assert [tile.node for tile in step.laid] == [node.id for node in layout.nodes]
        scene = table.scene(layout, step.laid)
        assert [Tile.of(*placed.pips) for placed in scene.tiles if placed.pips is not None] == list(layout.tiles)


def test_plays_are_seen_and_other_events_come_from_buttons() -> None:
    kinds = Counter(type(step.event) for seed in SEEDS for step in game(seed)[1])
    assert {MatchStart, NewHand, Lead, Play, Draw, Knock, Reveal} <= set(kinds)
    assert all(step.is_seen == isinstance(step.event, Play) for seed in SEEDS for step in game(seed)[1])


def test_hands_end_in_every_possible_way() -> None:
    hands = [game(seed)[1][-1].state.game for seed in SEEDS]
    outs = [game.hand.out for game in hands if game is not None and game.hand is not None]
    assert None in outs
    assert {0, 1} <= set(outs)


@pytest.mark.parametrize(("seed", "reason"), [(3, RedealReason.TOO_MANY_DOUBLES), (798, RedealReason.NO_DOUBLE)])
def test_a_deal_with_too_many_doubles_or_none_is_repeated(seed: int, reason: RedealReason) -> None:
    _, steps = script(seed)
    assert [next(steps).event for _ in range(3)][1:] == [NewHand(), Redeal(reason)]


def test_equal_seeds_play_equal_games() -> None:
    assert tuple(script(3)[1]) == tuple(script(3)[1])
    assert [step.event for step in script(3)[1]] != [step.event for step in script(4)[1]]


def test_the_winner_of_a_hand_leads_the_next() -> None:
    steps = list(script(1, hands=2)[1])
    (second,) = [index for index, step in enumerate(steps) if isinstance(step.event, NewHand)][1:]
    winner = steps[second].state.game
    assert winner is not None
    assert steps[second + 1].event == Lead(winner.hand_winner)  # type: ignore[arg-type]  # a hand of seed 1 has a winner
    assert steps[second].laid == ()


def test_a_blocked_hand_with_a_boneyard_is_ended_by_the_button() -> None:
    (index,) = [index for index, step in enumerate(game(51)[1]) if isinstance(step.event, HandEnd)]
    before, after = game(51)[1][index - 1].state.game, game(51)[1][index].state.game
    assert before is not None
    assert after is not None
    assert before.hand is not None
    assert before.hand.locked
    assert after.phase is Phase.REVEAL


@pytest.mark.parametrize("name", ["draw", "allfives", "block", "super", "twoset", "cutthroat"])
def test_every_game_follows_its_rules(name: str) -> None:
    for seed in (1, 2):
        rng, rules, state = np.random.default_rng(seed), profile(name), State()
        steps = list(play_out(rng, rules=rules, players=PLAYERS_OF[name], table=pick_table(rng, rules).board))
        for step in steps:
            assert problem_with(state, step.event) is None
            state = step.state
        assert state.game is not None
        assert state.game.hand is not None
        assert state.game.phase in (Phase.DEAL, Phase.MATCH_OVER)
        assert state.game.hand.ending is not None
        outlines = [tile.place.outline() for tile in steps[-1].laid]
        assert not any(overlap(a, b) for a, b in combinations(outlines, 2))


def test_stealing_stacks_a_copy_and_places_nothing_beside() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table = pick_table(rng, CUTTHROAT)
        steps = list(play_out(rng, rules=CUTTHROAT, players=PLAYERS_OF["cutthroat"], table=table.board))
        index = next((i for i, step in enumerate(steps) if isinstance(step.event, Stack)), None)
        if index is not None:
            break
    assert index is not None
    before, after = steps[index - 1], steps[index]
    assert before.laid == after.laid
    assert before.state.game is not None
    assert after.state.game is not None
    scene = table.scene(after.state.game.layout, after.laid)
    assert len(scene.tiles) == len(table.scene(before.state.game.layout, before.laid).tiles) + 1
    assert scene.tiles[-1].height_mm == table.tile.thickness_mm
