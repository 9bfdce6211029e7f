"""Write files atomically: after a power cut, a file has either the old or the new content."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_REASONS = {
    errno.ENOENT: "there is no such file or folder",
    errno.EACCES: "this user has no permission for it",
    errno.EPERM: "this user has no permission for it",
    errno.EISDIR: "expected a file, but it is a folder",
    errno.ENOTDIR: "expected a folder, but it is a file",
    errno.EEXIST: "there is a file of that name",
    errno.ENOSPC: "no space is left on the disk",
    errno.EROFS: "the disk is read-only",
}


def reason_of(error: OSError) -> str:
    """Return the reason for a failed system call as text, without error number and path.

    >>> reason_of(FileNotFoundError(2, "No such file or directory", "game.dgr"))
    'there is no such file or folder'
    """
    return _REASONS.get(error.errno or 0, error.strerror or str(error))


def sentence_of(error: Exception) -> str:
    """Return an error as one sentence: path, if known, and reason of a failed system call, or else the message.

    >>> sentence_of(IsADirectoryError(21, "Is a directory", "games"))
    'games: expected a file, but it is a folder'
    """
    if not isinstance(error, OSError) or error.errno is None:
        return str(error)
    path = error.filename2 or error.filename
    return reason_of(error) if path is None else f"{path}: {reason_of(error)}"


def make_folder(folder: Path, option: str) -> None:
    """Create the folder given by a command option.

    Raises:
        OSError: If the folder cannot be created. The message names the option.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        where = f" in {folder.parent}" if isinstance(error, FileNotFoundError) else ""
        why = "" if isinstance(error, FileNotFoundError) else f": {reason_of(error)}"
        raise OSError(f"{option} {folder}: cannot create the folder{where}{why}") from error


def write_durably(path: Path, text: str, *, mode: int = 0o644, before: Callable[[], object] = lambda: None) -> None:
    """Write a file atomically and durably. On return, its content and name are on the disk.

    Args:
        path: The file. Its folder is created if needed.
        text: New content.
        mode: Permissions of the file.
        before: Called when the new content is on the disk but the old file is still in place.

    Raises:
        OSError: If the file cannot be written. The old file is unchanged then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_name(path.name + ".new")
    written.unlink(missing_ok=True)
    try:
        number = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        before()
        written.replace(path)
    except BaseException:
        with suppress(OSError):
            written.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Flush a folder to the disk.

    Raises:
        OSError: If the folder does not exist or cannot be flushed.
    """
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


class ExportError(OSError):
    """A file cannot be exported. The message gives the reason."""


def require_free(path: Path, *, is_forced: bool) -> None:
    """Check that a file can be written.

    Raises:
        ExportError: If the file exists and must not be replaced, or its folder does not exist or is not writable.
    """
    if path.is_dir() or (path.exists() and not is_forced):
        raise ExportError(f"{path}: the file exists; use --force to overwrite it")
    if not path.parent.is_dir():
        raise ExportError(f"{path}: there is no folder {path.parent}")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        why = "" if isinstance(error, FileNotFoundError) else f": {reason_of(error)}"
        raise ExportError(f"{path}: cannot write files in {path.parent}{why}") from error


@contextmanager
def whole_file(path: Path, *, is_forced: bool = False) -> Iterator[Path]:
    """Yield a temporary path in the folder of *path*. The file is renamed to *path* if the block raises no exception.

    Raises:
        ExportError: If the file exists and must not be replaced, or its folder does not exist or is not writable.
        OSError: If the file cannot be renamed, or does not exist at the end of the block.
    """
    require_free(path, is_forced=is_forced)
    part = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        require_free(path, is_forced=is_forced)
        part.replace(path)
        sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)
