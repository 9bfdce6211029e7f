"""A simulated sitting as it is drawn: the pictures show what the truth says, and it is recorded whole."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from synthetic.render.motion import Film
from tallybone.choices import Difficulty
from tallybone.recording.format import Pictures, Topic
from tallybone.recording.messages import input_of
from tallybone.recording.reader import RecordedMessage, read_recording
from tallybone.recording.writer import RecordingWriter
from tallybone.simulate.items import FramePlan, SimulatedInput, TilesPlan, TrueEvent, TrueTiles, Zone
from tallybone.simulate.recorder import record, start_of
from tallybone.simulate.room import MARGIN_PX
from tallybone.simulate.simulation import Simulation, SimulationSettings, simulation_settings
from tests.vision.tables import is_same, is_same_place, missing, reader
from vision.reading import Face, SeenTile
from vision.tracking.perception import Perception
from vision.tracking.table_view import ChangeKind
from vision.tracking.watch import Frame, Watch

# Two frames a second: so many items tell of a boneyard, the lead and the first plays.
SHORT = 36


def wishes(
    seed: int = 1, difficulty: Difficulty = Difficulty.NORMAL, look: str = "classic-felt", fps: int = 10
) -> SimulationSettings:
    return simulation_settings("bones", players=2, seed=seed, hands=1, difficulty=difficulty, look=look, fps=fps)


def recorded(path: Path, asked: SimulationSettings, items: int = SHORT) -> Path:
    simulation = Simulation(asked)
    with RecordingWriter(path, start_of(simulation, asked)) as writer:
        for _ in record(islice(simulation.items(), items), writer):
            pass
    return path


@pytest.mark.parametrize("difficulty", list(Difficulty), ids=str)
def test_the_last_picture_shows_the_tiles_where_the_truth_says(difficulty: Difficulty) -> None:
    simulation = Simulation(wishes(seed=3, difficulty=difficulty))
    lying, shot = TilesPlan(0, (), (0.0, 0.0, 0.0)), None
    for one in simulation.plan():
        if isinstance(one, TilesPlan):
            lying = one
        elif isinstance(one, FramePlan):
            shot = one
    assert shot is not None
    film = Film(simulation.room.scene, seed=3, margin_px=MARGIN_PX, rng=np.random.default_rng(0))
    faces_up = [one.placed for one in lying.tiles if one.zone is not Zone.BONEYARD]
    assert len(faces_up) > 10
    seen = reader().read(film.picture(shot.moment)).tiles
    assert missing(film.truth(faces_up, lying.bump), seen) == []


def test_zones_hold_what_belongs_to_them() -> None:
    simulation = Simulation(wishes(seed=3))
    film = Film(simulation.room.scene, seed=3, margin_px=MARGIN_PX, rng=np.random.default_rng(0))
    zones, width, height = simulation.room.zones, simulation.room.width_px, simulation.room.height_px
    counts: Counter[Zone] = Counter()
    for one in simulation.plan():
        for lying in one.tiles if isinstance(one, TilesPlan) else ():
            (tile,) = film.truth([lying.placed], one.bump if isinstance(one, TilesPlan) else (0.0, 0.0, 0.0))
            x, y = tile.center_px
            is_boneyard, seat = zones.is_boneyard(x / width, y / height), zones.seat_at(x / width, y / height)
            assert is_boneyard == (lying.zone is Zone.BONEYARD)
            assert (seat is not None) == (lying.zone is Zone.SEAT)
            assert (tile.face is Face.DOWN) == is_boneyard
            counts[lying.zone] += 1
    assert all(counts[zone] > 0 for zone in Zone)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_and_another_others(tmp_path: Path) -> None:
    one = recorded(tmp_path / "one.mcap", wishes(fps=2)).read_bytes()
    assert one == recorded(tmp_path / "again.mcap", wishes(fps=2)).read_bytes()
    assert one != recorded(tmp_path / "other.mcap", wishes(seed=2, fps=2)).read_bytes()


@pytest.mark.slow
def test_a_recording_says_what_was_played_and_holds_all_of_it(tmp_path: Path) -> None:
    asked = wishes(fps=2)
    recording = read_recording(recorded(tmp_path / "one.mcap", asked))
    start = recording.start
    assert start is not None
    assert (start.players, start.rules, start.seed, start.pictures) == (("Ann", "Ben"), "bones", 1, Pictures.MOVING)
    assert start.zones == Simulation(asked).room.zones
    records = [one for one in recording if isinstance(one, RecordedMessage)]
    items = list(islice(Simulation(asked).items(), SHORT))
    assert [one.t_ns for one in records] == [one.t_ns for one in items]
    assert [input_of(one) for one in records if input_of(one)] == [
        one.value for one in items if isinstance(one, SimulatedInput)
    ]
    truth = [one.payload for one in records if one.topic is Topic.TRUTH]
    kinds = Counter(line["kind"] for line in truth if isinstance(line, dict))
    assert kinds == {
        "table": 1,
        "tiles": sum(isinstance(one, TrueTiles) for one in items),
        "event": sum(isinstance(one, TrueEvent) for one in items),
    }
    assert all(kinds.values())
    tiles = next(line for line in truth if isinstance(line, dict) and line["kind"] == "tiles")["tiles"]
    assert {(tile["face"], tile["zone"], *tile["pips"]) for tile in tiles} == {("down", "boneyard")}
    assert json.dumps(tiles)


@pytest.mark.slow
def test_a_hand_that_is_watched_says_each_placed_tile_once() -> None:
    watch = Watch(Perception(reader()))
    placed: list[SeenTile] = []
    true: list[SeenTile] = []
    for one in Simulation(wishes(seed=3, difficulty=Difficulty.EASY, look="classic-walnut")).items():
        if isinstance(one, Frame):
            changes = watch.feed(one).changes
            placed += [change.tile for change in changes if change.kind is ChangeKind.PLACED and change.tile.halves]
        elif isinstance(one, TrueTiles):
            truth = [each.tile for each in one.tiles if each.zone is not Zone.BONEYARD]
            true += [tile for tile in truth if not any(is_same_place(tile, other) for other in true)]
    assert len(true) > 10
    for tile in true:
        here = [other for other in placed if math.dist(other.center_px, tile.center_px) < 10]
        assert len(here) == 1
        assert is_same(here[0], tile)
