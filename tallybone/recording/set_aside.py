"""Recordings that somebody has deleted: they are set aside for a week, in case it was a wrong tap."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from tallybone.recording.errors import RecordingError

FOLDER = "deleted"
"""The folder in that of the recordings where they are meanwhile."""
KEPT_S = 7 * 24 * 3600
# What seems to be there for so long was not: the clock on the wall has jumped, and the week begins anew.
_JUMPED_S = 90 * 24 * 3600


def set_aside(path: Path) -> None:
    """Take a recording out of its folder; what was set aside more than a week ago is deleted for good.

    Raises:
        RecordingError: If it is being written, or one of its name was set aside already.
        OSError: If it cannot be moved.
    """
    aside = path.parent / FOLDER
    aside.mkdir(exist_ok=True)
    moved = aside / path.name
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RecordingError("it is being recorded: end the match first") from None
        if moved.exists():
            raise RecordingError("one of that name was deleted this week already")
        path.rename(moved)
    os.utime(moved)  # since when it is there
    now_s = moved.stat().st_mtime
    for one in aside.iterdir():
        if not one.is_file() or one.is_symlink():
            continue
        aside_s = now_s - one.stat().st_mtime
        if not -KEPT_S < aside_s < _JUMPED_S:
            os.utime(one)
        elif aside_s > KEPT_S:
            one.unlink()


def put_back(folder: Path, name: str) -> Path:
    """Return a recording that was set aside to its folder.

    Raises:
        FileNotFoundError: If none of that name was set aside.
        RecordingError: If there is another of that name now.
    """
    aside = folder / FOLDER
    found = (
        next((one for one in aside.iterdir() if one.name == name and one.is_file()), None) if aside.is_dir() else None
    )
    if found is None:
        raise FileNotFoundError(name)
    back = folder / found.name
    if back.exists():
        raise RecordingError("there is another of that name now")
    return found.rename(back)
