"""What a table keeps: which files go into a backup, and how those of a backup take their place.

A backup is unpacked beside what is there, and compared with its checksums, before anything is touched. Then two steps
follow, which may be cut off anywhere and are finished the next time: `.restoring` (what is there moves out) and
`.placing` (what was unpacked moves in).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import BinaryIO

from tallybone.files import sync_folder
from tallybone.maintain.backup import BackupError, Entry, Tick, members
from tallybone.recording.folder import SUFFIX
from tallybone.recording.survey import is_running

_UNPACKING, _RESTORING, _PLACING = ".unpacking", ".restoring", ".placing"
_BEFORE = "before-restore-"
_CONFIG = "config-of-backup"


def entries_of(state: Path, config: Path) -> tuple[Entry, ...]:
    """Return the files that a backup of a table holds, in order of their names.

    Args:
        state: The folder of all that the program keeps.
        config: That of table.toml, which belongs to people.
    """
    found = [*_below(state, "state", top=True)]
    if config.is_dir():
        found += _below(config, "config", top=True)
    return tuple(sorted(found, key=lambda entry: entry.name))


def _below(folder: Path, name: str, *, top: bool) -> list[Entry]:
    found: list[Entry] = []
    for path in folder.iterdir():
        inside = f"{name}/{path.name}"
        if path.is_symlink() or (top and not is_kept(path.name)):
            continue
        if path.is_dir():
            found += _below(path, inside, top=False)
        elif path.is_file():
            found.append(Entry(inside, path))
    return found


def is_kept(name: str) -> bool:
    """Return whether something of this name, in the folder of the state, is what the table keeps.

    >>> is_kept("sessions"), is_kept("before-restore-1"), is_kept(".restoring")
    (True, False, False)
    """
    return name not in (_UNPACKING, _RESTORING, _PLACING, _CONFIG) and not name.startswith(_BEFORE)


def running_in(state: Path) -> Path | None:
    """Return a recording that is being written; None for none."""
    for path in sorted((state / "sessions").glob(f"*{SUFFIX}")):
        with path.open("rb") as file:
            if is_running(file):
                return path
    return None


def restore(archive: BinaryIO, state: Path, *, tick: Tick) -> tuple[int, Path | None]:
    """Put what a backup holds in the place of what is there.

    Returns:
        How many files there were, and the folder that what was there before is in now; None where nothing was.

    Raises:
        BackupError: If the backup cannot be used; then nothing has changed.
        OSError: If something cannot be written.
    """
    state.mkdir(parents=True, exist_ok=True)
    finish(state)
    unpacking = state / _UNPACKING
    shutil.rmtree(unpacking, ignore_errors=True)
    unpacking.mkdir()
    try:
        count = _unpack(archive, unpacking, tick)
        for folder in (unpacking, *(path for path in unpacking.rglob("*") if path.is_dir())):
            sync_folder(folder)
    except BaseException:
        shutil.rmtree(unpacking, ignore_errors=True)
        raise
    unpacking.rename(state / _RESTORING)
    sync_folder(state)
    return count, finish(state)


def finish_at_start(state: Path) -> bool:
    """Finish or undo a restore that was cut off, when nobody else is at it; return whether there was one.

    Raises:
        OSError: If something cannot be moved.
    """
    was_cut_off = any((state / name).is_dir() for name in (_UNPACKING, _RESTORING, _PLACING))
    shutil.rmtree(state / _UNPACKING, ignore_errors=True)  # it was not compared with its checksums yet
    finish(state)
    return was_cut_off


def finish(state: Path) -> Path | None:
    """Finish what a restore has begun, if there is any; return the folder of what was there before, if anything was.

    Raises:
        OSError: If something cannot be moved.
    """
    restoring, placing = state / _RESTORING, state / _PLACING
    if restoring.is_dir():
        before = restoring / "before"
        before.mkdir(exist_ok=True)
        for path in sorted(state.iterdir()):
            if is_kept(path.name):
                _move(path, before)
        sync_folder(before)
        restoring.rename(placing)
        sync_folder(state)
    if not placing.is_dir():
        return None
    for path in sorted((placing / "state").glob("*")):
        if (state / path.name).exists():
            _move(state / path.name, placing / "before")
        path.rename(state / path.name)
    return _tidied(state, placing)


def _move(path: Path, folder: Path) -> None:
    """Move something into a folder; where a cut-off restore has moved one of that name already, beside it."""
    target, number = folder / path.name, 1
    while target.exists():
        number += 1
        target = folder / f"{path.name}.{number}"
    path.rename(target)


def _tidied(state: Path, placing: Path) -> Path | None:
    """Give what was there before, and the configuration of the backup, their names."""
    if (placing / "config").is_dir():
        shutil.rmtree(state / _CONFIG, ignore_errors=True)
        (placing / "config").rename(state / _CONFIG)
    kept: Path | None = None
    if any((placing / "before").glob("*")):
        number = next(n for n in range(1, 1_000_000) if not (state / f"{_BEFORE}{n}").exists())
        kept = (placing / "before").rename(state / f"{_BEFORE}{number}")
    sync_folder(state)
    shutil.rmtree(placing)
    return kept


def config_in(state: Path) -> tuple[Path, ...]:
    """Return the files of the configuration that came with the last backup: people decide what becomes of them."""
    return tuple(sorted(path for path in (state / _CONFIG).rglob("*") if path.is_file()))


def _unpack(archive: BinaryIO, folder: Path, tick: Tick) -> int:
    count = 0
    for member, pieces in members(archive):
        root, top, *_ = member.name.split("/")
        if root == "state" and not is_kept(top):
            raise BackupError(f"{member.name!r}: no file of a backup can be called so")
        path = folder / member.name
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = path.open("xb")
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise BackupError(f"{member.name}: it is there twice") from None
        with file:
            for piece in pieces:
                file.write(piece)
                tick(len(piece))
            file.flush()
            os.fsync(file.fileno())
        os.utime(path, (member.mtime_s, member.mtime_s))
        count += 1
    return count
