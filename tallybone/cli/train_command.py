"""Commands that make what the eye knows, from seeds, on rendered tables: `tallybone train` and its sisters."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

from rich.console import Console

from tallybone.cli.training_terminal import bars_on_stderr, progress_on, say_missing, write_whole
from vision.heads import ReaderHeads, save_heads

Training: TypeAlias = Callable[..., ReaderHeads]
# Returns what writes a network to a file.
NetworkTraining: TypeAlias = Callable[..., Callable[[Path], None]]


def train(
    out: Path, *, seed: int, scenes: int, epochs: int, jobs: int | None = None, trained: Training | None = None
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
    said = Console(file=sys.stdout, highlight=False)
    try:
        trained = trained or _scikit_learn_training()
    except ModuleNotFoundError as error:
        return say_missing("train", error, "train")
    with bars_on_stderr() as bars:
        heads = trained(seed=seed, scenes=scenes, epochs=epochs, jobs=jobs or _core_count(), progress=progress_on(bars))
    for name, value in heads.notes.items():
        said.print(f"{name}: {value}")
    write_whole(out, lambda path: save_heads(path, heads))
    said.print(f"written: {out}")
    return 0


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
    try:
        trained = trained or _finder_training()
    except ModuleNotFoundError as error:
        return say_missing("train-finder", error, "finder")
    return _train_network(out, partial(trained, seed=seed, scenes=scenes, steps=steps, jobs=jobs or _core_count()))


def train_halves(
    out: Path, *, seed: int, scenes: int, epochs: int, jobs: int | None = None, trained: NetworkTraining | None = None
) -> int:
    """Train the network that looks at halves, and write it.

    Args:
        out: File to write, replaced when all is done.
        seed: Everything follows from it.
        scenes: How many tables to render.
        epochs: Passes over their halves.
        jobs: Processes that render, by default one per core.
        trained: What trains, by default `vision.training.half_fit.train_halves`.

    Returns:
        The exit code: 0, or 1 if torch is missing.
    """
    try:
        trained = trained or _halves_training()
    except ModuleNotFoundError as error:
        return say_missing("train-halves", error, "finder")
    return _train_network(out, partial(trained, seed=seed, scenes=scenes, epochs=epochs, jobs=jobs or _core_count()))


def train_second_look(
    out: Path, *, seed: int, scenes: int, steps: int, jobs: int | None = None, trained: NetworkTraining | None = None
) -> int:
    """Train the network that looks again at halves in doubt, and write it.

    Args:
        out: File to write, replaced when all is done.
        seed: Everything follows from it.
        scenes: How many tables to render.
        steps: How many batches of halves to learn from.
        jobs: Processes that render, by default one per core.
        trained: What trains, by default `vision.training.second_fit.train_second_look`.

    Returns:
        The exit code: 0, or 1 if torch is missing.
    """
    try:
        trained = trained or _second_look_training()
    except ModuleNotFoundError as error:
        return say_missing("train-second-look", error, "finder")
    return _train_network(out, partial(trained, seed=seed, scenes=scenes, steps=steps, jobs=jobs or _core_count()))


def _train_network(out: Path, trained: NetworkTraining) -> int:
    with bars_on_stderr() as bars:
        save = trained(progress=progress_on(bars))
    write_whole(out, save)
    Console(file=sys.stdout, highlight=False).print(f"written: {out}")
    return 0


def _scikit_learn_training() -> Training:
    from vision.training.fit import train_heads

    return train_heads


def _finder_training() -> NetworkTraining:
    from vision.training.finder_fit import train_finder

    return train_finder


def _halves_training() -> NetworkTraining:
    from vision.training.half_fit import train_halves

    return train_halves


def _second_look_training() -> NetworkTraining:
    from vision.training.second_fit import train_second_look

    return train_second_look


def _core_count() -> int:
    """Return how many processes may run side by side here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
