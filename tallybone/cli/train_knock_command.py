"""`tallybone train-knock`: all that the knock detector learns, from a seed, on modelled sound."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from rich.console import Console

from hardware.knock.classifier import Classifier, save_classifier
from tallybone.cli.training_terminal import bars_on_stderr, progress_on, say_missing, write_whole

Training: TypeAlias = Callable[..., Classifier]


def train_knock(out: Path, *, seed: int, scenes: int, epochs: int, trained: Training | None = None) -> int:
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
    said = Console(file=sys.stdout, highlight=False)
    try:
        trained = trained or _scikit_learn_training()
    except ModuleNotFoundError as error:
        return say_missing("train-knock", error, "train")
    with bars_on_stderr() as bars:
        classifier = trained(seed=seed, scenes=scenes, epochs=epochs, progress=progress_on(bars))
    for name, value in classifier.notes.items():
        said.print(f"{name}: {value}")
    write_whole(out, lambda path: save_classifier(path, classifier))
    said.print(f"written: {out}")
    return 0


def _scikit_learn_training() -> Training:
    from hardware.knock_training.fit import train_knock

    return train_knock
