"""`tallybone backup` and `tallybone restore`: everything that a table keeps, as one file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO, TextIO

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from tallybone.files import whole_file
from tallybone.maintain.backup import (
    BackupError,
    Entry,
    Tick,
    config_in,
    entries_of,
    finish,
    restore,
    running_in,
    write_archive,
)
from tallybone.recording.folder import default_folder
from tallybone.store.table_file import USUAL_PATH
from tallybone.terminal import printable

PIPE = "-"
"""Instead of a file: standard output or input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a table keeps what.

    Attributes:
        state: The folder of recordings, calibration and settings.
        config: The folder of table.toml.
    """

    state: Path
    config: Path

    @classmethod
    def usual(cls, environment: Mapping[str, str], home: Path) -> Place:
        """Return where it is when nobody says otherwise."""
        return cls(state=default_folder(environment, home).parent, config=USUAL_PATH.parent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """Where words go, and where the bytes of `-` come from and go to."""

    err: TextIO = field(default_factory=lambda: sys.stderr)
    bytes_in: BinaryIO = field(default_factory=lambda: sys.stdin.buffer)
    bytes_out: BinaryIO = field(default_factory=lambda: sys.stdout.buffer)


def back_up(target: str, *, is_forced: bool = False, place: Place | None = None, streams: Streams | None = None) -> int:
    """Write everything that a table keeps to a file, or with `-` to standard output; a game may go on meanwhile.

    Returns:
        The exit code: 0, or 1 if it could not be written.
    """
    place, streams = place or Place.usual(os.environ, Path.home()), streams or Streams()
    console = Console(file=streams.err, stderr=True, highlight=False)
    try:
        if not place.state.is_dir():
            raise BackupError(f"{place.state}: there is nothing yet that could be backed up")
        finish(place.state)
        entries = entries_of(place.state, place.config)
        if target == PIPE:
            if streams.bytes_out.isatty():
                raise BackupError("standard output is a terminal: give a file, or | and what takes it")
            count = _write(entries, streams.bytes_out, console)
        else:
            count = _write_file(Path(target), entries, place, console, is_forced=is_forced)
    except (BackupError, OSError) as error:
        _say(console, f"tallybone backup: {error}")
        return 1
    _say(console, f"{count} files are in {'the backup' if target == PIPE else target}.")
    return 0


def put_back(source: str, *, place: Place | None = None, streams: Streams | None = None) -> int:
    """Put what a backup holds in the place of what a table keeps; what was there before is kept beside it.

    Returns:
        The exit code: 0, or 1 if it could not be used, and then nothing has changed.
    """
    place, streams = place or Place.usual(os.environ, Path.home()), streams or Streams()
    console = Console(file=streams.err, stderr=True, highlight=False)
    try:
        running = running_in(place.state)
        if running is not None:
            raise BackupError(f"{running}: a game is being recorded; end it first (sudo systemctl stop tallybone)")
        if source == PIPE:
            with _progress(console, "restoring", None) as tick:
                count, before = restore(streams.bytes_in, place.state, tick=tick)
        else:
            with Path(source).open("rb") as file, _progress(console, "restoring", Path(source).stat().st_size) as tick:
                count, before = restore(file, place.state, tick=tick)
    except (BackupError, OSError) as error:
        _say(console, f"tallybone restore: {error}")
        return 1
    _say(console, f"{count} files are restored.")
    if before is not None:
        _say(console, f"What was there before is in {before}; delete it when you do not need it any more.")
    for path in config_in(place.state):
        _say(console, f"The configuration is yours, so it was not touched; that of the backup is {path}.")
    return 0


def _write_file(path: Path, entries: tuple[Entry, ...], place: Place, console: Console, *, is_forced: bool) -> int:
    if path.resolve().is_relative_to(place.state.resolve()):
        raise BackupError(f"{path}: a backup cannot lie in {place.state}, which it holds")
    with whole_file(path, is_forced=is_forced) as part:
        # The hash of the password of the page is in it: nobody else reads it.
        number = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "wb") as out:
            return _write(entries, out, console)


def _write(entries: tuple[Entry, ...], out: BinaryIO, console: Console) -> int:
    sizes = [entry.path.stat().st_size for entry in entries if entry.path.exists()]
    now = datetime.now(UTC).astimezone()  # noqa: TID251 - says when it was made; nothing relies on it
    with _progress(console, "backing up", sum(sizes)) as tick:
        count = write_archive(
            entries,
            out,
            made_at=now.isoformat(timespec="seconds"),
            software=f"tallybone {version('tallybone')}",
            tick=tick,
        )
        out.flush()
    return count


@contextmanager
def _progress(console: Console, words: str, size_bytes: int | None) -> Iterator[Tick]:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(words, total=size_bytes)
        yield lambda more_bytes: progress.update(task, advance=more_bytes)


def _say(console: Console, words: str) -> None:
    console.print(printable(words), markup=False, soft_wrap=True)
