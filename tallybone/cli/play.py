"""Run `tallybone play`: score a live game in a terminal."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from itertools import count
from pathlib import Path
from socket import socket
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from hardware.libraries import install_command
from tallybone.choices import TileSet
from tallybone.cli.app import OptionalPort, command, commands_of
from tallybone.cli.games import game_option
from tallybone.serve import options as serve_options

if TYPE_CHECKING:
    from hardware.table import HardwareSettings, VirtualPanel
    from tallybone.play.parts import LiveParts
    from tallybone.play.start import MatchPlan
    from tallybone.play.table import LiveTable, Page
    from tallybone.serve.health import TableSources
    from tallybone.session.session import Session
    from tallybone.sources.camera import Camera
    from tallybone.sources.source import Shot
    from tallybone.store.table_file import TableFile
    from tallybone.terminal import Output
    from vision.reader.reader import Reader


_USUAL_RULES = "bones"
_OF_A_GAME = ("calibration", "panel", "options", "players", "record", "resume", "resume_from", "serve")
"""Options that require a game."""

commands = commands_of()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayOptions:
    """Options of `tallybone play`. A resumed match keeps its rules, options, players and set."""

    camera: serve_options.CameraOption = None
    config: serve_options.ConfigOption = None
    calibration: serve_options.CalibrationOption = None
    panel: Annotated[
        bool, typer.Option("--panel", help="Show virtual LEDs, buttons, knock sensor and display in the terminal.")
    ] = False
    rules: Annotated[
        str | None,
        game_option("Game to play, by default bones; free: report the tiles without keeping score.", or_none=True),
    ] = None
    options: Annotated[
        list[str] | None, typer.Option("--options", metavar="KEY=VALUE", help="Game option (see `rules`); repeatable.")
    ] = None
    players: Annotated[str, typer.Option(metavar="ANN,BOB", help="Names, clockwise from the bottom.")] = ""
    tile_set: Annotated[TileSet, typer.Option("--set", help="Domino set; auto: the set of the game.")] = TileSet.AUTO
    record: serve_options.RecordOption = "auto"
    keep: Annotated[
        str, typer.Option(metavar="SIZE", help="Disk space for all recordings; the oldest are deleted first.")
    ] = "20GB"
    resume: Annotated[bool, typer.Option("--resume", help="Resume the newest unfinished match.")] = False
    resume_from: Annotated[
        Path | None, typer.Option(metavar="FILE.mcap", dir_okay=False, help="Resume the match of this recording.")
    ] = None
    fps: Annotated[
        float,
        typer.Option(
            help="Maximum number of images processed per second; doubled while something moves.", min=1.0, max=60.0
        ),
    ] = 10.0
    in_play: Annotated[
        bool, typer.Option("--in-play", help="Treat tiles in the first image as played, not as part of the table.")
    ] = False
    speed: serve_options.SpeedOption = 1.0
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per event.")] = False
    serve: Annotated[
        str | None,
        typer.Option(
            "--serve",
            metavar="[PORT]",
            help="Serve the scoreboard page on this port or ADDRESS:PORT. Default port: 8080.",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Validate `keep` before anything is opened."""
        serve_options.kept_bytes(self.keep)

    @property
    def folder(self) -> Path:
        """Folder of recordings."""
        return serve_options.recordings_folder(self.record, os.environ, Path.home())


@command(commands, "play", PlayOptions, cls=OptionalPort)
def _play(options: PlayOptions) -> int:
    return play(options)


