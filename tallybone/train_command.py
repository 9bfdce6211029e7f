"""`tallybone train`: the reader's heads from a seed, on tables that the renderer draws."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from vision.heads import save_heads


def train(out: Path, *, seed: int, scenes: int, epochs: int, jobs: int | None = None) -> int:
    """Train, say how good the heads are on tables kept back, and write them.

    Args:
        out: File to write, replaced when all is done.
        seed: Everything follows from it.
        scenes: How many tables to render.
        epochs: Passes over them.
        jobs: Processes that render; by default one per core.

    Returns:
        The exit code.
    """
    try:
        from vision.training.fit import core_count, train_heads
    except ModuleNotFoundError as error:
        Console(file=sys.stderr, stderr=True).print(
            f"tallybone train: {error.name} is missing; it comes with: pip install 'tallybone[train]'", markup=False
        )
        return 1
    console, said = Console(file=sys.stderr, stderr=True), Console(file=sys.stdout, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as bars:
        tasks: dict[str, object] = {}

        def progress(what: str, share: float) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=1.0)
            bars.update(tasks[what], completed=share)  # type: ignore[arg-type]  # rich's TaskID is an int of its own

        heads = train_heads(seed=seed, scenes=scenes, epochs=epochs, jobs=jobs or core_count(), progress=progress)
    for name, value in heads.notes.items():
        said.print(f"{name}: {value}")
    partial = out.with_name(out.name + ".part")
    save_heads(partial, heads)
    partial.replace(out)
    said.print(f"written: {out}")
    return 0
