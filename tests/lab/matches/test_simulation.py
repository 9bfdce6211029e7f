"""Tests of a rendered sitting: images agree with the truth, and recordings are complete."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from lab.matches.items import FramePlan, SimulatedInput, TilesPlan, TrueEvent, TrueTiles, Zone
from lab.matches.room import MARGIN_PX
from lab.matches.simulation import Simulation, SimulationSettings, record, simulation_settings, start_of
from lab.render.motion import Film
from tallybone.choices import Difficulty
from tallybone.recording.format import Pictures, Topic
from tallybone.recording.reader import RecordedMessage, input_of, read_recording
from tallybone.recording.writer import RecordingWriter
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
