"""Tests of the calibration file: lossless, checksummed, with backups of earlier versions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from calibration.lens.lens import Lens
from calibration.table.table import BlockPose, Table, TableSource
from tallybone.store import calibration_file

LENS = Lens(1280, 720, (1010.25, 1011.5), (639.5, 359.25), (-0.125, 0.0625, 0.0, 0.0, 0.5), error_px=0.25, views=12)
TABLE = Table(
    (1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0), (3.5, -2.0, 800.0), 9.0, TableSource.MARKERS, 0.125, 0.001,
    (BlockPose(0, -300.5, 200.0, 0.25),),
)  # fmt: skip
BOTH = calibration_file.Calibration(LENS, TABLE)


def test_a_file_stores_the_calibration_losslessly(tmp_path: Path) -> None:
    path = tmp_path / "made" / "table.json"
    calibration_file.save_calibration(BOTH, path)
    assert calibration_file.load_calibration(path) == BOTH
    assert [file.name for file in path.parent.iterdir()] == ["table.json"]
    assert calibration_file.load_calibration(tmp_path / "none.json") == calibration_file.Calibration()


def test_the_file_is_readable_json() -> None:
    content = json.loads(calibration_file.format_calibration(calibration_file.Calibration(LENS)))
    assert content["version"] == 1
    assert content["calibration"] == {
        "lens": {
            "width_px": 1280, "height_px": 720, "focal_px": [1010.25, 1011.5], "center_px": [639.5, 359.25],
            "distortion": [-0.125, 0.0625, 0.0, 0.0, 0.5], "error_px": 0.25, "views": 12,
        }
    }  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("1010.25", "1010.26", "checksum is wrong"),
        ('"thickness_mm": 9.0', '"thickness_mm": 90.0', "checksum is wrong"),
        ('"version": 1', '"version": 2', "expected version 1, got 2"),
        ('"calibration": {', '"calibration": [', ""),
    ],
)
def test_rejects_a_damaged_file_by_name(tmp_path: Path, old: str, new: str, reason: str) -> None:
    path = tmp_path / "table.json"
    text = calibration_file.format_calibration(BOTH)
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(calibration_file.CalibrationFileError, match=rf"table\.json: .*{reason}"):
        calibration_file.load_calibration(path)


@pytest.mark.parametrize("text", ["", "[]", "null", '{"calibration": {}}', "[" * 100_000])
def test_rejects_other_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.json"
    path.write_text(text)
    with pytest.raises(calibration_file.CalibrationFileError, match=r"table\.json"):
        calibration_file.load_calibration(path)


def test_keeps_the_last_five_versions(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    for views in range(8):
        calibration_file.save_calibration(calibration_file.Calibration(replace(LENS, views=views)), path)
    versions = [
        calibration_file.load_calibration(file)
        for file in (path, *(calibration_file.earlier_path(path, index) for index in range(1, 6)))
    ]
    assert [version.lens.views for version in versions if version.lens is not None] == [7, 6, 5, 4, 3, 2]
    assert len(list(tmp_path.iterdir())) == 6
