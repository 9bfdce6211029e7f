"""What people are told besides the game: what is new about camera and table, once, in their words."""

from __future__ import annotations

from dataclasses import replace

from tallybone.play.news import CameraNews, News, UnsureNote, words_of
from tests.vision.seen import unsure_tile
from vision.tracking.camera_motion.alignment import STRAIGHT_ON, Alignment
from vision.tracking.table_view import TableView

VIEW = TableView((), (), (), size_px=(1280, 720))


def shifted(right_px: float, down_px: float = 0.0) -> TableView:
    return replace(VIEW, aim=Alignment((1.0, 0.0, right_px, 0.0, 1.0, down_px)))


def test_nothing_is_said_of_a_camera_that_points_as_it_did() -> None:
    news = CameraNews()
    assert [news.news(view) for view in (None, VIEW, VIEW, shifted(1.5))] == [None] * 4


def test_a_shift_is_said_once_and_again_when_it_has_grown() -> None:
    news = CameraNews()
    said = [news.news(shifted(px)) for px in (0.0, 12.0, 12.5, 13.0, 15.0, 0.5)]
    assert [None if one is None else one.words.split(";")[0] for one in said] == [
        None,
        "the camera was moved by 12 pixels",
        None,
        None,
        "the camera was moved by 15 pixels",
        "the camera points as it did at the start again",
    ]
    assert said[1] is not None
    assert (said[1].event, said[1].aim) == ("shifted", shifted(12.0).aim)


def test_a_table_that_is_lost_is_said_once_and_once_that_it_is_found() -> None:
    news, lost = CameraNews(), replace(VIEW, lost="put it back")
    said = [news.news(view) for view in (VIEW, lost, lost, VIEW, VIEW)]
    assert [None if one is None else one.event for one in said] == [None, "lost", None, "found", None]
    assert said[1] is not None
    assert said[1].words == "put it back"


def test_where_much_of_the_table_is_out_of_the_picture_it_should_be_put_back() -> None:
    assert "put it back" in words_of(shifted(100.0).aim, (1280, 720))
    assert "put it back" not in words_of(shifted(20.0).aim, (1280, 720))


def test_a_turn_is_said_in_degrees() -> None:
    turned = Alignment((0.9994, -0.0349, 0.0, 0.0349, 0.9994, 0.0))
    assert "turned by 2.0 degrees" in words_of(turned, (1280, 720))
    assert "degrees" not in words_of(STRAIGHT_ON, (1280, 720))


def test_what_cannot_be_read_is_asked_about_once_for_each_place() -> None:
    here, nudged, there = unsure_tile(x_px=100), unsure_tile(x_px=103), unsure_tile(x_px=300)
    news = News()
    views = (
        None,
        VIEW,
        *(replace(VIEW, unsure=unsure) for unsure in ((here,), (here,), (), (nudged, there), (there,))),
    )
    assert [news.of(view) for view in views] == [(), (), (UnsureNote(here),), (), (), (UnsureNote(there),), ()]


def test_news_of_the_camera_and_a_question_come_together() -> None:
    notes = News().of(replace(shifted(12.0), unsure=(unsure_tile(),)))
    assert [note.words.split(";")[0].split("?")[0] for note in notes] == [
        "the camera was moved by 12 pixels",
        "what is this",
    ]
