"""Tests of a rendered sitting: images agree with the truth, and recordings are complete."""

from __future__ import annotations

import json
import math
from collections import Counter
from functools import cache
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest

import engine
from engine import play_record as played
from lab.matches.game_script import (
    FramePlan,
    Planned,
    SimulatedInput,
    TilesPlan,
    TrueEvent,
    TrueRecord,
    TrueTiles,
    Zone,
)
from lab.matches.room import MARGIN_PX
from lab.matches.simulation import Simulation, SimulationSettings, record, simulation_settings, start_of
from lab.matches.stage import CameraPush, PushTime
from lab.render.paint import STRAIGHT, Film
from tallybone.choices import Difficulty
from tallybone.recording.format import Pictures, Topic
from tallybone.recording.reader import RecordedMessage, input_of, read_recording
from tallybone.recording.writer import RecordingWriter
from tallybone.session.feeding import KNOCK_WAITS_NS
from tallybone.session.inputs import Button, KnockHeard, Press
from tests.vision.tables import is_same, is_same_place, missing, reader
from vision.reading import Face, SeenTile
from vision.tracking.perception import Perception
from vision.tracking.table_view import ChangeKind
from vision.tracking.watch import Frame, Watch

# At two frames a second, this many items cover a boneyard, the lead and the first plays.
SHORT = 36


def settings_of(
    seed: int = 1, difficulty: Difficulty = Difficulty.NORMAL, look: str = "classic-felt", fps: int = 10
) -> SimulationSettings:
    return simulation_settings("bones", players=2, seed=seed, hands=1, difficulty=difficulty, look=look, fps=fps)


def recorded(path: Path, settings: SimulationSettings, items: int = SHORT) -> Path:
    simulation = Simulation(settings)
    with RecordingWriter(path, start_of(simulation, settings)) as writer:
        for _ in record(islice(simulation.items(), items), writer):
            pass
    return path


@pytest.mark.parametrize("difficulty", list(Difficulty), ids=str)
def test_the_last_image_shows_the_tiles_at_their_true_places(difficulty: Difficulty) -> None:
    simulation = Simulation(settings_of(seed=3, difficulty=difficulty))
    tiles_plan, shot = TilesPlan(0, (), (0.0, 0.0, 0.0)), None
    for item in simulation.plan():
        if isinstance(item, TilesPlan):
            tiles_plan = item
        elif isinstance(item, FramePlan):
            shot = item
    assert shot is not None
    film = Film(simulation.room.scene, seed=3, margin_px=MARGIN_PX, rng=np.random.default_rng(0))
    faces_up = [item.placed for item in tiles_plan.tiles if item.zone is not Zone.BONEYARD]
    assert len(faces_up) > 10
    seen = reader().read(film.picture(shot.moment)).tiles
    assert missing(film.truth(faces_up, tiles_plan.bump), seen) == []


def test_zones_contain_their_tiles() -> None:
    simulation = Simulation(settings_of(seed=3))
    film = Film(simulation.room.scene, seed=3, margin_px=MARGIN_PX, rng=np.random.default_rng(0))
    zones, width, height = simulation.room.zones, simulation.room.width_px, simulation.room.height_px
    counts: Counter[Zone] = Counter()
    for item in simulation.plan():
        for planned_tile in item.tiles if isinstance(item, TilesPlan) else ():
            (tile,) = film.truth([planned_tile.placed], item.bump if isinstance(item, TilesPlan) else (0.0, 0.0, 0.0))
            x, y = tile.center_px
            is_boneyard, seat = zones.is_boneyard(x / width, y / height), zones.seat_at(x / width, y / height)
            assert is_boneyard == (planned_tile.zone is Zone.BONEYARD)
            assert (seat is not None) == (planned_tile.zone is Zone.SEAT)
            assert (tile.face is Face.DOWN) == is_boneyard
            counts[planned_tile.zone] += 1
    assert all(counts[zone] > 0 for zone in Zone)


@pytest.mark.slow
def test_equal_seeds_give_identical_recordings(tmp_path: Path) -> None:
    first = recorded(tmp_path / "one.mcap", settings_of(fps=2)).read_bytes()
    assert first == recorded(tmp_path / "again.mcap", settings_of(fps=2)).read_bytes()
    assert first != recorded(tmp_path / "other.mcap", settings_of(seed=2, fps=2)).read_bytes()


