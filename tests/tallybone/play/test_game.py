"""Tests of the live game loop: input is recorded, fed, its outcomes recorded, and then shown."""

from __future__ import annotations

from collections import deque

import numpy as np

from engine import BONES, Draw, Seat
from tallybone.play.game import Listener, LiveGame, LiveState, view_words
from tallybone.play.recorder import Recorder
from tallybone.session.inputs import Button, Press
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand, Sitting, Step, opened
from tallybone.sources.camera import Shown
from tallybone.sources.source import RecordedInput, Shot
from tests.tallybone.live_clips import jpeg_of
from tests.tallybone.sources.test_camera import Clock
from tests.vision.seen import unsure_tile
from vision.reading import SeenTile
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


def test_the_rate_of_read_pictures_is_limited() -> None:
    script = Script(*(shot(t_ms) for t_ms in range(0, 1000, 33)))
    play(live(script, max_per_s=10))
    looks = [entry for entry in script.log if entry.startswith("look")]
    assert 9 <= len(looks) <= 11


def test_jitter_at_the_limit_drops_no_pictures() -> None:
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


def test_two_equal_presses_of_a_seat_within_half_a_second_are_one() -> None:
    script = Script()
    game = live(script)
    ann, ben, drawn = Press(Button.KNOCK, Seat(0)), Press(Button.KNOCK, Seat(1)), Draw(Seat(0))
    for t_ms, press in ((0, ann), (400, ann), (600, ann), (700, ben), (800, ann), (900, drawn), (1300, drawn)):
        game.feed(press, t_ms * MS)
    kept = [entry for entry in script.log if entry.startswith("keep")]
    assert kept == [f"keep input {t_ms}" for t_ms in (0, 600, 700, 800, 900)]


def test_equal_presses_count_although_a_film_that_has_ended_stops_its_clock() -> None:
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
    assert view_words(TableView((), (), ())) == "settled"
    assert view_words(TableView((), (), (), is_settled=False)) == "moving"
    assert view_words(TableView((), (), (), is_covered=True)) == "a hand is in view"
    assert "LOST" in view_words(TableView((), (), (), lost="the camera moved"))


def test_an_endless_game_continues_after_its_last_picture() -> None:
    script, turns = Script(shot(10)), iter(range(20))
    sitting = Sitting(script.look, opened(BONES, ("Ann", "Ben"))[0])
    game = LiveGame(script, sitting, script, Apart(script), clock=Clock(), max_per_s=10, is_endless=True)
    game.run(lambda wait_s: next(turns, None) is not None, lambda: False)
    assert script.is_over
    assert next(turns, None) is None
    assert script.log == ["keep 10", "look 10", "followed"]
    assert [note.split(",")[0] for note in script.notes] == ["the video has ended"]
