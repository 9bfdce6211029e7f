"""Run `tallybone simulate`: a whole match at a rendered table, recorded with its truth."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from tallybone.choices import Difficulty
from tallybone.cli.app import command, commands_of
from tallybone.cli.games import game_option

if TYPE_CHECKING:
    from tallybone.simulate.recorder import RecordingSummary
    from tallybone.simulate.simulation import SimulationSettings

commands = commands_of()


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateOptions:
    """The game, the people and the table of a simulated sitting, and its recording."""

    out: Annotated[
        Path, typer.Option(metavar="FILE.mcap", dir_okay=False, help="Where the recording goes; it must not exist.")
    ]
    rules: Annotated[str, game_option("Which game is played.")] = "bones"
    options: Annotated[
        str, typer.Option(metavar="KEY=VALUE ...", help="What is agreed otherwise, such as 'set=9 target=200'.")
    ] = ""
    players: Annotated[int, typer.Option(help="How many play.", min=1)] = 2
    seed: Annotated[int, typer.Option(help="Picks the game, the people, the table and the light.", min=0)] = 1
    hands: Annotated[int | None, typer.Option(help="How many hands at most; else all of them.", min=1)] = None
    looks: Annotated[str, typer.Option(metavar="NAME", help="Tiles and table; the seed picks them.")] = "seed"
    difficulty: Annotated[Difficulty, typer.Option(help="Noise, light, pace, and what disturbs.")] = Difficulty.NORMAL
    fps: Annotated[int, typer.Option(help="Pictures in a second.", min=2, max=60)] = 10
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one line of JSON.")] = False


@command(commands, "simulate", SimulateOptions)
def _simulate(options: SimulateOptions) -> int:
    from engine import EngineError
    from tallybone.simulate.simulation import simulation_settings

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
    """Record a simulated sitting.

    Args:
        path: The recording; it must not exist.
        settings: The game, the people and the table.
        as_json: Print one line of JSON instead of a sentence.
        out: Takes the summary, by default stdout.
        err: Takes progress and errors, by default stderr.

    Returns:
        The exit code: 0, or 1 if it could not be recorded.
    """
    from tallybone.recording.format import RecordingError
    from tallybone.recording.writer import RecordingWriter
    from tallybone.simulate.recorder import RecordingSummary, record, start_of
    from tallybone.simulate.simulation import Simulation
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
                    status.update(f"Simulating: {_words(done)}")
    except RecordingError as error:
        return output.complain(error)
    summary = {"file": str(path), **asdict(done)}
    said = json.dumps(summary) if as_json else f"{printable(str(path))}: {_words(done)}"
    output.write(said)
    return 0


def _words(done: RecordingSummary) -> str:
    hands = "hand" if done.hands == 1 else "hands"
    return f"{done.hands} {hands}, {done.plays} plays, {done.frames} pictures, {done.seconds:.0f} s at the table"
