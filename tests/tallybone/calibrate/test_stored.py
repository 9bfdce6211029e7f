"""Tests of `tallybone calibrate show`, `check`, `restore`, `zones` and `light`."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from calibration.table.zones import ZoneSource
from tallybone.calibrate.lens_and_table import TableGiven, calibrate_light, calibrate_table
from tallybone.calibrate.stored import ZonesGiven, calibrate_zones, check, restore, show
from tallybone.cli.calibrate import calibrate_app
from tallybone.store.calibration_file import Calibration, LightKept, earlier_path, load_calibration, save_calibration
from tests.calibration import laid
from tests.tallybone.calibrate.test_lens_and_table import captured_output, write_picture
from tests.tallybone.cli.test_app import tallybone
from tests.tallybone.store.test_calibration_file import BOTH, LENS
from vision.image.picture import load_picture

DAY_S = 86_400.0


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_picture(tmp_path_factory.mktemp("pictures"), "table.png", laid.picture_of(laid.Laid()))


@pytest.fixture
def measured(tmp_path: Path, picture: Path) -> Path:
    path = tmp_path / "c.json"
    save_calibration(Calibration(laid.true_lens(laid.CAMERA)), path)
    assert calibrate_table(picture, path, TableGiven(thickness_mm=9.0), output=captured_output()[0]) == 0
    return path


def no_tiles(_: np.ndarray) -> tuple[()]:
    return ()


def test_a_stored_calibration_is_shown_with_its_age_and_a_missing_one_with_its_command(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    save_calibration(replace(BOTH, light=LightKept((80.0, 90.0, 85.0), (60.0, 120.0), is_held=True)), path)
    os.utime(path, (DAY_S, DAY_S))
    output, out, _ = captured_output()
    assert show(path, now=lambda: 4 * DAY_S, output=output) == 0
    text = out.getvalue()
    assert "written 3 days ago" in text
    assert "measured from 12 views, error 0.25 px (good)" in text
    assert "800 mm above it" in text
    assert "Zones: none" in text
    assert "Light: locked by the camera; pips differ from the face by at least 60 grey levels" in text
    output, _, err = captured_output()
    assert show(tmp_path / "none.json", output=output) == 1
    assert "calibrate guide" in err.getvalue()
    output, _, err = captured_output()
    assert calibrate_zones(tmp_path / "none.json", ZonesGiven(), output=output) == 1
    assert "measure the table first" in err.getvalue()


def test_an_earlier_calibration_is_restored_and_the_newer_kept(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    for views in (1, 2, 3):
        save_calibration(Calibration(replace(LENS, views=views)), path)
        os.utime(path, (views * DAY_S, views * DAY_S))
    output, out, _ = captured_output()
    assert restore(path, 2, output=output) == 0
    lens, before = load_calibration(path).lens, load_calibration(earlier_path(path, 1)).lens
    assert lens is not None
    assert before is not None
    assert (lens.views, before.views) == (1, 3)
    assert path.stat().st_mtime == DAY_S
    assert earlier_path(path, 1).stat().st_mtime == 3 * DAY_S
    assert "number 2 was restored" in out.getvalue()


def test_missing_and_damaged_calibrations_are_not_restored(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    save_calibration(BOTH, path)
    output, _, err = captured_output()
    assert restore(path, 1, output=output) == 1
    assert "there is no such file" in err.getvalue()
    earlier_path(path, 1).write_text("{}")
    assert restore(path, 1, output=output) == 1
    assert load_calibration(path) == BOTH


def test_a_picture_of_the_unchanged_table_is_ok(measured: Path, picture: Path, tmp_path: Path) -> None:
    output, out, err = captured_output()
    code = check(str(picture), measured, annotate=tmp_path / "out", read_tiles=no_tiles, output=output)
    assert (code, err.getvalue()) == (0, "")
    assert "have not moved" in out.getvalue()
    assert "All checks passed" in out.getvalue()
    assert load_picture(tmp_path / "out" / "check.png").shape == (1296, 2304, 3)


def test_a_moved_camera_another_mode_and_a_dark_picture_are_detected(measured: Path, tmp_path: Path) -> None:
    camera = replace(laid.CAMERA, roll_rad=0.03)
    pushed = write_picture(tmp_path, "pushed.png", laid.picture_of(laid.Laid(camera=camera)))
    output, out, _ = captured_output()
    assert check(str(pushed), measured, read_tiles=no_tiles, output=output) == 1
    assert "moved by" in out.getvalue()
    assert "Some checks failed" in out.getvalue()
    dark = write_picture(tmp_path, "dark.png", np.full((480, 640, 3), 8, np.uint8))
    output, out, _ = captured_output()
    assert check(str(dark), measured, read_tiles=no_tiles, output=output) == 1
    assert "mode has changed" in out.getvalue()
    assert "too dark" in out.getvalue()


def test_zones_are_calculated_stored_and_drawn(measured: Path, picture: Path, tmp_path: Path) -> None:
    output, out, err = captured_output()
    code = calibrate_zones(measured, ZonesGiven(seats=3), picture=picture, annotate=tmp_path / "out", output=output)
    assert (code, err.getvalue()) == (0, "")
    zones = load_calibration(measured).zones
    assert zones is not None
    assert (zones.source, len(zones.seats)) == (ZoneSource.BLOCKS, 3)
    assert "seat 1, seat 2, seat 3, boneyard, layout" in out.getvalue()
    assert (load_picture(tmp_path / "out" / "zones.png") != load_picture(picture)).any()


def test_given_zones_replace_calculated_ones(measured: Path) -> None:
    yard = ((0.0, 0.0), (90.0, 0.0), (90.0, 80.0))
    assert calibrate_zones(measured, ZonesGiven(seats=2), output=captured_output()[0]) == 0
    before = load_calibration(measured).zones
    given = ZonesGiven(boneyard=yard, seat_outlines=((1, yard),))
    assert calibrate_zones(measured, given, output=captured_output()[0]) == 0
    zones = load_calibration(measured).zones
    assert zones is not None
    assert before is not None
    assert (zones.source, zones.boneyard, zones.seats) == (ZoneSource.GIVEN, yard, (before.seats[0], yard))
    output, _, err = captured_output()
    assert calibrate_zones(measured, ZonesGiven(seats=2, seat_outlines=((3, yard),)), output=output) == 1
    assert "seat 4: there are 2 seats" in err.getvalue()


def test_zones_follow_the_blocks_of_a_new_measurement(measured: Path, picture: Path, tmp_path: Path) -> None:
    assert calibrate_zones(measured, ZonesGiven(seats=2), output=captured_output()[0]) == 0
    before = load_calibration(measured).zones
    camera = replace(laid.CAMERA, roll_rad=0.1)
    other = write_picture(tmp_path, "other.png", laid.picture_of(laid.Laid(camera=camera)))
    assert calibrate_table(other, measured, TableGiven(thickness_mm=9.0), output=captured_output()[0]) == 0
    after = load_calibration(measured).zones
    assert after is not None
    assert before is not None
    assert after != before
    assert np.array(after.boneyard) == pytest.approx(np.array(before.boneyard), abs=1.0)


def test_bad_light_is_drawn_and_stored(tmp_path: Path, picture: Path) -> None:
    image = load_picture(picture)
    image[600:760, 1100:1300] = 255
    glaring = write_picture(tmp_path, "glare.png", image)
    path = tmp_path / "c.json"
    output, out, err = captured_output()
    assert calibrate_light(str(glaring), path, read_tiles=no_tiles, output=output) == 1, err.getvalue()
    assert "Glare in 1 place" in out.getvalue()
    assert (tmp_path / "c" / "light.png").exists()
    light = load_calibration(path).light
    assert light is not None
    assert "Glare" in light.warnings[0]
    assert calibrate_light(str(picture), path, read_tiles=no_tiles, output=captured_output()[0]) == 0


def test_the_commands_accept_their_documented_arguments(tmp_path: Path, measured: Path) -> None:
    done = tallybone("calibrate", "show", "--file", str(measured))
    assert (done.returncode, done.stderr) == (0, "")
    assert "Table: measured from 4 of 4 corner blocks" in done.stdout
    assert exit_code_of("zones", "--seats", "2", "--boneyard", "0,0 90,0 90,80", file=measured) == 0
    assert exit_code_of("zones", "--boneyard", "1,2", file=measured) == 2
    assert exit_code_of("zones", "--seat", "7:0,0 1,0 1,1", file=measured) == 2
    assert exit_code_of("restore", "9", file=measured) == 2
    assert exit_code_of("restore", "1", file=measured) == 0
    assert exit_code_of("check", file=measured) == 2
    assert exit_code_of("check", str(tmp_path / "none.png"), file=measured) == 1
    assert exit_code_of("light", str(tmp_path / "none.png"), file=measured) == 1
    result = CliRunner().invoke(calibrate_app, ["zones", "--annotate", str(tmp_path)])
    assert result.exit_code == 2
    assert "--annotate needs PICTURE, an image of the table" in result.output


def exit_code_of(*text: str, file: Path) -> int:
    return CliRunner().invoke(calibrate_app, [*text, "--file", str(file)]).exit_code
