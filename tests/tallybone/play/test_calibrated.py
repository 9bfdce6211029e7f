"""Tests of a live game's calibration: choice of the file, messages, zones and learned tile sets."""

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from calibration import CalibrationError
from calibration.lens.lens import Lens
from calibration.table.zones import zones_of_size
from calibration.tiles.tile_set import BarSeen, LearnedSet, PipColors, SetLook, reader_checksum
from engine import EngineError
from hardware.camera.device import CameraMode
from tallybone.choices import TileSet
from tallybone.cli.play import PlayOptions
from tallybone.play.start import (
    MatchPlan,
    Used,
    new_game,
    open_camera,
    stored_for,
    use_of,
    with_calibration,
    with_own_tiles,
    words_of_unused,
    zones_in_picture,
)
from tallybone.recording.reader import read_recording
from tallybone.recording.resume import Left
from tallybone.replay.command import replay
from tallybone.sources.camera import DeviceCamera
from tallybone.store import calibration_file
from tests.calibration.test_zones import tilted
from tests.hardware.fakes import FakeCamera
from tests.tallybone.cli.test_play import run_play
from tests.tallybone.replay.videos import write_video
from tests.vision.tables import lay, table_with
from vision.networks.network import FEATURES, PICTURE_FEATURES
from vision.reader.custom_set import RecordedSet
from vision.reader.reader import load_reader

# At 800 mm it covers 110 x 62 cm.
LENS = Lens(1280, 720, (930.0, 930.0), (639.5, 359.5))
GREY = np.full((180, 320, 3), 90, np.uint8)


def calibration(tilt_deg: float = 0.0, turn_deg: float = 0.0, seats: int = 4) -> calibration_file.Calibration:
    return calibration_file.Calibration(LENS, tilted(tilt_deg, turn_deg), zones_of_size(900, 520, seats))


def written(path: Path, kept: calibration_file.Calibration) -> Path:
    calibration_file.save_calibration(kept, path)
    return path


@pytest.mark.parametrize(("turn_deg", "sides"), [(0, "bltr"), (180, "trbl"), (90, "rblt"), (-90, "ltrb")])
def test_seats_are_at_the_side_of_the_picture_where_the_camera_shows_them(turn_deg: float, sides: str) -> None:
    found = zones_in_picture(calibration(10, turn_deg), 4)
    assert found is not None
    assert "".join(zone.side.value[0] for zone in found[0].seats) == sides


def test_a_zone_outside_the_picture_is_reported_and_keeps_its_side_only() -> None:
    kept = calibration_file.Calibration(LENS, tilted(0), zones_of_size(900, 800, 2))
    found = zones_in_picture(kept, 2)
    assert found is not None
    zones, text = found
    assert "seat 1, seat 2" in text[0]
    assert [zone.side.value for zone in zones.seats] == ["bottom", "top"]
    assert zones.seat_at(0.5, 0.999) is None


def test_a_camera_uses_its_own_file_or_else_that_of_the_table(tmp_path: Path) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path)}
    assert stored_for("usb:0", None, environment, tmp_path) is None
    usual = written(calibration_file.default_path(environment, tmp_path, "table"), calibration())
    assert stored_for("usb:0,size=1920x1080", None, environment, tmp_path) == usual
    own = written(calibration_file.default_path(environment, tmp_path, "usb-0"), calibration())
    assert stored_for("usb:0,size=1920x1080", None, environment, tmp_path) == own
    assert stored_for("film.mp4", None, environment, tmp_path) is None
    assert stored_for("film.mp4", Path("x.json"), environment, tmp_path) == Path("x.json")


def test_pictures_of_another_shape_and_missing_parts_use_no_zones(tmp_path: Path) -> None:
    path = written(tmp_path / "c.json", calibration())
    used = use_of(path, 4, (640, 480), is_named=True)
    assert used.zones is None
    assert "1280 x 720" in used.text[0]
    assert use_of(path, 4, (640, 360), is_named=True).zones is not None
    used = use_of(written(tmp_path / "c.json", calibration_file.Calibration(LENS)), 2, None, is_named=False)
    assert used.zones is None
    assert "has no table and zones" in used.text[0]


