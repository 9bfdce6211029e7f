"""Run the table that is always on: wait between matches, fulfil the wishes of pages, notify systemd."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from calibration.errors import CalibrationError
from engine import EngineError
from engine.phrases import phrase
from hardware.clock import Clock
from tallybone.clock import software, wall_time
from tallybone.play.assemble import set_up
from tallybone.play.counts import Counts
from tallybone.play.game import Listener
from tallybone.play.recorder import RecordingQuota
from tallybone.play.start import MatchPlan, game_that_goes_on
from tallybone.play.table import LiveTable, TableParts
from tallybone.recording.folder import KEEP_BYTES
from tallybone.serve.calibration import ServedCalibration
from tallybone.serve.camera import TableCamera
from tallybone.serve.left_match import LeftMatches
from tallybone.serve.options import Environment, ServeOptions
from tallybone.serve.page import (
    CalibrationRequest,
    PendingRequest,
    PlainRequest,
    Requests,
    RestoreCalibration,
    TablePage,
)
from tallybone.serve.parts_test import PartsTest, ServedParts
from tallybone.serve.systemd import Notifier, Sign
from tallybone.sources.camera import Camera
from tallybone.store.calibration_file import restore_calibration
from tallybone.store.house import HouseFile
from tallybone.web.actions import Refusal, Refused
from vision.errors import VisionError
from vision.reader.reader import Reader

# Errors at the beginning of a match, which are shown in their own words.
_CANNOT = (EngineError, VisionError, CalibrationError, OSError)
_RESTS_S = 0.05
_IS_TESTED = phrase("the parts of the table are being tested: end that first")
_IS_CALIBRATED = phrase("the table is being calibrated: end that first")

RunOnPage: TypeAlias = Callable[[Callable[[], object]], None]
"""Has the page's thread do something as soon as it can."""
_ASKS_EVERY_NS = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """All parts of a table that is always on, for all its matches.

    Attributes:
        options: Its options.
        world: Its surroundings.
        camera: Its camera.
        parts: Lights, buttons, displays, which stay open.
        test: The test of these parts.
        calibration: Its calibration, step by step.
        house: Its memory between matches.
        desk: The wishes of pages.
        folder: Where recordings are.
        left: The match in them that can go on.
        counts: Its counters.
        load: Returns the reader of a set's tiles by its highest double.
    """

    options: ServeOptions
    world: Environment
    camera: TableCamera
    parts: ServedParts
    test: PartsTest
    calibration: ServedCalibration
    house: HouseFile
    desk: Requests
    folder: Path
    left: LeftMatches
    counts: Counts
    load: Callable[[int], Reader]

    @property
    def room(self) -> RecordingQuota | None:
        """Where the next match is recorded; None for nowhere."""
        if self.options.record == "none":
            return None
        return RecordingQuota(self.folder, self.options.keep or self.house.house.keep_bytes or KEEP_BYTES)


