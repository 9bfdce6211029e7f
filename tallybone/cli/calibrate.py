"""Define the `calibrate` commands."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from calibration.lens.lens import PiCamera
from calibration.sheets.prints import Paper
from tallybone.choices import TileSet
from tallybone.cli.app import COMMANDS, OptionalPort, command, commands_of

commands, calibrate_app = commands_of(), commands_of(COMMANDS["calibrate"].help)
commands.add_typer(calibrate_app, name="calibrate")

_NAME = re.compile(r"[\w-]{1,40}", re.ASCII)
_Outline = tuple[tuple[float, float], ...]
_Annotate = Annotated[
    Path | None, typer.Option(metavar="DIR", file_okay=False, help="Write the annotated image to this folder.")
]
CalibrationNameOption = Annotated[
    str,
    typer.Option("--camera", metavar="NAME", help="Calibration to use: a name, or a camera such as usb:0."),
]
FileOption = Annotated[
    Path | None, typer.Option("--file", metavar="FILE", help="Calibration file. Default: in the state folder.")
]


@calibrate_app.command("print")
def _print(
    *,
    out: Annotated[Path, typer.Option(metavar="FILE.pdf", help="PDF file to write.")],
    paper: Annotated[Paper, typer.Option(help="Paper size.")] = Paper.A4,
    players: Annotated[int, typer.Option(help="Seats on the mat.", min=2, max=4)] = 4,
) -> None:
    """Write a PDF with corner blocks, the lens board and a mat of nine sheets."""
    from tallybone.calibrate.lens_and_table import print_sheets

    raise typer.Exit(print_sheets(out, paper=paper, players=players))


@calibrate_app.command("lens")
def _lens(
    pictures: Annotated[
        list[Path], typer.Argument(metavar="PICTURE", help="Images of the printed board in different positions.")
    ],
    *,
    known: Annotated[
        PiCamera | None, typer.Option(help="Use the known lens of this Pi camera; one image gives the size.")
    ] = None,
    camera: CalibrationNameOption = "table",
    file: FileOption = None,
) -> None:
    """Calibrate the lens from 8 to 20 images of the board, and list missing views."""
    from tallybone.calibrate.lens_and_table import calibrate_lens

    raise typer.Exit(calibrate_lens(pictures, path_of(file, camera), known=known))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """Options of `calibrate table`."""

    picture: Annotated[
        Path, typer.Argument(metavar="PICTURE", help="Image of the table with corner blocks, mat or tiles.")
    ]
    tile: Annotated[str | None, typer.Option(metavar="LxW", help="Size of a tile in mm, such as 48x24.")] = None
    thickness: Annotated[float, typer.Option(help="Thickness of a tile in mm.", min=0, max=50)] = 10.0
    ruler: Annotated[
        float, typer.Option(help="Measured length of the printed 100 mm line, in mm.", min=50, max=200)
    ] = 100.0
    corners: Annotated[
        str | None,
        typer.Option(metavar="X,Y X,Y X,Y X,Y", help="Corners of the table in the image, clockwise from the top left."),
    ] = None
    size: Annotated[str | None, typer.Option(metavar="WxD", help="Width and depth between these corners, in mm.")] = (
        None
    )
    camera: CalibrationNameOption = "table"
    file: FileOption = None


@command(calibrate_app, "table", TableOptions)
def _table(options: TableOptions) -> int:
    """Measure the position of the table from one image."""
    from tallybone.calibrate.lens_and_table import TableGiven, calibrate_table

    if (options.corners is None) != (options.size is None):
        raise typer.BadParameter("--corners and --size must be given together")
    given = TableGiven(
        pair_of(options.tile, "--tile"),
        options.thickness,
        options.ruler,
        _corners(options.corners),
        pair_of(options.size, "--size"),
    )
    return calibrate_table(options.picture, path_of(options.file, options.camera), given)


@calibrate_app.command("set")
def _set(
    pictures: Annotated[
        list[Path],
        typer.Argument(metavar="PICTURE", help="Image of your set, face up in any order; complete if possible."),
    ],
    *,
    tile_set: Annotated[TileSet, typer.Option("--set", help="Domino set.")] = TileSet.AUTO,
    tiles: Annotated[
        str, typer.Option(metavar="N=A-B ...", help="Correct pips of misread tiles, by their number.")
    ] = "",
    annotate: Annotated[
        Path | None,
        typer.Option(metavar="DIR", file_okay=False, help="Write the image with numbered tiles to this folder."),
    ] = None,
    camera: CalibrationNameOption = "table",
    file: FileOption = None,
) -> None:
    """Adapt the pip classifier to your own tiles, from one or more images of them."""
    from tallybone.calibrate.tile_set import calibrate_set, parse_tiles

    try:
        labels = parse_tiles(tiles)
    except ValueError as error:
        raise typer.BadParameter(f"--tiles: {error}") from None
    into = path_of(file, camera)
    raise typer.Exit(calibrate_set(pictures, into, tile_set=tile_set, hand_labels=labels, annotate_into=annotate))


@calibrate_app.command("forget")
def _forget(*, camera: CalibrationNameOption = "table", file: FileOption = None) -> None:
    """Forget the last tile learned from a correction in a match."""
    from tallybone.calibrate.tile_set import forget_tile

    raise typer.Exit(forget_tile(path_of(file, camera)))


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideOptions:
    """Options of `calibrate guide`."""

    camera: Annotated[
        str, typer.Option(metavar="SOURCE", help="pi:0, usb:0, a /dev path, or `simulated` for testing.")
    ] = "usb:0"
    seats: Annotated[int | None, typer.Option(help="Number of seats. Default: as stored, or 4.", min=2, max=4)] = None
    tile: Annotated[str | None, typer.Option(metavar="LxW", help="Size of a tile in mm, such as 48x24.")] = None
    thickness: Annotated[float, typer.Option(help="Thickness of a tile in mm.", min=0, max=50)] = 10.0
    ruler: Annotated[
        float, typer.Option(help="Measured length of the printed 100 mm line, in mm.", min=50, max=200)
    ] = 100.0
    mic: Annotated[
        str | None, typer.Option(metavar="NAME", help="Also calibrate knocks: part of the microphone's name, or any.")
    ] = None
    serve: Annotated[
        str | None,
        typer.Option(
            "--serve",
            metavar="[PORT]",
            help="Serve the guide as a page on this port or ADDRESS:PORT. Default port: 8080.",
        ),
    ] = None
    file: FileOption = None


@command(calibrate_app, "guide", GuideOptions, cls=OptionalPort)
def _guide(options: GuideOptions) -> int:
    """Calibrate lens, table, zones, light, tiles and knocks step by step. Earlier results are kept."""
    from hardware.camera.open_device import is_device
    from tallybone.calibrate.guide.course import GuideSettings
    from tallybone.calibrate.lens_and_table import TableGiven
    from tallybone.cli.calibrate_guide import PageAt, guide_through

    is_simulated = options.camera.partition(":")[0] == "simulated"
    name = options.camera if is_device(options.camera) else "simulated" if is_simulated else "table"
    given = TableGiven(pair_of(options.tile, "--tile"), options.thickness, options.ruler)
    settings = GuideSettings(
        options.camera,
        path_of(options.file, name),
        options.seats,
        given,
        options.mic,
        asks_always=options.serve is not None,
    )
    return guide_through(settings, page_at=None if options.serve is None else PageAt(options.serve))


@dataclass(frozen=True, slots=True, kw_only=True)
class ZonesOptions:
    """Options of `calibrate zones`."""

    picture: Annotated[
        Path | None, typer.Argument(metavar="[PICTURE]", help="Image of the table, for --annotate.", show_default=False)
    ] = None
    seats: Annotated[int | None, typer.Option(help="Number of seats. Default: as stored, or 4.", min=2, max=4)] = None
    size: Annotated[
        str | None, typer.Option(metavar="WxD", help="Width and depth of the table in mm, without corner blocks.")
    ] = None
    boneyard: Annotated[str | None, typer.Option(metavar="X,Y X,Y ...", help="Corners of the boneyard, in mm.")] = None
    layout: Annotated[
        str | None, typer.Option(metavar="X,Y X,Y ...", help="Corners of the area for played tiles, in mm.")
    ] = None
    seat: Annotated[list[str] | None, typer.Option(metavar="N:X,Y X,Y ...", help="The zone of seat N; repeatable.")] = (
        None
    )
    annotate: _Annotate = None
    camera: CalibrationNameOption = "table"
    file: FileOption = None


@command(calibrate_app, "zones", ZonesOptions)
def _zones(options: ZonesOptions) -> int:
    """Define the zones of boneyard, layout and open hands: from the mat, the corner blocks or the options."""
    from tallybone.calibrate.stored import ZonesGiven, calibrate_zones

    if options.annotate is not None and options.picture is None:
        raise typer.BadParameter("--annotate needs PICTURE, an image of the table")
    given = ZonesGiven(
        options.seats,
        pair_of(options.size, "--size"),
        None if options.boneyard is None else _outline(options.boneyard, "--boneyard"),
        None if options.layout is None else _outline(options.layout, "--layout"),
        tuple(_seat(text) for text in options.seat or ()),
    )
    return calibrate_zones(
        path_of(options.file, options.camera), given, picture=options.picture, annotate=options.annotate
    )


@calibrate_app.command("light")
def _light(
    source: Annotated[
        str | None, typer.Argument(metavar="[PICTURE]", help="Image of the table, or a camera. Default: --camera.")
    ] = None,
    *,
    annotate: _Annotate = None,
    camera: CalibrationNameOption = "table",
    file: FileOption = None,
) -> None:
    """Fix exposure and white balance, and report glare or darkness that hides pips (exit code 1)."""
    from tallybone.calibrate.lens_and_table import calibrate_light

    seen, path = _looked_at(source, camera, file)
    raise typer.Exit(calibrate_light(seen, path, annotate=annotate))


@calibrate_app.command("knock")
def _knock(
    *,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Part of the microphone's name, or its number. Default: any.")
    ] = None,
    wav: Annotated[
        Path | None, typer.Option(metavar="FILE", dir_okay=False, help="Recording that follows the timetable.")
    ] = None,
    seats: Annotated[int, typer.Option(help="Number of players who knock in turn.", min=1, max=4)] = 4,
    forget: Annotated[
        bool, typer.Option("--forget", help="Delete what the table has learned in matches, and record nothing.")
    ] = False,
    camera: CalibrationNameOption = "table",
    file: FileOption = None,
) -> None:
    """Record silence, tiles and five knocks per seat, to distinguish knocks from tiles at this table."""
    from tallybone.calibrate.knock import calibrate_knock, forget_knocks

    if forget:
        raise typer.Exit(forget_knocks(path_of(file, camera)))
    which = int(device) if device is not None and device.isdecimal() else device
    raise typer.Exit(calibrate_knock(path_of(file, camera), seats, wav=wav, device=which))


@calibrate_app.command("show")
def _show(*, camera: CalibrationNameOption = "table", file: FileOption = None) -> None:
    """Show the stored calibration, its age and its accuracy."""
    from tallybone.calibrate.stored import show

    raise typer.Exit(show(path_of(file, camera)))


@calibrate_app.command("check")
def _check(
    source: Annotated[
        str | None, typer.Argument(metavar="[PICTURE]", help="Image of the table, or a camera. Default: --camera.")
    ] = None,
    *,
    tile: Annotated[
        str | None, typer.Option(metavar="LxW", help="Size of a tile in mm, such as 48x24, to check the scale.")
    ] = None,
    annotate: _Annotate = None,
    camera: CalibrationNameOption = "table",
    file: FileOption = None,
) -> None:
    """Compare an image of the table with the stored calibration, and list problems (exit code 1)."""
    from tallybone.calibrate.stored import check

    seen, path = _looked_at(source, camera, file)
    raise typer.Exit(check(seen, path, tile_mm=pair_of(tile, "--tile"), annotate=annotate))


@calibrate_app.command("restore")
def _restore(
    number: Annotated[
        int, typer.Argument(metavar="[N]", help="Which earlier calibration: 1 (the previous one) to 5.", min=1, max=5)
    ] = 1,
    *,
    camera: CalibrationNameOption = "table",
    file: FileOption = None,
) -> None:
    """Restore one of the last five calibrations. The current one becomes number 1."""
    from tallybone.calibrate.stored import restore

    raise typer.Exit(restore(path_of(file, camera), number))


def path_of(file: Path | None, camera: str) -> Path:
    """Return *file*, or the default path for *camera*: a device such as usb:0, or the name of a calibration."""
    from hardware.camera.open_device import is_device
    from tallybone.store.calibration_file import default_path, name_of_camera

    name = name_of_camera(camera) if is_device(camera) else camera
    if not _NAME.fullmatch(name):
        raise typer.BadParameter(f"--camera: expected letters, digits, _ and -, or usb:0 and the like, got {camera!r}")
    return file or default_path(os.environ, Path.home(), name)


def pair_of(text: str | None, option: str) -> tuple[float, float] | None:
    """Return two lengths from text such as "48x24", or None if *text* is None. Invalid text raises `BadParameter`."""
    if text is None:
        return None
    try:
        first, second = (float(part) for part in text.lower().split("x"))
    except ValueError:
        raise typer.BadParameter(f"{option}: expected two lengths in mm such as 48x24, got {text!r}") from None
    return first, second


def _points(text: str) -> _Outline:
    """Parse points such as "10,20 90,20". Return () if the text is invalid."""
    try:
        return tuple((float(x), float(y)) for x, y in (point.split(",") for point in text.split()))
    except ValueError:
        return ()


def _corners(text: str | None) -> _Outline:
    corners = _points(text or "")
    if text is not None and len(corners) != 4:
        raise typer.BadParameter(f"--corners: expected four points such as '10,20 900,20 900,600 10,600', got {text!r}")
    return corners


def _looked_at(source: str | None, camera: str, file: Path | None) -> tuple[str, Path]:
    """Return the image or camera that shows the table, *source* or else *camera*, and the path of its calibration."""
    from hardware.camera.open_device import is_device

    seen = source or (camera if is_device(camera) else None)
    if seen is None:
        raise typer.BadParameter("expected an image, or a camera such as usb:0")
    is_named = camera != "table" or not is_device(seen)
    return seen, path_of(file, camera if is_named else seen)


def _outline(text: str, option: str) -> _Outline:
    """Parse a polygon of at least three points in millimetres. *option* is named in the message for invalid text."""
    outline = _points(text)
    if len(outline) < 3:
        raise typer.BadParameter(f"{option}: expected three points or more such as '10,20 90,20 90,60', got {text!r}")
    return outline


def _seat(text: str) -> tuple[int, _Outline]:
    number, _, corners = text.partition(":")
    if number.strip() not in ("1", "2", "3", "4"):
        raise typer.BadParameter(f"--seat: expected a seat from 1 to 4, such as '1:10,20 90,20 90,60', got {text!r}")
    return int(number) - 1, _outline(corners, "--seat")
