"""`tallybone play`: a live game in a terminal, from a camera to the score."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console

from calibration.errors import CalibrationError
from engine import EngineError
from hardware.config.config import HardwareConfig
from hardware.config.errors import ConfigError
from tallybone.choices import TileSet
from tallybone.clock import software, wall_time
from tallybone.doctor.machine import this_machine
from tallybone.play.calibrated import Used
from tallybone.play.counts import CountedCamera, Counts, Stage
from tallybone.play.display import display_for
from tallybone.play.keys import keyboard_on
from tallybone.play.parts import LiveParts, PressingCamera, open_parts
from tallybone.play.recorder import Room
from tallybone.play.start import Game, game_that_goes_on, new_game, open_camera, with_calibration, with_own_tiles
from tallybone.play.table import Around, LiveTable, NoPage, Page
from tallybone.recording.folder import KEEP_BYTES, default_folder
from tallybone.serve.health import LookedAfter, LookedThrough
from tallybone.session.session import Session
from tallybone.sources.camera import Clock
from tallybone.store.table_file import USUAL_CAMERA, BeyondSettings, load_table
from tallybone.terminal import printable, quiet_libraries, told_to_end
from vision.errors import VisionError
from vision.reader import Reader, load_reader

_NOBODY = BeyondSettings()

_USUAL_RULES = "bones"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What a live game is asked for.

    Attributes:
        camera: What looks at the table, as `live_start.open_camera` takes it; None for what *config* says.
        config: The file table.toml; None for the usual one, if it is there.
        calibration: The file that says where the zones are; None for the stored one of the camera, if there is one.
        has_panel: Whether there are virtual parts: LEDs, buttons, a knock sensor and a display.
        rules: Name of the game, None for bones; with a match that goes on it is as it was, and so are the next three.
        options: What is agreed otherwise, each key=value.
        players: Their names by seat; none for as many as the game needs.
        tile_set: The set on the table, AUTO for that of the game.
        folder: Where recordings go; None for the user's own.
        is_recorded: Whether there is one.
        keep_bytes: What all recordings in the folder may take.
        goes_on: Whether the newest match that is not over goes on.
        goes_on_with: The recording whose match goes on instead.
        in_play: Whether the table is not empty at first.
        most_per_s: Most pictures a second that are looked at while nothing moves; twice as many while something does.
        speed: Pace of what was filmed before; 0 for as fast as it can be looked at.
        as_json: Print lines of JSON.
        serve: Where a page is served: a port, or address and port; "" for the usual port, None for no page.
    """

    camera: str | None = None
    config: Path | None = None
    calibration: Path | None = None
    has_panel: bool = False
    rules: str | None = None
    options: tuple[str, ...] = ()
    players: tuple[str, ...] = ()
    tile_set: TileSet = TileSet.AUTO
    folder: Path | None = None
    is_recorded: bool = True
    keep_bytes: int = KEEP_BYTES
    goes_on: bool = False
    goes_on_with: Path | None = None
    in_play: bool = False
    most_per_s: float = 10.0
    speed: float = 1.0
    as_json: bool = False
    serve: str | None = None


