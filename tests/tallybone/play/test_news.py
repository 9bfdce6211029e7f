"""Tests of news about the camera and unreadable tiles, each reported once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hardware.camera.device import CameraTurn
from tallybone.play.game import CameraNews, News, UnsureNote, words_of
from tallybone.session.observations import Zones, default_zones
from tests.vision.seen import seen_tile, unsure_tile
from vision.tracking.camera_motion import STRAIGHT_ON, Alignment
from vision.tracking.table_view import TableView

VIEW = TableView((), (), (), size_px=(1280, 720))


def shifted(right_px: float, down_px: float = 0.0) -> TableView:
    return replace(VIEW, aim=Alignment((1.0, 0.0, right_px, 0.0, 1.0, down_px)))


def test_a_still_camera_has_no_news() -> None:
    news = CameraNews()
    assert [news.news(view) for view in (None, VIEW, VIEW, shifted(1.5))] == [None] * 4


def test_a_shift_is_reported_once_and_again_when_it_grows() -> None:
    news = CameraNews()
    notes = [news.news(shifted(px)) for px in (0.0, 12.0, 12.5, 13.0, 15.0, 0.5)]
    assert [None if note is None else note.text.split(";")[0] for note in notes] == [
        None,
        "the camera moved by 12 pixels",
        None,
        None,
        "the camera moved by 15 pixels",
        "the camera is back in its original position",
    ]
    assert notes[1] is not None
    assert (notes[1].event, notes[1].aim) == ("shifted", shifted(12.0).aim)


def test_losing_and_finding_the_table_are_reported_once() -> None:
    news, lost = CameraNews(), replace(VIEW, lost="put the camera back")
    notes = [news.news(view) for view in (VIEW, lost, lost, VIEW, VIEW)]
    assert [None if note is None else note.event for note in notes] == [None, "lost", None, "found", None]
    assert notes[1] is not None
    assert notes[1].text == "put the camera back"


def test_a_large_shift_asks_to_move_the_camera_back() -> None:
    assert "put the camera back" in words_of(shifted(100.0).aim, (1280, 720))
    assert "put the camera back" not in words_of(shifted(20.0).aim, (1280, 720))


def test_a_rotation_is_reported_in_degrees() -> None:
    turned = Alignment((0.9994, -0.0349, 0.0, 0.0349, 0.9994, 0.0))
    assert "rotated by 2.0 degrees" in words_of(turned, (1280, 720))
    assert "degrees" not in words_of(STRAIGHT_ON, (1280, 720))


def test_an_unreadable_tile_is_queried_once_per_place() -> None:
    here, nudged, there = unsure_tile(x_px=100), unsure_tile(x_px=103), unsure_tile(x_px=300)
    news = News()
    views = (
        None,
        VIEW,
        *(replace(VIEW, unsure=unsure) for unsure in ((here,), (here,), (), (nudged, there), (there,))),
    )
    assert [news.of(view) for view in views] == [(), (), (UnsureNote(here),), (), (), (UnsureNote(there),), ()]


def test_camera_news_and_a_query_are_reported_together() -> None:
    notes = News().of(replace(shifted(12.0), unsure=(unsure_tile(),)))
    assert [note.text.split(";")[0].split("?")[0] for note in notes] == [
        "the camera moved by 12 pixels",
        "is this a tile",
    ]


def boneyard(orientation: CameraTurn, tiles: int = 17) -> TableView:
    """Return the view of a full boneyard by a camera whose pictures need *orientation* to be upright."""
    width_px, height_px = (720, 1280) if orientation.rotate in (90, 270) else (1280, 720)
    numbers = np.arange(width_px * height_px, dtype=np.uint32).reshape(height_px, width_px)
    # Each pixel of an upright picture contains the place from which it comes.
    upright = np.rot90(numbers[:, ::-1] if orientation.flip else numbers, -orientation.rotate // 90)
    places = [upright[30 + 70 * (at % 3), 990 + 50 * (at // 3)] for at in range(tiles)]
    seen = (seen_tile(None, x_px=float(at % width_px), y_px=float(at // width_px)) for at in map(int, places))
    return TableView(tuple(seen), (), (), size_px=(width_px, height_px))


@pytest.mark.parametrize(
    ("orientation", "text"),
    [
        (CameraTurn(90), "turned by 270 degrees, compared with its zones: set rotate = 90 in [camera]"),
        (CameraTurn(180), "turned by 180 degrees, compared with its zones: set rotate = 180 in [camera]"),
        (CameraTurn(270), "turned by 90 degrees, compared with its zones: set rotate = 270 in [camera]"),
        (CameraTurn(0, flip=True), "mirrored, compared with its zones: set flip = true in [camera]"),
        (CameraTurn(180, flip=True), "mirrored and turned, compared with its zones: set rotate = 180, flip = true in"),
    ],
)
def test_a_turned_camera_is_reported_once_with_its_correction(orientation: CameraTurn, text: str) -> None:
    news, view = News(), boneyard(orientation)
    notes = [note for _ in range(3) for note in news.of(view, default_zones(2))]
    assert [text in note.text for note in notes] == [True]


@pytest.mark.parametrize(
    ("view", "zones"),
    [
        (boneyard(CameraTurn()), default_zones(2)),
        (boneyard(CameraTurn(180), tiles=4), default_zones(2)),
        (boneyard(CameraTurn(180)), Zones()),
        (boneyard(CameraTurn(180)), None),
        (
            replace(VIEW, tiles=tuple(seen_tile(None, x_px=300.0 + 50 * at, y_px=360) for at in range(9))),
            default_zones(2),
        ),
    ],
    ids=["upright", "few tiles", "no zones", "no game", "shuffled in the middle"],
)
def test_no_turned_camera_is_reported_without_evidence(view: TableView, zones: Zones | None) -> None:
    assert News().of(view, zones) == ()