def test_a_damaged_file_is_an_error_only_if_named(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(calibration_file.format_calibration(calibration()).replace("930.0", "931.0"))
    assert "checksum" in use_of(path, 2, None, is_named=False).text[0]
    with pytest.raises(CalibrationError, match="checksum"):
        use_of(path, 2, None, is_named=True)
    video = write_video(tmp_path / "a.avi", [GREY] * 2, per_s=10)
    missing = PlayOptions(camera=str(video), record=str(tmp_path), speed=0, calibration=tmp_path / "none.json")
    code, _, err = run_play(missing)
    assert (code, "no such file" in err) == (1, True)


def test_a_game_records_the_zones_of_its_calibration(tmp_path: Path) -> None:
    video = write_video(tmp_path / "a.avi", [GREY] * 4, per_s=10)
    path = written(tmp_path / "c.json", calibration(20))
    folder = tmp_path / "sessions"
    code, out, err = run_play(
        PlayOptions(camera=str(video), players="Ann,Ben", record=str(folder), speed=0, calibration=path)
    )
    assert code == 0, err
    assert "c.json: the zones of 2 seats and the boneyard" in (out + err).replace("\n", " ")
    (recording,) = folder.glob("*.mcap")
    start = read_recording(recording).start
    assert start is not None
    expected = zones_in_picture(calibration_file.load_calibration(path), 2)
    assert expected is not None
    assert start.zones == expected[0]
    path.unlink()
    assert replay(recording, as_json=True, out=StringIO()) == 0


def five_everywhere(reader: str) -> LearnedSet:
    """Return a learned double-six set that classifies every half as a 5."""
    weights = np.zeros((FEATURES + PICTURE_FEATURES + 1, 7), np.float16)
    weights[-1, 5] = 30
    packed = base64.b64encode(weights.tobytes()).decode()
    look = SetLook((255, 255, 255), (), PipColors.DARK, BarSeen.LINE, 2.0)
    return LearnedSet(6, ((0, 0),), "AAAA", look, reader, packed, 0.01, 0.0, (0.1, 0.0))


def test_a_simulated_match_ignores_a_stored_calibration(tmp_path: Path) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path)}
    assert words_of_unused("simulated:seed=3", environment, tmp_path) == ()
    written(calibration_file.default_path(environment, tmp_path, "simulated"), calibration())
    assert words_of_unused("film.mp4", environment, tmp_path) == ()
    camera, game = open_camera("simulated:seed=3", bones(), lambda: 0)
    same, used = with_calibration(game, camera, "simulated:seed=3", None, environment=environment, home=tmp_path)
    assert same.start.zones is not None
    assert (same, used.zones) == (game, None)
    assert "each simulated match has its own table" in used.text[0]


@pytest.mark.slow
def test_a_learned_set_is_used_in_a_game_and_its_replay(tmp_path: Path) -> None:
    pictures = [table_with(laid, frame=0).image for laid in ((), (lay(3, 2, 0, 0, 20),))]
    video = write_video(tmp_path / "a.avi", [pictures[0]] * 10 + [pictures[1]] * 110, per_s=10)
    path = written(tmp_path / "c.json", calibration_file.Calibration(set=five_everywhere(reader_checksum())))
    folder = tmp_path / "sessions"
    options = PlayOptions(
        camera=str(video), players="Ann,Ben", record=str(folder), speed=0, calibration=path, as_json=True
    )
    code, out, err = run_play(options, b" ")
    assert code == 0, err
    path.unlink()
    (recording,) = folder.glob("*.mcap")
    replayed = StringIO()
    assert replay(recording, as_json=True, out=replayed) == 0
    for lines in (out, replayed.getvalue()):
        assert "Ann 10, Ben 0, if Ann led and Ann played the 5-5" in lines


def test_a_set_of_another_reader_with_a_damaged_picture_is_not_used(tmp_path: Path) -> None:
    game, reader = bones(), load_reader(6)
    used = Used(None, (), calibration_file.Calibration(set=five_everywhere("another eye")))
    game, same, text = with_own_tiles(game, used, reader)
    assert same is reader
    assert game.start.own_set is None
    assert "damaged" in text[0]


def test_a_resumed_match_keeps_its_tile_set() -> None:
    began, reader = bones(), load_reader(6)
    start = replace(began.start, own_set=RecordedSet(6, "another eye", "AAAA", 0.6))
    game = replace(began, start=start, left=Left(start))
    _, same, text = with_own_tiles(game, Used(None, ()), reader)
    assert same is reader
    assert "another version of the reader" in text[0]
    _, plain, messages = with_own_tiles(
        replace(began, left=Left(began.start)),
        Used(None, (), calibration_file.Calibration(set=five_everywhere(reader_checksum()))),
        reader,
    )
    assert (plain, messages) == (reader, ())


def bones() -> MatchPlan:
    began = datetime(2026, 11, 21, tzinfo=UTC)
    return new_game("bones", (), ("Ann", "Ben"), tile_set=TileSet.AUTO, in_play=False, began=began, software="test")


@pytest.mark.parametrize(("size_px", "is_used"), [((1280, 720), True), ((640, 480), False)])
def test_a_camera_uses_its_stored_calibration_if_the_shape_matches(
    tmp_path: Path, size_px: tuple[int, int], is_used: bool
) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path)}
    written(calibration_file.default_path(environment, tmp_path, "usb-0"), calibration())
    camera = DeviceCamera("usb:0", FakeCamera(CameraMode(*size_px, 20.0, "MJPG")), lambda: 0)
    game = bones()
    after, used = with_calibration(game, camera, "usb:0", None, environment=environment, home=tmp_path)
    assert (used.zones is not None) is is_used
    assert bool(after.start.zones) is is_used
    resumed, named = replace(game, left=Left(game.start)), tmp_path / "x.json"
    with pytest.raises(EngineError, match="keeps its zones"):
        with_calibration(resumed, camera, "usb:0", named, environment=environment, home=tmp_path)
