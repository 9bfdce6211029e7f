"""Run `cameras`, `listen`, `emulate-display`, `doctor` and `hardware test`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from tallybone.cli.app import COMMANDS, commands_of

if TYPE_CHECKING:
    from rich.console import Console

    from hardware.camera.open_device import FoundCamera, FoundCameras
    from hardware.camera.v4l2 import NodeMode
    from hardware.knock.detector import KnockDetector
    from hardware.knock.sensor import ClassifiedSound
    from hardware.table import HardwareSettings, OpensParts
    from tallybone.serve.parts_test import PartResult

_MAX_SIZES = 4
_NOTHING = """\
No camera was found. Things to try:
  USB camera      Plug it into the Raspberry Pi itself rather than a hub. `lsusb` lists it if the cable works.
  Pi camera       Power off, reseat both ends of the ribbon cable, check which side the contacts face, then run
                  `rpicam-hello --list-cameras`. A Pi 5 and a Zero need the narrow cable.
  no camera       tallybone play --camera simulated, or use a video, a recording or a folder of images.
"""

commands = commands_of()


@commands.command("cameras", help=COMMANDS["cameras"].help)
def _cameras(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per camera.")] = False,
) -> None:
    raise typer.Exit(list_cameras(as_json=as_json))


@commands.command("listen", help=COMMANDS["listen"].help)
def _listen(
    recording: Annotated[Path, typer.Argument(metavar="FILE.wav", help="Sound recorded at a table.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON per knock.")] = False,
    says_all: Annotated[bool, typer.Option("--all", help="Print every sudden sound, with its kind.")] = False,
) -> None:
    raise typer.Exit(listen(recording, as_json=as_json, says_all=says_all))


@commands.command("doctor", help=COMMANDS["doctor"].help)
def _doctor(
    *,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Default: /etc/tallybone/table.toml.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    from tallybone.doctor.examine import doctor

    raise typer.Exit(doctor(config, as_json=as_json))


hardware = commands_of(COMMANDS["hardware"].help)
commands.add_typer(hardware, name="hardware")


@hardware.callback()
def _of_hardware() -> None:
    """Make this a group, although it has only one command yet."""


@hardware.command("test", help="Test LEDs, buttons, knock sensor and displays one by one, with your help.")
def _hardware_test(
    *, config: Annotated[Path | None, typer.Option(metavar="FILE", help="Default: /etc/tallybone/table.toml.")] = None
) -> None:
    raise typer.Exit(walk_through(config))


def list_cameras(
    *,
    as_json: bool = False,
    find: Callable[[], FoundCameras] | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """List the cameras of this machine.

    Args:
        as_json: Print a line of JSON per camera instead of text.
        find: Finds cameras, by default with all drivers.
        out: Receives the list, by default stdout.
        err: Receives problems, by default stderr.

    Returns:
        The exit code: 0, or 1 if no camera was found. Problems of drivers do not change it.
    """
    from hardware.camera.open_device import find_cameras
    from tallybone.terminal import Output, quiet_libraries

    output = Output.of("cameras", out, err)
    with quiet_libraries():  # libcamera writes its version to stderr
        found = (find or find_cameras)()
    for camera in found.cameras:
        output.write(_camera_line(camera) if as_json else _camera_text(camera))
    for problem in found.problems:
        output.complain(problem)
    if not found.cameras:
        output.err.write(_NOTHING)
    return 0 if found.cameras else 1


def _camera_line(camera: FoundCamera) -> str:
    """Return a camera as one line of JSON, without a newline."""
    return json.dumps(
        {
            "url": camera.url,
            "kind": camera.kind.value,
            "name": camera.name,
            "device": None if camera.device is None else str(camera.device),
            "lasting": None if camera.lasting is None else str(camera.lasting),
            "modes": [
                {"coding": mode.coding, "width": mode.width_px, "height": mode.height_px, "per_s": list(mode.per_s)}
                for mode in camera.modes
            ],
        }
    )


def _camera_text(camera: FoundCamera) -> str:
    """Return a one-line description of a camera."""
    from hardware.camera.open_device import CameraKind
    from tallybone.terminal import printable

    where = "" if camera.device is None else f" at {camera.lasting or camera.device}"
    if camera.kind is CameraKind.PI:
        gives = "any size up to the sensor's"
    else:
        gives = "; ".join(
            _sizes(coding, tuple(modes)) for coding, modes in groupby(camera.modes, lambda one: one.coding)
        )
    return printable(f"{camera.url:<12} {camera.name}{where}: {gives or 'image sizes unknown'}")


def _sizes(coding: str, modes: tuple[NodeMode, ...]) -> str:
    """Return the largest image sizes of a coding, in descending order, with their maximum frame rates if known."""
    largest = sorted(modes, key=lambda mode: (-mode.width_px * mode.height_px, mode.width_px))
    described = [
        f"{mode.width_px}x{mode.height_px}" + (f" {max(mode.per_s):g}/s" if mode.per_s else "")
        for mode in largest[:_MAX_SIZES]
    ]
    if len(largest) > _MAX_SIZES:
        described.append(f"and {len(largest) - _MAX_SIZES} smaller")
    return f"{coding} {', '.join(described)}"


def listen(
    path: Path,
    *,
    as_json: bool = False,
    says_all: bool = False,
    detector: KnockDetector | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Print the knocks in a WAV file.

    Args:
        path: The WAV file.
        as_json: Print a line of JSON per knock instead of text.
        says_all: Print every sudden sound, with its kind.
        detector: Detects and classifies sounds, by default the shipped detector.
        out: Receives knocks, by default stdout.
        err: Receives errors, by default stderr.

    Returns:
        The exit code: 0, also if there is no knock, or 1 if the file could not be read completely.
    """
    from hardware.knock.detector import KnockDetector
    from hardware.knock.drivers.wav import read_wav, with_trailing_silence
    from hardware.knock.sensor import KnockError, Sound
    from tallybone.files import reason_of
    from tallybone.serve.parts_test import sentence
    from tallybone.terminal import Output

    output = Output.of("listen", out, err)
    detector = detector or KnockDetector()
    count = 0
    try:
        for block in with_trailing_silence(read_wav(path)):
            for heard in detector.feed(block):
                if says_all or heard.kind is Sound.KNOCK:
                    count += 1
                    output.write(_sound_line(heard) if as_json else sentence(heard))
    except BrokenPipeError:
        raise  # the reader of the output has finished
    except (OSError, KnockError) as error:
        return output.complain(f"{path}: {reason_of(error) if isinstance(error, OSError) else error}")
    if not count and not as_json:
        output.write("Nothing was heard." if says_all else "No knock was heard.")
    return 0


