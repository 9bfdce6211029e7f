"""`tallybone train`: the reader's heads from a seed, on tables that the renderer draws."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from vision.heads import ReaderHeads, save_heads

Training: TypeAlias = Callable[..., ReaderHeads]


def train(
    out: Path, *, seed: int, scenes: int, epochs: int, jobs: int | None = None, trained: Training | None = None
) -> int:
    """Train, say how good the heads are on tables kept back, and write them.

    Args:
        out: File to write, replaced when all is done.
        seed: Everything follows from it.
        scenes: How many tables to render.
        epochs: Passes over them.
        jobs: Processes that render; by default one per core.
        trained: What trains, by default `vision.training.fit.train_heads`.

    Returns:
        The exit code: 0, or 1 if scikit-learn is missing.
    """
    console, said = Console(file=sys.stderr, stderr=True), Console(file=sys.stdout, highlight=False)
    try:
        trained = trained or _scikit_learn_training()
    except ModuleNotFoundError as error:
        hint = f"tallybone train: {error.name} is missing; it comes with: pip install 'tallybone[train]'"
        console.print(hint, markup=False, soft_wrap=True)
        return 1
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as bars:
        tasks: dict[str, object] = {}

        def progress(what: str, share: float) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=1.0)
            bars.update(tasks[what], completed=share)  # type: ignore[arg-type]  # rich's TaskID is an int of its own

        heads = trained(seed=seed, scenes=scenes, epochs=epochs, jobs=jobs or _core_count(), progress=progress)
    for name, value in heads.notes.items():
        said.print(f"{name}: {value}")
    partial = out.with_name(out.name + ".part")
    save_heads(partial, heads)
    partial.replace(out)
    said.print(f"written: {out}")
    return 0


def _scikit_learn_training() -> Training:
    from vision.training.fit import train_heads

    return train_heads


def _core_count() -> int:
    """Return how many processes may run side by side here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