class ServedTable:
    """One thing is done at a time: a match, or nothing."""

    def __init__(self, setup: Setup, page: TablePage, problem: Callable[[], str | None] = lambda: None) -> None:
        """Run the parts of *setup*, and a *page* that is always served; *problem* returns that of the table."""
        self._setup, self._page, self._problem = setup, page, problem
        self._waits = threading.Event()

    @property
    def words(self) -> str:
        """Where its page is, and the PIN."""
        return self._page.words

    def life(self, notifier: Notifier) -> ServedLife:
        """Return the watch over this table that notifies systemd."""
        setup = self._setup
        look = LifeSigns(
            seen_ns=lambda: self._page.feed.seen_ns,
            is_silent=lambda: setup.camera.is_silent,
            words=lambda: f"page {self._page.url}, camera {setup.camera.words}",
        )
        return ServedLife(notifier, look, self._page.feed.answer, setup.world.clock, setup.counts)

    def run(self, shown: Listener, is_stopped: Callable[[], bool]) -> None:
        """Wait for matches and play them until it is stopped; events are *shown* at the terminal too."""
        self._setup.left.look()
        while not is_stopped():
            for wanted in self._page.came():
                match wanted.wish:
                    case PlainRequest.TEST_PARTS:
                        self._test(wanted, is_stopped)
                    case PlainRequest.CALIBRATE | PlainRequest.CHECK_CALIBRATION | RestoreCalibration() as wish:
                        self._calibrate(wanted, wish, is_stopped)
                    case _:
                        self._play(wanted, shown, is_stopped)
            self._rest()
            self._waits.wait(_RESTS_S)

    def _rest(self) -> None:
        """Look at the table, and show that no match is played."""
        setup, parts = self._setup, self._setup.parts.now
        self._look()
        parts.came()  # presses mean nothing now
        parts.rest(f"no match  {self._page.pin_words}")
        own = (self._problem(), setup.camera.problem)
        problems = (*(words for words in own if words is not None), *map(": ".join, parts.problems.items()))
        self._page.rest(setup.camera.words, problems)

    def _look(self) -> None:
        """Show the camera's picture, if there is one."""
        shot = self._setup.camera.look()
        if shot is not None:
            with suppress(VisionError):  # the next one may be a picture again
                self._page.see(shot)

    def _play(self, wanted: PendingRequest, shown: Listener, is_stopped: Callable[[], bool]) -> None:
        """Play a match to its end; refuse one that cannot be played."""
        page = self._page
        problem: str | None = None
        try:
            camera, game = self._setup.camera.for_game(self._game(wanted))
            with closing(camera):
                table = self._table(wanted, game, camera)
                table.run(shown, _NobodyTypes(), is_stopped)
        except _CANNOT as error:
            problem = str(error)
            wanted.answer(Refused(Refusal.SENSELESS, problem))
            page.feed.say(problem)
            shown.note(problem)
        finally:
            self._setup.left.look()
            page.end(problem)

    def _test(self, wanted: PendingRequest, is_stopped: Callable[[], bool]) -> None:
        """Let somebody walk through the parts; nothing else is done meanwhile."""
        setup = self._setup

        def goes_on() -> bool:
            self._page.refuse(_IS_TESTED)
            self._look()
            return not is_stopped()

        with setup.parts.lent() as opener:
            wanted.answer(None)
            setup.test.run(setup.parts.hardware, opener, goes_on)

    def _calibrate(self, wanted: PendingRequest, wish: CalibrationRequest, is_stopped: Callable[[], bool]) -> None:
        """Calibrate, check a calibration or bring one back; nothing else is done meanwhile."""
        page, calibration = self._page, self._setup.calibration

        def goes_on() -> bool:
            page.refuse(_IS_CALIBRATED)
            return not is_stopped()

        page.rest(phrase("{camera}: it is being calibrated", camera=calibration.camera), ())
        try:
            match wish:
                case PlainRequest.CALIBRATE:
                    calibration.run(goes_on, page.see, lambda: wanted.answer(None))
                case PlainRequest.CHECK_CALIBRATION:
                    calibration.check(goes_on, page.see)
                case RestoreCalibration(number):
                    restore_calibration(calibration.path(), number)
            wanted.answer(None)
        except _CANNOT as error:
            words = error.words if isinstance(error, CalibrationError) else str(error)
            wanted.answer(Refused(Refusal.SENSELESS, words))
            page.feed.say(words)

    def _game(self, wanted: PendingRequest) -> MatchPlan:
        wish = wanted.wish
        if isinstance(wish, MatchPlan):
            return wish
        newest = self._setup.left.newest
        path = None if newest is None else newest.path
        return game_that_goes_on(path, self._setup.folder, began=wall_time(), software=software())

    def _table(self, wanted: PendingRequest, game: MatchPlan, camera: Camera) -> LiveTable:
        """Return a match that is about to be played."""
        setup = self._setup
        match = set_up(
            game,
            camera,
            source=setup.camera.source,
            calibration=setup.options.calibration if game.left is None else None,
            environment=setup.world.environment,
            home=setup.world.home,
            load=setup.load,
        )
        around = TableParts(
            camera=camera,
            parts=setup.parts.now.for_seats(len(match.game.start.players)),
            page=self._page,
            clock=setup.world.clock,
            room=setup.room,
            most_per_s=setup.options.fps,
            counts=setup.counts,
            is_endless=True,
        )
        table = LiveTable(match, around)
        setup.left.forget()
        self._page.begin(wanted)
        return table


class _NobodyTypes:
    """The keyboard of a table that has none."""

    is_over = True

    def __init__(self) -> None:
        self._waits = threading.Event()

    def pressed(self, wait_s: float) -> str:
        """Wait; no key ever comes."""
        self._waits.wait(wait_s)
        return ""


@dataclass(frozen=True, slots=True)
class LifeSigns:
    """The signs of life of a table.

    Attributes:
        seen_ns: Returns when the last picture came; None for never.
        is_silent: Returns whether there is a known reason for missing pictures.
        words: Returns the activity of the table, for its owner.
    """

    seen_ns: Callable[[], int | None]
    is_silent: Callable[[], bool]
    words: Callable[[], str]


class ServedLife:
    """Gathers the signs of life of a table in its loop."""

    def __init__(self, notifier: Notifier, look: LifeSigns, answer: RunOnPage, clock: Clock, counts: Counts) -> None:
        """Give *notifier* the signs of *look*, and each answer of the page's thread."""
        self._counts = counts
        self._notifier, self._look, self._answer, self._clock = notifier, look, answer, clock
        self._seen_ns: int | None = None
        self._asked_ns: int | None = None

    def turn(self) -> None:
        """Ask camera and page, once a second at most, and send systemd the news."""
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
