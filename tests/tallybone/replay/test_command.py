"""Tests of `tallybone replay` on a folder of images: events, formats and exit codes."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from tallybone.choices import TileSet
from tallybone.replay.command import replay
from tallybone.replay.run import ReplaySettings, opened_replay
from tallybone.sources.source import GameOverrides
from tests.vision.tables import lay, reader, table_with
from vision.arrays import Image
from vision.reading import Face, Half, PointPx, SeenTile
from vision.tracking.perception import Perception
from vision.tracking.table_view import Change, ChangeKind, TableView


class ScriptedPerception(Perception):
    """Perception that returns the given views in order."""

    def __init__(self, views: Iterable[TableView]) -> None:
        self.remaining = list(views)
        self.greys: list[int] = []

    def feed(self, image: Image) -> TableView:
        self.greys.append(int(image[0, 0, 0]))
        return self.remaining.pop(0)


def box(left: float, top: float, width: float, height: float) -> tuple[PointPx, PointPx, PointPx, PointPx]:
    return ((left, top), (left + width, top), (left + width, top + height), (left, top + height))


OPEN = SeenTile(Face.UP, box(10, 20, 40, 20), (Half(6, 0.98765, (20.04, 30)), Half(4, 0.5, (-0.04, 30.0))))
PUSHED = SeenTile(Face.UP, box(50, 20, 40, 20), (Half(6, 1.0, (60, 30)), Half(4, 1.0, (80, 30))))
CLOSED = SeenTile(Face.DOWN, box(100, 0, 20, 40), ())
NOTHING = TableView((), (), ())
PLACED = TableView((OPEN,), (), (Change(ChangeKind.PLACED, OPEN),))
BOTH = TableView((PUSHED, CLOSED), (), (Change(ChangeKind.MOVED, PUSHED, OPEN), Change(ChangeKind.PLACED, CLOSED)))
CLEARED = TableView((CLOSED,), (), (Change(ChangeKind.REMOVED, PUSHED),))
NO_OTHERS = {"turned": 0, "stacked": 0, "reread": 0}


def picture(path: Path, grey: int = 90) -> Path:
    assert cv2.imwrite(str(path), np.full((48, 64, 3), grey, np.uint8))
    return path


class Run:
    """A run of the command, with its output."""

    def __init__(
        self, folder: Path, *views: TableView, as_json: bool = True, perception: Perception | None = None
    ) -> None:
        self.script = ScriptedPerception(views)
        self.out, self.err = io.StringIO(), io.StringIO()
        self.code = replay(folder, as_json=as_json, perception=perception or self.script, out=self.out, err=self.err)

    @property
    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.out.getvalue().splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with three images, created in an order other than that of their names."""
    for name, grey in (("02.png", 20), ("00.png", 10), ("01.PNG", 15)):
        picture(tmp_path / name, grey)
    (tmp_path / "notes.txt").write_text("no picture")
    return tmp_path


def test_each_event_is_a_line_of_json(folder: Path) -> None:
    run = Run(folder, NOTHING, PLACED, BOTH)
    placed, moved, closed, last = run.lines
    assert placed == {
        "t_ns": 1_000_000_000,
        "event": "placed",
        "frame": "01.PNG",
        "pips": [6, 4],
        "confidence": [0.9877, 0.5],
        "halves_px": [[20.0, 30.0], [0.0, 30.0]],
        "corners_px": [[10.0, 20.0], [50.0, 20.0], [50.0, 40.0], [10.0, 40.0]],
    }
    assert (moved["event"], moved["frame"], moved["t_ns"]) == ("moved", "02.png", 2_000_000_000)
    assert moved["pips"] == [6, 4]
    assert moved["halves_px"] == [[60.0, 30.0], [80.0, 30.0]]
    assert isinstance(moved["before"], dict)
    assert moved["before"]["halves_px"] == placed["halves_px"]
    assert (closed["event"], closed["pips"], closed["halves_px"]) == ("placed", [], [[110.0, 10.0], [110.0, 30.0]])
    assert last == {
        "result": {"frames": 3, "placed": 2, "moved": 1, "removed": 0, **NO_OTHERS, "tiles": 2, "unsure": 0}
    }
    assert "-0.0" not in run.out.getvalue()
    assert run.err.getvalue() == ""
    assert run.code == 0
    assert run.script.greys == [10, 15, 20]  # by name, without other files


@pytest.mark.parametrize(("views", "moved", "tiles"), [((NOTHING,) * 3, 0, 0), ((NOTHING, BOTH, CLEARED), 1, 1)])
def test_the_result_counts_events_and_the_tiles_at_the_end(
    folder: Path, views: tuple[TableView, ...], moved: int, tiles: int
) -> None:
    run = Run(folder, *views)
    counts = {"frames": 3, "placed": moved, "moved": moved, "removed": moved, **NO_OTHERS}
    assert run.lines[-1] == {"result": {**counts, "tiles": tiles, "unsure": 0}}
    assert (run.code, len(run.lines) > 1) == (0, tiles > 0)


