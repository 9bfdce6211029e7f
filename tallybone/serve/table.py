"""Run an always-on table: wait between matches, handle requests from the page, notify systemd."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from calibration import CalibrationError
from engine import EngineError
from engine.phrases import phrase
from hardware.part import Clock
from tallybone.clock import software, wall_time
from tallybone.play.counts import Counts
from tallybone.play.game import Listener
from tallybone.play.recorder import RecordingQuota
from tallybone.play.start import MatchPlan, resumed_game, set_up
from tallybone.play.table import LiveTable, TableParts
from tallybone.recording.folder import KEEP_BYTES
from tallybone.serve import page as pages
from tallybone.serve.calibration import ServedCalibration
from tallybone.serve.camera import TableCamera
from tallybone.serve.options import Environment, ServeOptions
from tallybone.serve.parts_test import PartsTest, ServedParts
from tallybone.serve.systemd import Notifier, Sign
from tallybone.sources.camera import Camera
from tallybone.store.calibration_file import restore_calibration
from tallybone.store.house import HouseFile
from tallybone.store.learned_file import learned_path
from tallybone.web.live.actions import Refusal, Refused
from vision import VisionError
from vision.reader.reader import Reader

# Errors at the start of a match whose message is shown to users.
_CANNOT = (EngineError, VisionError, CalibrationError, OSError)
_RESTS_S = 0.05
_IS_TESTED = phrase("a test of the parts is running: stop it first")
_IS_CALIBRATED = phrase("a calibration is running: end it first")

RunOnPage: TypeAlias = Callable[[Callable[[], object]], None]
"""Schedules a call in the page's thread."""
_ASKS_EVERY_NS = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Components of an always-on table.

    Attributes:
        options: Command options.
        world: Environment.
        camera: Camera.
        parts: LEDs, buttons, knock sensor and displays, which stay open.
        test: Test of the parts.
        calibration: Guided calibration.
        house: Settings kept between matches.
        desk: Requests from the page.
        folder: Folder of the recordings.
        left: Finds the unfinished match that can be resumed.
        counts: Counters.
        load: Loads the reader for a tile set, given its highest number of pips.
    """

    options: ServeOptions
    world: Environment
    camera: TableCamera
    parts: ServedParts
    test: PartsTest
    calibration: ServedCalibration
    house: HouseFile
    desk: pages.Requests
    folder: Path
    left: pages.LeftMatches
    counts: Counts
    load: Callable[[int], Reader]

    @property
    def room(self) -> RecordingQuota | None:
        """Folder and quota for the next recording. None if matches are not recorded."""
        if self.options.record == "none":
            return None
        return RecordingQuota(self.folder, self.options.keep or self.house.house.keep_bytes or KEEP_BYTES)


class ServedTable:
    """An always-on table. It plays a match, tests parts or calibrates, one at a time."""

    def __init__(self, setup: Setup, page: pages.TablePage, problem: Callable[[], str | None] = lambda: None) -> None:
        """Run the components of *setup* and the *page*.

        *problem* returns a problem of the table as a whole, or None.
        """
        self._setup, self._page, self._problem = setup, page, problem
        self._waits = threading.Event()

    @property
    def text(self) -> str:
        """Address of the page, and the PIN."""
        return self._page.text

    def life(self, notifier: Notifier) -> ServedLife:
        """Return the watchdog of this table, which notifies systemd."""
        setup = self._setup
        look = LifeSigns(
            seen_ns=lambda: self._page.feed.seen_ns,
            is_silent=lambda: setup.camera.is_silent,
            text=lambda: f"page {self._page.url}, camera {setup.camera.text}",
        )
        return ServedLife(notifier, look, self._page.feed.answer, setup.world.clock, setup.counts)

    def run(self, shown: Listener, is_stopped: Callable[[], bool]) -> None:
        """Handle requests for matches, tests and calibrations until stopped. *shown* shows matches in the terminal."""
        self._setup.left.look()
        while not is_stopped():
            for wanted in self._page.pending():
                match wanted.request:
                    case pages.PlainRequest.TEST_PARTS:
                        self._test(wanted, is_stopped)
                    case (
                        pages.PlainRequest.CALIBRATE
                        | pages.PlainRequest.CHECK_CALIBRATION
                        | pages.PlainRequest.FORGET_KNOCKS
                        | pages.RestoreCalibration()
                    ) as request:
                        self._calibrate(wanted, request, is_stopped)
                    case _:
                        self._play(wanted, shown, is_stopped)
            self._rest()
            self._waits.wait(_RESTS_S)

    def _rest(self) -> None:
        """Show the camera image and the lobby between matches."""
        setup, parts = self._setup, self._setup.parts.now
        self._look()
        parts.read()  # Discard button presses.
        parts.rest(f"no match  {self._page.pin_words}")
        own = (self._problem(), setup.camera.problem)
        problems = (*(text for text in own if text is not None), *map(": ".join, parts.problems.items()))
        self._page.rest(setup.camera.text, problems)

    def _look(self) -> None:
        """Show the camera image, if there is one."""
        shot = self._setup.camera.look()
        if shot is not None:
            with suppress(VisionError):  # The next image may be valid again.
                self._page.see(shot)

    def _play(self, wanted: pages.PendingRequest, shown: Listener, is_stopped: Callable[[], bool]) -> None:
        """Play a match until it is ended. Refuse the request if the match cannot be started."""
        page = self._page
        problem: str | None = None
        try:
            request = wanted.request
            if isinstance(request, MatchPlan):
                game = request
            else:
                newest = self._setup.left.newest
                path = None if newest is None else newest.path
                game = resumed_game(path, self._setup.folder, began=wall_time(), software=software())
            reader = self._loaded(game.max_pips, is_stopped)
            camera, game = self._setup.camera.for_game(game)
            with closing(camera):
                table = self._table(wanted, game, camera, reader)
                table.run(shown, _NobodyTypes(), is_stopped)
        except _CANNOT as error:
            problem = str(error)
            wanted.answer(Refused(Refusal.SENSELESS, problem))
            page.feed.say(problem)
            shown.note(problem)
        finally:
            self._setup.left.look()
            page.end(problem)

    def _test(self, wanted: pages.PendingRequest, is_stopped: Callable[[], bool]) -> None:
        """Run the test of the parts. Other requests are refused meanwhile."""
        setup = self._setup

        def continues() -> bool:
            self._page.refuse(_IS_TESTED)
            self._look()
            return not is_stopped()

        with setup.parts.lent() as opener:
            wanted.answer(None)
            setup.test.run(setup.parts.hardware, opener, continues)

    def _calibrate(
        self, wanted: pages.PendingRequest, request: pages.CalibrationRequest, is_stopped: Callable[[], bool]
    ) -> None:
        """Calibrate, check or restore a calibration, or forget learned knocks. Other requests are refused meanwhile."""
        page, calibration = self._page, self._setup.calibration

        def continues() -> bool:
            page.refuse(_IS_CALIBRATED)
            return not is_stopped()

        page.rest(phrase("{camera}: in use by the calibration", camera=calibration.camera), ())
        try:
            match request:
                case pages.PlainRequest.CALIBRATE:
                    calibration.run(continues, page.see, lambda: wanted.answer(None))
                case pages.PlainRequest.CHECK_CALIBRATION:
                    calibration.check(continues, page.see)
                case pages.PlainRequest.FORGET_KNOCKS:
                    learned_path(calibration.path()).unlink(missing_ok=True)
                case pages.RestoreCalibration(number):
                    restore_calibration(calibration.path(), number)
            wanted.answer(None)
        except _CANNOT as error:
            text = error.text if isinstance(error, CalibrationError) else str(error)
            wanted.answer(Refused(Refusal.SENSELESS, text))
            page.feed.say(text)

    def _loaded(self, max_pips: int, is_stopped: Callable[[], bool]) -> Reader:
        """Load a reader in another thread: on a slow, busy machine it takes longer than the watchdog waits."""
        with ThreadPoolExecutor(1, "loading") as pool:
            loading = pool.submit(self._setup.load, max_pips)
            while not loading.done():
                is_stopped()  # It tells the watchdog that the table is alive.
                self._look()
                wait((loading,), _RESTS_S)
            return loading.result()

    def _table(self, wanted: pages.PendingRequest, game: MatchPlan, camera: Camera, reader: Reader) -> LiveTable:
        """Set up a match, and prepare the page for it. From then on, it counts as begun."""
        setup = self._setup
        match = set_up(
            game,
            camera,
            source=setup.camera.source,
            calibration=setup.options.calibration if game.left is None else None,
            environment=setup.world.environment,
            home=setup.world.home,
            reader=reader,
        )
        around = TableParts(
            camera=camera,
            parts=setup.parts.now.for_seats(len(match.game.start.players)),
            page=self._page,
            clock=setup.world.clock,
            room=setup.room,
            max_per_s=setup.options.fps,
            counts=setup.counts,
            is_endless=True,
        )
        table = LiveTable(match, around)
        setup.left.forget()
        self._page.begin(wanted)
        return table


class _NobodyTypes:
    """Keyboard input of a table without a keyboard."""

    is_over = True

    def __init__(self) -> None:
        self._waits = threading.Event()

    def pressed(self, wait_s: float) -> str:
        """Wait, and return no key."""
        self._waits.wait(wait_s)
        return ""


@dataclass(frozen=True, slots=True)
class LifeSigns:
    """Signs of life of a table.

    Attributes:
        seen_ns: Returns the time of the last image, or None.
        is_silent: Returns True if missing images have a known reason.
        text: Returns the activity of the table, for `systemctl status`.
    """

    seen_ns: Callable[[], int | None]
    is_silent: Callable[[], bool]
    text: Callable[[], str]


class ServedLife:
    """Collects signs of life in the table's loop, and forwards them to systemd."""

    def __init__(self, notifier: Notifier, look: LifeSigns, answer: RunOnPage, clock: Clock, counts: Counts) -> None:
        """Report the signs of *look*, and responses of the page's thread, to *notifier*."""
        self._counts = counts
        self._notifier, self._look, self._answer, self._clock = notifier, look, answer, clock
        self._seen_ns: int | None = None
        self._asked_ns: int | None = None

    def turn(self) -> None:
        """Check camera and page at most once a second, and notify systemd."""
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
        self._notifier.say(self._look.text())
