"""Run `replay` and `sessions`: replay and list recordings."""

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
    from tallybone.replay.run import Pace, ReplaySettings

commands = commands_of()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """Options of `tallybone replay`."""

    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="Recording (.mcap), video, or folder of images of a table in name order, first the empty table.",
        ),
    ]
    rules: Annotated[
        str | None,
        game_option("Game to score; free: only report tiles. Default: as recorded.", or_none=True),
    ] = None
    options: Annotated[
        list[str] | None, typer.Option("--options", metavar="KEY=VALUE", help="Game option; repeatable.")
    ] = None
    players: Annotated[
        str | None, typer.Option("--players", metavar="ANN,BOB", help="Players, clockwise. Default: as recorded.")
    ] = None
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON per event, and one with the result.")
    ] = False
    tile_set: Annotated[TileSet | None, typer.Option("--set", help="Domino set. Default: as recorded, or auto.")] = None
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE.mcap", dir_okay=False, help="Record the images to this file, and replay it."),
    ] = None
    in_play: Annotated[
        bool, typer.Option("--in-play", help="Treat tiles in the first image as played, not as part of the table.")
    ] = False
    rotate: Annotated[int, typer.Option(metavar="0|90|180|270", help="Turn the pictures clockwise.")] = 0
    flip: Annotated[bool, typer.Option("--flip", help="Mirror the pictures left to right, before they turn.")] = False
    from_time: Annotated[
        str | None, typer.Option("--from", metavar="MM:SS", help="Print only events from this time on.")
    ] = None
    speed: Annotated[
        float | None, typer.Option(help="Speed; 1 is real time. Default: as fast as possible.", min=0.01)
    ] = None
    export: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", dir_okay=False, help="Export to a .dgr, .csv, .json or .mp4 file; repeatable."),
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False
    log_only: Annotated[
        bool,
        typer.Option("--log-only", help="Score the recorded plays again without reading images; takes milliseconds."),
    ] = False
    jobs: Annotated[
        int | None, typer.Option(help="SOURCE is a folder of recordings; replay this many in parallel.", min=1)
    ] = None
    dask: Annotated[
        str | None,
        typer.Option(metavar="tcp://HOST:PORT", help="Replay the folder on a Dask cluster that can access it."),
    ] = None
    is_compared: Annotated[
        bool, typer.Option("--compare", help="List differences from the recorded events; exit code 1 if there are any.")
    ] = False

    @property
    def requests(self) -> ReplaySettings:
        """Settings of the replay. Invalid names of players raise `BadParameter`."""
        from engine import OptionsError
        from hardware.camera.device import CameraTurn
        from tallybone.replay.run import ReplaySettings
        from tallybone.sources.source import GameOverrides, parse_players
        from vision.tracking.perception import Start

        try:
            names = parse_players(self.players or "")
        except OptionsError as error:
            raise typer.BadParameter(str(error), param_hint="--players") from None
        if self.rotate not in (0, 90, 180, 270):
            raise typer.BadParameter(f"expected 0, 90, 180 or 270, got {self.rotate}", param_hint="--rotate")
        return ReplaySettings(
            game=GameOverrides(self.rules, tuple(self.options or ()), names),
            tile_set=self.tile_set,
            start=Start.IN_PLAY if self.in_play else None,
            record=self.record,
            orientation=CameraTurn(self.rotate, self.flip),
        )

    @property
    def pace(self) -> Pace:
        """Start time and speed of the replay. An invalid start time raises `BadParameter`."""
        from tallybone.replay.run import Pace, parse_time

        try:
            return Pace(0 if self.from_time is None else parse_time(self.from_time), self.speed)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--from") from None


@command(commands, "replay", ReplayOptions)
def _replay(options: ReplayOptions) -> int:
    pace, requests = options.pace, options.requests
    if options.jobs is not None or options.dask is not None:
        from tallybone.replay.command import over_cluster, over_cores, replay_many

        is_shown = options.from_time is not None or options.speed is not None
        if options.is_compared or options.record or options.export or is_shown:
            raise typer.BadParameter(
                "cannot be combined with --compare, --record, --export, --from or --speed", param_hint="--jobs"
            )
        spread = over_cores(options.jobs or 1) if options.dask is None else over_cluster(options.dask)
        return replay_many(options.source, spread, requests, is_log_only=options.log_only, as_json=options.as_json)
    from tallybone.replay.command import compare, replay, replay_log
    from tallybone.replay.export import ExportFiles

    if options.log_only and options.is_compared:
        raise typer.BadParameter("--compare reads the images, --log-only does not: omit one", param_hint="--compare")
    if options.is_compared:
        return compare(options.source, requests, as_json=options.as_json)
    exports = ExportFiles(tuple(options.export or ()), options.force)
    if options.log_only:
        return replay_log(options.source, requests, from_ns=pace.from_ns, as_json=options.as_json, exports=exports)
    return replay(options.source, requests, pace=pace, as_json=options.as_json, exports=exports)


@commands.command("sessions", help=COMMANDS["sessions"].help)
def _sessions(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Default: tallybone/sessions in the state folder.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per recording.")] = False,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="First delete the oldest recordings to fit this size, such as 20GB; auto: as configured.",
        ),
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
