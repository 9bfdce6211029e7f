"""A simulated sitting before it is drawn: in the order of time, true to the rules, and the same for a seed."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from engine import (
    Draw,
    EngineError,
    Knock,
    Lead,
    Play,
    Reveal,
    RevealPips,
    State,
    apply,
    format_record,
    parse_record,
    replay,
)
from engine import play_record as played
from tallybone.choices import Difficulty
from tallybone.session.inputs import Button, KnockHeard, Press
from tallybone.session.knocks import KNOCK_WAITS_NS
from tallybone.simulate.items import FramePlan, Planned, SimulatedInput, TilesPlan, TrueEvent, TrueRecord, Zone
from tallybone.simulate.simulation import Simulation, simulation_settings

GAMES = (
    ("bones", 2, ""),
    ("draw", 3, ""),
    ("allfives", 4, ""),
    ("block", 3, ""),
    ("super", 3, ""),
    ("twoset", 4, ""),
    ("cutthroat", 4, ""),
    ("bones", 4, "set=9"),
)
Sitting = tuple[Planned, ...]


@cache
def planned(
    game: str = "bones",
    players: int = 2,
    options: str = "",
    *,
    seed: int = 1,
    hands: int = 1,
    difficulty: Difficulty = Difficulty.HARD,
    look: str = "seed",
) -> Sitting:
    wishes = simulation_settings(
        game, players=players, options=options, seed=seed, hands=hands, difficulty=difficulty, look=look
    )
    return tuple(Simulation(wishes).plan())


def events(items: Sitting) -> list[TrueEvent]:
    return [one for one in items if isinstance(one, TrueEvent)]


def presses(items: Sitting) -> list[Press]:
    return [one.value for one in items if isinstance(one, SimulatedInput) and isinstance(one.value, Press)]


def knocks_ns(items: Sitting) -> list[int]:
    return [one.t_ns for one in items if isinstance(one, SimulatedInput) and isinstance(one.value, KnockHeard)]


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_time_goes_on_and_frames_are_as_far_apart_as_they_should_be(game: tuple[str, int, str]) -> None:
    items = planned(*game)
    assert all(one.t_ns <= other.t_ns for one, other in pairwise(items))
    shots = [one.t_ns for one in items if isinstance(one, FramePlan)]
    assert {other - one for one, other in pairwise(shots)} == {100_000_000}
    assert not {one.t_ns for one in items if not isinstance(one, FramePlan)} & set(shots)


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_the_true_events_replay_to_the_true_totals_and_so_does_the_record(game: tuple[str, int, str]) -> None:
    items, state = planned(*game), State()
    for one in events(items):
        before = 0 if state.game is None else sum(state.game.totals)
        state, _ = apply(state, one.event)
        assert state.game is not None
        assert state.game.totals == one.totals
        assert one.points == sum(one.totals) - before
        assert one.ended_ns <= one.t_ns
    assert state.irregular == ()
    record = items[-1]
    assert isinstance(record, TrueRecord)
    written = parse_record(record.dgr)
    assert format_record(written) == record.dgr
    again = replay(played(written).log).game
    assert again is not None
    assert state.game is not None
    assert again.totals == state.game.totals


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_a_tile_lies_there_once_its_play_is_over_with_the_pips_that_were_played(game: tuple[str, int, str]) -> None:
    lying: TilesPlan | None = None
    for one in planned(*game):
        if isinstance(one, TilesPlan):
            lying = one
        elif isinstance(one, TrueEvent) and isinstance(one.event, Play):
            assert lying is not None
            newest = [tile.placed for tile in lying.tiles if tile.zone is Zone.LAYOUT][-1]
            assert newest.pips is not None
            assert sorted(newest.pips) == [one.event.tile.low, one.event.tile.high]


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_nothing_appears_or_goes_without_a_hand_at_it(game: tuple[str, int, str]) -> None:
    shots = [one for one in planned(*game) if isinstance(one, FramePlan)]
    changes = 0
    for before, after in pairwise(shots):
        changed = set(before.moment.tiles) ^ set(after.moment.tiles)
        if changed:
            changes += 1
            tips = np.array([reach.tip_mm for reach in (*before.moment.reaches, *after.moment.reaches)])
            middle = np.mean([tile.center_mm for tile in changed], axis=0)
            assert np.hypot(*(tips - middle).T).min() < 60
    assert changes > 10


def test_tiles_that_are_taken_away_are_taken_out_of_sight() -> None:
    wishes = simulation_settings("bones", players=4, seed=8, hands=2, difficulty=Difficulty.HARD)
    simulation, taken = Simulation(wishes), 0
    for before, after in pairwise(one.moment for one in simulation.plan() if isinstance(one, FramePlan)):
        lies = {tile.pips for tile in after.tiles}
        gone = [tile for tile in before.moving if tile.pips not in lies] if not after.moving else []
        taken += len(gone)
        assert not any(simulation.room.seen.holds(tile.center_mm) for tile in gone)
    assert taken > 10


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_how_tiles_lie_is_told_before_a_frame_shows_it(game: tuple[str, int, str]) -> None:
    told: tuple[object, ...] = ()
    bump = (0.0, 0.0, 0.0)
    for one in planned(*game):
        if isinstance(one, TilesPlan):
            told, bump = tuple(tile.placed for tile in one.tiles), one.bump
        elif isinstance(one, FramePlan):
            # A tile that is being pushed is on its way.
            assert set(one.moment.tiles) == set(told) or len(set(told) - set(one.moment.tiles)) == 1
            assert one.moment.bump == bump


def test_a_boneyard_shrinks_by_what_is_drawn_and_no_button_says_so() -> None:
    items, left, count = planned("draw", 3, seed=2), 28 - 21, 0
    assert any(isinstance(one.event, Draw) for one in events(items))
    for one in items:
        if isinstance(one, TilesPlan):
            count = sum(tile.zone is Zone.BONEYARD for tile in one.tiles)
        elif isinstance(one, TrueEvent) and isinstance(one.event, Draw):
            left -= one.event.tiles
            assert count == left
    assert Button.DRAW not in {press.button for press in presses(items)}


def test_a_boneyard_that_would_fill_the_table_is_kept_away_and_draws_are_pressed() -> None:
    items = planned("super", 3)
    draws = [one.event for one in events(items) if isinstance(one.event, Draw)]
    pressed = [press for press in presses(items) if press.button is Button.DRAW]
    assert len(pressed) == sum(draw.tiles for draw in draws if not draw.forced) > 0
    assert not any(tile.zone is Zone.BONEYARD for one in items if isinstance(one, TilesPlan) for tile in one.tiles)


def test_hands_are_laid_open_at_the_end_and_swept_away_before_the_next() -> None:
    items = planned(hands=2, seed=5)
    first = next(at for at, one in enumerate(items) if isinstance(one, TrueEvent) and isinstance(one.event, Reveal))
    shown = items[first]
    assert isinstance(shown, TrueEvent)
    assert isinstance(shown.event, Reveal)
    lying = [one for one in items[:first] if isinstance(one, TilesPlan)][-1]
    open_pips = sorted(tuple(sorted(tile.placed.pips or ())) for tile in lying.tiles if tile.zone is Zone.SEAT)
    assert open_pips == sorted((tile.low, tile.high) for tile in shown.event.tiles)
    assert any(isinstance(one, TilesPlan) and not one.tiles for one in items[first:])


def test_nobody_lays_a_tile_soon_after_a_knock_that_passes() -> None:
    items = planned("block", 3)
    passes = [one for one in events(items) if isinstance(one.event, Knock)]
    assert passes
    for knock in passes:
        at_ns = max(t_ns for t_ns in knocks_ns(items) if t_ns <= knock.t_ns)
        laid = [one.ended_ns for one in events(items) if isinstance(one.event, Play) and one.ended_ns > at_ns]
        assert all(t_ns > at_ns + KNOCK_WAITS_NS for t_ns in laid)


def test_tiles_that_are_put_down_hard_are_heard_too() -> None:
    items = planned("bones", 4)
    passes = sum(isinstance(one.event, Knock) for one in events(items))
    assert len(knocks_ns(items)) > passes


def test_the_table_says_who_leads_where_the_rules_do_not() -> None:
    items = planned("draw", 3)
    (lead,) = [one.event for one in events(items) if isinstance(one.event, Lead)]
    assert [one.value for one in items if isinstance(one, SimulatedInput) and isinstance(one.value, Lead)] == [lead]


def test_the_same_seed_gives_the_same_sitting_and_another_another() -> None:
    again = Simulation(simulation_settings("bones", players=2, seed=1, hands=1, difficulty=Difficulty.HARD)).plan()
    assert tuple(again) == planned(seed=1)
    assert planned(seed=1) != planned(seed=2)


def test_neither_difficulty_nor_look_changes_the_tiles_that_are_dealt() -> None:
    def first_tile(items: Sitting) -> object:
        return next(one.event.tile for one in events(items) if isinstance(one.event, Play))

    easy = planned(seed=4, difficulty=Difficulty.EASY, look="classic-felt")
    assert first_tile(easy) == first_tile(planned(seed=4, look="black-linen"))


@pytest.mark.slow
def test_cameras_are_bumped_at_hard_tables_only() -> None:
    def bumps(difficulty: Difficulty) -> int:
        many = (planned("bones", 4, seed=seed, difficulty=difficulty) for seed in range(4))
        return sum(len({one.moment.bump for one in items if isinstance(one, FramePlan)}) - 1 for items in many)

    assert bumps(Difficulty.EASY) == 0 < bumps(Difficulty.HARD)


def test_a_hand_that_has_no_zone_to_lie_open_in_is_told_by_its_sum() -> None:
    items = planned("twoset", 6, seed=2)
    shown = [one.event for one in events(items) if isinstance(one.event, Reveal)]
    sums = [one.value.pips for one in items if isinstance(one, SimulatedInput) and isinstance(one.value, RevealPips)]
    assert sums == [sum(tile.pips for tile in one.tiles) for one in shown if one.tiles]
    assert sums


def test_what_cannot_be_played_is_refused_in_plain_words() -> None:
    with pytest.raises(EngineError, match="twoset is for 4 to 6 players, got 2"):
        simulation_settings("twoset", players=2, seed=1)
    with pytest.raises(EngineError, match='no look is called "pink"; known: seed, classic-felt'):
        simulation_settings("bones", players=2, seed=1, look="pink")
    with pytest.raises(EngineError, match="players: expected 1 to 8, got 9"):
        simulation_settings("draw", players=9, seed=1)
