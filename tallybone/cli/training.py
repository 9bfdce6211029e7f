"""Run the training commands: each rebuilds, from a seed, a model that the package ships."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from tallybone.cli.app import COMMANDS, commands_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from hardware.knock.classifier import Classifier
    from vision.heads import ReaderHeads

HeadsTraining: TypeAlias = "Callable[..., ReaderHeads]"
KnockTraining: TypeAlias = "Callable[..., Classifier]"
NetworkTraining: TypeAlias = "Callable[..., Callable[[Path], None]]"
"""Returns what writes a network to a file."""

commands = commands_of()


@commands.command("train", help=COMMANDS["train"].help)
def _train(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where the trained heads go.")] = Path(
        "vision/models/reader.npz"
    ),
    *,
    seed: Annotated[int, typer.Option(help="The same seed gives the same heads.")] = 1,
    scenes: Annotated[int, typer.Option(help="How many tables to render.", min=3)] = 1800,
    epochs: Annotated[int, typer.Option(help="Passes over their tiles.", min=1)] = 12,
) -> None:
    raise typer.Exit(train(out, seed=seed, scenes=scenes, epochs=epochs))


@commands.command("train-finder", help=COMMANDS["train-finder"].help)
def _train_finder(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where the trained network goes.")] = Path(
        "vision/models/finder.onnx"
    ),
    *,
    seed: Annotated[int, typer.Option(help="The same seed gives the same network.")] = 1,
    scenes: Annotated[int, typer.Option(help="How many tables to render.", min=1)] = 4000,
    steps: Annotated[int, typer.Option(help="Batches of eight crops to learn from.", min=1)] = 5000,
) -> None:
    raise typer.Exit(train_finder(out, seed=seed, scenes=scenes, steps=steps))


@commands.command("train-halves", help=COMMANDS["train-halves"].help)
def _train_halves(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where the trained network goes.")] = Path(
        "vision/models/halves.onnx"
    ),
    *,
    seed: Annotated[int, typer.Option(help="The same seed gives the same network.")] = 1,
    scenes: Annotated[int, typer.Option(help="How many tables to render.", min=1)] = 3000,
    epochs: Annotated[int, typer.Option(help="Passes over their halves.", min=1)] = 5,
) -> None:
    raise typer.Exit(train_halves(out, seed=seed, scenes=scenes, epochs=epochs))


@commands.command("train-second-look", help=COMMANDS["train-second-look"].help)
def _train_second_look(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where the trained network goes.")] = Path(
        "vision/models/second_look.onnx"
    ),
    *,
    seed: Annotated[int, typer.Option(help="The same seed gives the same network.")] = 4004,
    scenes: Annotated[int, typer.Option(help="How many tables to render.", min=1)] = 45000,
    steps: Annotated[int, typer.Option(help="Batches of halves to learn from.", min=1)] = 12000,
) -> None:
    raise typer.Exit(train_second_look(out, seed=seed, scenes=scenes, steps=steps))


@commands.command("train-knock", help=COMMANDS["train-knock"].help)
def _train_knock(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where the trained classifier goes.")] = Path(
        "hardware/models/knock.npz"
    ),
    *,
    seed: Annotated[int, typer.Option(help="The same seed gives the same classifier.")] = 1,
    scenes: Annotated[int, typer.Option(help="How many recordings to model.", min=1)] = 1300,
    epochs: Annotated[int, typer.Option(help="Passes over their sounds.", min=1)] = 20,
) -> None:
    raise typer.Exit(train_knock(out, seed=seed, scenes=scenes, epochs=epochs))


def train(
    out: Path, *, seed: int, scenes: int, epochs: int, jobs: int | None = None, trained: HeadsTraining | None = None
) -> int:
    """Train the heads, say how good they are on tables kept back, and write them.

    Args:
        out: File to write, replaced when all is done.
        seed: Everything follows from it.
        scenes: How many tables to render.
        epochs: Passes over them.
        jobs: Processes that render, by default one per core.
        trained: What trains, by default `vision.training.fit.train_heads`.

    Returns:
        The exit code: 0, or 1 if scikit-learn is missing.
    """
    from vision.heads import save_heads

    def shipped() -> HeadsTraining:
        from vision.training.fit import train_heads

        return train_heads

    try:
        fit = trained or shipped()
    except ModuleNotFoundError as error:
        return _say_missing("train", error, "train")
    with _bars() as bars:
        heads = fit(seed=seed, scenes=scenes, epochs=epochs, jobs=jobs or _core_count(), progress=_progress(bars))
    return _keep(out, lambda path: save_heads(path, heads), heads.notes)


def train_knock(out: Path, *, seed: int, scenes: int, epochs: int, trained: KnockTraining | None = None) -> int:
    """Train the classifier of sudden sounds, say how good it is on sound kept back, and write it.

    Args:
        out: File to write, replaced when all is done.
        seed: Everything follows from it.
        scenes: How many recordings to model.
        epochs: Passes over their sounds.
        trained: What trains, by default `hardware.knock_training.fit.train_knock`.

    Returns:
        The exit code: 0, or 1 if scikit-learn is missing.
    """
    from hardware.knock.classifier import save_classifier

    def shipped() -> KnockTraining:
        from hardware.knock_training.fit import train_knock

        return train_knock

    try:
        fit = trained or shipped()
    except ModuleNotFoundError as error:
        return _say_missing("train-knock", error, "train")
    with _bars() as bars:
        classifier = fit(seed=seed, scenes=scenes, epochs=epochs, progress=_progress(bars))
    return _keep(out, lambda path: save_classifier(path, classifier), classifier.notes)


def train_finder(
    out: Path, *, seed: int, scenes: int, steps: int, jobs: int | None = None, trained: NetworkTraining | None = None
) -> int:
    """Train the network that finds tiles, and write it.

    Args:
        out: File to write, replaced when all is done.
        seed: Everything follows from it.
        scenes: How many tables to render.
        steps: How many batches of crops to learn from.
        jobs: Processes that render, by default one per core.
        trained: What trains, by default `vision.training.finder_fit.train_finder`.

    Returns:
        The exit code: 0, or 1 if torch is missing.
    """

    def shipped() -> NetworkTraining:
        from vision.training.finder_fit import train_finder

        return train_finder

    return _train_network("train-finder", out, trained, shipped, seed=seed, scenes=scenes, steps=steps, jobs=jobs)


def train_halves(
    out: Path, *, seed: int, scenes: int, epochs: int, jobs: int | None = None, trained: NetworkTraining | None = None
) -> int:
    """Train the network that looks at halves, and write it; as `train_finder`, by `half_fit.train_halves`."""

    def shipped() -> NetworkTraining:
        from vision.training.half_fit import train_halves

        return train_halves

    return _train_network("train-halves", out, trained, shipped, seed=seed, scenes=scenes, epochs=epochs, jobs=jobs)


def train_second_look(
    out: Path, *, seed: int, scenes: int, steps: int, jobs: int | None = None, trained: NetworkTraining | None = None
) -> int:
    """Train the network that looks again at halves in doubt, as `train_finder`, by `second_fit.train_second_look`."""

    def shipped() -> NetworkTraining:
        from vision.training.second_fit import train_second_look

        return train_second_look

    return _train_network("train-second-look", out, trained, shipped, seed=seed, scenes=scenes, steps=steps, jobs=jobs)


def _train_network(
    command: str,
    out: Path,
    trained: NetworkTraining | None,
    shipped: Callable[[], NetworkTraining],
    *,
    jobs: int | None,
    **numbers: int,
) -> int:
    """Train by *trained*, or by what is *shipped* where torch is installed; return the exit code."""
    try:
        fit = trained or shipped()
    except ModuleNotFoundError as error:
        return _say_missing(command, error, "finder")
    with _bars() as bars:
        save = fit(**numbers, jobs=jobs or _core_count(), progress=_progress(bars))
    return _keep(out, save, {})


def _bars() -> Progress:
    """Return bars that show what is being done, away from what is said."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(file=sys.stderr, stderr=True))


