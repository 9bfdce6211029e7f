"""Commands about photographs of tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tallybone.choices import TileSet
from tallybone.cli.app import app


@app.command("read")
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
    """Read the tiles in photographs of a table: pips, places, joins."""
    from tallybone.cli.read_command import read_photos

    raise typer.Exit(
        read_photos(photos, tile_set=tile_set, as_json=as_json, annotate_into=annotate, calibration=calibration)
    )


@app.command("evaluate")
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
    """Judge what is read in labelled photographs, or the score kept of simulated tables."""
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
