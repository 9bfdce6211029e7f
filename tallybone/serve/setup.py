"""Build a table that is always on: its camera, its parts, its page, and the links between them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial
from pathlib import Path

from fastapi import APIRouter

from calibration.errors import CalibrationError
from hardware.camera.open_device import is_device
from hardware.clock import Clock
from hardware.config.config import DisplayDriver, HardwareConfig
from hardware.knock.classifier import Classifier
from tallybone.clock import software, wall_time
from tallybone.maintain.backup import finish_at_start
from tallybone.notify.notifying import telling
from tallybone.plain_text import names_of
from tallybone.play.calibrated import USUAL, stored_for
from tallybone.play.counts import Counts, PipelineStage
from tallybone.play.parts import LiveParts, open_parts, with_panel
from tallybone.play.start import MatchPlan, new_game
from tallybone.recording.folder import default_folder
from tallybone.serve.calibration import ServedCalibration
from tallybone.serve.camera import TableCamera
from tallybone.serve.health import CameraStatus, TableStatus, pace_found
from tallybone.serve.left_match import LeftMatch, LeftMatches
from tallybone.serve.metrics import Observing
from tallybone.serve.options import Environment, ServeOptions, make_recordings_folder, recordings_folder
from tallybone.serve.page import MatchDesk, TablePage
from tallybone.serve.parts_test import PartsTest, ServedParts
from tallybone.serve.routes import (
    LeftShown,
    Offered,
    match_routes,
    pairing_routes,
    parts_routes,
    settings_routes,
    shown_setting,
    stored_calibration_routes,
)
from tallybone.serve.table import ServedTable, Setup
from tallybone.sources.camera import SIMULATED
from tallybone.store.calibration_file import default_path, load_calibration, name_of_camera
from tallybone.store.house import HOUSE_NAME, OWNER_NAME, HouseFile, MatchSetting
from tallybone.store.table_file import USUAL_CAMERA, load_table
from tallybone.web.access import Access
from tallybone.web.calibration import calibration_routes
from tallybone.web.feed import Hub
from tallybone.web.hosts import KnownHosts
from tallybone.web.recordings import recording_pages

log = logging.getLogger(__name__)

# Of virtual LEDs and buttons there are so many; a match may have more or fewer players.
_VIRTUAL_SEATS = 4


@contextmanager
def open_table(options: ServeOptions, world: Environment) -> Iterator[ServedTable]:
    """Yield a table whose page is served until this ends.

    Raises:
        ConfigError: If table.toml is wrong.
        OSError: If its page cannot be served, table.toml not be read, or the folder of `--record` not be made.
    """
    at_table = load_table(options.config)
    hardware = with_panel(at_table.hardware, _VIRTUAL_SEATS) if options.panel else at_table.hardware
    source = options.camera or at_table.camera or USUAL_CAMERA
    state = default_folder(world.environment, world.home).parent
    unrestored = _finish_restore(state)
    house = HouseFile(state / HOUSE_NAME)
    knocks = _Knocks(partial(stored_for, source, options.calibration, world.environment, world.home))
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
            desk=MatchDesk(),
            folder=folder,
            left=LeftMatches(folder),
            counts=Counts(),
            load=lru_cache(maxsize=1)(world.load),
        )
        hub = Hub(world.clock, setup.counts.times[PipelineStage.PAGE])
        observing = Observing(hub, _looked_after(setup))
        page = TablePage(
            options.at,
            world.clock,
            setup.desk,
            pin=world.pin,
            hub=hub,
            language=lambda: house.house.language,
            # A log gets the PIN only if no display on the table shows it. A virtual one is behind the PIN itself.
            says_pin=world.is_terminal or all(one.driver is DisplayDriver.VIRTUAL for one in hardware.displays),
            hosts=KnownHosts(at_table.page.names),
            more=partial(_routes, setup, state / OWNER_NAME, observing),
        )
        stack.callback(page.close)
        health = observing.health
        health.also_ask(lambda: (pace_found(setup.counts.pace),))
        health.also_ask(stack.enter_context(telling(at_table.beyond, hub, lambda: health.now().findings)))
        yield ServedTable(setup, page, lambda: unrestored or house.problem or knocks.problem)


def _routes(
    setup: Setup, password_file: Path, observing: Observing, access: Access, page: TablePage
) -> tuple[APIRouter, ...]:
    """Return the paths that a table has beside those of a game."""
    clock, offered, keep = setup.world.clock, partial(_offered, setup, page), partial(_keep, setup.house)
    return (
        match_routes(access, setup.desk, new_game=_new_game, offered=offered, keep=keep, publish=page.hub.publish),
        *observing.routes,
        pairing_routes(access, lambda: page.url),
        parts_routes(access, setup.parts, setup.test, setup.desk, clock),
        calibration_routes(setup.calibration.calibrating, access),
        stored_calibration_routes(setup.calibration, setup.desk, access),
        settings_routes(setup.house, password_file, clock),
        *recording_pages(setup.folder, access),
    )


def _looked_after(setup: Setup) -> TableStatus:
    camera, parts = setup.camera, setup.parts
    return TableStatus(
        camera=lambda: CameraStatus(camera.source, camera.words, camera.problem),
        hardware=parts.hardware,
        problems=lambda: parts.now.problems,
        folder=setup.folder,
        machine=setup.world.machine,
        clock=setup.world.clock,
        counts=setup.counts,
    )


def _finish_restore(state: Path) -> str | None:
    """Finish or undo a restore that was cut off; return why that cannot be."""
    try:
        if finish_at_start(state):
            log.info("a restore that was cut off is finished or undone state=%s", state)
    except OSError as error:
        return f"A restore was cut off and cannot be finished: {error}"
    return None


def _open_parts(hardware: HardwareConfig, clock: Clock, knocks: _Knocks) -> LiveParts:
    return open_parts(hardware, seats=_VIRTUAL_SEATS, clock=clock, has_panel=False, classifier=knocks.classifier())


def _offered(setup: Setup, page: TablePage) -> Offered:
    """Return the choices that people at the table have now; any thread may ask."""
    house = setup.house.house
    return Offered(
        playing=page.is_played,
        over=page.is_over,
        usual=shown_setting(house.usual or house.last),
        left=_shown_left(setup.left.newest),
        is_looking=not setup.left.is_known,
    )


def _keep(house: HouseFile, setting: MatchSetting) -> None:
    """Remember the setting of a match; where that fails, it is played all the same."""
    try:
        house.change(lambda kept: replace(kept, last=setting))
    except OSError as error:
        log.warning("how the match was begun is not kept: %s", error)


def _shown_left(left: LeftMatch | None) -> LeftShown | None:
    if left is None:
        return None
    at = datetime.fromtimestamp(left.written_s, wall_time().tzinfo)
    return LeftShown(
        game=left.game,
        players=list(names_of(left.players)),
        totals=list(left.totals),
        left_at=at.isoformat(timespec="seconds"),
    )


def _new_game(setting: MatchSetting) -> MatchPlan:
    return new_game(
        setting.game,
        tuple(f"{key}={value}" for key, value in setting.options),
        setting.players,
        tile_set=setting.tile_set,
        in_play=False,
        began=wall_time(),
        software=software(),
    )


class _Knocks:
    """Loads the classifier of knocks from the calibration of this table, whenever it is needed."""

    def __init__(self, stored: Callable[[], Path | None]) -> None:
        self._stored = stored
        self.problem: str | None = None

    def classifier(self) -> Classifier | None:
        """Return it, None for the shipped one; `problem` says why it cannot be loaded."""
        self.problem, path = None, self._stored()
        if path is None:
            return None
        try:
            knock = load_calibration(path).knock
        except (CalibrationError, OSError) as error:
            self.problem = f"The calibration is not used: {error}"
            return None
        return None if knock is None else knock.classifier()


def _kept_in(source: str, options: ServeOptions, world: Environment) -> Path:
    """Return the file that a calibration is kept in: the one that the next match uses, or would use."""
    stored = stored_for(source, options.calibration, world.environment, world.home)
    kind = source.partition(":")[0]
    name = name_of_camera(source) if is_device(source) else kind if kind == SIMULATED else USUAL
    return stored or default_path(world.environment, world.home, name)
