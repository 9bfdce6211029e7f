"""Manage the folder of recordings: list them, delete the oldest when room is short, keep deleted ones for a week."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from tallybone.recording.format import RecordingError, SittingStart
from tallybone.recording.reader import RecordingFile, read_recording
from tallybone.recording.survey import Survey, is_running, survey

KEEP_BYTES = 20 * 10**9
"""The room for all recordings together, unless the user sets another."""
SUFFIX = ".mcap"
FOLDER = "deleted"
"""The folder for deleted recordings, in the folder of the others."""
KEPT_S = 7 * 24 * 3600
# A recording seems to be there for so long only where the clock on the wall has jumped: its week begins anew.
_JUMPED_S = 90 * 24 * 3600


def default_folder(environment: Mapping[str, str], home: Path) -> Path:
    """Return the usual folder of recordings: `tallybone/sessions` in the user's state folder.

    >>> default_folder({"XDG_STATE_HOME": "/var/lib/anna"}, Path("/anna")).as_posix()
    '/var/lib/anna/tallybone/sessions'
    """
    state = environment.get("XDG_STATE_HOME", "")
    return (Path(state) if Path(state).is_absolute() else home / ".local" / "state") / "tallybone" / "sessions"


def recordings_in(folder: Path) -> tuple[list[Survey], list[RecordingError]]:
    """Return the recordings of a folder, oldest first, and an error for each file that is only called one.

    Raises:
        OSError: If there is no such folder.
    """
    found: list[Survey] = []
    others: list[RecordingError] = []
    for path in recording_files(folder):
        try:
            found.append(survey(path))
        except RecordingError as error:
            others.append(error)
    return sorted(found, key=lambda one: age_key(one.path, one.start)), others


def prune(folder: Path, *, keep_bytes: int) -> tuple[Path, ...]:
    """Delete the oldest recordings until the rest take no more than *keep_bytes*, and return which.

    Those that a user has set aside go first. A recording that is being written counts, but is never deleted; nor is
    anything that is no recording.

    Raises:
        OSError: If there is no such folder, or a recording cannot be deleted.
    """
    ages: dict[Path, tuple[bool, int, float, str]] = {}
    sizes_bytes: dict[Path, int] = {}
    for one in _with_aside(folder):
        ages[one.path] = (one.path.parent == folder, *age_key(one.path, one.start))
        sizes_bytes[one.path] = one.path.stat().st_size
    total_bytes = sum(sizes_bytes.values())
    gone: list[Path] = []
    for path in sorted(ages, key=ages.__getitem__):
        if total_bytes <= keep_bytes:
            break
        with path.open("rb") as file:
            if is_running(file):
                continue
        path.unlink()
        total_bytes -= sizes_bytes[path]
        gone.append(path)
    return tuple(gone)


def recording_files(folder: Path) -> list[Path]:
    """Return the files of a folder that are called recordings, by name; a link leads elsewhere, and is left alone.

    Raises:
        OSError: If there is no such folder.
    """
    return sorted(
        path for path in folder.iterdir() if path.suffix == SUFFIX and path.is_file() and not path.is_symlink()
    )


def age_key(path: Path, start: SittingStart | None) -> tuple[int, float, str]:
    """Return a key that sorts recordings by age: their numbers first, because the clock on the wall jumps by years.

    Those without a number come first, by the time of their start, or else by that of their last change.
    """
    if start is None:
        return 0, path.stat().st_mtime, path.name
    return start.number, start.started_at.timestamp(), path.name


def next_number(folder: Path) -> int:
    """Return the number of a recording that begins now: more than that of any in the folder or set aside.

    Raises:
        OSError: If there is no such folder.
    """
    return 1 + max([0, *(one.start.number for one in _with_aside(folder) if one.start is not None)])


def _with_aside(folder: Path) -> Iterator[RecordingFile]:
    """Yield the recordings of a folder, and those that were set aside; nothing that is called one but is none."""
    aside = folder / FOLDER
    for path in (*recording_files(folder), *(recording_files(aside) if aside.is_dir() else ())):
        with suppress(RecordingError):
            yield read_recording(path)


def set_aside(path: Path) -> None:
    """Move a recording to the deleted ones; those set aside more than a week ago are deleted for good.

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
    os.utime(moved)  # the week begins
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
    """Move a recording that was set aside back to its folder, and return its path there.

    Raises:
        FileNotFoundError: If none of that name was set aside.
        RecordingError: If there is another of that name now.
    """
    aside = folder / FOLDER
    inside = aside.iterdir() if aside.is_dir() else ()
    found = next((one for one in inside if one.name == name and one.is_file()), None)
    if found is None:
        raise FileNotFoundError(name)
    back = folder / found.name
    if back.exists():
        raise RecordingError("there is another of that name now")
    return found.rename(back)
