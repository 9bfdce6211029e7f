"""Run `read` and `evaluate`: photographs of tables in, readings or figures out."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from tallybone.choices import TileSet
from tallybone.cli.app import COMMANDS, commands_of

if TYPE_CHECKING:
    from rich.console import Console

    from tallybone.recording.own_tiles import ReadPicture
    from vision.reading import Reading

commands = commands_of()


@commands.command("read", help=COMMANDS["read"].help)
def _read(
    photos: Annotated[list[Path], typer.Argument(metavar="PHOTO", help="Pictures of a table, from above.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per picture.")] = False,
    tile_set: Annotated[TileSet, typer.Option("--set", help="The set on the table.")] = TileSet.AUTO,
    annotate: Annotated[
        Path | None,
        typer.Option(metavar="DIR", file_okay=False, help="Write each picture here with what was read drawn over it."),
    ] = None,
    calibration: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Read your own tiles, which `calibrate set` has learned.")
    ] = None,
) -> None:
    raise typer.Exit(
        read_photos(photos, tile_set=tile_set, as_json=as_json, annotate_into=annotate, calibration=calibration)
    )


@commands.command("evaluate", help=COMMANDS["evaluate"].help)
def _evaluate(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="LABELS ROOT | SESSION...",
            help="What truly lies in photographs (docs/labels.md) and the folder that their paths begin at;"
            " or recordings of simulated tables (.mcap), or folders of them.",
        ),
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: one object, or a line per recording.")] = False,
    tile_set: Annotated[TileSet, typer.Option("--set", help="The set on the photographs.")] = TileSet.AUTO,
    sheet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw every mistake in photographs into this .jpg or .png file.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="How many recordings are judged at once.", min=1)] = 1,
) -> None:
    from tallybone.evaluate.command import are_sessions, evaluate_photos, evaluate_sessions

    if are_sessions(paths):
        if sheet is not None or tile_set is not TileSet.AUTO:
            raise typer.BadParameter("--set and --sheet are for photographs, and these are recordings")
        raise typer.Exit(evaluate_sessions(paths, as_json=as_json, jobs=jobs))
    if len(paths) != 2:
        raise typer.BadParameter(
            f"expected LABELS and ROOT of photographs, or recordings (.mcap) and folders of them, got {len(paths)} of"
            f" which the first is {paths[0]}"
        )
    labels, root = paths
    raise typer.Exit(evaluate_photos(labels, root, tile_set=tile_set, as_json=as_json, sheet=sheet))


def read_photos(
    photos: Sequence[Path],
    *,
    tile_set: TileSet = TileSet.AUTO,
    as_json: bool = False,
    annotate_into: Path | None = None,
    calibration: Path | None = None,
    read_picture: ReadPicture | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Read photographs and print what was seen.

    Args:
        photos: Files, in the order of the output.
        tile_set: The set on the table, where it is known.
        as_json: Print a line of JSON per picture instead of a table.
        annotate_into: Folder for pictures with what was read drawn over them; made if need be.
        calibration: The file with what was learned of the tiles, if any was.
        read_picture: What reads a picture; by default the shipped reader.
        out: Where results go, by default stdout.
        err: Where progress and errors go, by default stderr.

    Returns:
        The exit code: 0, or 1 if any picture could not be read or written.
    """
    from rich.console import Console

    from calibration.errors import CalibrationError
    from tallybone.recording.own_tiles import shipped_reader
    from tallybone.show.over_pictures import Album
    from tallybone.show.reading import reading_progress
    from tallybone.terminal import quiet_libraries
    from vision.annotate import annotate
    from vision.errors import VisionError
    from vision.picture import load_picture

    run = _Run(out=Console(file=out or sys.stdout, highlight=False), err=Console(file=err or sys.stderr, stderr=True))
    try:
        album = None if annotate_into is None else Album(annotate_into)
        read_picture = read_picture or shipped_reader(tile_set, calibration)
    except (CalibrationError, VisionError, OSError) as error:
        run.complain(str(error))
        return 1
    for index, photo in enumerate(photos):
        try:
            with reading_progress(run.err, index, len(photos), photo.name), quiet_libraries():
                image = load_picture(photo)
                start_ns = time.perf_counter_ns()
                reading = read_picture(image)
                read_ms = (time.perf_counter_ns() - start_ns) / 1e6
                written = None if album is None else album.add(photo, annotate(image, reading))
        except (VisionError, OSError) as error:
            run.complain(str(error))
            continue
        run.show(photo, reading, read_ms=read_ms, as_json=as_json, written=written)
    return run.exit_code


@dataclass(slots=True)
class _Run:
    """Where output goes, and how it went."""

    out: Console
    err: Console
    exit_code: int = 0

    def complain(self, message: str) -> None:
        from tallybone.terminal import printable

        self.err.print(f"tallybone read: {printable(message)}", markup=False, highlight=False, soft_wrap=True)
        self.exit_code = 1

    def show(self, photo: Path, reading: Reading, *, read_ms: float, as_json: bool, written: Path | None) -> None:
        from tallybone.show.reading import format_reading, print_reading
        from tallybone.terminal import printable

        if as_json:
            # Not through rich, which would wrap and colour. Flushed, so that a reader of the pipe sees each at once.
            self.out.file.write(format_reading(str(photo), reading, read_ms=read_ms) + "\n")
            self.out.file.flush()
            return
        print_reading(self.out, printable(str(photo)), reading, read_ms=read_ms)
        if written is not None:
            self.out.print(f"Drawn over the picture: {printable(str(written))}\n", markup=False, soft_wrap=True)
