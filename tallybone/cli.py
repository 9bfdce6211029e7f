"""The command line: names, options and help. A command imports what it needs when it is called: help stays quick."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from tallybone.choices import DemoRules, Difficulty, DisplayKind, ReplayRules, TileSet

app = typer.Typer(
    name="tallybone",
    help="A camera over a domino table keeps the score.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # boxes around the help would double its time (0.2 s more of rich on a laptop)
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version() -> None:
    from importlib.metadata import version

    typer.echo(f"tallybone {version('tallybone')}")


def _version_asked(asked: bool) -> None:  # noqa: FBT001 - typer calls it so
    if asked:
        _say_version()
        raise typer.Exit


@app.callback()
def _common(
    context: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version_asked, is_eager=True, help="Say the version and stop.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""
    if context.invoked_subcommand not in ("train", "train-finder"):
        # The heads are small: a second thread of numpy gains nothing, and on a busy machine it waits for a core that it
        # does not get (reads took ten times as long). numpy looks once, when it is imported.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@app.command("version")
def _version() -> None:
    """Say the version."""
    _say_version()


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
) -> None:
    """Read the tiles in photographs of a table: pips, places, joins."""
    from tallybone.read_command import read_photos

    raise typer.Exit(read_photos(photos, tile_set=tile_set, as_json=as_json, annotate_into=annotate))


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
    from tallybone.evaluate_command import evaluate_photos
    from tallybone.evaluate_sessions import are_sessions, evaluate_sessions

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
    from tallybone.export.files import ExportWish
    from tallybone.replay_command import compare, replay, replay_log
    from tallybone.replay_game import GameWish
    from tallybone.replay_pace import Pace, parse_time
    from tallybone.replay_run import Wishes
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
        from tallybone.replay_many import over_cluster, over_cores, replay_many

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


@app.command("play")
def _play(
    *,
    camera: Annotated[
        str,
        typer.Option(metavar="SOURCE", help="usb:0, a /dev path, simulated[:seed=1], a video, recording or folder."),
    ] = "usb:0",
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
    fps: Annotated[float, typer.Option(help="Most pictures a second that are looked at.", min=1.0, max=60.0)] = 10.0,
    in_play: Annotated[
        bool, typer.Option("--in-play", help="Begin in a game: tiles of the first picture are placed, not table.")
    ] = False,
    speed: Annotated[
        float, typer.Option(help="Pace of a video or recording; 0: as fast as it can be read.", min=0.0)
    ] = 1.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per thing said.")] = False,
) -> None:
    """Keep the score of a live game: camera, scoreboard, recording; ? shows the keys."""
    from tallybone.play_command import Wishes, play
    from tallybone.sessions_command import parse_size

    try:
        keep_bytes = parse_size(keep)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--keep") from None
    wishes = Wishes(
        camera=camera,
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
    )
    raise typer.Exit(play(wishes))


@app.command("sessions")
def _sessions(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Without it: tallybone/sessions in the state folder.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per recording.")] = False,
    keep: Annotated[
        str | None, typer.Option(metavar="SIZE", help="First delete the oldest until the rest fit, such as 20GB.")
    ] = None,
) -> None:
    """List recordings: date, players, result, size."""
    from tallybone.sessions_command import list_sessions, parse_size

    try:
        keep_bytes = None if keep is None else parse_size(keep)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--keep") from None
    raise typer.Exit(list_sessions(folder, as_json=as_json, keep_bytes=keep_bytes))


@app.command("demo")
def _demo(
    *,
    rules: Annotated[DemoRules, typer.Option("--rules", help="Which game is played.")] = DemoRules.BONES,
    seed: Annotated[int, typer.Option(help="Picks the game, the tiles, the table and the light.", min=0)] = 1,
    hands: Annotated[int, typer.Option(help="How many hands to play at most.", min=1)] = 1,
    plays: Annotated[int | None, typer.Option(help="Stop after so many plays.", min=1)] = None,
    speed: Annotated[float, typer.Option(help="Pace: 2 is twice as fast.", min=0.1)] = 1.0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", file_okay=False, help="Write the pictures here, as seen and with what was read."),
    ] = None,
) -> None:
    """Watch a rendered game being seen and scored; a hand of bones takes under a minute, larger sets take longer."""
    from engine import profile
    from tallybone.demo_command import Wishes, show_demo

    wishes = Wishes(rules=profile(rules.value), seed=seed, hands=hands, plays=plays, speed=speed, out=out)
    raise typer.Exit(show_demo(wishes))


@app.command("simulate")
def _simulate(
    *,
    out: Annotated[
        Path, typer.Option(metavar="FILE.mcap", dir_okay=False, help="Where the recording goes; it must not exist.")
    ],
    rules: Annotated[DemoRules, typer.Option("--rules", help="Which game is played.")] = DemoRules.BONES,
    options: Annotated[
        str, typer.Option(metavar="KEY=VALUE ...", help="What is agreed otherwise, such as 'set=9 target=200'.")
    ] = "",
    players: Annotated[int, typer.Option(help="How many play.", min=1)] = 2,
    seed: Annotated[int, typer.Option(help="Picks the game, the people, the table and the light.", min=0)] = 1,
    hands: Annotated[int | None, typer.Option(help="How many hands at most; else all of them.", min=1)] = None,
    looks: Annotated[str, typer.Option(metavar="NAME", help="Tiles and table; the seed picks them.")] = "seed",
    difficulty: Annotated[Difficulty, typer.Option(help="Noise, light, pace, and what disturbs.")] = Difficulty.NORMAL,
    fps: Annotated[int, typer.Option(help="Pictures in a second.", min=2, max=60)] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one line of JSON.")] = False,
) -> None:
    """Record a match at a rendered table: hands, sounds, buttons, and the truth of it; about a minute a hand."""
    from engine import EngineError
    from tallybone.simulate_command import simulate, wishes_of

    try:
        wishes = wishes_of(
            rules.value,
            players=players,
            seed=seed,
            options=options,
            hands=hands,
            look=looks,
            difficulty=difficulty,
            fps=fps,
        )
    except EngineError as error:
        raise typer.BadParameter(str(error)) from None
    raise typer.Exit(simulate(out, wishes, as_json=as_json))


@app.command("rules")
def _rules(
    game: Annotated[str | None, typer.Argument(metavar="GAME", help="One game; without it all are listed.")] = None,
    options: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE", help="What is agreed otherwise, such as target=200.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the games and what can be agreed on, or say what holds in one."""
    from tallybone.rules_command import show_rules

    raise typer.Exit(show_rules(game, options or [], as_json=as_json))


