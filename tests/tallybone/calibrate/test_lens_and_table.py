"""Tests of the `tallybone calibrate` commands with pictures of rendered tables."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.lens.lens import LensSource, PiCamera
from calibration.sheets.prints import Paper
from calibration.table.table import TableSource
from lab.render.cover import truth_of
from lab.render.looks import CLASSIC, FELT, LAMP
from lab.render.scene import PlacedTile, Scene
from lab.render.view import view_of
from tallybone.calibrate.lens_and_table import TableGiven, calibrate_lens, calibrate_table, print_sheets
from tallybone.store.calibration_file import Calibration, load_calibration, save_calibration
from tallybone.terminal import Output
from tests.calibration import held, laid
from tests.tallybone.cli.test_app import tallybone
from vision.arrays import Image
from vision.reading import Face, SeenTile

LENS = laid.true_lens(laid.CAMERA)


def captured_output() -> tuple[Output, io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    return Output("calibrate", out, err), out, err


def write_picture(folder: Path, name: str, picture: Image) -> Path:
    path = folder / name
    cv2.imwrite(str(path), picture)
    return path


def tiles(_: Image) -> tuple[SeenTile, ...]:
    places = [(float(x), float(y)) for x in (-240, -80, 80, 240) for y in (-110, 110)]
    scene = Scene(tuple(PlacedTile((1, 2), place, 0.4) for place in places), CLASSIC, FELT, LAMP, laid.CAMERA)
    return truth_of(scene, view_of(laid.CAMERA)).reading.tiles


@pytest.fixture(scope="module")
def table_picture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_picture(tmp_path_factory.mktemp("tables"), "table.png", laid.picture_of(laid.Laid(print_scale=0.95)))


def test_a_pdf_is_written(tmp_path: Path) -> None:
    output, out, _ = captured_output()
    assert print_sheets(tmp_path / "sheets.pdf", paper=Paper.LETTER, players=3, output=output) == 0
    assert (tmp_path / "sheets.pdf").read_bytes().startswith(b"%PDF-1.4")
    assert "11 sheets of Letter" in out.getvalue()
    output, _, err = captured_output()
    assert print_sheets(tmp_path / "no" / "sheets.pdf", paper=Paper.A4, players=3, output=output) == 1
    assert "cannot save" in err.getvalue()


@pytest.mark.slow
def test_a_lens_is_measured_and_stored(tmp_path: Path) -> None:
    paths = [write_picture(tmp_path, f"{at}.png", held.picture_of(place)) for at, place in enumerate(held.GOOD[1:7])]
    output, out, err = captured_output()
    assert calibrate_lens(paths, tmp_path / "c.json", output=output) == 0, err.getvalue()
    lens = load_calibration(tmp_path / "c.json").lens
    assert lens is not None
    assert lens.focal_px[0] == pytest.approx(held.FOCAL_PX * (1 + held.LENS), rel=0.01)
    assert "in 6 views" in out.getvalue()


def test_too_few_pictures_are_refused_with_the_missing_views(tmp_path: Path) -> None:
    path = write_picture(tmp_path, "0.png", np.full((90, 160, 3), 99, np.uint8))
    output, out, err = captured_output()
    assert calibrate_lens([path], tmp_path / "c.json", output=output) == 1
    assert "too little of the board is visible" in out.getvalue()
    assert "Still missing: Tilt the right side" in out.getvalue()
    assert "0 of 1 pictures" in err.getvalue()
    assert not (tmp_path / "c.json").exists()


@pytest.mark.slow
def test_a_wrong_print_scale_is_detected_by_the_tiles(tmp_path: Path, table_picture: Path) -> None:
    save_calibration(Calibration(LENS), tmp_path / "c.json")
    given = TableGiven(tile=(48.0, 24.0), thickness_mm=CLASSIC.thickness_mm)
    output, out, _ = captured_output()
    assert calibrate_table(table_picture, tmp_path / "c.json", given, read_tiles=tiles, output=output) == 0
    assert "printed at 95 %" in out.getvalue()
    right, corrected_out, _ = captured_output()
    given = TableGiven(tile=(48.0, 24.0), thickness_mm=CLASSIC.thickness_mm, ruler_mm=95)
    assert calibrate_table(table_picture, tmp_path / "c.json", given, read_tiles=tiles, output=right) == 0
    assert "the scale is right" in corrected_out.getvalue()


def test_a_table_is_measured_with_a_guessed_lens_and_again_for_a_pi_camera(tmp_path: Path, table_picture: Path) -> None:
    output, out, _ = captured_output()
    assert calibrate_table(table_picture, tmp_path / "c.json", TableGiven(), output=output) == 0
    found = load_calibration(tmp_path / "c.json").table
    assert found is not None
    assert found.source is TableSource.MARKERS
    assert "16 of 16 markers are visible, on 4 of 4 corner blocks" in out.getvalue()
    assert "The lens is an estimate" in out.getvalue()
    lens = load_calibration(tmp_path / "c.json").lens
    assert lens is not None
    assert lens.source is LensSource.GUESS
    output, out, _ = captured_output()
    assert calibrate_lens([table_picture], tmp_path / "c.json", known=PiCamera.MODULE_3, output=output) == 0
    kept = load_calibration(tmp_path / "c.json")
    assert ("measure it again" in out.getvalue(), kept.table) == (True, None)
    assert kept.lens is not None
    assert (kept.lens.width_px, kept.lens.source) == (2304, LensSource.KNOWN_CAMERA)
    assert "66.0 degrees" in out.getvalue()
    output, out, _ = captured_output()
    assert calibrate_lens([table_picture], tmp_path / "new.json", known=PiCamera.MODULE_3, output=output) == 0
    assert "measure it again" not in out.getvalue()


def test_squares_of_corner_blocks_are_not_tiles(tmp_path: Path, table_picture: Path) -> None:
    save_calibration(Calibration(LENS), tmp_path / "c.json")
    view = view_of(laid.CAMERA)
    false = [
        _outline(view.project(np.array([(x, y - 18), (x + 18, y), (x, y + 18), (x - 18, y)]), 0.0))
        for x, y, _ in laid.BLOCKS_MM
    ]
    output, out, _ = captured_output()
    given = TableGiven(tile=(48.0, 24.0), ruler_mm=95)
    assert calibrate_table(table_picture, tmp_path / "c.json", given, read_tiles=lambda _: false, output=output) == 0
    assert "the scale of the print was not checked" in out.getvalue()


def _outline(points: np.ndarray) -> SeenTile:
    a, b, c, d = ((float(x), float(y)) for x, y in points)
    return SeenTile(Face.DOWN, (a, b, c, d), ())


@pytest.mark.slow
def test_a_lens_of_another_camera_is_detected(tmp_path: Path, table_picture: Path) -> None:
    bent = replace(LENS, distortion=(-0.1, 0.0, 0.0, 0.0, 0.0))
    save_calibration(Calibration(bent), tmp_path / "c.json")
    output, out, err = captured_output()
    calibrate_table(table_picture, tmp_path / "c.json", TableGiven(ruler_mm=95), output=output)
    assert "Warning: the markers are" in out.getvalue() or "do not fit one plane" in err.getvalue()
    save_calibration(Calibration(LENS), tmp_path / "c.json")
    right, corrected_out, _ = captured_output()
    assert calibrate_table(table_picture, tmp_path / "c.json", TableGiven(ruler_mm=95), output=right) == 0
    assert "Warning" not in corrected_out.getvalue()


def test_tiles_are_enough_without_markers(tmp_path: Path) -> None:
    save_calibration(Calibration(LENS), tmp_path / "c.json")
    path = write_picture(tmp_path, "bare.png", np.full((1296, 2304, 3), 99, np.uint8))
    output, out, _ = captured_output()
    given = TableGiven(tile=(48.0, 24.0), thickness_mm=CLASSIC.thickness_mm)
    assert calibrate_table(path, tmp_path / "c.json", given, read_tiles=tiles, output=output) == 0
    assert "Measured from the tiles" in out.getvalue()
    nothing, _, err = captured_output()
    assert calibrate_table(path, tmp_path / "c.json", TableGiven(), output=nothing) == 1
    assert "0 of the 4 corner blocks are visible" in err.getvalue()


@pytest.mark.slow
def test_clicked_corners_are_stored_by_the_command(tmp_path: Path, table_picture: Path) -> None:
    view = view_of(laid.CAMERA)
    seen = view.project(np.array([(-400.0, -200.0), (400, -200), (400, 200), (-400, 200)]), 0.0)
    corners = " ".join(f"{x:.0f},{y:.0f}" for x, y in seen)
    file = tmp_path / "c.json"
    save_calibration(Calibration(LENS), file)
    arguments = ["calibrate", "table", str(table_picture), "--file", str(file), "--size", "800x400"]
    done = tallybone(*arguments, "--corners", corners)
    assert (done.returncode, done.stderr) == (0, "")
    table = load_calibration(file).table
    assert table is not None
    assert table.source is TableSource.CORNERS
    wrong = tallybone(*arguments, "--corners", "1,2 3,4")
    assert wrong.returncode == 2
    assert "expected four points" in wrong.stderr
    done = tallybone("calibrate", "table", "x.png", "--camera", "../x")
    assert (done.returncode, "../x" in done.stderr) == (2, True)
