"""Commands that make what is shipped in `models`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tallybone.cli.app import app


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
    from tallybone.cli.train_command import train

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
    from tallybone.cli.train_command import train_finder

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
    from tallybone.cli.train_command import train_halves

    raise typer.Exit(train_halves(out, seed=seed, scenes=scenes, epochs=epochs))


@app.command("train-second-look")
def _train_second_look(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where the trained network goes.")] = Path(
        "vision/models/second_look.onnx"
    ),
    *,
    seed: Annotated[int, typer.Option(help="The same seed gives the same network.")] = 4004,
    scenes: Annotated[int, typer.Option(help="How many tables to render.", min=1)] = 45000,
    steps: Annotated[int, typer.Option(help="Batches of halves to learn from.", min=1)] = 12000,
) -> None:
    """Train what looks again at halves in doubt, after `train`. Needs torch: pip install 'tallybone[finder]'."""
    from tallybone.cli.train_command import train_second_look

    raise typer.Exit(train_second_look(out, seed=seed, scenes=scenes, steps=steps))


@app.command("train-knock")
def _train_knock(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where the trained classifier goes.")] = Path(
        "hardware/models/knock.npz"
    ),
    *,
    seed: Annotated[int, typer.Option(help="The same seed gives the same classifier.")] = 1,
    scenes: Annotated[int, typer.Option(help="How many recordings to model.", min=1)] = 1300,
    epochs: Annotated[int, typer.Option(help="Passes over their sounds.", min=1)] = 20,
) -> None:
    """Train what hears knocks, on modelled sound. Needs scikit-learn: pip install 'tallybone[train]'."""
    from tallybone.cli.train_knock_command import train_knock

    raise typer.Exit(train_knock(out, seed=seed, scenes=scenes, epochs=epochs))
