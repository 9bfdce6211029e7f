"""Run `backup` and `restore`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, TextIO

import typer

from tallybone.cli.app import COMMANDS, commands_of

if TYPE_CHECKING:
    from rich.console import Console

    from tallybone.maintain.backup import ArchivedFile, Tick

PIPE = "-"
"""File name for standard output or input."""

commands = commands_of()


@commands.command("backup", help=COMMANDS["backup"].help)
def _backup(
    target: Annotated[str, typer.Argument(metavar="FILE", help="Backup to write, such as table.tar; - for stdout.")],
    *,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    raise typer.Exit(back_up(target, is_forced=force))


@commands.command("restore", help=COMMANDS["restore"].help)
def _restore(
    source: Annotated[str, typer.Argument(metavar="FILE", help="Backup to restore; - for stdin.")],
) -> None:
    raise typer.Exit(restore_table(source))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFolders:
    """The folders of a table."""

    state: Path
    config: Path

    @classmethod
    def usual(cls) -> TableFolders:
        """Return the default folders: the state folder of the current user, and that of the default table.toml."""
        from tallybone.recording.folder import default_folder
        from tallybone.store.table_file import USUAL_PATH

        return cls(state=default_folder(os.environ, Path.home()).parent, config=USUAL_PATH.parent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """Streams for messages, and for the data of `-`."""

    err: TextIO = field(default_factory=lambda: sys.stderr)
    bytes_in: BinaryIO = field(default_factory=lambda: sys.stdin.buffer)
    bytes_out: BinaryIO = field(default_factory=lambda: sys.stdout.buffer)


def back_up(
    target: str, *, is_forced: bool = False, place: TableFolders | None = None, streams: Streams | None = None
) -> int:
    """Back up a table to a file, which must not exist unless *is_forced*, or to standard output with `-`.

    This is safe during a game.

    Returns:
        The exit code: 0, or 1 if the backup could not be written.
    """
    from tallybone.maintain.backup import BackupError, entries_of, finish
    from tallybone.terminal import Output

    place, streams = place or TableFolders.usual(), streams or Streams()
    output = Output("backup", out=streams.err, err=streams.err)
    try:
        if not place.state.is_dir():
            raise BackupError(f"{place.state}: there is nothing to back up yet")
        finish(place.state)
        entries = entries_of(place.state, place.config)
        if target == PIPE:
            if streams.bytes_out.isatty():
                raise BackupError("standard output is a terminal: name a file, or pipe the output to a program")
            count = _write(entries, streams.bytes_out, output.err_console)
        else:
            count = _write_file(Path(target), entries, place, output.err_console, is_forced=is_forced)
    except (BackupError, OSError) as error:
        return output.complain(error)
    output.say(f"{count} files saved{'' if target == PIPE else f' to {target}'}.")
    return 0


def restore_table(source: str, *, place: TableFolders | None = None, streams: Streams | None = None) -> int:
    """Restore a table from a backup. Existing files are moved to a folder beside it.

    Returns:
        The exit code: 0, or 1 if the backup could not be used (nothing has changed) or a file could not be written.
    """
    from tallybone.maintain.backup import BackupError, config_in, restore, running_in
    from tallybone.terminal import Output

    place, streams = place or TableFolders.usual(), streams or Streams()
    output = Output("restore", out=streams.err, err=streams.err)
    console = output.err_console
    try:
        size_bytes = None if source == PIPE else Path(source).stat().st_size
        with nullcontext(streams.bytes_in) if source == PIPE else Path(source).open("rb") as file:
            running = running_in(place.state)
            if running is not None:
                raise BackupError(f"{running}: a game is being recorded; end it first (sudo systemctl stop tallybone)")
            with _progress(console, "restoring", size_bytes) as tick:
                count, before = restore(file, place.state, tick=tick)
    except (BackupError, OSError) as error:
        return output.complain(error)
    output.say(f"{count} files restored.")
    if before is not None:
        output.say(f"The previous files are in {before}. Delete that folder when you no longer need it.")
    for path in config_in(place.state):
        output.say(f"Your configuration was not changed. The one from the backup is {path}.")
    return 0


def _write_file(
    path: Path, entries: tuple[ArchivedFile, ...], place: TableFolders, console: Console, *, is_forced: bool
) -> int:
    from tallybone.files import whole_file
    from tallybone.maintain.backup import BackupError

    if path.resolve().is_relative_to(place.state.resolve()):
        raise BackupError(f"{path}: a backup cannot be inside {place.state}, the folder that it saves")
    with whole_file(path, is_forced=is_forced) as part:
        # The backup contains the password hash of the page, so only its owner may read it.
        number = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "wb") as out:
            return _write(entries, out, console)


def _write(entries: tuple[ArchivedFile, ...], out: BinaryIO, console: Console) -> int:
    from tallybone.clock import software, wall_time
    from tallybone.maintain.backup import write_archive

    sizes = [entry.path.stat().st_size for entry in entries if entry.path.exists()]
    with _progress(console, "backing up", sum(sizes)) as tick:
        count = write_archive(
            entries,
            out,
            made_at=wall_time().isoformat(timespec="seconds"),
            software=software(),
            tick=tick,
        )
        out.flush()
    return count


@contextmanager
def _progress(console: Console, text: str, size_bytes: int | None) -> Iterator[Tick]:
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(text, total=size_bytes)
        yield lambda more_bytes: progress.update(task, advance=more_bytes)
