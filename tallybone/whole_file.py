"""A file that is there whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tallybone.files import sync_folder


class ExportError(OSError):
    """A file that cannot be exported; says why."""


def require_free(path: Path, *, is_forced: bool) -> None:
    """Refuse to write over what is there.

    Raises:
        ExportError: If the file is there, and it is not said that it may go.
    """
    if path.is_dir() or (path.exists() and not is_forced):
        raise ExportError(f"{path}: it is there already; --force writes over a file")
    if not path.parent.is_dir():
        raise ExportError(f"{path}: there is no folder {path.parent}")


@contextmanager
def whole_file(path: Path, *, is_forced: bool = False) -> Iterator[Path]:
    """Give another name in the same folder to write to; what is there gets its own name once all is written.

    Raises:
        ExportError: If the file is there, and it is not said that it may go.
        OSError: If it cannot be written.
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
