"""Assemble an always-on table (camera, parts, page, and their connections), and play its matches one after another."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeAlias

from fastapi import APIRouter

from calibration import CalibrationError
from engine import EngineError
from engine.phrases import phrase
from hardware.camera.network import without_user
from hardware.camera.open_device import is_device
from hardware.knock.classifier import Classifier
from hardware.part import Clock
from hardware.table import HardwareSettings, VirtualSettings
from tallybone.clock import software, wall_time
from tallybone.finding import Finding
from tallybone.laboratory import SIMULATED
from tallybone.maintain.backup import finish_at_start
from tallybone.notify.notifying import telling
from tallybone.plain_text import names_of
from tallybone.play.counts import Counts, PipelineStage
from tallybone.play.game import Listener
from tallybone.play.parts import LiveParts, open_parts, with_panel
from tallybone.play.recorder import RecordingQuota
from tallybone.play.start import USUAL, MatchPlan, knocks_at, resumed_game, set_up, stored_for
from tallybone.play.table import LiveTable, TableParts
from tallybone.recording.folder import KEEP_BYTES, default_folder
from tallybone.serve import page as pages
from tallybone.serve.calibration import ServedCalibration, sight_findings
from tallybone.serve.camera import TableCamera
from tallybone.serve.health import TableSources, camera_found, configuration_found, pace_found
from tallybone.serve.metrics import Observing
from tallybone.serve.options import Environment, ServeOptions, make_recordings_folder, recordings_folder
from tallybone.serve.page import LeftMatch, LeftMatches, Requests, TablePage
from tallybone.serve.parts_test import PartsTest, ServedParts
from tallybone.serve.routes import matches
from tallybone.serve.routes.settings import Owner, pairing_routes, panel_routes, parts_test_routes, settings_routes
from tallybone.serve.systemd import Notifier, Sign
from tallybone.sources.camera import Camera
from tallybone.store.calibration_file import default_path, name_of_camera, restore_calibration
from tallybone.store.house import HOUSE_NAME, LAST_TABLE, OWNER_NAME, HouseFile, load_valid_table
from tallybone.store.learned_file import TableKnocks, learned_path
from tallybone.store.table_file import USUAL_CAMERA
from tallybone.web.access.access import Access
from tallybone.web.access.visitors import KnownHosts
from tallybone.web.calibration.routes import calibration_routes
from tallybone.web.live.actions import Refusal, Refused
from tallybone.web.live.feed import LiveFeed
from tallybone.web.recordings.routes import recording_pages
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
        parts: LEDs, buttons, knock sensor and displays, which stay open.
        calibration: Guided calibration.
        house: Settings kept between matches.
        desk: Requests from the page.
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
        parts.rest(f"no match  {self._page.pin_text}")
        own = (self._problem(), setup.camera.problem)
        problems = (*(text for text in own if text is not None), *map(": ".join, parts.problems.items()))
        self._page.rest(setup.camera.text, problems)

    def _look(self) -> None:
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


log = logging.getLogger(__name__)

# Number of seats with virtual LEDs and buttons, regardless of the number of players.
_VIRTUAL_SEATS = 4
# File that is left behind if the program does not end properly, in the state folder.
_RUNNING = "running"


@contextmanager
def open_table(options: ServeOptions, world: Environment) -> Iterator[ServedTable]:
    """Yield a table whose page is served until the end of the block.

    Raises:
        OSError: If the page cannot be served, the given table.toml does not exist, or the recordings folder cannot be
            created.
    """
    state = default_folder(world.environment, world.home).parent
    at_table, faults = load_valid_table(options.config, state / LAST_TABLE)
    hardware = with_panel(at_table.hardware, _VIRTUAL_SEATS) if options.panel else at_table.hardware
    source = options.camera or at_table.camera or USUAL_CAMERA
    unrestored, invalid = _finish_restore(state), _invalid(faults)
    house = HouseFile(state / HOUSE_NAME)
    knocks = _Knocks(partial(knocks_at, source, options.calibration, world.environment, world.home))
    folder = recordings_folder(options.record, world.environment, world.home)
    make_recordings_folder(options.record, folder)
    with ExitStack() as stack:
        camera = TableCamera(source, world.clock, speed=options.speed, opener=world.open_device)
        stack.callback(camera.close)
        parts = ServedParts(hardware, partial(_open_parts, hardware, world.clock, knocks), world.clock)
        stack.callback(parts.close)
        setup = Setup(
            options=options,
            world=world,
            camera=camera,
            parts=parts,
            test=PartsTest(world.clock),
            calibration=ServedCalibration(camera, parts, partial(_kept_in, source, options, world), world.clock),
            house=house,
            desk=Requests(),
            folder=folder,
            left=LeftMatches(folder),
            counts=Counts(),
            load=lru_cache(maxsize=1)(world.load),
        )
        feed = LiveFeed(world.clock, setup.counts.times[PipelineStage.PAGE])
        observing = Observing(feed, _sources_of(setup))
        more = partial(_routes, setup, Owner(state / OWNER_NAME, world.clock), observing)
        page = _open_page(setup, feed, KnownHosts(at_table.page.names), more)
        stack.callback(page.close)
        health = observing.health
        health.also_ask(lambda: (pace_found(setup.counts.pace), *configuration_found(faults)))
        health.also_ask(
            stack.enter_context(telling(at_table.beyond, feed, lambda: health.now().findings, lambda: page.url))
        )
        stack.enter_context(health.watching(state / _RUNNING))
        yield ServedTable(setup, page, lambda: unrestored or invalid or house.problem or knocks.problem)


def _open_page(
    setup: Setup, feed: LiveFeed, hosts: KnownHosts, more: Callable[[Access, TablePage], tuple[APIRouter, ...]]
) -> TablePage:
    """Start the page of a table. *more* returns the routes in addition to those of a game."""
    world, displays = setup.world, setup.parts.hardware.displays
    return TablePage(
        setup.options.at,
        world.clock,
        setup.desk,
        pin=world.pin,
        feed=feed,
        language=lambda: setup.house.house.language,
        # Log the PIN only if no real display shows it. A virtual display is itself protected by the PIN.
        says_pin=world.is_terminal or all(isinstance(display, VirtualSettings) for display in displays),
        hosts=hosts,
        more=more,
    )


def _routes(setup: Setup, owner: Owner, observing: Observing, access: Access, page: TablePage) -> tuple[APIRouter, ...]:
    """Return the routes of a table in addition to those of a game."""
    clock, offered = setup.world.clock, partial(_offered, setup, page)
    return (
        matches.rules_routes(),
        matches.match_routes(access, setup.desk, setup.house, offered=offered, publish=page.feed.publish),
        *observing.routes,
        pairing_routes(access, page.address),
        panel_routes(access, setup.parts, clock),
        parts_test_routes(access, setup.test, setup.desk),
        calibration_routes(setup.calibration.calibrating, access),
        matches.stored_calibration_routes(setup.calibration, setup.desk, access),
        matches.sight_routes(partial(_camera_findings, setup, observing, page)),
        settings_routes(setup.house, owner),
        *recording_pages(setup.folder, access),
    )


def _camera_findings(setup: Setup, observing: Observing, page: TablePage) -> tuple[Finding, ...]:
    """Judge the camera, its newest image and its tilt. A damaged calibration is ignored: its own view reports it."""
    picture, camera = page.feed.picture, observing.health.now().findings[0]
    with suppress(CalibrationError, VisionError, OSError):
        return (camera, *sight_findings(None if picture is None else picture.jpeg, setup.calibration.path()))
    return (camera,)


def _sources_of(setup: Setup) -> TableSources:
    camera, parts = setup.camera, setup.parts
    return TableSources(
        source=without_user(camera.source),
        camera=lambda: camera_found(camera.text, camera.problem),
        hardware=parts.hardware,
        problems=lambda: parts.now.problems,
        folder=setup.folder,
        machine=setup.world.machine,
        root=setup.world.root,
        clock=setup.world.clock,
        counts=setup.counts,
        is_silent=lambda: camera.is_silent,
    )


def _finish_restore(state: Path) -> str | None:
    """Finish or undo an interrupted restore. Return None, or the reason if that fails."""
    try:
        if finish_at_start(state):
            log.info("finished or undid an interrupted restore state=%s", state)
    except OSError as error:
        return f"An interrupted restore cannot be finished: {error}"
    return None


def _invalid(faults: tuple[str, ...]) -> str | None:
    """Log the problems of table.toml, and return them as one sentence. None if there are none."""
    for fault in faults:
        log.error("%s", fault)
    return phrase("table.toml is invalid: {faults}", faults="; ".join(faults)) if faults else None


def _open_parts(hardware: HardwareSettings, clock: Clock, knocks: _Knocks) -> LiveParts:
    return open_parts(hardware, seats=_VIRTUAL_SEATS, clock=clock, has_panel=False, classifier=knocks.classifier())


def _offered(setup: Setup, page: TablePage) -> matches.Offered:
    """Return the actions that the page offers now. Thread-safe."""
    house = setup.house.house
    last = None if house.last is None else replace(house.last, players=page.names_now(house.last.players))
    return matches.Offered(
        playing=page.is_played,
        over=page.is_over,
        usual=matches.shown_setting(house.usual or last),
        left=_shown_left(setup.left.newest),
        is_looking=not setup.left.is_known,
    )


def _shown_left(left: LeftMatch | None) -> matches.LeftShown | None:
    if left is None:
        return None
    at = datetime.fromtimestamp(left.written_s, wall_time().tzinfo)
    return matches.LeftShown(
        game=left.game,
        players=list(names_of(left.players)),
        totals=list(left.totals),
        left_at=at.isoformat(timespec="seconds"),
    )


class _Knocks:
    """Loads the knock classifier of this table each time it is needed."""

    def __init__(self, known: Callable[[], TableKnocks | None]) -> None:
        self._known = known
        self.problem: str | None = None

    def classifier(self) -> Classifier | None:
        """Return the classifier, or None for the shipped one. Set `problem` if a file cannot be loaded."""
        self.problem, knocks = None, self._known()
        if knocks is None:
            return None
        self.problem = " ".join(knocks.problems) or None
        return knocks.classifier()


def _kept_in(source: str, options: ServeOptions, world: Environment) -> Path:
    """Return the calibration file that the next match uses, or would use if it existed."""
    stored = stored_for(source, options.calibration, world.environment, world.home)
    kind = source.partition(":")[0]
    name = name_of_camera(source) if is_device(source) else kind if kind == SIMULATED else USUAL
    return stored or default_path(world.environment, world.home, name)
