"""Options of `tallybone serve`, those shared with `play`, and the environment of a table."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from tallybone.choices import parse_size

if TYPE_CHECKING:
    from hardware.camera.device import CameraDevice
    from hardware.part import Clock
    from tallybone.doctor.machine import Machine
    from tallybone.terminal import StopRequest
    from vision.reader.reader import Reader


def kept_bytes(text: str) -> int:
    """Parse the value of `--keep`, and return the number of bytes."""
    try:
        return parse_size(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--keep") from None


CameraOption = Annotated[
    str | None,
    typer.Option(
        metavar="SOURCE",
        help="pi:0, usb:0, a /dev path, an http or rtsp address, simulated[:seed=1], a video, recording or folder;"
        " rotate=180, flip=yes and others follow after commas. Default: as configured.",
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", dir_okay=False, help="Configuration of camera and parts. Default: /etc/tallybone/table.toml."
    ),
]
CalibrationOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", dir_okay=False, help="Calibration file. Default: that of the camera."),
]
RecordOption = Annotated[
    str, typer.Option(metavar="DIR|none", help="Folder for recordings; auto: tallybone/sessions in the state folder.")
]
SpeedOption = Annotated[float, typer.Option(help="Speed of a video or recording; 0: as fast as possible.", min=0.0)]


def recordings_folder(record: str, environment: Mapping[str, str], home: Path) -> Path:
    """Return the folder for a value of `--record`. For "auto" and "none" it is the default folder."""
    from tallybone.recording.folder import default_folder

    return default_folder(environment, home) if record in ("auto", "none") else Path(record)


def make_recordings_folder(record: str, folder: Path) -> None:
    """Create the folder given by `--record`. The default folder is created by the first recording instead.

    Raises:
        OSError: If the folder cannot be created.
    """
    if record in ("auto", "none"):
        return
    from tallybone.files import make_folder

    make_folder(folder, "--record")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """Options of `tallybone serve`."""

    at: Annotated[
        str, typer.Option(metavar="[ADDRESS:]PORT", help="Address of the page. Default: port 8080 on all interfaces.")
    ] = ""
    camera: CameraOption = None
    config: ConfigOption = None
    calibration: CalibrationOption = None
    panel: Annotated[
        bool, typer.Option("--panel", help="Add virtual LEDs, buttons, knock sensor and display to the page.")
    ] = False
    record: RecordOption = "auto"
    keep: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE",
            parser=kept_bytes,
            help="Disk space for all recordings. Default: as set on the page, or 20GB.",
        ),
    ] = None
    fps: Annotated[float, typer.Option(help="Maximum number of images processed per second.", min=1.0, max=60.0)] = 10.0
    speed: SpeedOption = 1.0
    set_password: Annotated[
        bool, typer.Option("--set-password", help="Set the owner's password, which protects the settings, and exit.")
    ] = False


def _is_at_terminal() -> bool:
    return sys.stdout.isatty()


# Slow imports happen at first use, to keep --help fast.


def _shipped_reader(max_pips: int) -> Reader:
    from tallybone.play.start import warm_reader

    return warm_reader(max_pips)


def _plugged_in(source: str, clock: Clock) -> CameraDevice:
    from hardware.camera.open_device import open_device

    return open_device(source, clock)


def _this_machine() -> Machine:
    from tallybone.doctor.machine import this_machine

    return this_machine()


def _signals() -> AbstractContextManager[StopRequest]:
    from tallybone.terminal import stop_requested

    return stop_requested()


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Environment of a served table. Tests replace parts of it.

    Attributes:
        clock: Monotonic clock in nanoseconds.
        out: Stream for events. None for stdout.
        err: Stream for errors. None for stderr.
        is_terminal: Whether *out* is a terminal and not a log.
        load: Loads the reader for a tile set, given its highest number of pips.
        machine: Checks the computer.
        root: Folder of the system files.
        pin: PIN of every match. None for a new one each time.
        stop: Context that yields a stop request.
    """

    clock: Clock = time.monotonic_ns
    out: TextIO | None = None
    err: TextIO | None = None
    is_terminal: bool = field(default_factory=_is_at_terminal)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    home: Path = field(default_factory=Path.home)
    load: Callable[[int], Reader] = _shipped_reader
    open_device: Callable[[str, Clock], CameraDevice] = _plugged_in
    machine: Callable[[], Machine] = _this_machine
    root: Path = Path("/")
    pin: str | None = None
    stop: Callable[[], AbstractContextManager[StopRequest]] = _signals
