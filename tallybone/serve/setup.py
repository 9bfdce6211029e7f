"""Assemble an always-on table: camera, parts, page, and their connections."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial
from pathlib import Path

from fastapi import APIRouter

from calibration import CalibrationError
from engine.phrases import phrase
from hardware.camera.network import without_user
from hardware.camera.open_device import is_device
from hardware.knock.classifier import Classifier
from hardware.part import Clock
from hardware.table import HardwareSettings, VirtualSettings
from tallybone.clock import wall_time
from tallybone.finding import Finding
from tallybone.laboratory import SIMULATED
from tallybone.maintain.backup import finish_at_start
from tallybone.notify.notifying import telling
from tallybone.plain_text import names_of
from tallybone.play.counts import Counts, PipelineStage
from tallybone.play.parts import LiveParts, open_parts, with_panel
from tallybone.play.start import USUAL, knocks_at, stored_for
from tallybone.recording.folder import default_folder
from tallybone.serve.calibration import ServedCalibration, sight_findings
from tallybone.serve.camera import TableCamera
from tallybone.serve.health import TableSources, camera_found, configuration_found, pace_found
from tallybone.serve.metrics import Observing
from tallybone.serve.options import Environment, ServeOptions, make_recordings_folder, recordings_folder
from tallybone.serve.page import LeftMatch, LeftMatches, Requests, TablePage
from tallybone.serve.parts_test import PartsTest, ServedParts
from tallybone.serve.routes import matches
from tallybone.serve.routes.settings import Owner, pairing_routes, panel_routes, parts_test_routes, settings_routes
from tallybone.serve.table import ServedTable, Setup
from tallybone.store.calibration_file import default_path, name_of_camera
from tallybone.store.house import HOUSE_NAME, LAST_TABLE, OWNER_NAME, HouseFile, load_valid_table
from tallybone.store.learned_file import TableKnocks
from tallybone.store.table_file import USUAL_CAMERA
from tallybone.web.access.access import Access
from tallybone.web.access.visitors import KnownHosts
from tallybone.web.calibration.routes import calibration_routes
from tallybone.web.live.feed import LiveFeed
from tallybone.web.recordings.routes import recording_pages
from vision import VisionError

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
        matches.sight_routes(partial(_sight, setup, observing, page)),
        settings_routes(setup.house, owner),
        *recording_pages(setup.folder, access),
    )


def _sight(setup: Setup, observing: Observing, page: TablePage) -> tuple[Finding, ...]:
    """Judge the camera, its newest image and its tilt. A damaged calibration is reported by its own view."""
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