@pytest.mark.slow
def test_a_recording_contains_the_whole_sitting(tmp_path: Path) -> None:
    settings = settings_of(fps=2)
    recording = read_recording(recorded(tmp_path / "one.mcap", settings))
    start = recording.start
    assert start is not None
    assert (start.players, start.rules, start.seed, start.pictures) == (("Ann", "Ben"), "bones", 1, Pictures.MOVING)
    assert start.zones == Simulation(settings).room.zones
    records = [item for item in recording if isinstance(item, RecordedMessage)]
    items = list(islice(Simulation(settings).items(), SHORT))
    assert [item.t_ns for item in records] == [item.t_ns for item in items]
    assert [input_of(item) for item in records if input_of(item)] == [
        item.value for item in items if isinstance(item, SimulatedInput)
    ]
    truth = [item.payload for item in records if item.topic is Topic.TRUTH]
    kinds = Counter(line["kind"] for line in truth if isinstance(line, dict))
    assert kinds == {
        "table": 1,
        "tiles": sum(isinstance(item, TrueTiles) for item in items),
        "event": sum(isinstance(item, TrueEvent) for item in items),
    }
    assert all(kinds.values())
    tiles = next(line for line in truth if isinstance(line, dict) and line["kind"] == "tiles")["tiles"]
    assert {(tile["face"], tile["zone"], *tile["pips"]) for tile in tiles} == {("down", "boneyard")}
    assert json.dumps(tiles)


@pytest.mark.slow
def test_watching_a_hand_reports_each_placed_tile_once() -> None:
    watch = Watch(Perception(reader()))
    placed: list[SeenTile] = []
    true_tiles: list[SeenTile] = []
    for item in Simulation(settings_of(seed=3, difficulty=Difficulty.EASY, look="classic-walnut")).items():
        if isinstance(item, Frame):
            changes = watch.feed(item).changes
            placed += [change.tile for change in changes if change.kind is ChangeKind.PLACED and change.tile.halves]
        elif isinstance(item, TrueTiles):
            truth = [tile_truth.tile for tile_truth in item.tiles if tile_truth.zone is not Zone.BONEYARD]
            true_tiles += [tile for tile in truth if not any(is_same_place(tile, other) for other in true_tiles)]
    assert len(true_tiles) > 10
    for tile in true_tiles:
        matches = [other for other in placed if math.dist(other.center_px, tile.center_px) < 10]
        assert len(matches) == 1
        assert is_same(matches[0], tile)


# Tests of the plan of a simulated sitting: chronological, legal, and reproducible by seed.


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
    settings = simulation_settings(
        game, players=players, options=options, seed=seed, hands=hands, difficulty=difficulty, look=look
    )
    return tuple(Simulation(settings).plan())


def events(items: Sitting) -> list[TrueEvent]:
    return [item for item in items if isinstance(item, TrueEvent)]


def presses(items: Sitting) -> list[Press]:
    return [item.value for item in items if isinstance(item, SimulatedInput) and isinstance(item.value, Press)]


def knocks_ns(items: Sitting) -> list[int]:
    return [item.t_ns for item in items if isinstance(item, SimulatedInput) and isinstance(item.value, KnockHeard)]


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_items_are_chronological_and_frames_equidistant(game: tuple[str, int, str]) -> None:
    items = planned(*game)
    assert all(earlier.t_ns <= later.t_ns for earlier, later in pairwise(items))
    shots = [item.t_ns for item in items if isinstance(item, FramePlan)]
    assert {later - earlier for earlier, later in pairwise(shots)} == {100_000_000}
    assert not {item.t_ns for item in items if not isinstance(item, FramePlan)} & set(shots)


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_the_true_events_and_the_record_replay_to_the_true_totals(game: tuple[str, int, str]) -> None:
    items, state = planned(*game), engine.State()
    for item in events(items):
        before = 0 if state.game is None else sum(state.game.totals)
        state, _ = engine.apply(state, item.event)
        assert state.game is not None
        assert state.game.totals == item.totals
        assert item.points == sum(item.totals) - before
        assert item.ended_ns <= item.t_ns
    assert state.irregular == ()
    record = items[-1]
    assert isinstance(record, TrueRecord)
    written = engine.parse_record(record.dgr)
    assert engine.format_record(written) == record.dgr
    replayed = engine.replay(played(written).log).game
    assert replayed is not None
    assert state.game is not None
    assert replayed.totals == state.game.totals


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_a_tile_is_on_the_table_with_its_pips_once_its_play_ends(game: tuple[str, int, str]) -> None:
    plan: TilesPlan | None = None
    for item in planned(*game):
        if isinstance(item, TilesPlan):
            plan = item
        elif isinstance(item, TrueEvent) and isinstance(item.event, engine.Play):
            assert plan is not None
            newest = [tile.placed for tile in plan.tiles if tile.zone is Zone.LAYOUT][-1]
            assert newest.pips is not None
            assert sorted(newest.pips) == [item.event.tile.low, item.event.tile.high]


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_tiles_appear_and_disappear_only_near_a_hand(game: tuple[str, int, str]) -> None:
    shots = [item for item in planned(*game) if isinstance(item, FramePlan)]
    changes = 0
    for before, after in pairwise(shots):
        changed = set(before.moment.tiles) ^ set(after.moment.tiles)
        if changed:
            changes += 1
            tips = np.array([reach.tip_mm for reach in (*before.moment.reaches, *after.moment.reaches)])
            centre = np.mean([tile.center_mm for tile in changed], axis=0)
            assert np.hypot(*(tips - centre).T).min() < 60
    assert changes > 10


