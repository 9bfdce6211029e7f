"""Run the training commands: each rebuilds, from a seed, a model that the package ships."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from tallybone.cli.app import COMMANDS, commands_of

if TYPE_CHECKING:
    from rich.progress import Progress

    from hardware.knock.classifier import Classifier
    from vision.networks.pip_classifier import Head

Trained: TypeAlias = "Head | Classifier | Callable[[Path], None]"
"""A head, a classifier, or a function that writes a network to a file."""
_NetworkFile = Annotated[Path, typer.Argument(metavar="FILE", help="Where the trained network goes.")]
_NetworkSeed = Annotated[int, typer.Option(help="The same seed gives the same network.")]
_Scenes = Annotated[int, typer.Option(help="How many tables to render.", min=1)]

commands = commands_of()


@commands.command("train", help=COMMANDS["train"].help)
def _train(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where the trained head goes.")] = Path(
        "vision/models/reader.npz"
    ),
    *,
    seed: Annotated[int, typer.Option(help="The same seed gives the same head.")] = 1,
    scenes: Annotated[int, typer.Option(help="How many tables to render.", min=3)] = 1800,
    epochs: Annotated[int, typer.Option(help="Passes over their halves.", min=1)] = 12,
) -> None:
    raise typer.Exit(train(out, seed=seed, scenes=scenes, epochs=epochs))


@commands.command("train-finder", help=COMMANDS["train-finder"].help)
def _train_finder(
    out: _NetworkFile = Path("vision/models/finder.onnx"),
    *,
    seed: _NetworkSeed = 1,
    scenes: _Scenes = 5000,
    steps: Annotated[int, typer.Option(help="Batches of eight crops to learn from.", min=1)] = 8000,
) -> None:
    raise typer.Exit(train_finder(out, seed=seed, scenes=scenes, steps=steps))


@commands.command("train-closer-look", help=COMMANDS["train-closer-look"].help)
def _train_closer_look(
    out: _NetworkFile = Path("vision/models/closer_look.onnx"),
    *,
    seed: _NetworkSeed = 1,
    scenes: _Scenes = 4000,
    steps: Annotated[int, typer.Option(help="Batches of what may be tiles to learn from.", min=1)] = 8000,
) -> None:
    raise typer.Exit(train_closer_look(out, seed=seed, scenes=scenes, steps=steps))


@commands.command("train-halves", help=COMMANDS["train-halves"].help)
def _train_halves(
    out: _NetworkFile = Path("vision/models/halves.onnx"),
    *,
    seed: _NetworkSeed = 1,
    scenes: _Scenes = 3000,
    epochs: Annotated[int, typer.Option(help="Passes over their halves.", min=1)] = 5,
) -> None:
    raise typer.Exit(train_halves(out, seed=seed, scenes=scenes, epochs=epochs))


@commands.command("train-second-look", help=COMMANDS["train-second-look"].help)
def _train_second_look(
    out: _NetworkFile = Path("vision/models/second_look.onnx"),
    *,
    seed: _NetworkSeed = 4004,
    scenes: _Scenes = 45000,
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


@dataclass(frozen=True, slots=True)
class Training:
    """Trains a model, prints how good it is, and writes it to a file.

    Attributes:
        command: The command that runs it.
        fit: The function that trains, as MODULE:FUNCTION; a table lacks the libraries that its module imports.
        extra: The extra of the package that brings these libraries.
        has_jobs: Whether *fit* renders in several processes.
    """

    command: str
    fit: str
    extra: str
    has_jobs: bool = True

    def __call__(self, out: Path, *, trained: Callable[..., Trained] | None = None, **numbers: int) -> int:
        """Train, print the notes of the model, and write it.

        Args:
            out: File to write, replaced when all is done.
            trained: The function that trains, by default *fit*.
            numbers: Given to it: seed, from which everything follows, scenes, and epochs or steps; also jobs, the
                processes that render, by default one per core.

        Returns:
            The exit code: 0, or 1 if a library is missing.
        """
        try:
            fit = trained or resolve_name(self.fit)
        except ModuleNotFoundError as error:
            hint = f"{error.name} is missing; it comes with: pip install 'tallybone[{self.extra}]'"
            typer.echo(f"tallybone {self.command}: {hint}", err=True)
            return 1
        jobs = {"jobs": _core_count()} if self.has_jobs else {}
        with _bars() as bars:
            made: Trained = fit(**jobs | numbers, progress=_progress(bars))
        _keep(out, made)
        return 0


train = Training("train", "synthetic.training.pips.fit:train_head", "train")
train_finder = Training("train-finder", "synthetic.training.detector.fit:train_finder", "finder")
train_closer_look = Training("train-closer-look", "synthetic.training.refiner.fit:train_closer_look", "finder")
train_halves = Training("train-halves", "synthetic.training.pip_features.fit:train_halves", "finder")
train_second_look = Training("train-second-look", "synthetic.training.hard_pips.fit:train_second_look", "finder")
train_knock = Training("train-knock", "synthetic.training.knock.fit:train_knock", "train", has_jobs=False)


def _bars() -> Progress:
    """Return bars on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True))


def _progress(bars: Progress) -> Callable[[str, float], None]:
    """Return a function that shows the share of each task that is done."""
    tasks: dict[str, Any] = {}

    def progress(task: str, share: float) -> None:
        if task not in tasks:
            tasks[task] = bars.add_task(task, total=1.0)
        bars.update(tasks[task], completed=share)

    return progress


def _keep(out: Path, made: Trained) -> None:
    """Print the notes of a model, and replace its file, and its checksum, when its successor is complete."""
    from rich.console import Console

    from hardware.knock.classifier import Classifier, save_classifier
    from vision.networks.pip_classifier import Head, save_head

    save: Callable[[Path], None]
    match made:
        case Head():
            save, notes = partial(save_head, head=made), made.notes
        case Classifier():
            save, notes = partial(save_classifier, classifier=made), made.notes
        case _:
            save, notes = made, {}
    console = Console(highlight=False)
    for name, value in notes.items():
        console.print(f"{name}: {value}")
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as folder:
        save(Path(folder) / out.name)
        for file in Path(folder).iterdir():
            file.replace(out.with_name(file.name))
    console.print(f"written: {out}")


def _core_count() -> int:
    """Return how many processes may run side by side here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
