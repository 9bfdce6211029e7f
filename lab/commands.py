"""Run `simulate`, `evaluate`, `shadow` and `emulate-display`. Slow imports stay inside the functions."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from tallybone.choices import Difficulty, TileSet
from tallybone.cli.app import COMMANDS, command, commands_of
from tallybone.cli.games import game_option

if TYPE_CHECKING:
    from lab.matches.simulation import RecordingSummary, SimulationSettings

commands = commands_of()


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateOptions:
    """Options of `tallybone simulate`."""

    out: Annotated[Path, typer.Option(metavar="FILE.mcap", dir_okay=False, help="Recording to write; must not exist.")]
    rules: Annotated[str, game_option("Game to play.")] = "bones"
    options: Annotated[str, typer.Option(metavar="KEY=VALUE ...", help="Game options, such as 'set=9 target=200'.")] = (
        ""
    )
    players: Annotated[int, typer.Option(help="Number of players.", min=1)] = 2
    seed: Annotated[int, typer.Option(help="Random seed of the game, players, table and light.", min=0)] = 1
    hands: Annotated[int | None, typer.Option(help="Maximum number of hands. Default: the whole match.", min=1)] = None
    looks: Annotated[str, typer.Option(metavar="NAME", help="Look of tiles and table; seed: chosen by the seed.")] = (
        "seed"
    )
    difficulty: Annotated[Difficulty, typer.Option(help="Amount of noise, lighting, pace and disturbances.")] = (
        Difficulty.NORMAL
    )
    fps: Annotated[int, typer.Option(help="Frames per second.", min=2, max=60)] = 10
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one line of JSON.")] = False


@command(commands, "simulate", SimulateOptions)
def _simulate(options: SimulateOptions) -> int:
    from engine import EngineError
    from lab.matches.simulation import simulation_settings

    try:
        settings = simulation_settings(
            options.rules,
            players=options.players,
            seed=options.seed,
            options=options.options,
            hands=options.hands,
            look=options.looks,
            difficulty=options.difficulty,
            fps=options.fps,
        )
    except EngineError as error:
        raise typer.BadParameter(str(error)) from None
    return simulate(options.out, settings, as_json=options.as_json)


def simulate(
    path: Path,
    settings: SimulationSettings,
    *,
    as_json: bool = False,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Record a simulated match.

    Args:
        path: Recording to write. It must not exist.
        as_json: Print the summary as a line of JSON instead of text.
        out: Receives the summary, by default stdout.
        err: Receives progress and errors, by default stderr.

    Returns:
        The exit code: 0, or 1 if the recording cannot be written.
    """
    from lab.matches.simulation import RecordingSummary, Simulation, record, start_of
    from tallybone.recording.format import RecordingError
    from tallybone.recording.writer import RecordingWriter
    from tallybone.terminal import Output, printable

    output = Output.of("simulate", out, err)
    simulation = Simulation(settings)
    done = RecordingSummary()
    try:
        with (
            RecordingWriter(path, start_of(simulation, settings)) as writer,
            output.err_console.status("Simulating") as status,
        ):
            for done in record(simulation.items(), writer):
                if done.frames % settings.fps == 0:
                    status.update(f"Simulating: {_text(done)}")
    except RecordingError as error:
        return output.complain(error)
    summary = {"file": str(path), **asdict(done)}
    line = json.dumps(summary) if as_json else f"{printable(str(path))}: {_text(done)}"
    output.write(line)
    return 0


def _text(done: RecordingSummary) -> str:
    hands = "hand" if done.hands == 1 else "hands"
    return f"{done.hands} {hands}, {done.plays} plays, {done.frames} pictures, {done.seconds:.0f} s at the table"


@commands.command("evaluate", help=COMMANDS["evaluate"].help)
def _evaluate(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="LABELS ROOT | SESSION...",
            help="Labels of photographs (docs/reference/labels.md) and the folder to which their paths are relative;"
            " or recordings of simulated tables (.mcap), or folders of them.",
        ),
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: one object, or a line per recording.")] = False,
    tile_set: Annotated[TileSet, typer.Option("--set", help="Domino set in the photographs.")] = TileSet.AUTO,
    sheet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw all misreadings of photographs to this .jpg or .png file.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Number of recordings evaluated in parallel.", min=1)] = 1,
) -> None:
    from lab.evaluate.command import are_sessions, evaluate_photos, evaluate_sessions

    if are_sessions(paths):
        if sheet is not None or tile_set is not TileSet.AUTO:
            raise typer.BadParameter("--set and --sheet are for photographs, and these are recordings")
        raise typer.Exit(evaluate_sessions(paths, as_json=as_json, jobs=jobs))
    if len(paths) != 2:
        raise typer.BadParameter(f"{paths[0]}: expected recordings or folders, or LABELS and ROOT of photographs")
    labels, root = paths
    raise typer.Exit(evaluate_photos(labels, root, tile_set=tile_set, as_json=as_json, sheet=sheet))


@commands.command("shadow", help=COMMANDS["shadow"].help)
def _shadow(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RECORDING... SHEET.dgr",
            help="Recordings of one match in order (.mcap), then its score sheet (docs/reference/game_record.md).",
        ),
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    from lab.evaluate.shadow import compare_with_sheet

    if len(paths) < 2:
        raise typer.BadParameter("expected at least one recording, then the score sheet", param_hint="SHEET.dgr")
    *recordings, sheet = paths
    raise typer.Exit(compare_with_sheet(recordings, sheet, as_json=as_json))


def _emulated(name: str) -> str:
    """Return *name*, or raise `BadParameter` if no display of that name can be emulated."""
    from lab.emulate.command import EMULATIONS

    if name not in EMULATIONS:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, EMULATIONS))}.")
    return name


@commands.command("emulate-display", help=COMMANDS["emulate-display"].help)
def _emulate_display(
    kind: Annotated[str, typer.Argument(metavar="KIND", parser=_emulated, help="serlcd, segment, nextion or others.")],
    *,
    at: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Path of the serial port, such as /tmp/display.")
    ] = None,
    baud: Annotated[int, typer.Option(help="Baud rate.", min=1200, max=1_000_000)] = 9600,
) -> None:
    from lab.emulate.command import emulate_display

    raise typer.Exit(emulate_display(kind, at=at, baud=baud))
