"""Tests of recorded sources as cameras: pace, dropped images and answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from engine import Seat
from hardware.camera.device import CameraError
from tallybone.recording.format import Pictures
from tallybone.session.inputs import Answer, Button, Press
from tallybone.session.questions import Ambiguity, Meaning, Question
from tallybone.session.session import Session
from tallybone.sources.camera import PacedCamera, PlayedCamera, open_filmed
from tallybone.sources.source import RecordedInput, Shot
from tests.tallybone.live_clips import Timed, jpeg_of, write_recording
from tests.tallybone.replay.videos import write_video
from vision.tracking.watch import Frame

MS = 1_000_000
# The meaning of the only choice of a question before and after another look at the table.
SEEN = ((Meaning(confirmed=((Seat(0), 5),)),), (Meaning(confirmed=((Seat(0), 10),)),))
GREY = np.full((48, 64, 3), 90, np.uint8)


class Clock:
    """A clock set by the test."""

    def __init__(self, t_ns: int = 0) -> None:
        self.t_ns = t_ns

    def __call__(self) -> int:
        return self.t_ns


def shot(t_ms: int) -> Shot:
    return Shot(t_ms * MS, str(t_ms), "a video", lambda: GREY, lambda: b"")


def times_ms(camera: PacedCamera) -> list[int]:
    """Return the times of all images available without advancing the clock."""
    found = []
    while (taken := camera.take()) is not None:
        found.append(taken.t_ns // MS)
    return found


def test_images_are_delivered_at_their_original_pace() -> None:
    clock = Clock(5_000 * MS)
    camera = PacedCamera(iter([shot(40), shot(140), shot(240)]), clock)
    assert times_ms(camera) == [40]
    clock.t_ns += 99 * MS
    assert times_ms(camera) == []
    clock.t_ns += 1 * MS
    assert times_ms(camera) == [140]
    assert not camera.is_over
    clock.t_ns += 100 * MS
    assert times_ms(camera) == [240]
    assert camera.is_over


def test_a_video_waits_for_a_slow_reader_and_drops_nothing() -> None:
    clock = Clock()
    press = RecordedInput(150 * MS, "it", lambda: Press(Button.KNOCK))
    camera = PacedCamera(iter([shot(0), shot(100), press, shot(200), shot(1000)]), clock)
    camera.take()
    clock.t_ns = 5000 * MS
    taken = [camera.take() for _ in range(4)]
    assert [None if item is None else item.t_ns // MS for item in taken] == [100, 150, 200, None]
    # Its clock was paused meanwhile: the next image keeps its distance.
    assert camera.now_ns() <= 300 * MS
    clock.t_ns += 690 * MS
    assert times_ms(camera) == []
    clock.t_ns += 110 * MS
    assert times_ms(camera) == [1000]
    late = PacedCamera(iter([shot(0), shot(100)]), clock := Clock())
    late.take()
    assert late.take() is None
    clock.t_ns = 5000 * MS
    assert late.now_ns() == 200 * MS


def test_a_video_keeps_its_pace_after_small_delays() -> None:
    clock = Clock()
    camera = PacedCamera(iter([shot(t_ms) for t_ms in range(0, 1001, 100)]), clock)
    camera.take()
    for t_ms in range(150, 1051, 100):
        clock.t_ns = t_ms * MS
        assert times_ms(camera) == [t_ms - 50]


def test_players_answer_after_reading_time_and_at_the_end_of_the_video() -> None:
    session = Session(questions=(Question(Ambiguity(None, "which?"), ()),))
    clock, answers = Clock(), [Answer(0), None, Answer(1)]
    camera = PlayedCamera(iter([shot(0), shot(5000)]), clock, players=lambda session: answers.pop(0))
    camera.take()
    assert camera.answer(Session()) is None
    assert camera.answer(session) is None
    clock.t_ns = 1500 * MS
    answer = camera.answer(session)
    assert answer is not None
    assert (answer.load(), answer.t_ns) == (Answer(0), 1500 * MS)
    assert camera.answer(session) is None
    clock.t_ns = 5000 * MS
    assert times_ms(camera) == [5000]
    later = replace(session, questions=(Question(Ambiguity(None, "and this?"), ()),))
    answer = camera.answer(later)
    assert answer is not None
    assert answer.load() == Answer(1)


def test_new_observations_do_not_restart_the_reading_time() -> None:
    ambiguity = Ambiguity(None, "which?", choices=("this",))
    first, later = (Session(questions=(Question(ambiguity, answers),)) for answers in SEEN)
    assert first.questions != later.questions
    clock = Clock()
    camera = PlayedCamera(iter([shot(0), shot(5000)]), clock, players=lambda session: Answer(0))
    camera.take()
    assert camera.answer(first) is None
    clock.t_ns = 1000 * MS
    assert camera.answer(later) is None
    clock.t_ns = 1500 * MS
    assert camera.answer(later) is not None
    assert camera.answer(Session()) is None
    clock.t_ns = 3000 * MS
    assert camera.answer(first) is None, "a repeated question must restart the reading time"


def test_double_speed_halves_the_waits_and_speed_0_never_waits() -> None:
    clock = Clock()
    camera = PacedCamera(iter([shot(0), shot(1000), shot(2000)]), clock, speed=2.0)
    camera.take()
    clock.t_ns = 500 * MS
    assert times_ms(camera) == [1000]
    clock.t_ns = 600 * MS
    assert camera.now_ns() == 1200 * MS
    unpaced = PacedCamera(iter([shot(0), shot(100), shot(5000)]), Clock(), speed=0)
    assert times_ms(unpaced) == [0, 100, 5000]
    assert unpaced.now_ns() == 5000 * MS


def test_opens_a_video_a_recording_and_a_folder(tmp_path: Path) -> None:
    video = write_video(tmp_path / "a.avi", [GREY] * 3, per_s=10)
    # The last image is held, to end a video with a settled look.
    assert times_ms(open_filmed(str(video), Clock(), speed=0)) == [0, 100, *range(200, 1801, 200)]
    items: list[Frame | Timed] = [Frame(GREY, 1), Timed(Press(Button.NEXT), 2), Frame(GREY, 3)]
    camera = open_filmed(str(write_recording(tmp_path / "a.mcap", items)), Clock(), speed=0)
    taken = [camera.take() for _ in range(3)]
    assert [item.t_ns for item in taken if item is not None] == [1, 2, 3]
    assert isinstance(taken[1], RecordedInput)
    assert taken[1].load() == Press(Button.NEXT)
    assert isinstance(taken[0], Shot)
    assert taken[0].jpeg() == jpeg_of(GREY)
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name in ("a.png", "b.png"):
        cv2.imwrite(str(folder / name), GREY)
    # Each is shown until it counts as settled, even with a hand in it.
    shown = times_ms(open_filmed(str(folder), Clock(), speed=0))
    assert shown == [0, 500, 1000, 1500, 2000, 2500, 3000, 3500]
    settled = write_recording(tmp_path / "b.mcap", [Frame(GREY, 1), Frame(GREY, 2)], pictures=Pictures.SETTLED)
    assert len(times_ms(open_filmed(str(settled), Clock(), speed=0))) == 8


@pytest.mark.parametrize("name", ["absent.avi", "text.txt"])
def test_names_an_invalid_source(tmp_path: Path, name: str) -> None:
    (tmp_path / "text.txt").write_text("no")
    with pytest.raises(OSError, match=name):
        open_filmed(str(tmp_path / name), Clock())


def test_a_film_is_turned_once_for_reading_and_recording(tmp_path: Path) -> None:
    image = np.zeros((48, 64, 3), np.uint8)
    image[:24, :32] = 200  # the top left quarter is bright
    assert cv2.imwrite(str(tmp_path / "1.png"), image)
    taken = open_filmed(f"{tmp_path},rotate=90", Clock(), speed=0).take()
    assert isinstance(taken, Shot)
    recorded = cv2.imdecode(np.frombuffer(taken.jpeg(), np.uint8), cv2.IMREAD_COLOR)
    assert recorded is not None
    for picture in (taken.load(), recorded):
        assert picture.shape == (64, 48, 3)
        assert picture[8, 40, 0] > 150 > picture[8, 8, 0]
    with pytest.raises(CameraError, match="got rotate=45"):
        open_filmed(f"{tmp_path},rotate=45", Clock())
