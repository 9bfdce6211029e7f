"""Run the table that is always on: wait between matches, play what pages ask for, tell systemd."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from calibration.errors import CalibrationError
from engine import EngineError
from engine.phrases import phrase
from tallybone.clock import software
from tallybone.play.counts import CountedCamera, Counts
from tallybone.play.game import Display
from tallybone.play.parts import PressingCamera
from tallybone.play.recorder import Room
from tallybone.play.start import Game, game_that_goes_on, with_calibration, with_own_tiles
from tallybone.play.table import Around, LiveTable
from tallybone.serve.calibration import ServedCalibration
from tallybone.serve.camera import EndlessCamera, TableCamera
from tallybone.serve.left_match import LeftMatches
from tallybone.serve.page import (
    Begin,
    Calibrate,
    CheckCalibration,
    MatchWanted,
    RestoreCalibration,
    StoredWish,
    TablePage,
    TestParts,
)
from tallybone.serve.parts_test import PartsTest, ServedParts
from tallybone.serve.systemd import Notifier, Sign
from tallybone.sources.camera import Camera, Clock
from tallybone.web.actions import Refusal, Refused
from vision.errors import VisionError
from vision.reader import Reader

# What goes wrong when a match begins, and is told in its own words.
_CANNOT = (EngineError, VisionError, CalibrationError, OSError)
_RESTS_S = 0.05
_IS_TESTED = phrase("the parts of the table are being tested: end that first")
_IS_CALIBRATED = phrase("the table is being calibrated: end that first")

Answer: TypeAlias = Callable[[Callable[[], object]], None]
"""Has the page's thread do something as soon as it can."""
_ASKS_EVERY_NS = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a table has.

    Attributes:
        camera: What looks at it.
        parts: Lights, buttons, displays, which stay open.
        test: The test of these parts.
        calibration: Its calibration, step by step.
        page: Where browsers see it, which is served all the time.
        clock: Monotonic, in nanoseconds.
        wall_time: The time of day.
        zones: The file that says where the zones are; None for the stored one of the camera, if there is one.
        environment: Says where state is kept.
        home: The user's folder.
        folder: Where recordings are.
        left: The match in them that can go on.
        is_recorded: Whether matches are recorded.
        keep_bytes: Says what all recordings may take.
        most_per_s: Most pictures a second that are looked at.
        load: Gives what reads tiles of a set by its highest double.
        counts: What is counted at this table.
    """

    camera: TableCamera
    parts: ServedParts
    test: PartsTest
    calibration: ServedCalibration
    page: TablePage
    clock: Clock
    wall_time: Callable[[], datetime]
    zones: Path | None
    environment: Mapping[str, str]
    home: Path
    folder: Path
    left: LeftMatches
    is_recorded: bool
    keep_bytes: Callable[[], int]
    most_per_s: float
    load: Callable[[int], Reader]
    counts: Counts


class ServedTable:
    """One thing is done at a time: a match, or nothing."""

    def __init__(self, setup: Setup, problem: Callable[[], str | None] = lambda: None) -> None:
        """Have what *setup* says; *problem* says what is wrong with the table itself."""
        self._setup, self._problem = setup, problem
        self._waits = threading.Event()

    @property
    def words(self) -> str:
        """Where its page is, and the PIN."""
        return self._setup.page.words

    def life(self, notifier: Notifier) -> ServedLife:
        """Return what tells systemd how this table is."""
        setup = self._setup
        look = Look(
            seen_ns=lambda: setup.page.hub.seen_ns,
            is_silent=lambda: setup.camera.is_silent,
            words=lambda: f"page {setup.page.url}, camera {setup.camera.words}",
        )
        return ServedLife(notifier, look, setup.page.answer, setup.clock, setup.counts)

    def run(self, shown: Display, is_stopped: Callable[[], bool]) -> None:
        """Wait for matches and play them until it is stopped; what happens is *shown* at the terminal too."""
        self._setup.left.look()
        while not is_stopped():
            for wanted in self._setup.page.came():
                match wanted.wish:
                    case TestParts():
                        self._test(wanted, is_stopped)
                    case Calibrate() | CheckCalibration() | RestoreCalibration() as wish:
                        self._calibrate(wanted, wish, is_stopped)
                    case _:
                        self._play(wanted, shown, is_stopped)
            self._rest()
            self._waits.wait(_RESTS_S)

    def _rest(self) -> None:
        """Look at the table, and show that no match is played."""
        setup, parts = self._setup, self._setup.parts.now
        self._look()
        parts.came()  # what is pressed now means nothing
        parts.rest(f"no match  {setup.page.pin_words}")
        own = (self._problem(), setup.camera.problem)
        problems = (*(words for words in own if words is not None), *(str(one) for one in parts.problems))
        setup.page.rest(setup.camera.words, problems)

    def _look(self) -> None:
        """Show what the camera sees, if it gives a picture."""
        shot = self._setup.camera.look()
        if shot is not None:
            with suppress(VisionError):  # the next one may be a picture again
                self._setup.page.see(shot)

    def _play(self, wanted: MatchWanted, shown: Display, is_stopped: Callable[[], bool]) -> None:
        """Play a match to its end; one that cannot be played is told to whoever wants it."""
        page = self._setup.page
        problem: str | None = None
        try:
            camera, game = self._setup.camera.for_game(self._game(wanted))
            with closing(camera):
                table = self._table(wanted, game, camera)
                table.run(shown, _NobodyTypes(), is_stopped)
        except _CANNOT as error:
            problem = str(error)
            wanted.answer(Refused(Refusal.SENSELESS, problem))
            page.note(problem)
            shown.note(problem)
        finally:
            self._setup.left.look()
            page.end(problem)

    def _test(self, wanted: MatchWanted, is_stopped: Callable[[], bool]) -> None:
        """Let somebody walk through the parts; nothing else is done meanwhile."""
        setup = self._setup

        def goes_on() -> bool:
            setup.page.refuse(_IS_TESTED)
            self._look()
            return not is_stopped()

        with setup.parts.lent() as opener:
            wanted.answer(None)
            setup.test.run(setup.parts.hardware, opener, goes_on)

    def _calibrate(self, wanted: MatchWanted, wish: StoredWish, is_stopped: Callable[[], bool]) -> None:
        """Calibrate, check a calibration or bring one back; nothing else is done meanwhile."""
        page, calibration = self._setup.page, self._setup.calibration

        def goes_on() -> bool:
            page.refuse(_IS_CALIBRATED)
            return not is_stopped()

        page.rest(phrase("{camera}: it is being calibrated", camera=calibration.camera), ())
        try:
            match wish:
                case Calibrate():
                    calibration.run(goes_on, page.see, lambda: wanted.answer(None))
                case CheckCalibration():
                    calibration.check(goes_on, page.see)
                case RestoreCalibration(number):
                    calibration.restore(number)
            wanted.answer(None)
        except _CANNOT as error:
            words = error.words if isinstance(error, CalibrationError) else str(error)
            wanted.answer(Refused(Refusal.SENSELESS, words))
            page.note(words)

    def _game(self, wanted: MatchWanted) -> Game:
        wish = wanted.wish
        if isinstance(wish, Begin):
            return wish.game
        newest = self._setup.left.newest
        path = None if newest is None else newest.path
        return game_that_goes_on(path, self._setup.folder, began=self._setup.wall_time(), software=software())

    def _table(self, wanted: MatchWanted, game: Game, camera: Camera) -> LiveTable:
        """Return a match that is about to be played."""
        setup = self._setup
        file = setup.zones if game.left is None else None
        game, used = with_calibration(
            game, camera, setup.camera.source, file, environment=setup.environment, home=setup.home
        )
        game, eye, said = with_own_tiles(game, used, setup.load(game.max_pips))
        parts = setup.parts.now.for_seats(len(game.start.players))
        around = Around(
            camera=setup.page.looking_through(
                CountedCamera(PressingCamera(EndlessCamera(camera), parts), setup.counts)
            ),
            parts=parts,
            page=setup.page,
            clock=setup.clock,
            reader=eye,
            room=Room(setup.folder, setup.keep_bytes()) if setup.is_recorded else None,
            most_per_s=setup.most_per_s,
            counts=setup.counts,
        )
        table = LiveTable(game, around, (*used.words, *said))
        setup.left.forget()
        setup.page.begin(wanted)
        return table


class _NobodyTypes:
    """What is typed at a table without a keyboard."""

    def __init__(self) -> None:
        self._waits = threading.Event()

    def pressed(self, wait_s: float) -> str:
        """Wait; no key ever comes."""
        self._waits.wait(wait_s)
        return ""


@dataclass(frozen=True, slots=True)
class Look:
    """What is asked of a camera.

    Attributes:
        seen_ns: When its last picture came; None for never.
        is_silent: Whether it is known and said why none comes.
        words: What the table does, for whoever looks after it.
    """

    seen_ns: Callable[[], int | None]
    is_silent: Callable[[], bool]
    words: Callable[[], str]


class ServedLife:
    """Gathers the signs of life of a table in its loop."""

    def __init__(self, notifier: Notifier, look: Look, answer: Answer, clock: Clock, counts: Counts) -> None:
        """Tell *notifier* what *look* says of the camera, and when the page's thread has answered."""
        self._counts = counts
        self._notifier, self._look, self._answer, self._clock = notifier, look, answer, clock
        self._seen_ns: int | None = None
        self._asked_ns: int | None = None

    def turn(self) -> None:
        """Ask camera and page, once a second at most, and tell systemd what has to be told."""
        now_ns = self._clock()
        if self._asked_ns is None or now_ns - self._asked_ns >= _ASKS_EVERY_NS:
            self._asked_ns = now_ns
            self._ask()
        self._notifier.turn()
        self._counts.watchdog_feeds = self._notifier.feeds

    def _ask(self) -> None:
        seen_ns = self._look.seen_ns()
        if seen_ns != self._seen_ns or self._look.is_silent():
            self._seen_ns = seen_ns
            self._notifier.seen(Sign.CAMERA)
        self._answer(lambda: self._notifier.seen(Sign.PAGE))
        self._notifier.say(self._look.words())
