"""The bar that is seen while one of several pictures is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from tallybone.terminal import printable


@contextmanager
def reading_progress(console: Console, index: int, count: int, name: str) -> Iterator[None]:
    """Show a bar while one of several pictures is read, and take it away again before anything is printed.

    Args:
        console: Where to; nothing is shown where it is no terminal.
        index, count: Which picture it is, from 0, of how many.
        name: What the picture is called.
    """
    if count < 2 or not console.is_terminal:
        yield
        return
    columns = (TextColumn("Reading"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    # No refreshing thread: it would write while the libraries are kept quiet.
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as bar:
        bar.add_task(printable(name), total=count, completed=index)
        bar.refresh()
        yield
