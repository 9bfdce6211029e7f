"""Manage a folder of recordings: list them, prune the oldest, and keep deleted ones for a week."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from tallybone.recording.format import RecordingError, SittingStart
from tallybone.recording.reader import RecordingFile, read_recording
from tallybone.recording.survey import Survey, is_running, survey

KEEP_BYTES = 20 * 10**9
"""Default limit for the total size of all recordings."""
SUFFIX = ".mcap"
JOURNAL_SUFFIX = ".journal"
FOLDER = "deleted"
"""Folder for deleted recordings, inside the folder of recordings."""
KEPT_S = 7 * 24 * 3600
# A deleted recording that seems at least this old shows that the wall clock has jumped. Its week starts again.
_JUMPED_S = 90 * 24 * 3600


def default_folder(environment: Mapping[str, str], home: Path) -> Path:
    """Return the default folder of recordings: `tallybone/sessions` in the user's state folder.

    >>> default_folder({"XDG_STATE_HOME": "/var/lib/anna"}, Path("/anna")).as_posix()
    '/var/lib/anna/tallybone/sessions'
    """
    state = environment.get("XDG_STATE_HOME", "")
    return (Path(state) if Path(state).is_absolute() else home / ".local" / "state") / "tallybone" / "sessions"


def recordings_in(folder: Path) -> tuple[list[Survey], list[RecordingError]]:
    """Return the recordings of a folder, oldest first, and an error for each .mcap file that is not a recording.

    Raises:
        OSError: If the folder does not exist.
    """
    surveys: list[Survey] = []
    errors: list[RecordingError] = []
    for path in recording_files(folder):
        try:
            surveys.append(survey(path))
        except RecordingError as error:
            errors.append(error)
    return sorted(surveys, key=lambda listed: age_key(listed.path, listed.start)), errors


def prune(folder: Path, *, keep_bytes: int) -> tuple[Path, ...]:
    """Delete the oldest recordings until the rest take at most *keep_bytes*, if possible. Return the deleted files.

    Recordings that a user has deleted go first, and count too. A recording that is still being written counts, but is
    never deleted. Other files neither count nor are deleted.

    Raises:
        OSError: If the folder does not exist, or a recording cannot be deleted.
    """
    ages: dict[Path, tuple[bool, int, float, str]] = {}
    sizes_bytes: dict[Path, int] = {}
    for recording in _with_deleted(folder):
        path = recording.path
        ages[path] = (path.parent == folder, *age_key(path, recording.start))
        sizes_bytes[path] = path.stat().st_size
    total_bytes = sum(sizes_bytes.values())
    deleted: list[Path] = []
    for path in sorted(ages, key=ages.__getitem__):
        if total_bytes <= keep_bytes:
            break
        with path.open("rb") as file:
            if is_running(file):
                continue
        path.unlink()
        total_bytes -= sizes_bytes[path]
        deleted.append(path)
    return tuple(deleted)


def recording_files(folder: Path) -> list[Path]:
    """Return the files in a folder with the suffix of a recording, sorted by name. Symbolic links are ignored.

    Raises:
        OSError: If the folder does not exist.
    """
    return sorted(
        path for path in folder.iterdir() if path.suffix == SUFFIX and path.is_file() and not path.is_symlink()
    )


def age_key(path: Path, start: SittingStart | None) -> tuple[int, float, str]:
    """Return a key that sorts recordings by age, by number first, because the wall clock can jump by years.

    Recordings without a number come first, sorted by their start. Without metadata (*start* is None), the time of the
    file's last change is used.
    """
    if start is None:
        return 0, path.stat().st_mtime, path.name
    return start.number, start.started_at.timestamp(), path.name


def next_number(folder: Path) -> int:
    """Return the number of the next file: one more than the largest in the folder, including deleted recordings.

    Journals have their numbers in their names, so they count even while no file can be read.

    Raises:
        OSError: If the folder does not exist.
    """
    recorded = (recording.start.number for recording in _with_deleted(folder) if recording.start is not None)
    return 1 + max([0, *recorded, *map(_journal_number, journals_in(folder))])


def journals_in(folder: Path) -> list[Path]:
    """Return the journals in a folder, oldest first.

    Raises:
        OSError: If the folder does not exist.
    """
    return sorted((path for path in folder.iterdir() if _journal_number(path)), key=_journal_number)


def journal_path(folder: Path, number: int) -> Path:
    """Return the path of the journal with a number.

    >>> journal_path(Path("sessions"), 12).name
    'match-12.journal'
    """
    return folder / f"match-{number}{JOURNAL_SUFFIX}"


def _journal_number(path: Path) -> int:
    named = re.fullmatch(rf"match-([1-9]\d*){JOURNAL_SUFFIX}", path.name)
    return int(named[1]) if named else 0


def _with_deleted(folder: Path) -> Iterator[RecordingFile]:
    """Yield the valid recordings of a folder, and then the deleted ones."""
    deleted = folder / FOLDER
    for path in (*recording_files(folder), *(recording_files(deleted) if deleted.is_dir() else ())):
        with suppress(RecordingError):
            yield read_recording(path)


def set_aside(path: Path) -> None:
    """Move a recording to the folder of deleted ones, and remove all files in it that are there for over a week.

    Raises:
        RecordingError: If the recording is still being written, or the folder has a deleted one of that name.
        OSError: If the recording cannot be moved.
    """
    deleted = path.parent / FOLDER
    deleted.mkdir(exist_ok=True)
    moved = deleted / path.name
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RecordingError("it is being recorded: end the match first") from None
        if moved.exists():
            raise RecordingError("a recording of that name was already deleted this week")
        path.rename(moved)
    os.utime(moved)  # start of its week
    now_s = moved.stat().st_mtime
    for file_path in deleted.iterdir():
        if not file_path.is_file() or file_path.is_symlink():
            continue
        age_s = now_s - file_path.stat().st_mtime
        if not -KEPT_S < age_s < _JUMPED_S:
            os.utime(file_path)
        elif age_s > KEPT_S:
            file_path.unlink()


def put_back(folder: Path, name: str) -> Path:
    """Restore a deleted recording to its folder, and return its path there.

    Raises:
        FileNotFoundError: If there is no deleted recording of that name.
        RecordingError: If the folder has another recording of that name now.
    """
    deleted = folder / FOLDER
    inside = deleted.iterdir() if deleted.is_dir() else ()
    path = next((path for path in inside if path.name == name and path.is_file()), None)
    if path is None:
        raise FileNotFoundError(name)
    restored = folder / path.name
    if restored.exists():
        raise RecordingError("another recording has that name now")
    return path.rename(restored)
