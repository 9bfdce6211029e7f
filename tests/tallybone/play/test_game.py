"""Tests of the live game loop, its counters and pace, and of news of the camera, each reported once."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from time import perf_counter

import numpy as np
import pytest

from engine import BONES, Adjust, Draw, Seat, Seq, Undo, profile
from hardware.camera.device import CameraTurn
from lab.matches.room import default_zones
from tallybone.play.counts import Counts, MeanPace, MeasuredSitting, PaceMeter, PipelineStage, Times
from tallybone.play.game import CameraNews, Listener, LiveGame, LiveState, News, UnsureNote, view_text, words_of
from tallybone.play.recorder import Recorder
from tallybone.session.inputs import Button, Press
from tallybone.session.observations import Zones
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand, Sitting, Step, opened
from tallybone.sources.camera import Shown
from tallybone.sources.source import RecordedInput, Shot
from tests.tallybone.in_question import asked
from tests.tallybone.live_clips import jpeg_of
from tests.tallybone.serve.served import Blind
from tests.tallybone.sources.test_camera import Clock
from tests.vision.seen import seen_tile, unsure_tile
from vision.reading import SeenTile
from vision.tracking.camera_motion import STRAIGHT_ON, Alignment
from vision.tracking.perception import Perception
from vision.tracking.table_view import TableView
from vision.tracking.tracks import PictureSizeError
from vision.tracking.watch import Frame

MS = 1_000_000
SECOND = 1000 * MS
GREY = np.full((48, 64, 3), 90, np.uint8)
JPEG = jpeg_of(GREY)


class Script(Listener, Recorder):
    """A camera, reader, recorder and display that log their calls."""

    is_whole, text = True, "recorded in a.mcap"

    def __init__(self, *given: Shown) -> None:
        self.given, self.log, self.notes = deque(given), list[str](), list[str]()
        self.problem: str | None = None
        self.at_ns = 0
        self.shown: LiveState | None = None
        self.is_refused, self.pictures = False, 0
        self.moves_from_ms, self.moves_until_ms = 0, 0
        self.unsure: tuple[SeenTile, ...] = ()

    @property
    def is_over(self) -> bool:
        return not self.given

    def take(self, since_ns: int = 0) -> Shown | None:
        if not self.given:
            return None
        self.pictures += isinstance(self.given[0], Shot)
        return self.given.popleft()

    def now_ns(self) -> int:
        return self.at_ns

    def close(self) -> None:
        pass

    def look(self, frame: Frame) -> TableView:
        self.log.append(f"look {frame.t_ns // MS}")
        if self.is_refused:
            raise PictureSizeError("it has another size")
        is_moving = self.moves_from_ms <= frame.t_ns // MS < self.moves_until_ms
        return TableView((), (), (), is_settled=not is_moving, unsure=self.unsure)

    def frame(self, t_ns: int, jpeg: bytes, name: str | None) -> None:
        assert jpeg == JPEG
        self.log.append(f"keep {t_ns // MS}")

    def input(self, given: ByHand, t_ns: int, *, by: str = "") -> None:
        self.log.append(f"keep input {t_ns // MS}")

    def happened(self, happened: Step) -> None:
        self.log.append("followed")

    def continues(self, session: Session) -> None:
        pass

    def show(self, now: LiveState) -> None:
        self.shown = now

    def note(self, text: str) -> None:
        self.notes.append(text)

    def typed(self, prompt: str, *, wants_help: bool) -> None:
        pass


class Apart(Script):
    """A separate display, to distinguish recording from showing."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.log, self.notes = script.log, script.notes

    def happened(self, happened: Step) -> None:
        self.log.append("show")


def shot(t_ms: int) -> Shot:
    return Shot(t_ms * MS, str(t_ms), "camera", lambda: GREY, lambda: JPEG)


def live(script: Script, *, max_per_s: float = 10.0, clock: Clock | None = None) -> LiveGame:
    sitting = Sitting(script.look, opened(BONES, ("Ann", "Ben"))[0])
    return LiveGame(script, sitting, script, Apart(script), clock=clock or Clock(), max_per_s=max_per_s)


