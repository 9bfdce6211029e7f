"""Tests of `tallybone read`: stdout, stderr, annotated pictures and exit codes."""

from __future__ import annotations

import io
import json
import os
import struct
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from tallybone.cli.photographs import ReadOptions, read_photos
from tallybone.terminal import quiet_libraries
from vision import VisionError
from vision.image.picture import load_picture
from vision.reading import Contact, Face, Guess, Half, Join, PointPx, Reading, SeenTile

WIDTH, HEIGHT = 160, 120


def box(left: float, top: float, right: float, bottom: float) -> tuple[PointPx, PointPx, PointPx, PointPx]:
    return ((left, top), (right, top), (right, bottom), (left, bottom))


def corners(left: float, top: float, right: float, bottom: float) -> list[list[float]]:
    return [[float(x), float(y)] for x, y in box(left, top, right, bottom)]


READING = Reading(
    WIDTH,
    HEIGHT,
    (
        SeenTile(
            Face.UP,
            box(10, 10, 50.04, 30),
            (
                Half(6, 0.987654, (20.06, 20.0)),
                Half(4, 0.5, (-0.04, 20.0), Guess(3, 0.30004), (0.0, 0.0, 0.05, 0.51239, 0.43761)),
            ),
        ),
        SeenTile(Face.UP, box(51, 0, 71, 40), (Half(4, 1.0, (61, 10)), Half(4, 0.95, (61, 30)))),
        SeenTile(Face.DOWN, box(100, 80, 140, 100), ()),
        SeenTile(Face.UP, box(71, 21, 111, 40), (Half(2, 0.9, (81, 30)), Half(0, 0.9, (101, 30)))),
        SeenTile(Face.UNSURE, box(10, 90, 50, 110), ()),
    ),
    (Join(0, 1, 1, None),),
    (Contact(3, 0, 1, 1),),
)


@dataclass
class Outcome:
    """The outcome of a run, with a reader that always returns the same reading."""

    out: io.StringIO = field(default_factory=io.StringIO)
    err: io.StringIO = field(default_factory=io.StringIO)
    seen: list[tuple[int, ...]] = field(default_factory=list)
    code: int | None = None

    def read(self, *photos: Path, as_json: bool = True, annotate_into: Path | None = None) -> None:
        options = ReadOptions(photos=list(photos), as_json=as_json, annotate=annotate_into)
        self.code = read_photos(options, read_picture=self.see, out=self.out, err=self.err)

    def see(self, image: NDArray[np.uint8]) -> Reading:
        self.seen.append(image.shape)
        return READING

    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.out.getvalue().splitlines()]


@pytest.fixture
def run() -> Outcome:
    return Outcome()


def photo(path: Path, *, grey: int = 90) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    assert cv2.imwrite(str(path), np.full((HEIGHT, WIDTH, 3), grey, np.uint8))
    return path


def test_a_line_of_json_has_the_documented_form(run: Outcome, tmp_path: Path) -> None:
    path = photo(tmp_path / "table.png")
    run.read(path)
    (line,) = run.lines()
    assert run.seen == [(HEIGHT, WIDTH, 3)]
    assert isinstance(line.pop("ms"), float)

    def up(corners: list[list[float]], first: dict[str, object], second: dict[str, object]) -> dict[str, object]:
        return {"face": "up", "corners_px": corners, "halves": [first, second]}

    def half(pips: int, confidence: float, *center_px: float) -> dict[str, object]:
        return {"pips": pips, "confidence": confidence, "center_px": [*center_px]}

    doubted = {"second": {"pips": 3, "confidence": 0.3}, "alone": {"pips": 3, "confidence": 0.5124}}
    first = up(corners(10, 10, 50, 30), half(6, 0.9877, 20.1, 20.0), half(4, 0.5, 0.0, 20.0) | doubted)
    double = up(corners(51, 0, 71, 40), half(4, 1.0, 61.0, 10.0), half(4, 0.95, 61.0, 30.0))
    down = {"face": "down", "corners_px": corners(100, 80, 140, 100)}
    last = up(corners(71, 21, 111, 40), half(2, 0.9, 81.0, 30.0), half(0, 0.9, 101.0, 30.0))
    unsure = {"face": "unsure", "corners_px": corners(10, 90, 50, 110)}
    assert line == {"path": str(path), "width": 160, "height": 120, "pips": 20} | {
        "tiles": [first, double, down, last, unsure],
        "joins": [{"a": 0, "a_half": 1, "b": 1, "b_half": None}],
        "contacts": [{"a": 3, "a_half": 0, "b": 1, "b_half": 1}],
    }
    assert "-0.0" not in run.out.getvalue()
    assert run.err.getvalue() == ""
    assert run.code == 0