def test_an_unsure_object_is_reported_once_per_place(folder: Path) -> None:
    first_place, second_place = (replace(CLOSED, face=Face.UNSURE, corners_px=box(x, 0, 20, 40)) for x in (0, 30))
    nudged = replace(first_place, corners_px=box(1, 0, 20, 40))
    views = (replace(NOTHING, unsure=(first_place,)), NOTHING, replace(NOTHING, unsure=(nudged, second_place)))
    run = Run(folder, *views)
    reported, other, last = run.lines
    assert reported == {
        "t_ns": 0,
        "event": "unsure",
        "frame": "00.png",
        "text": "is this a tile? It cannot be read: move it a little, or take it away",
        "corners_px": [[0.0, 0.0], [20.0, 0.0], [20.0, 40.0], [0.0, 40.0]],
    }
    assert (other["event"], other["frame"], other["corners_px"]) == (
        "unsure",
        "02.png",
        [[30.0, 0.0], [50.0, 0.0], [50.0, 40.0], [30.0, 40.0]],
    )
    assert last == {
        "result": {"frames": 3, "placed": 0, "moved": 0, "removed": 0, **NO_OTHERS, "tiles": 0, "unsure": 2}
    }
    first, *_, end = Run(folder, *views, as_json=False).out.getvalue().splitlines()
    assert first.startswith("00.png: is this a tile? ")
    assert first.endswith(" (at 10, 20)")
    assert end.endswith("; 0 on the table at the end, 2 that cannot be read")


def test_plain_text_has_sentences(folder: Path) -> None:
    run = Run(folder, NOTHING, PLACED, BOTH, as_json=False)
    assert run.out.getvalue().splitlines() == [
        "01.PNG: 6-4 placed at 30, 30",
        "02.png: 6-4 moved at 70, 30",
        "02.png: a face-down tile placed at 110, 20",
        "3 pictures: 2 tiles placed, 1 moved, 0 removed; 2 on the table at the end",
    ]
    assert run.code == 0


def test_an_unreadable_image_is_named_and_the_others_are_read(folder: Path) -> None:
    (folder / "01.PNG").write_bytes((folder / "01.PNG").read_bytes()[:40])
    run = Run(folder, NOTHING, PLACED)
    assert run.script.greys == [10, 20]
    assert [line.get("frame") for line in run.lines] == ["02.png", None]
    assert run.lines[0]["t_ns"] == 2_000_000_000
    assert run.err.getvalue().startswith(f"tallybone replay: {folder / '01.PNG'}: ")
    assert run.err.getvalue().count("\n") == 1
    assert run.code == 1


@pytest.mark.parametrize("name", ["nowhere", "notes.txt"])
def test_a_missing_folder_and_a_file_are_named(folder: Path, name: str) -> None:
    run = Run(folder / name)
    assert run.out.getvalue() == ""
    assert str(folder / name) in run.err.getvalue()
    assert run.code == 1
    (folder / "empty").mkdir()
    assert f"tallybone replay: {folder / 'empty'}: expected pictures (" in Run(folder / "empty").err.getvalue()


def test_escapes_control_characters_in_names(tmp_path: Path) -> None:
    picture(tmp_path / "a.png")
    picture(tmp_path / "b\x1b[31m.png")
    run = Run(tmp_path, NOTHING, PLACED, as_json=False)
    assert "\x1b" not in run.out.getvalue()
    (tmp_path / "b\x1b[31m.png").write_bytes(b"no picture")
    second = Run(tmp_path, NOTHING)
    assert "\x1b" not in second.err.getvalue()
    assert second.code == 1


def test_an_image_of_another_size_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    tiles = [lay(3, 5, -70, -40, 20)]
    cv2.imwrite(str(tmp_path / "0.png"), table_with([], frame=0).image)
    picture(tmp_path / "1.png")
    cv2.imwrite(str(tmp_path / "2.png"), table_with(tiles, frame=2).image)
    run = Run(tmp_path, perception=Perception(reader()))
    assert str(tmp_path / "1.png") in run.err.getvalue()
    assert [line.get("frame") for line in run.lines] == ["2.png", None]
    assert run.code == 1


def test_follows_a_rendered_table_with_the_built_in_reader(tmp_path: Path) -> None:
    tiles = (lay(3, 5, -70, -40, 20), lay(6, 1, 60, 40, 100))
    for count in range(3):
        cv2.imwrite(str(tmp_path / f"{count:02}.png"), table_with(tiles[:count], frame=count).image)
    out, err = io.StringIO(), io.StringIO()
    assert replay(tmp_path, as_json=True, out=out, err=err) == 0
    *events, last = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(event["event"], event["frame"], sorted(event["pips"])) for event in events] == [
        ("placed", "01.png", [3, 5]),
        ("placed", "02.png", [1, 6]),
    ]
    assert last["result"]["tiles"] == 2
    assert err.getvalue() == ""


@pytest.mark.parametrize(
    ("settings", "numbers"),
    [
        (ReplaySettings(GameOverrides("bones", ("set=9",))), 10),
        (ReplaySettings(GameOverrides("bones", ("set=9",)), TileSet.DOUBLE_12), 13),
        (ReplaySettings(GameOverrides("free"), TileSet.DOUBLE_12), 13),
    ],
)
def test_uses_the_given_tile_set_or_that_of_the_game(tmp_path: Path, settings: ReplaySettings, numbers: int) -> None:
    for name, tiles in (("0.png", ()), ("1.png", (lay(3, 5, -70, -40, 20),))):
        cv2.imwrite(str(tmp_path / name), table_with(tiles, frame=0).image)
    with opened_replay(tmp_path, settings, print) as run:
        views = [step.view for step in run.steps if step.view is not None]
    (change,) = views[-1].changes
    assert {len(half.chances) for half in change.tile.halves} == {numbers}