def play(
    options: PlayOptions,
    *,
    reader: Reader | None = None,
    clock: Callable[[], int] = time.monotonic_ns,
    out: TextIO | None = None,
    err: TextIO | None = None,
    keys_fd: int | None = None,
) -> int:
    """Score a live game until the player quits, or the images have ended and no open question can still be answered.

    Args:
        options: Options of the command.
        reader: Reads tiles, by default the shipped reader.
        clock: Monotonic, in nanoseconds.
        out: Shows the game, by default on stdout.
        err: Receives errors, by default stderr.
        keys_fd: File descriptor of the keyboard, by default stdin.

    Returns:
        The exit code: 0, 1 if a device, file, calibration or model cannot be used, 2 if options or configuration are
        invalid.
    """
    from calibration import CalibrationError
    from engine import EngineError
    from hardware.camera.device import CameraError
    from hardware.part import ConfigError
    from tallybone.choices import OptionError
    from tallybone.sources.source import NO_GAME
    from tallybone.terminal import Output
    from vision import VisionError

    output = Output.lasting("play", out, err)
    keys_fd = sys.stdin.fileno() if keys_fd is None else keys_fd
    try:
        if options.rules == NO_GAME:
            return _follow(options, output, reader, clock)
        session = _play_match(options, output, reader, clock, keys_fd)
    except EngineError as error:
        output.complain(error)
        return 2
    except ConfigError as error:
        output.complain(*error.problems)
        return 2
    except (VisionError, CalibrationError, OSError) as error:
        needs_camera = options.camera is None and isinstance(error, CameraError) and not isinstance(error, OptionError)
        return output.complain(f"{error}; `--camera simulated` needs no camera" if needs_camera else error)
    if options.as_json:
        output.write(json.dumps({"result": _result(session)}))
    return 0


def _play_match(
    options: PlayOptions, output: Output, reader: Reader | None, clock: Callable[[], int], keys_fd: int
) -> Session:
    """Play a match until it ends as described in `play`, and return the final session."""
    from tallybone.play.display import display_for
    from tallybone.play.keys import keyboard_on
    from tallybone.terminal import quiet_libraries, stop_requested

    console = output.console
    has_terminal = console.is_terminal and os.isatty(keys_fd) and not options.as_json
    with ExitStack() as stack:
        table, panel = stack.enter_context(_table(options, reader, clock))
        stop = stack.enter_context(stop_requested())
        keyboard = stack.enter_context(keyboard_on(keys_fd))
        shown = stack.enter_context(display_for(console, output, clock, as_json=options.as_json, panel=panel))
        # Library messages on stderr would corrupt the drawn scoreboard.
        with quiet_libraries() if console.is_terminal else nullcontext():
            table.run(shown, keyboard, lambda: stop.is_requested, has_terminal=has_terminal)
    return table.session


def _follow(options: PlayOptions, output: Output, reader: Reader | None, clock: Callable[[], int]) -> int:
    """Report tiles without a game, and return the exit code."""
    from engine import OptionsError
    from tallybone.play.start import open_camera
    from tallybone.store.table_file import USUAL_CAMERA, load_table
    from vision.reader.reader import load_reader

    for field in fields(options):
        if field.name in _OF_A_GAME and getattr(options, field.name) not in (field.default, "none"):
            name = field.name.replace("_", "-")
            raise OptionsError([f"--{name} needs a game, and --rules free keeps no score: omit it"])
    source = options.camera or load_table(options.config).camera or USUAL_CAMERA
    # A simulated table plays the default game; real cameras ignore it.
    camera, _ = open_camera(source, _game(replace(options, rules=None)), clock, speed=options.speed)
    with closing(camera):
        return follow(
            camera,
            reader or load_reader(options.tile_set.max_pips),
            output,
            is_in_play=options.in_play,
            max_per_s=options.fps,
            as_json=options.as_json,
        )


