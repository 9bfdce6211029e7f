"""Run `replay`, `sessions` and `shadow`: follow a table again, list recordings, compare one with a score sheet."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallybone.choices import TileSet
from tallybone.cli.app import COMMANDS, command, commands_of
from tallybone.cli.games import game_option
from tallybone.serve.options import kept_bytes

if TYPE_CHECKING:
    from tallybone.replay.pace import Pace
    from tallybone.replay.run import ReplaySettings

commands = commands_of()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """The source of a replay, its game, and how to print it."""

    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="A folder of pictures of one table in name order, a recording (.mcap) or a video. The first is empty.",
        ),
    ]
    rules: Annotated[
        str | None,
        game_option("Which game; free = none: just report every tile. Without it: as recorded.", or_none=True),
    ] = None
    options: Annotated[
        list[str] | None, typer.Option("--options", metavar="KEY=VALUE", help="What is agreed otherwise; repeatable.")
    ] = None
    players: Annotated[
        str | None, typer.Option("--players", metavar="ANN,BOB", help="Who plays, clockwise. Without it: as recorded.")
    ] = None
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON per event, and one with the result.")
    ] = False
    tile_set: Annotated[
        TileSet | None, typer.Option("--set", help="The set on the table. Without it: as recorded, or auto.")
    ] = None
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE.mcap", dir_okay=False, help="Make a recording of the pictures, and follow that."),
    ] = None
    in_play: Annotated[
        bool, typer.Option("--in-play", help="Begin in a game: tiles of the first picture are placed, not table.")
    ] = False
    from_time: Annotated[
        str | None, typer.Option("--from", metavar="MM:SS", help="Print only what happens from then on.")
    ] = None
    speed: Annotated[
        float | None, typer.Option(help="Pace: 1 is as at the table. Without it: as fast as it can.", min=0.01)
    ] = None
    export: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", dir_okay=False, help="Write a .dgr, .csv, .json or .mp4 file of it; repeatable."),
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False
    log_only: Annotated[
        bool, typer.Option("--log-only", help="Look at no picture: judge the recorded plays again, in milliseconds.")
    ] = False
    jobs: Annotated[
        int | None, typer.Option(help="SOURCE is a folder of recordings: replay so many at once.", min=1)
    ] = None
    dask: Annotated[
        str | None, typer.Option(metavar="tcp://HOST:PORT", help="The same on a Dask cluster that sees the folder.")
    ] = None
    is_compared: Annotated[
        bool, typer.Option("--compare", help="List what differs from what the recording says; exit code 1 if anything.")
    ] = False

    @property
    def wishes(self) -> ReplaySettings:
        """How to follow the table."""
        from engine import OptionsError
        from tallybone.replay.run import ReplaySettings
        from tallybone.sources.source import GameOverrides, parse_players
        from vision.tracking.perception import Start

        try:
            names = parse_players(self.players or "")
        except OptionsError as error:
            raise typer.BadParameter(str(error), param_hint="--players") from None
        return ReplaySettings(
            game=GameOverrides(self.rules, tuple(self.options or ()), names),
            tile_set=self.tile_set,
            start=Start.IN_PLAY if self.in_play else None,
            record=self.record,
        )

    @property
    def pace(self) -> Pace:
        """From when on to print, and how fast."""
        from tallybone.replay.pace import Pace, parse_time

        try:
            return Pace(0 if self.from_time is None else parse_time(self.from_time), self.speed)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--from") from None


@command(commands, "replay", ReplayOptions)
def _replay(options: ReplayOptions) -> int:
    pace, wishes = options.pace, options.wishes
    if options.jobs is not None or options.dask is not None:
        return _replay_many(options, wishes)
    from tallybone.replay.command import compare, replay, replay_log
    from tallybone.replay.export import ExportFiles

    if options.log_only and options.is_compared:
        raise typer.BadParameter("--compare looks at the pictures, --log-only does not", param_hint="--compare")
    if options.is_compared:
        return compare(options.source, wishes, as_json=options.as_json)
    exports = ExportFiles(tuple(options.export or ()), options.force)
    if options.log_only:
        return replay_log(options.source, wishes, from_ns=pace.from_ns, as_json=options.as_json, exports=exports)
    return replay(options.source, wishes, pace=pace, as_json=options.as_json, exports=exports)


def _replay_many(options: ReplayOptions, wishes: ReplaySettings) -> int:
    from tallybone.replay.many import over_cluster, over_cores, replay_many

    is_shown = options.from_time is not None or options.speed is not None
    if options.is_compared or options.record or options.export or is_shown:
        raise typer.BadParameter("many recordings are only replayed", param_hint="--jobs")
    spread = over_cores(options.jobs or 1) if options.dask is None else over_cluster(options.dask)
    return replay_many(options.source, spread, wishes, is_log_only=options.log_only, as_json=options.as_json)


@commands.command("sessions", help=COMMANDS["sessions"].help)
def _sessions(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Without it: tallybone/sessions in the state folder.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per recording.")] = False,
    keep: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="First delete the oldest until the rest fit, as 20GB; auto: as set."),
    ] = None,
) -> None:
    from tallybone.show.recordings import print_recordings, recording_quota

    try:
        keep_bytes = (
            recording_quota(os.environ, Path.home()) if keep == "auto" else None if keep is None else kept_bytes(keep)
        )
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--keep") from None
    raise typer.Exit(print_recordings(folder, as_json=as_json, keep_bytes=keep_bytes))


@commands.command("shadow", help=COMMANDS["shadow"].help)
def _shadow(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RECORDING... SHEET.dgr",
            help="The recordings of one match in order (.mcap), then its score sheet (docs/game_record.md).",
        ),
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    from tallybone.evaluate.shadow import compare_with_sheet

    if len(paths) < 2:
        raise typer.BadParameter("expected at least one recording, then the score sheet", param_hint="SHEET.dgr")
    *recordings, sheet = paths
    raise typer.Exit(compare_with_sheet(recordings, sheet, as_json=as_json))
