"""Back up and restore the data of a table, as one tar file with checksums.

Archives are read header by header, because `tarfile` trusts the sizes in an archive.

A backup is unpacked beside the files of the table and verified before anything is changed. Two steps follow:
`.restoring` (the files of the table move out) and `.placing` (the unpacked files move in). If one is interrupted, the
next restore or start completes it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tarfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

from tallybone.files import sync_folder
from tallybone.recording.folder import SUFFIX
from tallybone.recording.survey import is_running
from tallybone.store.house import LAST_TABLE, OWNER_NAME

FORMAT = "tallybone-backup"
VERSION = 1
CONTENTS = "tallybone-backup.json"
"""Name of the last member. An archive without it is truncated."""
ROOTS = ("state", "config")
"""Top-level folders of all other members."""
FOLDERS = ("state/calibration", "state/sessions")
"""Folders of a table. No file of a backup may have these names."""
Tick: TypeAlias = Callable[[int], None]
"""Function that is called with the number of bytes processed since its last call."""
_BLOCK_BYTES = 512
_PIECE_BYTES = 1 << 20
_MAX_NAME_BYTES = 1024
_MAX_DEPTH = 12
_MAX_CONTENTS_BYTES = 50_000_000
# Latest time that fits into the eleven octal digits of a tar header, in the year 2242.
_MAX_MTIME_S = 8**11 - 1
# Restored files have at least the first and at most the second permissions: the owner may read and write, others may
# read at most.
_MIN_MODE = 0o600
_MAX_MODE = 0o644
_PRIVATE = (OWNER_NAME, LAST_TABLE)  # They may hold secrets, so only the owner may read them.

_UNPACKING = ".unpacking"
_RESTORING = ".restoring"
_PLACING = ".placing"
_BEFORE = "before-restore-"
_CONFIG = "config-of-backup"


class BackupError(ValueError):
    """A backup cannot be created or used."""


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """A file to back up: its name in the archive, and its path."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class Sum:
    """Entry of the contents list: name, size and SHA-256 of a member."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Member:
    """Header of a member.

    Attributes:
        name: Relative path inside the target folder, or `CONTENTS`.
        mtime_s: Modification time, in seconds since 1970.
        mode: Permission bits.
    """

    name: str
    size_bytes: int
    mtime_s: int
    mode: int

    def __post_init__(self) -> None:
        if not 0 <= self.mtime_s <= _MAX_MTIME_S:
            raise BackupError(
                f"{self.name!r}: expected a date from 0 to {_MAX_MTIME_S} s since 1970, got {self.mtime_s}"
            )


def write_archive(entries: Sequence[ArchivedFile], out: BinaryIO, *, made_at: str, software: str, tick: Tick) -> int:
    """Write an archive and return the number of files. A file that grows meanwhile is stored with its size when opened.

    Files that no longer exist are skipped.

    Raises:
        BackupError: If a file is truncated while being read, or has an invalid name.
        OSError: If a file cannot be read or the archive cannot be written.
    """
    sums: list[Sum] = []
    for entry in entries:
        try:
            file = entry.path.open("rb")
        except FileNotFoundError:
            continue  # for example an old recording that was deleted to free disk space
        with file:
            sums.append(_write_file(entry, file, out, tick))
    manifest = {"format": FORMAT, "version": VERSION, "made_at": made_at, "software": software}
    text = json.dumps({**manifest, "files": [asdict(one) for one in sums]}, indent=0).encode()
    out.write(_header(Member(CONTENTS, len(text), 0, _MIN_MODE)) + text + _filling(len(text)))
    out.write(bytes(2 * _BLOCK_BYTES))
    return len(sums)


def _write_file(entry: ArchivedFile, file: BinaryIO, out: BinaryIO, tick: Tick) -> Sum:
    name = _checked(entry.name)
    facts = os.fstat(file.fileno())
    mtime_s = min(max(0, int(facts.st_mtime)), _MAX_MTIME_S)
    out.write(_header(Member(name, facts.st_size, mtime_s, stat.S_IMODE(facts.st_mode))))
    seen = hashlib.sha256()
    for piece in _pieces(file, facts.st_size, f"{entry.path}: it was truncated while being read; try again"):
        seen.update(piece)
        out.write(piece)
        tick(len(piece))
    out.write(_filling(facts.st_size))
    return Sum(name, facts.st_size, seen.hexdigest())


def members(archive: BinaryIO) -> Iterator[tuple[Member, Iterator[bytes]]]:
    """Yield each member except the contents list with its content in pieces, and finally verify all checksums.

    Consume the content of a member before requesting the next one. Content is not verified until the iterator ends.

    Raises:
        BackupError: If the archive is not a backup, or is truncated, damaged or forged.
        OSError: If the archive cannot be read.
    """
    sums: list[Sum] = []
    for member in _headers(archive):
        seen = hashlib.sha256()
        if member.name == CONTENTS:
            _compare(_contents(archive, member.size_bytes), sums)
            return
        yield member, _hashed(_content(archive, member.size_bytes), seen.update)
        sums.append(Sum(member.name, member.size_bytes, seen.hexdigest()))
    raise BackupError("the backup is truncated: its end is missing")


def _hashed(pieces: Iterator[bytes], update: Callable[[bytes], None]) -> Iterator[bytes]:
    for piece in pieces:
        update(piece)
        yield piece


def _headers(archive: BinaryIO) -> Iterator[Member]:
    long_name: str | None = None
    while any(block := _exactly(archive, _BLOCK_BYTES)):
        try:
            found = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.HeaderError:
            raise BackupError("this is not a backup, or it is damaged") from None
        if found.type == tarfile.GNUTYPE_LONGNAME and 0 < found.size <= _MAX_NAME_BYTES:
            text = b"".join(_content(archive, found.size))
            long_name = os.fsdecode(text.rstrip(b"\0"))
            continue
        if found.type != tarfile.REGTYPE or found.size < 0:
            raise BackupError(f"{found.name!r}: a backup contains only regular files")
        name = found.name if long_name is None else long_name
        long_name = None
        name = name if name == CONTENTS else _checked(name)
        mode = 0 if name.rpartition("/")[2] in _PRIVATE else found.mode & _MAX_MODE
        yield Member(name, found.size, int(found.mtime), _MIN_MODE | mode)


def _content(archive: BinaryIO, size_bytes: int) -> Iterator[bytes]:
    yield from _pieces(archive, size_bytes, "the backup is truncated: its end is missing")
    _exactly(archive, len(_filling(size_bytes)))


def _contents(archive: BinaryIO, size_bytes: int) -> list[Sum]:
    if size_bytes > _MAX_CONTENTS_BYTES:
        raise BackupError(f"its list of files is larger than {_MAX_CONTENTS_BYTES} bytes")
    try:
        manifest = json.loads(b"".join(_content(archive, size_bytes)))
        if manifest["format"] != FORMAT:
            raise BackupError("this is not a backup of Tallybone")
        if manifest["version"] != VERSION:
            raise BackupError(f"expected a backup of version {VERSION}, got {manifest['version']!r}")
        return [Sum(one["name"], one["size_bytes"], one["sha256"]) for one in manifest["files"]]
    except BackupError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BackupError("its list of files is damaged") from None


def _compare(manifest: list[Sum], seen: list[Sum]) -> None:
    for one, other in zip(manifest, seen, strict=False):
        if one != other:
            raise BackupError(f"{other.name}: the file is damaged (wrong checksum)")
    if len(manifest) != len(seen):
        raise BackupError(f"expected {len(manifest)} files, got {len(seen)}")


def _checked(name: str) -> str:
    """Validate that a name stays inside the target folder."""
    parts = name.split("/")
    if (
        not 2 <= len(parts) <= _MAX_DEPTH
        or parts[0] not in ROOTS
        or any(part in ("", ".", "..") or "\0" in part or "\\" in part for part in parts)
        or len(os.fsencode(name)) > _MAX_NAME_BYTES
    ):
        raise BackupError(f"{name!r}: invalid file name in a backup")
    return name


def _header(member: Member) -> bytes:
    about = tarfile.TarInfo(member.name)
    about.size, about.mtime, about.mode = member.size_bytes, member.mtime_s, member.mode
    return about.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")


def _filling(size_bytes: int) -> bytes:
    return bytes(-size_bytes % _BLOCK_BYTES)


def _pieces(file: BinaryIO, size_bytes: int, problem: str) -> Iterator[bytes]:
    left_bytes = size_bytes
    while left_bytes:
        piece = file.read(min(left_bytes, _PIECE_BYTES))
        if not piece:
            raise BackupError(problem)
        left_bytes -= len(piece)
        yield piece


def _exactly(archive: BinaryIO, size_bytes: int) -> bytes:
    return b"".join(_pieces(archive, size_bytes, "the backup is truncated: its end is missing"))


def entries_of(state: Path, config: Path) -> tuple[ArchivedFile, ...]:
    """Return the files to back up, sorted by name. Symbolic links and remains of restores are left out."""
    found = [*_below(state, "state", top=True)]
    if config.is_dir():
        found += _below(config, "config", top=True)
    return tuple(sorted(found, key=lambda entry: entry.name))


def _below(folder: Path, name: str, *, top: bool) -> list[ArchivedFile]:
    found: list[ArchivedFile] = []
    for path in folder.iterdir():
        inside = f"{name}/{path.name}"
        if path.is_symlink() or (top and not is_kept(path.name)):
            continue
        if path.is_dir():
            found += _below(path, inside, top=False)
        elif path.is_file():
            found.append(ArchivedFile(inside, path))
    return found


def is_kept(name: str) -> bool:
    """Check that a name in the state folder belongs to the table's data, not to a restore.

    >>> is_kept("sessions"), is_kept("before-restore-1"), is_kept(".restoring")
    (True, False, False)
    """
    return name not in (_UNPACKING, _RESTORING, _PLACING, _CONFIG) and not name.startswith(_BEFORE)


def running_in(state: Path) -> Path | None:
    """Return the first recording that is being written, or None."""
    for path in sorted((state / "sessions").glob(f"*{SUFFIX}")):
        with path.open("rb") as file:
            if is_running(file):
                return path
    return None


def restore(archive: BinaryIO, state: Path, *, tick: Tick) -> tuple[int, Path | None]:
    """Replace the files of a table with those of a backup.

    Returns:
        The number of files, and the folder with the replaced files, or None if there were none.

    Raises:
        BackupError: If the backup cannot be used. In that case nothing has changed.
        OSError: If a file cannot be written.
    """
    try:
        state.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise BackupError(f"{state}: expected the folder of the table, but it is a file") from None
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
    """Complete or undo an interrupted restore. Return True if there was one. No other process may be restoring.

    Raises:
        OSError: If a file cannot be moved.
    """
    was_cut_off = any((state / name).is_dir() for name in (_UNPACKING, _RESTORING, _PLACING))
    shutil.rmtree(state / _UNPACKING, ignore_errors=True)  # not verified yet
    finish(state)
    return was_cut_off


def finish(state: Path) -> Path | None:
    """Complete a restore in progress, if any, and return the folder of replaced files, or None if there are none.

    Raises:
        OSError: If a file cannot be moved.
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
    # The replaced files and the backup's configuration move to their final folders.
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