@contextmanager
def _table(
    options: PlayOptions, reader: Reader | None, clock: Callable[[], int]
) -> Iterator[tuple[LiveTable, VirtualPanel]]:
    """Open camera, parts and page, yield the live table of a match and its virtual panel, and close them at the end."""
    from tallybone.play.parts import open_parts
    from tallybone.play.recorder import RecordingQuota
    from tallybone.play.start import open_camera, set_up, warm_reader
    from tallybone.play.table import LiveTable, TableParts
    from tallybone.sources.camera import PlayedCamera
    from tallybone.store.table_file import USUAL_CAMERA, load_table

    at_table = load_table(options.config)
    game = _game(options)
    serve_options.make_recordings_folder(options.record, options.folder)
    with ExitStack() as stack:
        # Opened before the camera, to report a port in use immediately.
        listening = None if options.serve is None else stack.enter_context(_listening(options.serve))
        source = options.camera or at_table.camera or USUAL_CAMERA
        camera, game = open_camera(source, game, clock, speed=options.speed)
        stack.callback(camera.close)
        match = set_up(
            game,
            camera,
            source=source,
            calibration=options.calibration,
            environment=os.environ,
            home=Path.home(),
            reader=reader or warm_reader(game.max_pips),
        )
        seats = len(match.game.start.players)
        parts = open_parts(at_table.hardware, seats=seats, clock=clock, has_panel=options.panel)
        stack.callback(parts.close)
        sources = _sources(options, source, camera, parts, at_table.hardware, clock)
        around = TableParts(
            camera=camera,
            parts=parts,
            page=stack.enter_context(open_page(listening, sources, at_table)),
            clock=clock,
            room=None
            if options.record == "none"
            else RecordingQuota(options.folder, serve_options.kept_bytes(options.keep)),
            max_per_s=options.fps,
            counts=sources.counts,
            # Keep serving, so the result of a simulated match stays visible on the page.
            is_endless=listening is not None and isinstance(camera, PlayedCamera),
        )
        yield LiveTable(match, around), parts.panel


def _sources(
    options: PlayOptions,
    source: str,
    camera: Camera,
    parts: LiveParts,
    hardware: HardwareSettings,
    clock: Callable[[], int],
) -> TableSources:
    """Return the data sources for `/health` and `/metrics`, with counts starting at 0."""
    from hardware.camera.network import without_user
    from hardware.camera.open_device import is_device
    from tallybone.doctor.machine import this_machine
    from tallybone.play.counts import Counts
    from tallybone.serve.health import TableSources, camera_found

    name = without_user(source)
    return TableSources(
        source=name,
        camera=lambda: camera_found(name, camera.problem),
        hardware=hardware,
        problems=lambda: parts.problems,
        folder=options.folder,
        machine=this_machine,
        clock=clock,
        counts=Counts(),
        is_silent=lambda: not is_device(source),
    )


def _game(options: PlayOptions) -> MatchPlan:
    from engine import EngineError
    from tallybone.clock import software, wall_time
    from tallybone.play.start import new_game, resumed_game
    from tallybone.sources.source import parse_players

    if options.resume or options.resume_from is not None:
        if options.rules or options.options or options.players or options.tile_set is not TileSet.AUTO:
            raise EngineError("a match that goes on keeps its rules, options, players and set: omit them")
        return resumed_game(options.resume_from, options.folder, began=wall_time(), software=software())
    return new_game(
        options.rules or _USUAL_RULES,
        tuple(options.options or ()),
        parse_players(options.players),
        tile_set=options.tile_set,
        in_play=options.in_play,
        began=wall_time(),
        software=software(),
    )


def _result(session: Session) -> dict[str, Any]:
    """Return the totals, the winner and the open question, for JSON. The last two may be None."""
    game = session.state.game
    players = () if game is None else game.players
    totals = {} if game is None else dict(zip(players, game.totals, strict=True))
    winner = None if game is None or game.winner is None else players[game.winner]
    asked = session.open_question
    return {"totals": totals, "winner": winner, "question": None if asked is None else asked.text}


def _listening(where: str) -> socket:
    try:
        from tallybone.web.access.serving import listen_on
    except ModuleNotFoundError as error:
        raise _not_installed(error) from error
    return listen_on(where)


def _not_installed(error: ModuleNotFoundError) -> OSError:
    return OSError(f"a page needs {error.name}, which is not installed: {install_command('web')}")