@app.command("score")
def _score(
    record: Annotated[Path, typer.Argument(metavar="GAME.dgr", help="A written game; - for stdin.")],
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON per move, and one with the result.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse what is against the rules.")] = False,
    show: Annotated[bool, typer.Option("--show", help="Draw the layout after every play.")] = False,
) -> None:
    """Score a written game (docs/game_record.md): counts, points, mistakes."""
    from tallybone.score_command import score_record

    raise typer.Exit(score_record(record, as_json=as_json, strict=strict, show=show))


@app.command("emulate-display")
def _emulate_display(
    kind: Annotated[DisplayKind, typer.Argument(metavar="KIND", help="serlcd, serlcd-20x4, segment or nextion.")],
    *,
    at: Annotated[Path | None, typer.Option(metavar="PATH", help="Where programs find it, as at /dev/ttyUSB0.")] = None,
    baud: Annotated[int, typer.Option(help="Bits a second on its wire.", min=1200, max=1_000_000)] = 9600,
) -> None:
    """Stand in for a score display: a serial port that shows in the terminal what the real one would."""
    from tallybone.emulate_display_command import emulate_display

    raise typer.Exit(emulate_display(kind, at=at, baud=baud))


@app.command("train")
def _train(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where the trained heads go.")] = Path(
        "vision/models/reader.npz"
    ),
    *,
    seed: Annotated[int, typer.Option(help="The same seed gives the same heads.")] = 1,
    scenes: Annotated[int, typer.Option(help="How many tables to render.", min=3)] = 1800,
    epochs: Annotated[int, typer.Option(help="Passes over their tiles.", min=1)] = 12,
) -> None:
    """Train the reader on rendered tables. Needs scikit-learn: pip install 'tallybone[train]'."""
    from tallybone.train_command import train

    raise typer.Exit(train(out, seed=seed, scenes=scenes, epochs=epochs))


@app.command("train-finder")
def _train_finder(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where the trained network goes.")] = Path(
        "vision/models/finder.onnx"
    ),
    *,
    seed: Annotated[int, typer.Option(help="The same seed gives the same network.")] = 1,
    scenes: Annotated[int, typer.Option(help="How many tables to render.", min=1)] = 4000,
    steps: Annotated[int, typer.Option(help="Batches of eight crops to learn from.", min=1)] = 5000,
) -> None:
    """Train what finds tiles, before `train`. Needs torch: pip install 'tallybone[finder]'."""
    from tallybone.train_command import train_finder

    raise typer.Exit(train_finder(out, seed=seed, scenes=scenes, steps=steps))


@app.command("train-halves")
def _train_halves(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where the trained network goes.")] = Path(
        "vision/models/halves.onnx"
    ),
    *,
    seed: Annotated[int, typer.Option(help="The same seed gives the same network.")] = 1,
    scenes: Annotated[int, typer.Option(help="How many tables to render.", min=1)] = 3000,
    epochs: Annotated[int, typer.Option(help="Passes over their halves.", min=1)] = 5,
) -> None:
    """Train what looks at halves, before `train`. Needs torch: pip install 'tallybone[finder]'."""
    from tallybone.train_command import train_halves

    raise typer.Exit(train_halves(out, seed=seed, scenes=scenes, epochs=epochs))


@app.command("train-knock")
def _train_knock(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where the trained classifier goes.")] = Path(
        "hardware/models/knock.npz"
    ),
    *,
    seed: Annotated[int, typer.Option(help="The same seed gives the same classifier.")] = 1,
    scenes: Annotated[int, typer.Option(help="How many recordings to model.", min=1)] = 200,
    epochs: Annotated[int, typer.Option(help="Passes over their sounds.", min=1)] = 14,
) -> None:
    """Train what hears knocks, on modelled sound. Needs scikit-learn: pip install 'tallybone[train]'."""
    from tallybone.train_knock_command import train_knock

    raise typer.Exit(train_knock(out, seed=seed, scenes=scenes, epochs=epochs))


@app.command("listen")
def _listen(
    recording: Annotated[Path, typer.Argument(metavar="FILE.wav", help="Sound of a table.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per knock.")] = False,
    says_all: Annotated[bool, typer.Option("--all", help="Say every sudden sound, with its kind.")] = False,
) -> None:
    """Listen to a recording: every knock on the table, and when."""
    from tallybone.listen_command import listen

    raise typer.Exit(listen(recording, as_json=as_json, says_all=says_all))


def main() -> None:
    """Run the command line."""
    app()