def test_removed_tiles_are_taken_out_of_view() -> None:
    settings = simulation_settings("bones", players=4, seed=8, hands=2, difficulty=Difficulty.HARD)
    simulation, removed_count = Simulation(settings), 0
    for before, after in pairwise(item.moment for item in simulation.plan() if isinstance(item, FramePlan)):
        pips_after = {tile.pips for tile in after.tiles}
        removed = [tile for tile in before.moving if tile.pips not in pips_after] if not after.moving else []
        removed_count += len(removed)
        assert not any(simulation.room.seen.holds(tile.center_mm) for tile in removed)
    assert removed_count > 10


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_the_true_tiles_precede_each_frame(game: tuple[str, int, str]) -> None:
    expected: tuple[object, ...] = ()
    bump = (0.0, 0.0, 0.0)
    for item in planned(*game):
        if isinstance(item, TilesPlan):
            expected, bump = tuple(tile.placed for tile in item.tiles), item.bump
        elif isinstance(item, FramePlan):
            # A pushed tile is still in motion.
            assert set(item.moment.tiles) == set(expected) or len(set(expected) - set(item.moment.tiles)) == 1
            assert item.moment.bump == bump


def test_a_boneyard_shrinks_with_each_draw_without_a_button() -> None:
    items, remaining, count = planned("draw", 3, seed=2), 28 - 21, 0
    assert any(isinstance(item.event, engine.Draw) for item in events(items))
    for item in items:
        if isinstance(item, TilesPlan):
            count = sum(tile.zone is Zone.BONEYARD for tile in item.tiles)
        elif isinstance(item, TrueEvent) and isinstance(item.event, engine.Draw):
            remaining -= item.event.tiles
            assert count == remaining
    assert Button.DRAW not in {press.button for press in presses(items)}


def test_without_room_for_a_boneyard_draws_use_the_button() -> None:
    items = planned("super", 3)
    draws = [item.event for item in events(items) if isinstance(item.event, engine.Draw)]
    pressed = [press for press in presses(items) if press.button is Button.DRAW]
    assert len(pressed) == sum(draw.tiles for draw in draws if not draw.forced) > 0
    assert not any(tile.zone is Zone.BONEYARD for item in items if isinstance(item, TilesPlan) for tile in item.tiles)


def test_hands_are_revealed_at_the_end_and_cleared_before_the_next() -> None:
    items = planned(hands=2, seed=5)
    first = next(
        index
        for index, item in enumerate(items)
        if isinstance(item, TrueEvent) and isinstance(item.event, engine.Reveal)
    )
    shown = items[first]
    assert isinstance(shown, TrueEvent)
    assert isinstance(shown.event, engine.Reveal)
    plan = [item for item in items[:first] if isinstance(item, TilesPlan)][-1]
    open_pips = sorted(tuple(sorted(tile.placed.pips or ())) for tile in plan.tiles if tile.zone is Zone.SEAT)
    assert open_pips == sorted((tile.low, tile.high) for tile in shown.event.tiles)
    assert any(isinstance(item, TilesPlan) and not item.tiles for item in items[first:])


def test_no_tile_is_played_soon_after_a_passing_knock() -> None:
    items = planned("block", 3)
    passes = [item for item in events(items) if isinstance(item.event, engine.Knock)]
    assert passes
    for knock in passes:
        knock_ns = max(t_ns for t_ns in knocks_ns(items) if t_ns <= knock.t_ns)
        placed_ns = [
            item.ended_ns for item in events(items) if isinstance(item.event, engine.Play) and item.ended_ns > knock_ns
        ]
        assert all(t_ns > knock_ns + KNOCK_WAITS_NS for t_ns in placed_ns)


