"""Tests of news about the camera and unreadable tiles, each reported once."""

from __future__ import annotations

from dataclasses import replace

from tallybone.play.news import CameraNews, News, UnsureNote, words_of
from tests.vision.seen import unsure_tile
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
    assert [None if note is None else note.words.split(";")[0] for note in notes] == [
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
    assert notes[1].words == "put the camera back"


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
    assert [note.words.split(";")[0].split("?")[0] for note in notes] == [
        "the camera moved by 12 pixels",
        "is this a tile",
    ]
