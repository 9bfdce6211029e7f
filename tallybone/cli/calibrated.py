"""Commands about a measured table: its zones, and what is stored of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tallybone.cli.calibrate import CameraOption, FileOption, calibrate_app, pair_of, path_of
from tallybone.cli.serve_option import PlayCommand

_Outline = tuple[tuple[float, float], ...]
_Annotate = Annotated[
    Path | None, typer.Option(metavar="DIR", file_okay=False, help="Write the picture with it drawn in.")
]


@calibrate_app.command("guide", cls=PlayCommand)
def _guide(
    *,
    camera: Annotated[
        str, typer.Option(metavar="SOURCE", help="pi:0, usb:0, a /dev path, or `simulated` to try it.")
    ] = "usb:0",
    seats: Annotated[int | None, typer.Option(help="At the table; else as before, or 4.", min=2, max=4)] = None,
    tile: Annotated[str | None, typer.Option(metavar="LxW", help="Size of a tile in mm, such as 48x24.")] = None,
    thickness: Annotated[float, typer.Option(help="Of a tile, in mm.", min=0, max=50)] = 10.0,
    ruler: Annotated[float, typer.Option(help="What the printed line of 100 mm measures.", min=50, max=200)] = 100.0,
    mic: Annotated[
        str | None, typer.Option(metavar="NAME", help="Knocks too: a part of the microphone's name, or any.")
    ] = None,
    serve: Annotated[
        str | None,
        typer.Option(
            "--serve", metavar="[PORT]", help="Do it on a page in a browser; 8080, or a port or ADDRESS:PORT."
        ),
    ] = None,
    file: FileOption = None,
) -> None:
    """Go through lens, table, zones, light, tiles and knocks step by step; what was done before is kept."""
    from hardware.camera.open_device import is_device
    from tallybone.calibrate.guide.course import GuideWish
    from tallybone.calibrate.lens_and_table import TableGiven
    from tallybone.cli.calibrate_guide import guide_through

    is_simulated = camera.partition(":")[0] == "simulated"
    name = camera if is_device(camera) else "simulated" if is_simulated else "table"
    given = TableGiven(pair_of(tile, "--tile"), thickness, ruler)
    wish = GuideWish(camera, path_of(file, name), seats, given, mic, asks_always=serve is not None)
    raise typer.Exit(guide_through(wish, serve=serve))


@calibrate_app.command("zones")
def _zones(
    picture: Annotated[
        Path | None, typer.Argument(metavar="[PICTURE]", help="Of the table, for --annotate.", show_default=False)
    ] = None,
    *,
    seats: Annotated[int | None, typer.Option(help="How many; else as before, or 4.", min=2, max=4)] = None,
    size: Annotated[str | None, typer.Option(metavar="WxD", help="Of the table in mm, if no blocks lie on it.")] = None,
    boneyard: Annotated[str | None, typer.Option(metavar="X,Y X,Y ...", help="Its corners in mm of the table.")] = None,
    layout: Annotated[str | None, typer.Option(metavar="X,Y X,Y ...", help="Where tiles are played.")] = None,
    seat: Annotated[
        list[str] | None, typer.Option(metavar="N:X,Y X,Y ...", help="The zone of seat N; repeatable.")
    ] = None,
    annotate: _Annotate = None,
    camera: CameraOption = "table",
    file: FileOption = None,
) -> None:
    """Say where boneyard, layout and open hands lie: as on the mat, by the corner blocks, or as you give them."""
    from tallybone.calibrate.zones import ZonesGiven, calibrate_zones

    if annotate is not None and picture is None:
        raise typer.BadParameter("--annotate needs a picture of the table")
    given = ZonesGiven(
        seats,
        pair_of(size, "--size"),
        None if boneyard is None else _outline(boneyard, "--boneyard"),
        None if layout is None else _outline(layout, "--layout"),
        tuple(_seat(text) for text in seat or ()),
    )
    raise typer.Exit(calibrate_zones(path_of(file, camera), given, picture=picture, annotate=annotate))


@calibrate_app.command("light")
def _light(
    source: Annotated[
        str | None, typer.Argument(metavar="[PICTURE]", help="A picture of the table, or a camera; else --camera.")
    ] = None,
    *,
    annotate: _Annotate = None,
    camera: CameraOption = "table",
    file: FileOption = None,
) -> None:
    """Hold exposure and white balance, and show where glare or darkness would hide pips; exit code 1 if anywhere."""
    from tallybone.calibrate.light import calibrate_light

    what, path = _looked_at(source, camera, file)
    raise typer.Exit(calibrate_light(what, path, annotate=annotate))


@calibrate_app.command("knock")
def _knock(
    *,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="A part of the microphone's name, or its number; else any.")
    ] = None,
    wav: Annotated[
        Path | None, typer.Option(metavar="FILE", dir_okay=False, help="A recording that follows the timetable.")
    ] = None,
    seats: Annotated[int, typer.Option(help="How many knock, one after the other.", min=1, max=4)] = 4,
    camera: CameraOption = "table",
    file: FileOption = None,
) -> None:
    """Listen to quiet, tiles and five knocks of each seat, so that knocks are told from tiles at this table."""
    from tallybone.calibrate.knock import calibrate_knock

    which = int(device) if device is not None and device.isdecimal() else device
    raise typer.Exit(calibrate_knock(path_of(file, camera), seats, wav=wav, device=which))


@calibrate_app.command("show")
def _show(*, camera: CameraOption = "table", file: FileOption = None) -> None:
    """Say in plain words what is stored, how old it is and how exact."""
    from tallybone.calibrate.stored import show

    raise typer.Exit(show(path_of(file, camera)))


@calibrate_app.command("check")
def _check(
    source: Annotated[
        str | None, typer.Argument(metavar="[PICTURE]", help="A picture of the table, or a camera; else --camera.")
    ] = None,
    *,
    tile: Annotated[str | None, typer.Option(metavar="LxW", help="Size of a tile in mm, to check the scale.")] = None,
    annotate: _Annotate = None,
    camera: CameraOption = "table",
    file: FileOption = None,
) -> None:
    """Compare a picture of the table with what is stored, and say what is wrong; exit code 1 if anything."""
    from tallybone.calibrate.stored import check

    what, path = _looked_at(source, camera, file)
    raise typer.Exit(check(what, path, tile_mm=pair_of(tile, "--tile"), annotate=annotate))


@calibrate_app.command("restore")
def _restore(
    number: Annotated[int, typer.Argument(metavar="[N]", help="1 for the one before, up to 5.", min=1, max=5)] = 1,
    *,
    camera: CameraOption = "table",
    file: FileOption = None,
) -> None:
    """Bring back one of the last five calibrations; the one of now is kept as number 1."""
    from tallybone.calibrate.stored import restore

    raise typer.Exit(restore(path_of(file, camera), number))


def _looked_at(source: str | None, camera: str, file: Path | None) -> tuple[str, Path]:
    """Return what looks at the table, and the calibration file that belongs to it."""
    from hardware.camera.open_device import is_device

    what = source or (camera if is_device(camera) else None)
    if what is None:
        raise typer.BadParameter("say a picture, or a camera such as usb:0")
    is_named = camera != "table" or not is_device(what)
    return what, path_of(file, camera if is_named else what)


def _outline(text: str, option: str) -> _Outline:
    """Return corners in millimetres."""
    try:
        points = [tuple(float(part) for part in point.split(",")) for point in text.split()]
        outline = tuple((x_mm, y_mm) for x_mm, y_mm in points)
    except ValueError:
        outline = ()
    if len(outline) < 3:
        raise typer.BadParameter(f"{option}: expected three points or more such as '10,20 90,20 90,60', got {text!r}")
    return outline


def _seat(text: str) -> tuple[int, _Outline]:
    number, _, corners = text.partition(":")
    if number.strip() not in ("1", "2", "3", "4"):
        raise typer.BadParameter(f"--seat: expected a seat from 1 to 4, such as '1:10,20 90,20 90,60', got {text!r}")
    return int(number) - 1, _outline(corners, "--seat")