def test_hard_placements_sound_like_knocks() -> None:
    items = planned("bones", 4)
    passes = sum(isinstance(item.event, engine.Knock) for item in events(items))
    assert len(knocks_ns(items)) > passes


def test_the_lead_is_an_input_if_the_rules_leave_it_open() -> None:
    items = planned("draw", 3)
    (lead,) = [item.event for item in events(items) if isinstance(item.event, engine.Lead)]
    assert [
        item.value for item in items if isinstance(item, SimulatedInput) and isinstance(item.value, engine.Lead)
    ] == [lead]


def test_equal_seeds_give_equal_sittings() -> None:
    replayed = Simulation(simulation_settings("bones", players=2, seed=1, hands=1, difficulty=Difficulty.HARD)).plan()
    assert tuple(replayed) == planned(seed=1)
    assert planned(seed=1) != planned(seed=2)


def test_difficulty_and_look_do_not_change_the_deal() -> None:
    def first_tile(items: Sitting) -> object:
        return next(item.event.tile for item in events(items) if isinstance(item.event, engine.Play))

    easy = planned(seed=4, difficulty=Difficulty.EASY, look="classic-felt")
    assert first_tile(easy) == first_tile(planned(seed=4, look="black-linen"))


@pytest.mark.slow
def test_cameras_are_bumped_only_at_hard_difficulty() -> None:
    def bumps(difficulty: Difficulty) -> int:
        many = (planned("bones", 4, seed=seed, difficulty=difficulty) for seed in range(4))
        return sum(len({item.moment.bump for item in items if isinstance(item, FramePlan)}) - 1 for items in many)

    assert bumps(Difficulty.EASY) == 0 < bumps(Difficulty.HARD)


def test_a_hand_without_a_zone_is_revealed_by_its_sum() -> None:
    items = planned("twoset", 6, seed=2)
    shown = [item.event for item in events(items) if isinstance(item.event, engine.Reveal)]
    sums = [
        item.value.pips
        for item in items
        if isinstance(item, SimulatedInput) and isinstance(item.value, engine.RevealPips)
    ]
    assert sums == [sum(tile.pips for tile in item.tiles) for item in shown if item.tiles]
    assert sums


def test_rejects_unplayable_settings_with_clear_messages() -> None:
    with pytest.raises(engine.EngineError, match="twoset is for 4 to 6 players, got 2"):
        simulation_settings("twoset", players=2, seed=1)
    with pytest.raises(engine.EngineError, match='unknown look "pink"; known: seed, classic-felt'):
        simulation_settings("bones", players=2, seed=1, look="pink")
    with pytest.raises(engine.EngineError, match="players: expected 1 to 8, got 9"):
        simulation_settings("draw", players=9, seed=1)


# Tests of simulated camera pushes and their ground truth.


def planned_with(*pushes: CameraPush) -> list[Planned]:
    settings = simulation_settings("block", players=2, seed=3, difficulty=Difficulty.EASY, plays=4, pushes=pushes)
    return list(Simulation(settings).plan())


@pytest.mark.parametrize("when", list(PushTime))
def test_a_push_occurs_during_its_play_and_persists(when: PushTime) -> None:
    items = planned_with(CameraPush(2, when, 30.0, -20.0, 2.5))
    shots = [(item.moment, index) for index, item in enumerate(items) if isinstance(item, FramePlan)]
    first = next(index for moment, index in shots if moment.bump != STRAIGHT)
    plays = [i for i, item in enumerate(items) if isinstance(item, TrueEvent) and isinstance(item.event, engine.Play)]
    assert plays[0] < first < plays[1]
    assert {moment.bump for moment, index in shots if index >= first} == {(30.0, -20.0, 2.5)}
    has_hand = bool(next(moment for moment, index in shots if index == first).reaches)
    assert has_hand is (when is not PushTime.BEFORE)


def test_a_slow_slip_is_uniform_and_the_truth_precedes_each_frame() -> None:
    items = planned_with(CameraPush(1, PushTime.BEFORE, 12.0, 0.0, 0.0, seconds=3.0))
    expected = STRAIGHT
    bumps = []
    for item in items:
        if isinstance(item, TilesPlan):
            expected = item.bump
        elif isinstance(item, FramePlan):
            assert item.moment.bump == expected
            bumps.append(expected[0])
    steps = {round(later - earlier, 6) for earlier, later in pairwise(bumps)}
    assert steps == {0.0, 0.4}
    assert bumps[-1] == 12.0


def test_a_sitting_can_stop_after_some_plays() -> None:
    plays = [item for item in planned_with() if isinstance(item, TrueEvent) and isinstance(item.event, engine.Play)]
    assert len(plays) == 4