def _move(path: Path, folder: Path) -> None:
    """Move a file into a folder, with a number added if an interrupted restore already moved one of that name."""
    target, number = folder / path.name, 1
    while target.exists():
        number += 1
        target = folder / f"{path.name}.{number}"
    path.rename(target)


def config_in(state: Path) -> tuple[Path, ...]:
    """Return the configuration files of the last restored backup. They are not applied automatically."""
    return tuple(sorted(path for path in (state / _CONFIG).rglob("*") if path.is_file()))


def _unpack(archive: BinaryIO, folder: Path, tick: Tick) -> int:
    count = 0
    for member, pieces in members(archive):
        root, top, *_ = member.name.split("/")
        if root == "state" and not is_kept(top):
            raise BackupError(f"{member.name!r}: invalid file name in a backup")
        if member.name in FOLDERS:
            raise BackupError(f"{member.name}: expected a folder, but it is a file")
        path = folder / member.name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MIN_MODE)
        except (FileExistsError, NotADirectoryError):
            raise BackupError(f"{member.name}: the archive contains it twice, or as both a file and a folder") from None
        with os.fdopen(number, "wb") as file:
            for piece in pieces:
                file.write(piece)
                tick(len(piece))
            file.flush()
            os.fchmod(file.fileno(), member.mode)
            os.fsync(file.fileno())
        os.utime(path, (member.mtime_s, member.mtime_s))
        count += 1
    return count