@contextmanager
def open_page(where: str | socket | None, table: TableSources, table_file: TableFile | None = None) -> Iterator[Page]:
    """Serve a page until the end of the block.

    Args:
        where: Port or ADDRESS:PORT, "" for the default port on all interfaces, a listening socket, or None for no page.
        table: Data sources for `/health`, `/metrics` and recordings.
        table_file: Configuration with host names, brokers and webhooks. None for the defaults.

    Raises:
        OSError: If the address cannot be used, or a library for the page is not installed.
    """
    from tallybone.play.counts import PipelineStage
    from tallybone.play.table import NoPage
    from tallybone.store.table_file import TableFile

    if where is None:
        yield NoPage()
        return
    try:
        from tallybone.notify.notifying import telling
        from tallybone.serve.metrics import Observing
        from tallybone.web.access.visitors import KnownHosts
        from tallybone.web.live.feed import LiveFeed
        from tallybone.web.live.page import LivePage
        from tallybone.web.recordings.routes import recording_pages
    except ModuleNotFoundError as error:
        raise _not_installed(error) from error
    table_file = table_file or TableFile()
    feed = LiveFeed(table.clock, table.counts.times[PipelineStage.PAGE])
    observing = Observing(feed, table)
    health = observing.health
    page = LivePage(
        where,
        table.clock,
        feed=feed,
        hosts=KnownHosts(table_file.page.names),
        more=lambda access: (*observing.routes, *recording_pages(table.folder, access)),
    )
    try:
        beyond = table_file.beyond
        with telling(beyond, feed, lambda: health.now().findings, lambda: page.url) as found, health.watching():
            health.also_ask(found)
            yield page
    finally:
        page.close()


_WAIT_S = 0.01


def follow(camera: Camera, reader: Reader, output: Output, *, is_in_play: bool, max_per_s: float, as_json: bool) -> int:
    """Report every tile that is placed, moved or removed, until the images end or the program is stopped.

    Nothing is recorded; use `tallybone replay --record` to record images and videos.

    Args:
        camera: Source of images.
        reader: Reads the tiles in them.
        output: Receives results and errors.
        is_in_play: Report the tiles in the first image as placed, instead of as part of the table.
        max_per_s: Maximum number of images processed per second. It doubles while something moves.
        as_json: Print a line of JSON per change and one with the result, instead of text.

    Returns:
        The exit code, always 0.
    """
    from tallybone.play.game import News
    from tallybone.replay.lines import Tally, clock_time, narrator_for
    from tallybone.replay.run import ReplayStep
    from tallybone.sources.camera import FrameLimiter
    from tallybone.terminal import stop_requested
    from vision import VisionError
    from vision.tracking.perception import Perception, Start
    from vision.tracking.watch import Watch

    tally, news, narrate = Tally(), News(), narrator_for(has_game=False, as_json=as_json)
    watch = Watch(Perception(reader, Start.IN_PLAY if is_in_play else Start.EMPTY))
    limiter, numbers, begins_ns, is_moving = FrameLimiter(max_per_s), count(), None, False
    with stop_requested() as stop:
        shots = _shots(camera, output.complain, lambda: stop.is_requested, lambda: limiter.due_ns(is_moving=is_moving))
        for shot in shots:
            if not limiter.is_due(shot.t_ns, is_moving=is_moving):
                continue
            try:
                view = watch.feed(shot.frame)
            except (VisionError, OSError) as error:
                output.complain(error)
                continue
            is_moving = not view.is_settled
            begins_ns = shot.t_ns if begins_ns is None else begins_ns
            seen = ReplayStep(shot.t_ns, shot.t_ns - begins_ns, shot.name or str(next(numbers)), view)
            tally.add(seen)
            # Images of a camera have no names; use the time instead.
            for line in narrate(replace(seen, frame=shot.name or clock_time(seen.since_ns)), news.of(view)):
                output.write(line)
    output.write(json.dumps({"result": tally.result}) if as_json else tally.text)
    return 0


def _shots(
    camera: Camera, complain: Callable[[str], object], is_stopped: Callable[[], bool], due_ns: Callable[[], int]
) -> Iterator[Shot]:
    """Yield the images that are due, until the last one or a stop."""
    # Report a problem of the camera only when it changes.
    from tallybone.sources.source import Shot

    problem, waiting = None, Event()
    while not is_stopped():
        given = camera.take(due_ns())
        if camera.problem is not None and camera.problem != problem:
            complain(camera.problem)
        problem = camera.problem
        if isinstance(given, Shot):
            yield given
        elif given is None and camera.is_over:
            return
        elif given is None:
            waiting.wait(_WAIT_S)