def _progress(bars: Progress) -> Callable[[str, float], None]:
    """Return what shows the share of each thing that is done."""
    tasks: dict[str, Any] = {}

    def progress(what: str, share: float) -> None:
        if what not in tasks:
            tasks[what] = bars.add_task(what, total=1.0)
        bars.update(tasks[what], completed=share)

    return progress


def _say_missing(command: str, error: ModuleNotFoundError, extra: str) -> int:
    """Say which extra brings what a command needs, and return its exit code, 1."""
    hint = f"tallybone {command}: {error.name} is missing; it comes with: pip install 'tallybone[{extra}]'"
    _console(sys.stderr).print(hint, markup=False, soft_wrap=True)
    return 1


def _keep(out: Path, save: Callable[[Path], None], notes: dict[str, Any]) -> int:
    """Say what is known of a model, and replace its file when its successor is complete; return the exit code, 0."""
    said = _console(sys.stdout)
    for name, value in notes.items():
        said.print(f"{name}: {value}")
    partial_file = out.with_name(out.name + ".part")
    out.parent.mkdir(parents=True, exist_ok=True)
    save(partial_file)
    partial_file.replace(out)
    said.print(f"written: {out}")
    return 0


def _console(file: Any) -> Console:
    from rich.console import Console

    return Console(file=file, stderr=file is sys.stderr, highlight=False)


def _core_count() -> int:
    """Return how many processes may run side by side here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
