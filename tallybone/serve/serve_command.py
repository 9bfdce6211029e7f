"""`tallybone serve`: a table that is always on, with its page from start to end, whether or not a match is played."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from rich.console import Console

from hardware.camera.open_device import open_device
from hardware.config.errors import ConfigError
from tallybone.doctor.machine import Machine, this_machine
from tallybone.play.display import PlainDisplay
from tallybone.recording.folder import default_folder
from tallybone.serve.camera import OpenDevice
from tallybone.serve.systemd import notifying
from tallybone.sources.camera import Clock
from tallybone.store.house import OWNER_NAME, PasswordError, set_password
from tallybone.terminal import Told, printable, told_to_end
from vision.reader import Reader, load_reader


def _is_at_terminal() -> bool:
    return sys.stdout.isatty()


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What a served table takes from around it; tests give their own.

    Attributes:
        clock: Monotonic, in nanoseconds.
        out: Where it says what happens; None for stdout.
        err: Where errors go; None for stderr.
        is_terminal: Whether somebody reads what it says there, and no log keeps it.
        environment: Says where state is kept.
        home: The user's folder.
        load: Gives what reads tiles of a set by its highest double.
        open_device: Opens a camera that is plugged in.
        machine: Looks at the computer.
        pin: Of every match; None for a new one each time.
        told: Says whether the program is told to end.
    """

    clock: Clock = time.monotonic_ns
    out: TextIO | None = None
    err: TextIO | None = None
    is_terminal: bool = field(default_factory=_is_at_terminal)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    home: Path = field(default_factory=Path.home)
    load: Callable[[int], Reader] = load_reader
    open_device: OpenDevice = open_device
    machine: Callable[[], Machine] = this_machine
    pin: str | None = None
    told: Callable[[], AbstractContextManager[Told]] = told_to_end


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeWishes:
    """What a table that is always on is asked for.

    Attributes:
        at: Where its page is: a port, or address and port; "" for the usual port of the whole network.
        camera: What looks at the table, as `live_start.open_camera` takes it; None for what *config* says.
        config: The file table.toml; None for the usual one, if it is there.
        calibration: The file that says where the zones are; None for the stored one of the camera, if there is one.
        has_panel: Whether there are virtual parts: LEDs, buttons, a knock sensor and a display.
        folder: Where recordings go; None for the user's own.
        is_recorded: Whether matches are recorded.
        keep_bytes: What all recordings may take; None for what was set on the page, or 20 GB.
        most_per_s: Most pictures a second that are looked at.
        speed: Pace of what was filmed before.
    """

    at: str = ""
    camera: str | None = None
    config: Path | None = None
    calibration: Path | None = None
    has_panel: bool = False
    folder: Path | None = None
    is_recorded: bool = True
    keep_bytes: int | None = None
    most_per_s: float = 10.0
    speed: float = 1.0


def keep_password(password: str, world: World | None = None) -> int:
    """Keep the owner's password of the table; return the exit code, 0 or 1 if it cannot be kept."""
    world = world or World()
    path = default_folder(world.environment, world.home).parent / OWNER_NAME
    try:
        set_password(password, path)
    except (PasswordError, OSError) as error:
        Console(file=world.err or sys.stderr).print(f"tallybone serve: {printable(str(error))}", markup=False)
        return 1
    Console(file=world.out or sys.stdout, highlight=False).print(f"The password is kept in {path}.", markup=False)
    return 0


def serve(wishes: ServeWishes, world: World | None = None) -> int:
    """Serve a table until the program is told to end.

    Returns:
        The exit code: 0, 1 if something was not to be had, 2 if the configuration is wrong.
    """
    world = world or World()
    console = Console(file=world.out or sys.stdout, highlight=False)
    complaints = Console(file=world.err or sys.stderr, stderr=True)

    def complain(words: str) -> None:
        complaints.print(f"tallybone serve: {printable(words)}", markup=False, highlight=False, soft_wrap=True)

    try:
        from tallybone.serve.setup import open_table
    except ModuleNotFoundError as error:
        complain(f"a page needs {error.name}, which is not installed: pip install 'tallybone[web]'")
        return 1
    try:
        with (
            world.told() as told,
            open_table(wishes, world) as table,
            notifying(world.environment, world.clock, os.getpid()) as notifier,
        ):
            shown = PlainDisplay(console)
            shown.note(table.words)
            life = table.life(notifier)

            def is_stopped() -> bool:
                life.turn()  # it is asked each time the table's loop goes round
                return told.is_told

            table.run(shown, is_stopped)
    except ConfigError as error:
        for problem in error.problems:
            complain(problem)
        return 2
    except OSError as error:
        complain(str(error))
        return 1
    return 0