def _sound_line(heard: ClassifiedSound) -> str:
    """Return a sound as one line of JSON, without a newline."""
    described = {
        "t_s": round(heard.t_ns / 1e9, 4),
        "strength": round(heard.strength, 4),
        "confidence": round(heard.confidence, 4),
        "kind": heard.kind.value,
    }
    return json.dumps(described)


def walk_through(
    path: Path | None,
    *,
    opener: OpensParts | None = None,
    fd: int | None = None,
    out: TextIO | None = None,
    clock: Callable[[], int] = time.monotonic_ns,
) -> int:
    """Test the parts of a table with the person at the keyboard.

    Args:
        path: Path of table.toml. None for the default.
        opener: Opens the driver of each part. By default, opens real drivers and leaves out virtual parts.
        fd: File descriptor of the keyboard, by default stdin.
        out: Receives the text, by default stdout.
        clock: Monotonic, in nanoseconds.

    Returns:
        The exit code: 0, also if there are no parts, or 1 if a part failed or the file is invalid or cannot be read.
    """
    from rich.console import Console

    from hardware.table import HardwareSettings, PartOpener, VirtualPanel
    from tallybone.serve.parts_test import PartVerdict
    from tallybone.store.table_file import TableFileError, load_table
    from tallybone.terminal import Output

    console = Console(file=out or sys.stdout, highlight=False, soft_wrap=True)
    try:
        hardware = load_table(path).hardware
    except (TableFileError, OSError) as error:
        problems = error.problems if isinstance(error, TableFileError) else (error,)
        return Output("hardware test").complain(*problems)
    if hardware == HardwareSettings():
        console.print("table.toml configures no parts; see docs/start/wiring.md.")
        return 0
    if opener is None:
        opener = PartOpener(hardware.pins, VirtualPanel(()), clock)
        hardware = hardware.without("virtual")  # virtual parts need no test by a person
    results = _test_parts(hardware, opener, console, sys.stdin.fileno() if fd is None else fd, clock)
    _print_results(console, results)
    return 1 if any(result.outcome is PartVerdict.FAILED for result in results) else 0


def _test_parts(
    hardware: HardwareSettings, opener: OpensParts, console: Console, fd: int, clock: Callable[[], int]
) -> tuple[PartResult, ...]:
    """Test each part in turn with the person at the keyboard *fd*, and return the results."""
    from tallybone.play.keys import keyboard_on
    from tallybone.serve.parts_test import Walk, walked

    def say(text: str) -> None:
        console.file.write(text)
        console.file.flush()

    console.print("Testing one part at a time. Keys need no Enter; press q to quit.\n")
    with keyboard_on(fd) as keyboard:
        return tuple(walked(hardware, opener, Walk(keyboard, say), clock))


def _print_results(console: Console, results: Iterable[PartResult]) -> None:
    """Print a line per part: verdict in colour, name, and observation."""
    from tallybone.serve.parts_test import PartVerdict
    from tallybone.terminal import printable

    styles = {PartVerdict.WELL: "green", PartVerdict.FAILED: "bold red", PartVerdict.SKIPPED: "dim"}
    console.print()
    for result in results:
        console.print(f"{result.outcome.value:<9}", end="", style=styles[result.outcome])
        console.print(f"{result.part:<21} {printable(result.text)}", markup=False)
