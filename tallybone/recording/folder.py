"""The folder of recordings: which there are, and which have to go when room is short."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tallybone.recording.errors import RecordingError
from tallybone.recording.format import SessionStart
from tallybone.recording.reader import read_session
from tallybone.recording.set_aside import FOLDER
from tallybone.recording.survey import Survey, is_running, survey

KEEP_BYTES = 20 * 10**9
"""What all recordings together may take where nobody says otherwise."""

SUFFIX = ".mcap"


def default_folder(environment: Mapping[str, str], home: Path) -> Path:
    """Return where recordings are when nobody says otherwise: `tallybone/sessions` in the user's state folder.

    >>> default_folder({"XDG_STATE_HOME": "/var/lib/anna"}, Path("/anna")).as_posix()
    '/var/lib/anna/tallybone/sessions'
    """
    state = environment.get("XDG_STATE_HOME", "")
    return (Path(state) if Path(state).is_absolute() else home / ".local" / "state") / "tallybone" / "sessions"


def recordings_in(folder: Path) -> tuple[list[Survey], list[RecordingError]]:
    """Return what is in a folder, oldest first, and what is called a recording but is none.

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


@dataclass(frozen=True, slots=True)
class _Old:
    path: Path
    size_bytes: int
    key: tuple[bool, int, float, str]
    may_go: bool


def prune(folder: Path, *, keep_bytes: int) -> tuple[Path, ...]:
    """Delete the oldest recordings until the rest take no more than *keep_bytes*, and return which.

    Those that somebody has set aside go first. A recording that is being written counts, but is never deleted; nor is
    anything that is no recording.

    Raises:
        OSError: If there is no such folder, or a recording cannot be deleted.
    """
    kept: list[_Old] = []
    aside = folder / FOLDER
    for path in _with_aside(folder):
        try:
            session = read_session(path)
        except RecordingError:
            continue
        key = (path.parent != aside, *age_key(path, session.start))
        with path.open("rb") as file:
            kept.append(_Old(path, path.stat().st_size, key, not is_running(file)))
    total_bytes = sum(one.size_bytes for one in kept)
    gone: list[Path] = []
    for one in sorted(kept, key=lambda old: old.key):
        if total_bytes <= keep_bytes:
            break
        if one.may_go:
            one.path.unlink()
            total_bytes -= one.size_bytes
            gone.append(one.path)
    return tuple(gone)


def recording_files(folder: Path) -> list[Path]:
    """Return the files of a folder that are called recordings, by name; a link leads elsewhere, and is left alone.

    Raises:
        OSError: If there is no such folder.
    """
    return sorted(
        path for path in folder.iterdir() if path.suffix == SUFFIX and path.is_file() and not path.is_symlink()
    )


def age_key(path: Path, start: SessionStart | None) -> tuple[int, float, str]:
    """Return what sorts recordings by age: their numbers first, because the clock on the wall jumps by years.

    Those that nobody has numbered come first, by when they say they began, or else by when they were last written.
    """
    if start is None:
        return 0, path.stat().st_mtime, path.name
    return start.number, start.started_at.timestamp(), path.name


def next_number(folder: Path) -> int:
    """Return the number of a recording that begins now: more than that of any in the folder or set aside.

    Raises:
        OSError: If there is no such folder.
    """
    newest = 0
    for path in _with_aside(folder):
        try:
            start = read_session(path).start
        except (RecordingError, FileNotFoundError):
            continue
        newest = max(newest, 0 if start is None else start.number)
    return newest + 1


def _with_aside(folder: Path) -> tuple[Path, ...]:
    aside = folder / FOLDER
    return (*recording_files(folder), *(recording_files(aside) if aside.is_dir() else ()))