def test_unreadable_pictures_are_reported_and_the_others_read(run: Outcome, tmp_path: Path) -> None:
    good, also_good = photo(tmp_path / "1.png"), photo(tmp_path / "5.png")
    cut = tmp_path / "2.png"
    cut.write_bytes(good.read_bytes()[:-20])
    empty = tmp_path / "3.jpg"
    empty.touch()
    run.read(good, cut, empty, tmp_path / "4.jpg", also_good)
    assert run.code == 1
    assert [line["path"] for line in run.lines()] == [str(good), str(also_good)]
    errors = run.err.getvalue().splitlines()
    assert len(errors) == 3
    for error, name, word in zip(errors, ("2.png", "3.jpg", "4.jpg"), ("cut", "empty", "no such file"), strict=True):
        assert error.startswith(f"tallybone read: {tmp_path / name}: ")
        assert word in error


def test_the_table_describes_tiles_pips_uncertainty_and_joins(run: Outcome, tmp_path: Path) -> None:
    run.read(photo(tmp_path / "table.png"), as_json=False)
    text = run.out.getvalue()
    assert "6|4?3" in text
    assert "50 %" in text
    assert "down" in text
    assert "the 4 of tile 1 (6|4?3) meets the side of tile 2 (4|4)" in text
    assert "the 2 of tile 4 (2|0) touches the 4 of tile 2 (4|4), which is not a join" in text
    assert "the 4 of tile 1 (6|4?3) by itself would be read as 3" in text
    assert "unsure" in text
    assert "3 tiles face up, 1 face down, 1 that cannot be read, 20 pips, 1 join, 1 contact" in text
    assert run.code == 0


def test_unusual_names_are_accepted_and_escaped(run: Outcome, tmp_path: Path) -> None:
    path = photo(tmp_path / "plain.png").rename(tmp_path / os.fsdecode(b"t\xff.png"))
    run.read(path)
    assert run.lines()[-1]["path"] == str(path)
    run.read(path, as_json=False)
    assert r"t\udcff.png" in run.out.getvalue()
    path = photo(tmp_path / "plain.png").rename(tmp_path / "[red]\x1b[2Jé\n.png")
    run.read(path, tmp_path / "\x1b[2J.png", as_json=False)
    printed = run.out.getvalue() + run.err.getvalue()
    assert "\x1b" not in printed
    assert r"[red]\x1b[2Jé\n.png" in printed


def test_annotated_pictures_are_named_after_the_originals(run: Outcome, tmp_path: Path) -> None:
    jpeg, png = photo(tmp_path / "one.JPG"), photo(tmp_path / "two.png")
    run.read(jpeg, png, annotate_into=tmp_path / "new" / "folder")
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == ["one-read.jpg", "two-read.png"]
    drawn = load_picture(tmp_path / "new" / "folder" / "two-read.png")
    assert (drawn != 90).any()
    assert run.code == 0


def test_equal_names_do_not_overwrite_each_other(run: Outcome, tmp_path: Path) -> None:
    paths = [
        photo(tmp_path / name)
        for name in ("a/t.png", "b/t.png", "c/T.png", "d/t-read.png", "x.jpeg", "y/x.jpg", "x.bmp")
    ]
    run.read(*paths, annotate_into=tmp_path / "out")
    written = {path.name for path in (tmp_path / "out").iterdir()}
    expected = {"t-read.png", "t-read-2.png", "T-read-3.png", "t-read-read.png"}
    assert written == expected | {"x-read.jpg", "x-read-2.jpg", "x-read-3.png"}


def test_annotating_again_or_into_the_folder_of_the_photographs_keeps_them(run: Outcome, tmp_path: Path) -> None:
    path = photo(tmp_path / "table.png")
    before = path.read_bytes()
    run.read(path, annotate_into=tmp_path)
    assert path.read_bytes() == before
    assert {file.name for file in tmp_path.iterdir()} == {"table.png", "table-read.png"}
    run.read(path, annotate_into=tmp_path / "out")
    run.read(path, annotate_into=tmp_path / "out")
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["table-read.png"]