def play(game: LiveGame) -> None:
    game.run(lambda wait_s: True, lambda: False)


def test_input_is_recorded_before_it_is_fed_and_shown() -> None:
    script = Script(shot(10), RecordedInput(50 * MS, "it", lambda: Press(Button.NEXT)))
    play(live(script))
    assert script.log == ["keep 10", "look 10", "followed", "keep input 50", "followed", "show"]


def test_the_rate_of_read_pictures_is_limited_but_jitter_drops_none() -> None:
    script = Script(*(shot(t_ms) for t_ms in range(0, 1000, 33)))
    play(live(script, max_per_s=10))
    looks = [entry for entry in script.log if entry.startswith("look")]
    assert 9 <= len(looks) <= 11
    script = Script(*(shot(t_ms) for t_ms in (0, 103, 198, 301, 396, 505, 600)))
    play(live(script, max_per_s=10))
    assert sum(entry.startswith("look") for entry in script.log) == 7


def test_a_slow_machine_is_reported_until_it_catches_up() -> None:
    script, clock = Script(), Clock()
    game = live(script, clock=clock)

    def seconds(count: int, *, read_per_s: int) -> tuple[str, ...]:
        """Run with ten pictures a second from the camera, and return the shown problems."""
        for _ in range(count):
            for number in range(read_per_s):
                script.given.append(
                    Shot(clock.t_ns + number * SECOND // read_per_s, "", "camera", lambda: GREY, lambda: JPEG)
                )
                script.at_ns = script.given[-1].t_ns + 900 * MS
                game.look()
            script.pictures += 10 - read_per_s
            clock.t_ns += SECOND
            game.look()
        return game.now.parts

    text = "this computer is too slow: it reads 2.0 of 10 pictures per second and is 0.9 s behind"
    assert seconds(9, read_per_s=2) == ()
    assert seconds(6, read_per_s=2) == (text,)
    assert script.notes == [text]
    assert seconds(15, read_per_s=10) == ()
    assert script.notes == [text, "this computer is fast enough again"]
    assert seconds(15, read_per_s=2) == (text,)
    script.problem = "usb:0: check that it is plugged in"
    game.look()
    assert game.now.parts == ()
    assert script.notes[3:] == [script.problem], "the pace is unknown"


def test_the_rate_doubles_during_motion() -> None:
    script = Script(*(shot(t_ms) for t_ms in range(0, 3000, 33)))
    script.moves_from_ms, script.moves_until_ms = 1000, 2000
    play(live(script, max_per_s=10))
    at_ms = [int(entry.split()[1]) for entry in script.log if entry.startswith("look")]
    seconds = [sum(1000 * second <= t_ms < 1000 * (second + 1) for t_ms in at_ms) for second in range(3)]
    assert 9 <= seconds[0] <= 11
    assert 18 <= seconds[1] <= 21
    assert 9 <= seconds[2] <= 11


def test_input_has_the_time_of_the_camera_and_time_never_decreases() -> None:
    script = Script(shot(100), shot(120), shot(300))
    game = live(script)
    game.look()
    script.at_ns = 150 * MS
    game.feed(Press(Button.NEXT))
    script.at_ns = 0
    game.feed(Press(Button.UNDO))
    play(game)
    assert [entry for entry in script.log if entry.startswith("keep")] == [
        "keep 100",
        "keep input 150",
        "keep input 150",
        "keep 300",
    ]


def test_equal_presses_of_a_seat_within_half_a_second_are_one() -> None:
    script = Script()
    game = live(script)
    ann, ben, drawn = Press(Button.KNOCK, Seat(0)), Press(Button.KNOCK, Seat(1)), Draw(Seat(0))
    for t_ms, press in ((0, ann), (400, ann), (600, ann), (700, ben), (800, ann), (900, drawn), (1300, drawn)):
        game.feed(press, t_ms * MS)
    kept = [entry for entry in script.log if entry.startswith("keep")]
    assert kept == [f"keep input {t_ms}" for t_ms in (0, 600, 700, 800, 900)]
    # The clock of a film stops at its end.
    script, clock = Script(), Clock()
    game = live(script, clock=clock)
    for _ in range(2):
        game.feed(Draw(Seat(0)))
        clock.t_ns += SECOND
    assert script.log.count("keep input 0") == 2


def test_a_camera_problem_and_its_end_are_reported_once() -> None:
    script = Script()
    game = live(script)
    game.look()
    script.problem = "usb:0 gives no pictures"
    for _ in range(3):
        game.look()
    assert not game.now.is_healthy
    assert game.now.reader == "no camera"
    script.problem = None
    game.look()
    assert script.notes == ["usb:0 gives no pictures", "the camera is back"]
    assert game.now.is_healthy


def test_an_unreadable_picture_is_reported_and_skipped() -> None:
    torn = Shot(0, "torn", "camera", lambda: GREY, lambda: JPEG[:50])
    script = Script(torn, shot(200), shot(400))
    game = live(script)
    game.look()
    script.is_refused = True
    game.look()
    script.is_refused = False
    game.look()
    assert len(script.notes) == 2
    assert "camera" in script.notes[0]
    assert script.log == ["keep 200", "look 200", "keep 400", "look 400", "followed"]


def test_an_unreadable_tile_is_queried_once_and_changes_nothing() -> None:
    script = Script(shot(100), shot(300), shot(500))
    script.unsure = (unsure_tile(),)
    game = live(script)
    before = game.session.state
    play(game)
    assert [note.split("?")[0].split(",")[0] for note in script.notes] == ["is this a tile", "the video has ended"]
    assert game.session.state is before
    assert (game.session.questions, game.session.places.waiting) == ((), ())
    assert game.now.view is not None
    assert game.now.view.unsure == script.unsure


def test_the_loop_ends_on_request() -> None:
    script = Script(*(shot(t_ms) for t_ms in range(0, 1000, 100)))
    live(script).run(lambda wait_s: False, lambda: False)
    live(script).run(lambda wait_s: True, lambda: True)
    assert script.log == []


def test_the_state_of_the_view_has_a_short_description() -> None:
    assert view_text(TableView((), (), ())) == "settled"
    assert view_text(TableView((), (), (), is_settled=False)) == "moving"
    assert view_text(TableView((), (), (), is_covered=True)) == "a hand is in view"
    assert "LOST" in view_text(TableView((), (), (), lost="the camera moved"))


def test_an_endless_game_continues_after_its_last_picture() -> None:
    script, turns = Script(shot(10)), iter(range(20))
    sitting = Sitting(script.look, opened(BONES, ("Ann", "Ben"))[0])
    game = LiveGame(script, sitting, script, Apart(script), clock=Clock(), max_per_s=10, is_endless=True)
    game.run(lambda wait_s: next(turns, None) is not None, lambda: False)
    assert script.is_over
    assert next(turns, None) is None
    assert script.log == ["keep 10", "look 10", "followed"]
    assert [note.split(",")[0] for note in script.notes] == ["the video has ended"]


VIEW = TableView((), (), (), size_px=(1280, 720))


def shifted(right_px: float, down_px: float = 0.0) -> TableView:
    return replace(VIEW, aim=Alignment((1.0, 0.0, right_px, 0.0, 1.0, down_px)))


def test_a_shift_is_reported_once_and_again_when_it_grows() -> None:
    still, news = CameraNews(), CameraNews()
    assert [still.news(view) for view in (None, VIEW, VIEW, shifted(1.5))] == [None] * 4
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


def test_large_shifts_and_rotations_are_described() -> None:
    assert "put the camera back" in words_of(shifted(100.0).aim, (1280, 720))
    assert "put the camera back" not in words_of(shifted(20.0).aim, (1280, 720))
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


TABLE = np.full((72, 128, 3), 90, np.uint8)


def measured_sitting(counts: Counts) -> MeasuredSitting:
    session, _ = opened(profile("block"), ("Ann", "Ben"))
    return MeasuredSitting(Perception(Blind()), session, counts)


def total(times: Times) -> int:
    return sum(times.within)


def test_every_picture_is_timed_and_only_settled_ones_are_read() -> None:
    counts = Counts()
    sitting = measured_sitting(counts)
    for t_ns in range(0, 2000 * MS, 100 * MS):
        sitting.feed(Frame(TABLE, t_ns), t_ns)
    assert counts.pictures_seen == 20
    assert total(counts.times[PipelineStage.SETTLE]) == total(counts.times[PipelineStage.REFEREE]) == 20
    assert 1 <= total(counts.times[PipelineStage.READ]) < 20
    assert total(counts.times[PipelineStage.PAGE]) == 0


def test_the_stages_of_a_picture_add_up_to_its_time() -> None:
    counts = Counts()
    sitting = measured_sitting(counts)
    began_s = perf_counter()
    for t_ns in range(0, 2000 * MS, 100 * MS):
        sitting.feed(Frame(TABLE, t_ns), t_ns)
    took_s = perf_counter() - began_s
    added_s = sum(times.total_s for times in counts.times.values())
    assert 0.5 * took_s < added_s <= took_s


def test_an_undo_counts_as_a_correction_and_an_adjustment_does_not() -> None:
    counts = Counts()
    sitting = measured_sitting(counts)
    sitting.feed(Adjust(Seat(0), 5, "given"), MS)
    assert (counts.inputs, counts.corrections) == (1, 0)
    sitting.feed(Undo(Seq(1)), 2 * MS)
    assert (counts.inputs, counts.corrections) == (2, 1)


def test_an_open_question_is_counted() -> None:
    counts = Counts()
    sitting = MeasuredSitting(Perception(Blind()), asked(), counts)
    sitting.feed(Press(Button.NEXT), 60 * SECOND)
    assert counts.questions == 0, "it was asked before"
    sitting.feed(Press(Button.TABLE), 61 * SECOND)
    assert counts.questions == 1


def pace_after(pace: PaceMeter, begin_s: int, seconds: int, *, given_per_s: int, read_per_s: int) -> MeanPace | None:
    """Return the pace of a steady camera and reader, 0.9 s behind."""
    mean = None
    for at_s in range(begin_s, begin_s + seconds):
        for _ in range(read_per_s):
            pace.count(900 * MS)
        mean = pace.at((at_s + 1) * SECOND, given_per_s * (at_s + 1))
    return mean


def test_a_machine_that_reads_too_few_pictures_is_too_slow() -> None:
    pace = PaceMeter(10.0)
    assert pace_after(pace, 0, 10, given_per_s=20, read_per_s=2) is None, "under ten seconds have passed"
    assert pace_after(pace, 10, 5, given_per_s=20, read_per_s=2) == MeanPace(2.0, 10.0, 0.9, is_too_slow=True)
    between = pace_after(pace, 15, 20, given_per_s=20, read_per_s=5)
    assert between == MeanPace(5.0, 10.0, 0.9, is_too_slow=True)
    assert pace_after(pace, 35, 20, given_per_s=20, read_per_s=7) == MeanPace(7.0, 10.0, 0.9, is_too_slow=False)
    assert pace_after(pace, 55, 20, given_per_s=20, read_per_s=5) == MeanPace(5.0, 10.0, 0.9, is_too_slow=False)


def test_reading_all_pictures_of_a_slow_camera_is_fast_enough() -> None:
    assert pace_after(PaceMeter(10.0), 0, 20, given_per_s=3, read_per_s=3) == MeanPace(3.0, 3.0, 0.9, is_too_slow=False)


def test_a_restarted_pace_is_measured_for_ten_seconds_first() -> None:
    pace = PaceMeter(10.0)
    pace_after(pace, 0, 15, given_per_s=10, read_per_s=1)
    pace.restart()
    assert pace_after(pace, 15, 10, given_per_s=10, read_per_s=1) is None
    assert pace_after(pace, 25, 1, given_per_s=10, read_per_s=1) is not None
