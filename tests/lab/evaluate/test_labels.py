"""Tests of label files: parsing and error messages."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from lab.evaluate.labels import (
    HalfLabel,
    IgnoredBox,
    LabelError,
    LabelFace,
    PhotoLabel,
    TileLabel,
    load_labels,
    parse_labels,
)
from vision.reading import Join

LABEL: dict[str, Any] = {
    "image": "kitchen/evening.jpg",
    "scene": "evening",
    "tiles": [
        {"face": "up", "halves": [{"c": [100, 50.5], "pips": 6}, {"c": [140, 50.5], "pips": 3}]},
        {"face": "up", "halves": [{"c": [180, 30], "pips": 3}, {"c": [180, 70], "pips": 3}]},
        {"face": "down", "c": [300, 200]},
    ],
    "joins": [[[0, 1], [1, None]]],
    "ignore": [[0, 210, 80, 280]],
    "notes": "whatever",
}


def test_parses_a_label() -> None:
    labels = parse_labels([LABEL])
    assert labels.faults == ()
    assert labels.photos == (
        PhotoLabel(
            "kitchen/evening.jpg",
            (
                TileLabel(LabelFace.UP, (120, 50.5), (HalfLabel(6, (100, 50.5)), HalfLabel(3, (140, 50.5)))),
                TileLabel(LabelFace.UP, (180, 50), (HalfLabel(3, (180, 30)), HalfLabel(3, (180, 70)))),
                TileLabel(LabelFace.DOWN, (300, 200), ()),
            ),
            joins=(Join(0, 1, 1, None),),
            ignored=(IgnoredBox(0, 210, 80, 280),),
            scene="evening",
        ),
    )


def test_the_source_is_the_first_folder() -> None:
    assert PhotoLabel("kitchen/a/b.jpg", ()).source == "kitchen"
    assert PhotoLabel("b.jpg", ()).source == "."


@pytest.mark.parametrize(
    ("place", "value", "fault"),
    [
        (("image",), None, "picture [0]: image: expected the path of a picture below the root, but it is missing"),
        (
            ("image",),
            "/etc/a.jpg",
            'picture [0]: image: expected the path of a picture below the root, got "/etc/a.jpg"',
        ),
        (("image",), "\ud800", r'image: expected the path of a picture below the root, got "'),
        (("tiles",), 5, "kitchen/evening.jpg: tiles: expected a list, got 5"),
        (("tiles", 1), 5, "tiles[1]: expected an object with named fields, got 5"),
        (("tiles", 2, "face"), "back", 'tiles[2].face: expected up, down or standing, got "back"'),
        (("tiles", 2, "c"), [1], "tiles[2].c: expected a list of two, got [1]"),
        (("tiles", 2, "c"), [1, float("nan")], "tiles[2].c: expected a point [x, y] in pixels, got [1, NaN]"),
        (("tiles", 0, "halves"), [], "tiles[0].halves: expected 2 halves, got 0"),
        (
            ("tiles", 0, "halves", 0, "pips"),
            19,
            "tiles[0].halves[0].pips: expected a whole number from 0 to 18, got 19",
        ),
        (("tiles", 0, "halves", 0, "pips"), True, "pips: expected a whole number from 0 to 18, got true"),
        (("tiles", 0, "halves", 1, "c"), [100, 50.5], "tiles[0].halves: expected the centres of two halves, but both"),
        (("joins",), [[[0, 1], [5, 0]]], "joins[0][1]: expected a tile of this picture and its half (0, 1 or null)"),
        (("joins",), [[[0, None], [1, 0]]], "joins[0][0]: expected half 0 or 1, got null, but tile 0 is no double"),
        (("joins",), [[[0, 1], [2, 0]]], "joins[0][1]: expected a tile that is face up, but tile 2 is down"),
        (("joins",), [[[0, 1], [0, 0]]], "joins[0]: expected two ends of two tiles"),
        (("ignore",), [[5, 0, 1, 9]], "ignore[0]: expected left before right and top before bottom, got [5, 0, 1, 9]"),
        (("ignore",), [[5, 0, 1, 9, "x"]], "ignore[0]: expected left, top, right and bottom in pixels"),
        (("scene",), 7, "scene: expected a text, got 7"),
    ],
)
def test_an_error_names_picture_and_field_and_other_pictures_are_kept(
    place: tuple[str | int, ...], value: object, fault: str
) -> None:
    broken: Any = deepcopy(LABEL)
    inner = broken
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    labels = parse_labels([broken, {**LABEL, "image": "other.jpg"}])
    assert [photo.image for photo in labels.photos] == ["other.jpg"]
    (error,) = labels.faults
    assert fault in error


def test_rejects_a_picture_labelled_twice() -> None:
    labels = parse_labels([LABEL, LABEL])
    assert len(labels.photos) == 1
    assert labels.faults == ("kitchen/evening.jpg: image: expected each picture once, but it is labelled twice",)


def test_rejects_a_tile_outside_the_picture() -> None:
    (photo,) = parse_labels([LABEL]).photos
    photo.require_fits(300, 200)
    with pytest.raises(LabelError, match=r"tiles\[2\]: expected a place in the picture of 299 x 200 px, got 300, 200"):
        photo.require_fits(299, 200)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"{}", "labels: expected a list, got {}"),
        (b"[\n{", "line 2, column 2: expected JSON"),
        (b"\xff\xfe[]", "expected UTF-8 text"),
        (b"[" * 200_000, "nested too deeply"),
        (b"[" + b"9" * 5000 + b"]", "expected JSON"),
    ],
)
def test_rejects_an_unusable_file(tmp_path: Path, data: bytes, error: str) -> None:
    path = tmp_path / "labels.json"
    path.write_bytes(data)
    with pytest.raises(LabelError, match=error):
        load_labels(path)


def test_accepts_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    path.write_text(json.dumps([LABEL]), encoding="utf-8-sig")
    assert load_labels(path) == parse_labels([LABEL])


def test_names_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(LabelError, match="cannot be opened: there is no such file"):
        load_labels(tmp_path / "labels.json")
