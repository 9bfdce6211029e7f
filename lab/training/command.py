"""Run the `train` commands, each of which rebuilds a shipped model from a seed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
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
    from vision.networks.network import PipClassifier

Trained: TypeAlias = "PipClassifier | Classifier | Callable[[Path], None]"
"""A pip classifier, a sound classifier, or a function that writes a network to a file."""
_File = Annotated[Path, typer.Argument(metavar="FILE", help="Write the trained model here.")]
_Seed = Annotated[int, typer.Option(help="Random seed; the same seed gives the same model.")]
_Scenes = Annotated[int, typer.Option(help="Rendered tables or modelled recordings to train on.", min=3)]
_Epochs = Annotated[int, typer.Option(help="Passes over the samples.", min=1)]
_Steps = Annotated[int, typer.Option(help="Batches of samples.", min=1)]


class TrainingDevice(StrEnum):
    """Processor that trains a network."""

    CPU = "cpu"
    CUDA = "cuda"


_Device = Annotated[TrainingDevice, typer.Option(help="Train on the CPU or an NVIDIA GPU.")]

commands, train_app = commands_of(), commands_of(COMMANDS["train"].help)
commands.add_typer(train_app, name="train")


@dataclass(frozen=True, slots=True)
class Training:
    """Command that trains a model, prints its figures, and writes it to a file.

    Attributes:
        model: Name of the command below `tallybone train`.
        fit: Training function, as MODULE:FUNCTION. Imported on use, because a table lacks its libraries.
        file: Path of the shipped model, the default output.
        scenes: Default number of rendered tables or modelled recordings.
        epochs: Default number of passes over the samples. None for a model that counts steps.
        steps: Default number of batches. None for a model that counts epochs.
        extra: Extra of the package that installs the libraries.
        has_jobs: True if *fit* renders in several processes.
        draws_tables: True if *fit* renders tables, for which photographed surfaces must be installed.
    """

    model: str
    purpose: str
    fit: str
    file: Path
    scenes: int
    epochs: int | None = None
    steps: int | None = None
    seed: int = 1
    extra: str = "finder"
    has_jobs: bool = True
    draws_tables: bool = True

    def __call__(
        self, out: Path, *, trained: Callable[..., Trained] | None = None, **numbers: int | TrainingDevice
    ) -> int:
        """Train the model, print its notes, and write it.

        Args:
            out: File to write. It is replaced once training is complete.
            trained: Training function, by default *fit*.
            numbers: Arguments of that function: seed, scenes, epochs or steps, device, and jobs, the processes
                that render (one per core by default).

        Returns:
            The exit code: 0, or 1 if a library, a GPU, or training sounds or photographs are missing.
        """
        try:
            fit = trained or resolve_name(self.fit)
        except ModuleNotFoundError as error:
            hint = f"{error.name} is missing; it comes with: pip install 'tallybone-lab[{self.extra}]'"
            typer.echo(f"tallybone train {self.model}: {hint}", err=True)
            return 1
        if numbers.get("device") is TrainingDevice.CUDA and not _has_cuda():
            typer.echo(f"tallybone train {self.model}: no CUDA GPU is available; use --device cpu", err=True)
            return 1
        jobs = (
            {"jobs": (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)}
            if self.has_jobs
            else {}
        )
        try:
            if self.draws_tables and trained is None:
                from lab.packages import LIBRARY
                from lab.render.tabletop import require_photographs

                require_photographs(LIBRARY)
            # Progress bars on stderr.
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
            with Progress(*columns, console=Console(stderr=True)) as bars:
                made: Trained = fit(**jobs | numbers, progress=_progress(bars))
        except FileNotFoundError as error:  # of recorded sounds or photographs
            typer.echo(f"tallybone train {self.model}: {error}", err=True)
            return 1
        _keep(out, made)
        return 0


_MODELS = Path("vision/models")
_TRAINING = "lab.training"
# In training order: each uses the models before it.
TRAININGS = {
    one.model: one
    for one in (
        Training(
            "detector",
            "Train the tile detector.",
            f"{_TRAINING}.networks:train_detector",
            _MODELS / "detector.onnx",
            scenes=6000,
            steps=20000,
            seed=52,
        ),
        Training(
            "refiner",
            "Train the refiner, which accepts and corrects proposals of the detector.",
            f"{_TRAINING}.networks:train_refiner",
            _MODELS / "refiner.onnx",
            scenes=5000,
            steps=12000,
            seed=52,
        ),
        Training(
            "pip-features",
            "Train the pip features, computed from half tiles.",
            f"{_TRAINING}.networks:train_pip_features",
            _MODELS / "pip_features.onnx",
            scenes=3000,
            epochs=5,
            seed=52,
        ),
        Training(
            "pips",
            "Train the pip classifier.",
            f"{_TRAINING}.pips:train_pip_classifier",
            _MODELS / "pips.npz",
            scenes=1800,
            epochs=12,
            seed=52,
            extra="train",
        ),
        Training(
            "hard-pips",
            "Train the hard-case classifier, for halves on which the pip classifier is unsure.",
            f"{_TRAINING}.networks:train_hard_case_classifier",
            _MODELS / "hard_cases.onnx",
            scenes=30000,
            steps=12000,
            seed=52,
        ),
        Training(
            "knock",
            "Train the sound classifier.",
            f"{_TRAINING}.knock:train_knock",
            Path("hardware/models/knock.npz"),
            scenes=24000,
            epochs=6,
            seed=51,
            draws_tables=False,
        ),
    )
}


def _add_command(training: Training) -> None:
    """Register the command of a training, with its defaults."""

    def without_torch(
        out: _File = training.file,
        *,
        seed: _Seed = training.seed,
        scenes: _Scenes = training.scenes,
        epochs: _Epochs = training.epochs or 0,
    ) -> None:
        raise typer.Exit(training(out, seed=seed, scenes=scenes, epochs=epochs))

    def by_epochs(
        out: _File = training.file,
        *,
        seed: _Seed = training.seed,
        scenes: _Scenes = training.scenes,
        epochs: _Epochs = training.epochs or 0,
        device: _Device = TrainingDevice.CPU,
    ) -> None:
        raise typer.Exit(training(out, seed=seed, scenes=scenes, epochs=epochs, device=device))

    def by_steps(
        out: _File = training.file,
        *,
        seed: _Seed = training.seed,
        scenes: _Scenes = training.scenes,
        steps: _Steps = training.steps or 0,
        device: _Device = TrainingDevice.CPU,
    ) -> None:
        raise typer.Exit(training(out, seed=seed, scenes=scenes, steps=steps, device=device))

    library = "torch" if training.extra == "finder" else "scikit-learn"
    command = by_steps if training.epochs is None else by_epochs if library == "torch" else without_torch
    text = f"{training.purpose} Needs {library}: pip install 'tallybone-lab[{training.extra}]'."
    train_app.command(training.model, help=text)(command)


for _one in TRAININGS.values():
    _add_command(_one)


def _progress(bars: Progress) -> Callable[[str, float], None]:
    """Return a function that updates the progress of each task, from 0 to 1."""
    tasks: dict[str, Any] = {}

    def progress(task: str, share: float) -> None:
        if task not in tasks:
            tasks[task] = bars.add_task(task, total=1.0)
        bars.update(tasks[task], completed=share)

    return progress


def _keep(out: Path, made: Trained) -> None:
    """Print the notes of a model, and replace its file and its checksum, each atomically."""
    from rich.console import Console

    from hardware.knock.classifier import Classifier
    from lab.training.encoding import save_classifier, save_pip_classifier
    from vision.networks.network import PipClassifier

    save: Callable[[Path], None]
    match made:
        case PipClassifier():
            save, notes = partial(save_pip_classifier, classifier=made), made.notes
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


def _has_cuda() -> bool:
    """Return True if torch can use an NVIDIA GPU."""
    import torch

    return bool(torch.cuda.is_available())
