"""The file of a backup: a tar archive, whose last member says the checksum of every other.

It is read here header by header instead of with `tarfile`, which believes what an archive says of its own sizes.
"""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

FORMAT, VERSION = "tallybone-backup", 1
CONTENTS = "tallybone-backup.json"
"""The last member; an archive without it was cut off."""
ROOTS = ("state", "config")
"""What the name of every other member begins with."""

Tick: TypeAlias = Callable[[int], None]
"""Is called with so many bytes more that are done."""

_BLOCK_BYTES = 512
_PIECE_BYTES = 1 << 20
_MOST_NAME_BYTES, _MOST_DEPTH = 1024, 12
_MOST_CONTENTS_BYTES = 50_000_000


class BackupError(ValueError):
    """A backup that cannot be made or used; says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file to be backed up: what it is called in the archive, and where it is."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class Sum:
    """What an archive says of a member: its name, its size, its SHA-256."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Member:
    """A member as it comes.

    Attributes:
        name: What it is called; it leads nowhere else.
        size_bytes: Of its content.
        mtime_s: When the file was written last, in seconds since 1970.
    """

    name: str
    size_bytes: int
    mtime_s: int


def write_archive(entries: Sequence[Entry], out: BinaryIO, *, made_at: str, software: str, tick: Tick) -> int:
    """Write an archive of files, each as long as it is when its turn comes, and return how many there are.

    Raises:
        BackupError: If a file becomes shorter meanwhile, or has a name that no archive may have.
        OSError: If something cannot be read or written.
    """
    sums: list[Sum] = []
    for entry in entries:
        try:
            file = entry.path.open("rb")
        except FileNotFoundError:
            continue  # an old recording that has made room meanwhile
        with file:
            sums.append(_write_file(entry, file, out, tick))
    said = {"format": FORMAT, "version": VERSION, "made_at": made_at, "software": software}
    text = json.dumps({**said, "files": [asdict(one) for one in sums]}, indent=0).encode()
    out.write(_header(CONTENTS, len(text), 0) + text + _filling(len(text)))
    out.write(bytes(2 * _BLOCK_BYTES))
    return len(sums)


def _write_file(entry: Entry, file: BinaryIO, out: BinaryIO, tick: Tick) -> Sum:
    name = _checked(entry.name)
    facts = os.fstat(file.fileno())
    out.write(_header(name, facts.st_size, int(facts.st_mtime)))
    seen = hashlib.sha256()
    for piece in _pieces(file, facts.st_size, f"{entry.path}: it became shorter while it was read; try again"):
        seen.update(piece)
        out.write(piece)
        tick(len(piece))
    out.write(_filling(facts.st_size))
    return Sum(name, facts.st_size, seen.hexdigest())


def members(archive: BinaryIO) -> Iterator[tuple[Member, Iterator[bytes]]]:
    """Yield each member but the last with the pieces of its content, and compare all with what the last one says.

    The content of a member must be taken before the next member is. What was taken is sure only after the end.

    Raises:
        BackupError: If it is no backup, or was cut off, damaged or made to do harm.
        OSError: If it cannot be read.
    """
    sums: list[Sum] = []
    for member in _headers(archive):
        seen = hashlib.sha256()
        if member.name == CONTENTS:
            _compare(_contents(archive, member), sums)
            return
        yield member, _hashed(_content(archive, member), seen.update)
        sums.append(Sum(member.name, member.size_bytes, seen.hexdigest()))
    raise BackupError("the backup was cut off: its end is missing")


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
            raise BackupError("this is no backup, or it is damaged") from None
        if found.type == tarfile.GNUTYPE_LONGNAME and 0 < found.size <= _MOST_NAME_BYTES:
            text = b"".join(_content(archive, Member("", found.size, 0)))
            long_name = os.fsdecode(text.rstrip(b"\0"))
            continue
        if found.type != tarfile.REGTYPE or found.size < 0:
            raise BackupError(f"{found.name!r}: a backup holds plain files only")
        name = found.name if long_name is None else long_name
        long_name = None
        yield Member(name if name == CONTENTS else _checked(name), found.size, int(found.mtime))


def _content(archive: BinaryIO, member: Member) -> Iterator[bytes]:
    yield from _pieces(archive, member.size_bytes, "the backup was cut off: its end is missing")
    _exactly(archive, len(_filling(member.size_bytes)))


def _contents(archive: BinaryIO, member: Member) -> list[Sum]:
    if member.size_bytes > _MOST_CONTENTS_BYTES:
        raise BackupError(f"its list of files must not have more than {_MOST_CONTENTS_BYTES} bytes")
    try:
        said = json.loads(b"".join(_content(archive, member)))
        if said["format"] != FORMAT:
            raise BackupError("this is no backup of Tallybone")
        if said["version"] != VERSION:
            raise BackupError(f"expected a backup of version {VERSION}, got {said['version']!r}")
        return [Sum(one["name"], one["size_bytes"], one["sha256"]) for one in said["files"]]
    except BackupError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BackupError("its list of files is damaged") from None


def _compare(said: list[Sum], seen: list[Sum]) -> None:
    for one, other in zip(said, seen, strict=False):
        if one != other:
            raise BackupError(f"{other.name}: it is damaged, its checksum is wrong")
    if len(said) != len(seen):
        raise BackupError(f"it should have {len(said)} files, but has {len(seen)}")


def _checked(name: str) -> str:
    """Return a name that leads nowhere but below the folder it is put into.

    Raises:
        BackupError: If it does not.
    """
    parts = name.split("/")
    if (
        not 2 <= len(parts) <= _MOST_DEPTH
        or parts[0] not in ROOTS
        or any(part in ("", ".", "..") or "\0" in part or "\\" in part for part in parts)
        or len(os.fsencode(name)) > _MOST_NAME_BYTES
    ):
        raise BackupError(f"{name!r}: no file of a backup can be called so")
    return name


def _header(name: str, size_bytes: int, mtime_s: int) -> bytes:
    about = tarfile.TarInfo(name)
    about.size, about.mtime, about.mode = size_bytes, mtime_s, 0o640
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
    return b"".join(_pieces(archive, size_bytes, "the backup was cut off: its end is missing"))
