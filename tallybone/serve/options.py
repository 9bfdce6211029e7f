"""Define the options of `tallybone serve`, those that it shares with `play`, and the surroundings of a table."""

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
    from hardware.clock import Clock
    from tallybone.doctor.machine import Machine
    from tallybone.terminal import StopRequest
    from vision.reader.reader import Reader


def kept_bytes(text: str) -> int:
    """Return the size of `--keep`, in bytes."""
    try:
        return parse_size(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--keep") from None


CameraOption = Annotated[
    str | None,
    typer.Option(
        metavar="SOURCE",
        help="pi:0, usb:0, a /dev path, simulated[:seed=1], a video, recording or folder; else as configured.",
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", dir_okay=False, help="Camera and parts; else /etc/tallybone/table.toml."),
]
CalibrationOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", dir_okay=False, help="Where the zones are (calibrate); else the camera's own."),
]
RecordOption = Annotated[
    str, typer.Option(metavar="DIR|none", help="Where recordings go; auto: tallybone/sessions in the state folder.")
]
SpeedOption = Annotated[
    float, typer.Option(help="Pace of a video or recording; 0: as fast as it can be read.", min=0.0)
]


def recordings_folder(record: str, environment: Mapping[str, str], home: Path) -> Path:
    """Return the folder that `--record` means; `none` means no recording, and the usual folder."""
    from tallybone.recording.folder import default_folder

    return default_folder(environment, home) if record in ("auto", "none") else Path(record)


def make_recordings_folder(record: str, folder: Path) -> None:
    """Make the folder that `--record` names. The usual one is made by the first recording, which may wait for a disk.

    Raises:
        OSError: If it cannot be made.
    """
    if record in ("auto", "none"):
        return
    from tallybone.files import make_folder

    make_folder(folder, "--record")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What a table that is always on is asked for."""

    at: Annotated[
        str, typer.Option(metavar="[ADDRESS:]PORT", help="Where the page is; else port 8080 of the whole network.")
    ] = ""
    camera: CameraOption = None
    config: ConfigOption = None
    calibration: CalibrationOption = None
    panel: Annotated[
        bool, typer.Option("--panel", help="Have virtual LEDs, buttons, knock sensor and display besides.")
    ] = False
    record: RecordOption = "auto"
    keep: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE",
            parser=kept_bytes,
            help="What all recordings may take; else as set on the page, or 20GB.",
        ),
    ] = None
    fps: Annotated[float, typer.Option(help="Most pictures a second that are looked at.", min=1.0, max=60.0)] = 10.0
    speed: SpeedOption = 1.0
    set_password: Annotated[
        bool, typer.Option("--set-password", help="Ask for a new owner's password, which settings need; serve nothing.")
    ] = False


def _is_at_terminal() -> bool:
    return sys.stdout.isatty()


# Slow imports are made at their first use: help is quick.


def _shipped_reader(max_pips: int) -> Reader:
    from vision.reader.reader import load_reader

    return load_reader(max_pips)


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
    """The surroundings of a served table; tests give their own.

    Attributes:
        clock: Monotonic, in nanoseconds.
        out: Where events are printed; None for stdout.
        err: Where errors go; None for stderr.
        is_terminal: Whether somebody reads *out*, and no log keeps it.
        environment: The variables that name the folder of the state.
        home: The user's folder.
        load: Returns the reader of a set's tiles by its highest double.
        open_device: Opens a camera that is plugged in.
        machine: Checks the computer.
        pin: Of every match; None for a new one each time.
        stop: Yields whether the program has to end.
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
    pin: str | None = None
    stop: Callable[[], AbstractContextManager[StopRequest]] = _signals