def test_an_unwritable_picture_is_an_error_and_the_next_is_read(run: Outcome, tmp_path: Path) -> None:
    first, second = photo(tmp_path / "1.png"), photo(tmp_path / "2.png")
    (tmp_path / "out" / "1-read.png").mkdir(parents=True)
    run.read(first, second, annotate_into=tmp_path / "out")
    assert run.code == 1
    assert "1-read.png" in run.err.getvalue()
    assert [line["path"] for line in run.lines()] == [str(second)]


def test_a_folder_that_cannot_be_created_ends_the_run(run: Outcome, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    run.read(photo(tmp_path / "1.png"), annotate_into=tmp_path / "file" / "out")
    assert run.code == 1
    assert "file" in run.err.getvalue()
    assert run.seen == []


def test_a_failure_for_a_picture_does_not_stop_the_others(tmp_path: Path) -> None:
    out, err = io.StringIO(), io.StringIO()

    def see(image: NDArray[np.uint8]) -> Reading:
        if image[0, 0, 0] == 1:
            raise VisionError("dark.png: too dark")
        return READING

    photos = [photo(tmp_path / "dark.png", grey=1), photo(tmp_path / "light.png", grey=200)]
    code = read_photos(ReadOptions(photos=photos, as_json=True), read_picture=see, out=out, err=err)
    assert code == 1
    assert "too dark" in err.getvalue()
    assert len(out.getvalue().splitlines()) == 1


def test_c_libraries_are_silenced_inside_the_block_only(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = photo(tmp_path / "plain.jpg").read_bytes()
    odd = tmp_path / "odd.jpg"
    odd.write_bytes(data[:-2] + bytes(9) + data[-2:])
    load_picture(odd)
    assert "extraneous bytes" in capfd.readouterr().err  # otherwise this test proves nothing
    with quiet_libraries():
        load_picture(odd)
        os.write(2, b"swallowed")
    os.write(2, b"heard")
    assert capfd.readouterr().err == "heard"
    with pytest.raises(VisionError), quiet_libraries():
        raise VisionError
    os.write(2, b"heard")
    assert capfd.readouterr().err == "heard"


@pytest.mark.slow
def test_the_program_reads_real_photographs(shared_data: Path, tmp_path: Path) -> None:
    photos = sorted((shared_data / "photos" / "domibot").glob("*.jpg"))[:2]
    tallybone = Path(sys.executable).with_name("tallybone")
    into: list[str | Path] = ["--json", "--annotate", tmp_path / "out"]
    command: list[str | Path] = [tallybone, "read", *photos, tmp_path / "absent.jpg", *into]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    assert done.stderr == f"tallybone read: {tmp_path / 'absent.jpg'}: there is no such file\n"
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["path"] for line in lines] == [str(path) for path in photos]
    assert all(line["tiles"] for line in lines)
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_the_pictures_of_a_folder_are_read_in_order(run: Outcome, tmp_path: Path) -> None:
    for name in ("b.png", "a.gif", "c.avif"):
        photo(tmp_path / name)
    (tmp_path / "notes.txt").write_text("no picture")
    (empty := tmp_path / "empty").mkdir()
    run.read(tmp_path, empty)
    assert [Path(str(line["path"])).name for line in run.lines()] == ["a.gif", "b.png", "c.avif"]
    assert "expected pictures (" in run.err.getvalue()
    assert run.code == 1


def test_a_raw_photo_says_that_its_preview_was_read(run: Outcome, tmp_path: Path) -> None:
    data = bytearray(photo(tmp_path / "a.tiff").read_bytes())
    (at,) = struct.unpack_from("<I", data, 4)
    (entries,) = struct.unpack_from("<H", data, at)
    directory = bytes(data[at + 2 : at + 2 + 12 * entries]) + struct.pack("<HHIBBBB", 50706, 1, 4, 1, 4, 0, 0)
    data[4:8] = struct.pack("<I", len(data))
    (tmp_path / "a.dng").write_bytes(bytes(data) + struct.pack("<H", entries + 1) + directory + bytes(4))
    run.read(tmp_path / "a.dng", tmp_path / "a.tiff")
    assert run.err.getvalue().count("only the preview of this raw photo was read") == 1
    assert f"{tmp_path / 'a.dng'}: only the preview" in run.err.getvalue()
    assert run.code == 0