def play(
    wishes: Wishes,
    *,
    reader: Reader | None = None,
    clock: Clock = time.monotonic_ns,
    out: TextIO | None = None,
    err: TextIO | None = None,
    keys_fd: int | None = None,
) -> int:
    """Play a live game until it is left, or the pictures end.

    Args:
        wishes: What is played, and how.
        reader: What reads tiles, by default the shipped one.
        clock: Monotonic, in nanoseconds.
        out: Where the game is shown, by default stdout.
        err: Where errors go, by default stderr.
        keys_fd: Where keys come from, by default stdin.

    Returns:
        The exit code: 0, 1 if something was not to be had, 2 if nothing can be played so.
    """
    console, complaints = Console(file=out or sys.stdout, highlight=False), Console(file=err or sys.stderr, stderr=True)

    def complain(words: str) -> None:
        complaints.print(f"tallybone play: {printable(words)}", markup=False, highlight=False, soft_wrap=True)

    try:
        at_table = load_table(wishes.config)
        game = _game(wishes)
        with ExitStack() as stack:
            source = wishes.camera or at_table.camera or USUAL_CAMERA
            camera, game = open_camera(source, game, clock, speed=wishes.speed)
            stack.callback(camera.close)
            game, used = with_calibration(
                game, camera, source, wishes.calibration, environment=os.environ, home=Path.home()
            )
            game, eye, said = with_own_tiles(game, used, reader or load_reader(game.max_pips))
            parts = _parts(at_table.hardware, wishes, game, clock, used)
            stack.callback(parts.close)
            counts = Counts()
            looked_after = LookedAfter(
                camera=lambda: LookedThrough(source, source, camera.problem),
                hardware=at_table.hardware,
                problems=lambda: parts.problems,
                folder=_folder(wishes),
                machine=this_machine,
                clock=clock,
                counts=counts,
            )
            page = stack.enter_context(open_page(wishes.serve, looked_after, at_table.beyond))
            around = Around(
                camera=page.looking_through(CountedCamera(PressingCamera(camera, parts), counts)),
                parts=parts,
                page=page,
                clock=clock,
                reader=eye,
                room=Room(_folder(wishes), wishes.keep_bytes) if wishes.is_recorded else None,
                most_per_s=wishes.most_per_s,
                counts=counts,
            )
            table = LiveTable(game, around, (*used.words, *said))
            told = stack.enter_context(told_to_end())
            keyboard = stack.enter_context(keyboard_on(_stdin() if keys_fd is None else keys_fd))
            shown = stack.enter_context(
                display_for(console, complaints, clock, as_json=wishes.as_json, panel=parts.panel)
            )
            # What libraries write to stderr would spoil a board that is drawn there.
            with quiet_libraries() if console.is_terminal else nullcontext():
                table.run(shown, keyboard, lambda: told.is_told)
    except EngineError as error:
        complain(str(error))
        return 2
    except ConfigError as error:
        for problem in error.problems:
            complain(problem)
        return 2
    except (VisionError, CalibrationError, OSError) as error:
        complain(str(error))
        return 1
    if wishes.as_json:
        console.file.write(json.dumps({"result": _result(table.session)}) + "\n")
    return 0


def _game(wishes: Wishes) -> Game:
    if wishes.goes_on or wishes.goes_on_with is not None:
        if wishes.rules or wishes.options or wishes.players or wishes.tile_set is not TileSet.AUTO:
            raise EngineError("a match that goes on keeps its rules, options, players and set: leave them away")
        return game_that_goes_on(wishes.goes_on_with, _folder(wishes), began=wall_time(), software=software())
    return new_game(
        wishes.rules or _USUAL_RULES,
        wishes.options,
        wishes.players,
        tile_set=wishes.tile_set,
        in_play=wishes.in_play,
        began=wall_time(),
        software=software(),
    )


def _parts(config: HardwareConfig, wishes: Wishes, game: Game, clock: Clock, used: Used) -> LiveParts:
    knock = used.calibration.knock
    classifier = None if knock is None else knock.classifier()
    seats = len(game.start.players)
    return open_parts(config, seats=seats, clock=clock, has_panel=wishes.has_panel, classifier=classifier)


def _folder(wishes: Wishes) -> Path:
    return default_folder(os.environ, Path.home()) if wishes.folder is None else wishes.folder


def _stdin() -> int:
    return sys.stdin.fileno()


def _result(session: Session) -> dict[str, Any]:
    """Return how the game stands, for JSON."""
    game = session.state.game
    players = () if game is None else game.players
    totals = {} if game is None else dict(zip(players, game.totals, strict=True))
    winner = None if game is None or game.winner is None else players[game.winner]
    asked = session.open_question
    return {"totals": totals, "winner": winner, "question": None if asked is None else asked.words}


@contextmanager
def open_page(where: str | None, table: LookedAfter, beyond: BeyondSettings = _NOBODY) -> Iterator[Page]:
    """Serve a page until the game is over; None for no page.

    Args:
        where: A port, or an address and a port; "" for the usual port of the whole network.
        table: What its `/health` and `/metrics` say, and whose recordings it shows.
        beyond: Who else is told what it shows.

    Raises:
        OSError: If it cannot be served there, or what serves it is not installed.
    """
    if where is None:
        yield NoPage()
        return
    try:
        from tallybone.notify.notifying import telling
        from tallybone.serve.metrics import MeasuredHub, Observing
        from tallybone.web.live_page import LivePage
        from tallybone.web.recordings import recording_pages
    except ModuleNotFoundError as error:
        words = f"a page needs {error.name}, which is not installed: pip install 'tallybone[web]'"
        raise OSError(words) from error
    hub = MeasuredHub(table.clock, table.counts.times[Stage.PAGE])
    observing, recordings = Observing(hub, table), recording_pages(table.folder)
    health = observing.health
    page = LivePage(where, table.clock, hub=hub, more=lambda access: (*observing.routes, *recordings(access)))
    try:
        with telling(beyond, hub, lambda: health.now().findings) as found:
            health.also_ask(found)
            yield page
    finally:
        page.close()
