"""Commands that calibrate: sheets to print, lens, table and tile set."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from calibration.pi_lenses import PiCamera
from calibration.sheet import Paper
from tallybone.choices import TileSet
from tallybone.cli.app import app

calibrate_app = typer.Typer(
    help="Measure lens and table, so that places are exact; learn your tiles.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(calibrate_app, name="calibrate")

_NAME = re.compile(r"[\w-]{1,40}", re.ASCII)
CameraOption = Annotated[
    str,
    typer.Option("--camera", metavar="NAME", help="Whose calibration it is: a name, or a camera such as usb:0."),
]
FileOption = Annotated[
    Path | None, typer.Option("--file", metavar="FILE", help="The calibration file, if it is elsewhere.")
]


@calibrate_app.command("print")
def _print(
    *,
    out: Annotated[Path, typer.Option(metavar="FILE.pdf", help="Where it is written.")],
    paper: Annotated[Paper, typer.Option(help="What it is printed on.")] = Paper.A4,
    players: Annotated[int, typer.Option(help="Seats on the mat.", min=2, max=4)] = 4,
) -> None:
    """Make a PDF: corner blocks, the board for the lens, and a mat of nine sheets."""
    from tallybone.calibrate.lens_and_table import print_sheets

    raise typer.Exit(print_sheets(out, paper=paper, players=players))


@calibrate_app.command("lens")
def _lens(
    pictures: Annotated[
        list[Path], typer.Argument(metavar="PICTURE", help="The printed board, held otherwise in each.")
    ],
    *,
    known: Annotated[
        PiCamera | None, typer.Option(help="Take the lens of this Pi camera; one picture says the size.")
    ] = None,
    camera: CameraOption = "table",
    file: FileOption = None,
) -> None:
    """Measure the lens from 8 to 20 pictures of the board, and say which views are missing."""
    from tallybone.calibrate.lens_and_table import calibrate_lens

    raise typer.Exit(calibrate_lens(pictures, path_of(file, camera), known=known))


@calibrate_app.command("table")
def _table(
    picture: Annotated[Path, typer.Argument(metavar="PICTURE", help="The table with corner blocks, mat or tiles.")],
    *,
    tile: Annotated[str | None, typer.Option(metavar="LxW", help="Size of a tile in mm, such as 48x24.")] = None,
    thickness: Annotated[float, typer.Option(help="Of a tile, in mm.", min=0, max=50)] = 10.0,
    ruler: Annotated[float, typer.Option(help="What the printed line of 100 mm measures.", min=50, max=200)] = 100.0,
    corners: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y X,Y X,Y X,Y", help="Corners of the table in the picture, clockwise from the top left."
        ),
    ] = None,
    size: Annotated[str | None, typer.Option(metavar="WxD", help="Size of the table between these, in mm.")] = None,
    camera: CameraOption = "table",
    file: FileOption = None,
) -> None:
    """Measure where the table is, from one picture."""
    from tallybone.calibrate.lens_and_table import TableGiven, calibrate_table

    if (corners is None) != (size is None):
        raise typer.BadParameter("--corners and --size belong together")
    given = TableGiven(pair_of(tile, "--tile"), thickness, ruler, _corners(corners), pair_of(size, "--size"))
    raise typer.Exit(calibrate_table(picture, path_of(file, camera), given))


@calibrate_app.command("set")
def _set(
    pictures: Annotated[
        list[Path],
        typer.Argument(metavar="PICTURE", help="The whole set face up in any order, or as much as you have."),
    ],
    *,
    tile_set: Annotated[TileSet, typer.Option("--set", help="Which set it is.")] = TileSet.AUTO,
    tiles: Annotated[
        str, typer.Option(metavar="N=A-B ...", help="Pips of tiles that were taken for others, by their number.")
    ] = "",
    annotate: Annotated[
        Path | None, typer.Option(metavar="DIR", file_okay=False, help="Draw the tiles with their numbers here.")
    ] = None,
    camera: CameraOption = "table",
    file: FileOption = None,
) -> None:
    """Learn your own tiles from one picture of them, or a few, so that their pips are read better."""
    from tallybone.calibrate.tile_set import calibrate_set, parse_tiles

    try:
        said = parse_tiles(tiles)
    except ValueError as error:
        raise typer.BadParameter(f"--tiles: {error}") from None
    into = path_of(file, camera)
    raise typer.Exit(calibrate_set(pictures, into, tile_set=tile_set, said=said, annotate_into=annotate))


def path_of(file: Path | None, camera: str) -> Path:
    """Return the file of a calibration: the one that is named, or that of a camera."""
    from hardware.camera.open_device import is_device
    from tallybone.store.calibration_file import default_path, name_of_camera

    name = name_of_camera(camera) if is_device(camera) else camera
    if not _NAME.fullmatch(name):
        raise typer.BadParameter(f"--camera: expected letters, digits, _ and -, or usb:0 and the like, got {camera!r}")
    return file or default_path(os.environ, Path.home(), name)


def pair_of(text: str | None, option: str) -> tuple[float, float] | None:
    """Return two lengths, written with an x between them."""
    if text is None:
        return None
    try:
        first, second = (float(part) for part in text.lower().split("x"))
    except ValueError:
        raise typer.BadParameter(f"{option}: expected two lengths in mm such as 48x24, got {text!r}") from None
    return first, second


def _corners(text: str | None) -> tuple[tuple[float, float], ...]:
    if text is None:
        return ()
    try:
        points = [tuple(float(part) for part in point.split(",")) for point in text.split()]
        (ax, ay), (bx, by), (cx, cy), (dx, dy) = points
    except ValueError:
        raise typer.BadParameter(
            f"--corners: expected four points such as '10,20 900,20 900,600 10,600', got {text!r}"
        ) from None
    return (ax, ay), (bx, by), (cx, cy), (dx, dy)
