"""Run `tallybone read`: read photographs of tables."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from tallybone.choices import TileSet
from tallybone.cli.app import command, commands_of

if TYPE_CHECKING:
    from tallybone.recording.own_tiles import ReadPicture
    from tallybone.terminal import Output
    from vision.arrays import Image
    from vision.reading import Reading

commands = commands_of()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """Options of `tallybone read`."""

    photos: Annotated[
        list[Path],
        typer.Argument(metavar="PHOTO", help="Photographs of a table from any side, or folders of them."),
    ]
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per photograph.")] = False
    tile_set: Annotated[TileSet, typer.Option("--set", help="Domino set.")] = TileSet.AUTO
    annotate: Annotated[
        Path | None,
        typer.Option(metavar="DIR", file_okay=False, help="Write annotated copies of the photographs to this folder."),
    ] = None
    calibration: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Calibration file with your own tiles (see `calibrate set`).")
    ] = None


@command(commands, "read", ReadOptions)
def _read(options: ReadOptions) -> int:
    return read_photos(options)


def read_photos(
    options: ReadOptions,
    *,
    read_picture: ReadPicture | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Read photographs and print the readings, in order.

    Args:
        options: Options of the command.
        read_picture: Reads an image, by default with the shipped reader.
        out: Receives results, by default stdout.
        err: Receives progress and errors, by default stderr.

    Returns:
        The exit code: 0, or 1 if the reader could not be loaded or any image could not be read or written.
    """
    from calibration import CalibrationError
    from tallybone.recording.own_tiles import shipped_reader
    from tallybone.show.reading import Album, format_reading, print_reading, reading_progress
    from tallybone.terminal import Output, printable, quiet_libraries
    from vision import VisionError
    from vision.image.annotate import annotate
    from vision.image.picture import decode_picture, read_picture_file

    output = Output.of("read", out, err)
    try:
        album = None if options.annotate is None else Album(options.annotate)
        read_picture = read_picture or shipped_reader(options.tile_set, options.calibration)
    except (CalibrationError, VisionError, OSError) as error:
        return output.complain(error)
    for index, photo in enumerate(photos := list(_photos_in(options.photos, output))):
        try:
            with reading_progress(output.err_console, index, len(photos), photo.name), quiet_libraries():
                data = read_picture_file(photo)
                reading, read_ms = _timed(read_picture, image := decode_picture(data, str(photo)))
                written = None if album is None else album.add(photo, annotate(image, reading))
        except (VisionError, OSError) as error:
            output.complain(error)
            continue
        _note_preview(data, photo, output)
        if options.as_json:
            output.write(format_reading(str(photo), reading, read_ms=read_ms))
        else:
            print_reading(output.console, printable(str(photo)), reading, read_ms=read_ms)
        if written is not None and not options.as_json:
            output.write(f"Drawn over the picture: {printable(str(written))}\n")
    return output.exit_code


def _photos_in(paths: list[Path], output: Output) -> Iterator[Path]:
    """Yield the photographs, those of a folder sorted by name."""
    from tallybone.sources.source import pictures_in

    for path in paths:
        try:
            yield from pictures_in(path) if path.is_dir() else [path]
        except OSError as error:
            output.complain(error)


def _note_preview(data: bytes, photo: Path, output: Output) -> None:
    """Say that only the preview was read, if the file is a raw photo."""
    from tallybone.terminal import printable
    from vision.image.picture import is_heic, parse_header

    if not is_heic(data) and parse_header(data).kind == "DNG":
        text = f"{printable(str(photo))}: only the preview of this raw photo was read"
        output.err_console.print(text, markup=False, soft_wrap=True)


def _timed(read_picture: ReadPicture, image: Image) -> tuple[Reading, float]:
    """Return the reading of an image, and its duration in milliseconds."""
    start_ns = time.perf_counter_ns()
    reading = read_picture(image)
    return reading, (time.perf_counter_ns() - start_ns) / 1e6
