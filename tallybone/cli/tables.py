"""Commands that follow a table in motion: live, or as it was recorded."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Annotated

import typer

from tallybone.choices import DemoRules, ReplayRules, TileSet
from tallybone.cli.app import app
from tallybone.cli.serve_option import PlayCommand

# What a table is, for a game and for a table that is always on.
_Camera = Annotated[
    str | None,
    typer.Option(
        metavar="SOURCE",
        help="pi:0, usb:0, a /dev path, simulated[:seed=1], a video, recording or folder; else as configured.",
    ),
]
_Config = Annotated[
    Path | None,
    typer.Option(metavar="FILE", dir_okay=False, help="Camera and parts; else /etc/tallybone/table.toml."),
]
_Calibration = Annotated[
    Path | None,
    typer.Option(metavar="FILE", dir_okay=False, help="Where the zones are (calibrate); else the camera's own."),
]


@app.command("play", cls=PlayCommand)
def _play(
    *,
    camera: _Camera = None,
    config: _Config = None,
    calibration: _Calibration = None,
    panel: Annotated[
        bool, typer.Option("--panel", help="Show virtual LEDs, buttons, knock sensor and display in the terminal.")
    ] = False,
    rules: Annotated[DemoRules | None, typer.Option("--rules", help="Which game is played; else bones.")] = None,
    options: Annotated[
        list[str] | None, typer.Option("--options", metavar="KEY=VALUE", help="What is agreed otherwise (see `rules`).")
    ] = None,
    players: Annotated[str, typer.Option(metavar="ANN,BOB", help="Names, clockwise from the bottom.")] = "",
    tile_set: Annotated[TileSet, typer.Option("--set", help="The set on the table; auto: that of the game.")] = (
        TileSet.AUTO
    ),
    record: Annotated[
        str, typer.Option(metavar="DIR|none", help="Where recordings go; auto: tallybone/sessions in the state folder.")
    ] = "auto",
    keep: Annotated[
        str, typer.Option(metavar="SIZE", help="What all recordings may take; the oldest are deleted first.")
    ] = "20GB",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the newest match that is not over.")] = False,
    resume_from: Annotated[
        Path | None, typer.Option(metavar="FILE.mcap", dir_okay=False, help="Go on with this recording's match.")
    ] = None,
    fps: Annotated[
        float,
        typer.Option(
            help="Most pictures a second that are looked at; twice as many while something moves.", min=1.0, max=60.0
        ),
    ] = 10.0,
    in_play: Annotated[
        bool, typer.Option("--in-play", help="Begin in a game: tiles of the first picture are placed, not table.")
    ] = False,
    speed: Annotated[
        float, typer.Option(help="Pace of a video or recording; 0: as fast as it can be read.", min=0.0)
    ] = 1.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per thing said.")] = False,
    serve: Annotated[
        str | None,
        typer.Option("--serve", metavar="[PORT]", help="Serve a page to browsers; 8080, or a port or ADDRESS:PORT."),
    ] = None,
) -> None:
    """Keep the score of a live game: camera, scoreboard, recording; ? shows the keys."""
    from tallybone.cli.play import Wishes, play
    from tallybone.cli.sessions import parse_size

    try:
        keep_bytes = parse_size(keep)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--keep") from None
    wishes = Wishes(
        camera=camera,
        config=config,
        calibration=calibration,
        has_panel=panel,
        rules=None if rules is None else rules.value,
        options=tuple(options or ()),
        players=tuple(name.strip() for name in players.split(",") if name.strip()),
        tile_set=tile_set,
        folder=None if record in ("auto", "none") else Path(record),
        is_recorded=record != "none",
        keep_bytes=keep_bytes,
        goes_on=resume,
        goes_on_with=resume_from,
        in_play=in_play,
        most_per_s=fps,
        speed=speed,
        as_json=as_json,
        serve=serve,
    )
    raise typer.Exit(play(wishes))


@app.command("serve")
def _serve(
    *,
    at: Annotated[
        str, typer.Option(metavar="[ADDRESS:]PORT", help="Where the page is; else port 8080 of the whole network.")
    ] = "",
    camera: _Camera = None,
    config: _Config = None,
    calibration: _Calibration = None,
    panel: Annotated[
        bool, typer.Option("--panel", help="Have virtual LEDs, buttons, knock sensor and display besides.")
    ] = False,
    record: Annotated[
        str, typer.Option(metavar="DIR|none", help="Where recordings go; auto: tallybone/sessions in the state folder.")
    ] = "auto",
    keep: Annotated[
        str | None, typer.Option(metavar="SIZE", help="What all recordings may take; else as set on the page, or 20GB.")
    ] = None,
    fps: Annotated[float, typer.Option(help="Most pictures a second that are looked at.", min=1.0, max=60.0)] = 10.0,
    speed: Annotated[
        float, typer.Option(help="Pace of a video or recording; 0: as fast as it can be read.", min=0.0)
    ] = 1.0,
    set_password: Annotated[
        bool, typer.Option("--set-password", help="Ask for a new owner's password, which settings need; serve nothing.")
    ] = False,
) -> None:
    """Keep a table always on: its page is there with or without a match, and begins, ends and resumes matches."""
    # What is imported stays. To look through it for garbage after every 700 objects took a tenth of the start.
    gc.set_threshold(50_000)
    from tallybone.cli.sessions import parse_size
    from tallybone.serve.serve_command import ServeWishes, keep_password, serve

    if set_password:
        password = typer.prompt("Owner's password", hide_input=True, confirmation_prompt=True)
        raise typer.Exit(keep_password(password))
    try:
        keep_bytes = None if keep is None else parse_size(keep)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--keep") from None
    wishes = ServeWishes(
        at=at,
        camera=camera,
        config=config,
        calibration=calibration,
        has_panel=panel,
        folder=None if record in ("auto", "none") else Path(record),
        is_recorded=record != "none",
        keep_bytes=keep_bytes,
        most_per_s=fps,
        speed=speed,
    )
    raise typer.Exit(serve(wishes))


@app.command("replay")
def _replay(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="A folder of pictures of one table in name order, a recording (.mcap) or a video. The first is empty.",
        ),
    ],
    *,
    rules: Annotated[
        ReplayRules | None,
        typer.Option("--rules", help="Which game; free = none: just report every tile. Without it: as recorded."),
    ] = None,
    options: Annotated[
        list[str] | None, typer.Option("--options", metavar="KEY=VALUE", help="What is agreed otherwise; repeatable.")
    ] = None,
    players: Annotated[
        str | None, typer.Option("--players", metavar="ANN,BOB", help="Who plays, clockwise. Without it: as recorded.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON per event, and one with the result.")
    ] = False,
    tile_set: Annotated[
        TileSet | None, typer.Option("--set", help="The set on the table. Without it: as recorded, or auto.")
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE.mcap", dir_okay=False, help="Make a recording of the pictures, and follow that."),
    ] = None,
    in_play: Annotated[
        bool, typer.Option("--in-play", help="Begin in a game: tiles of the first picture are placed, not table.")
    ] = False,
    from_time: Annotated[
        str | None, typer.Option("--from", metavar="MM:SS", help="Print only what happens from then on.")
    ] = None,
    speed: Annotated[
        float | None, typer.Option(help="Pace: 1 is as at the table. Without it: as fast as it can.", min=0.01)
    ] = None,
    export: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", dir_okay=False, help="Write a .dgr, .csv, .json or .mp4 file of it; repeatable."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
    log_only: Annotated[
        bool, typer.Option("--log-only", help="Look at no picture: judge the recorded plays again, in milliseconds.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option(help="SOURCE is a folder of recordings: replay so many at once.", min=1)
    ] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="tcp://HOST:PORT", help="The same on a Dask cluster that sees the folder.")
    ] = None,
    is_compared: Annotated[
        bool, typer.Option("--compare", help="List what differs from what the recording says; exit code 1 if anything.")
    ] = False,
) -> None:
    """Follow a table again: every tile placed, moved or removed, and the game with its score."""
    from tallybone.replay.command import compare, replay, replay_log
    from tallybone.replay.export import ExportWish
    from tallybone.replay.pace import Pace, parse_time
    from tallybone.replay.run import Wishes
    from tallybone.sources.source import GameWish
    from vision.perception import Start

    try:
        pace = Pace(0 if from_time is None else parse_time(from_time), speed)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--from") from None
    names = tuple(name.strip() for name in players.split(",")) if players is not None else ()
    wishes = Wishes(
        game=GameWish(None if rules is None else rules.value, tuple(options or ()), names),
        tile_set=tile_set,
        start=Start.IN_PLAY if in_play else None,
        record=record,
    )
    if jobs is not None or dask is not None:
        from tallybone.replay.many import over_cluster, over_cores, replay_many

        if is_compared or record or export or from_time is not None or speed is not None:
            raise typer.BadParameter("many recordings are only replayed", param_hint="--jobs")
        spread = over_cores(jobs or 1) if dask is None else over_cluster(dask)
        raise typer.Exit(replay_many(source, spread, wishes, is_log_only=log_only, as_json=as_json))
    if log_only and is_compared:
        raise typer.BadParameter("--compare looks at the pictures, --log-only does not", param_hint="--compare")
    if is_compared:
        raise typer.Exit(compare(source, wishes, as_json=as_json))
    exports = ExportWish(tuple(export or ()), force)
    if log_only:
        raise typer.Exit(replay_log(source, wishes, from_ns=pace.from_ns, as_json=as_json, exports=exports))
    raise typer.Exit(replay(source, wishes, pace=pace, as_json=as_json, exports=exports))


@app.command("sessions")
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
    """List recordings: date, players, result, size."""
    from tallybone.cli.sessions import list_sessions, parse_size, room_of_table

    try:
        if keep == "auto":
            keep_bytes: int | None = room_of_table(os.environ, Path.home())
        else:
            keep_bytes = None if keep is None else parse_size(keep)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--keep") from None
    raise typer.Exit(list_sessions(folder, as_json=as_json, keep_bytes=keep_bytes))
