"""Tests of backup archives: lossless, and strict about their content."""

from __future__ import annotations

import hashlib
import io
import json
import random
import tarfile
from pathlib import Path

import pytest

from tallybone.maintain.backup import CONTENTS, ArchivedFile, BackupError, members, write_archive

FILES = {
    "state/calibration/usb-0.json": b'{"version": 1}\n',
    "state/sessions/a.mcap": bytes(range(256)) * 9,
    "state/sessions/" + "long-name-" * 15 + ".mcap": b"x",
    "state/empty": b"",
    "config/table.toml": b"# mine\n" * 80,
}


def archive_of(files: dict[str, bytes], folder: Path) -> bytes:
    """Return an archive of files with the given contents."""
    entries = []
    for index, (name, content) in enumerate(files.items()):
        path = folder / str(index)
        path.write_bytes(content)
        entries.append(ArchivedFile(name, path))
    out = io.BytesIO()
    write_archive(entries, out, made_at="2026-11-21T18:30:05+00:00", software="tallybone 0", tick=lambda _: None)
    return out.getvalue()


def read(archive: bytes) -> dict[str, bytes]:
    return {member.name: b"".join(pieces) for member, pieces in members(io.BytesIO(archive))}


def handmade_archive(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """Return an archive that Tallybone would not write, with a correct file list."""
    out = io.BytesIO()
    file_list = [
        {"name": info.name, "size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for info, content in entries
    ]
    content_list = json.dumps({"format": "tallybone-backup", "version": 1, "files": file_list}).encode()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for info, content in (*entries, (tarfile.TarInfo(CONTENTS), content_list)):
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def test_files_survive_a_round_trip_and_tar_can_read_an_archive(tmp_path: Path) -> None:
    assert read(archive_of(FILES, tmp_path)) == FILES
    with tarfile.open(fileobj=io.BytesIO(archive_of(FILES, tmp_path))) as tar:
        assert tar.getnames() == [*FILES, CONTENTS]
        content_list = json.load(tar.extractfile(CONTENTS))  # type: ignore[arg-type]  # it is a file
    assert content_list["format"] == "tallybone-backup"
    assert content_list["files"][3] == {
        "name": "state/empty",
        "size_bytes": 0,
        "sha256": hashlib.sha256(b"").hexdigest(),
    }


def test_rejects_an_archive_truncated_anywhere(tmp_path: Path) -> None:
    archive = archive_of(FILES, tmp_path)
    end = len(archive) - 1024  # the two blocks of zeros at the end are optional
    for length in [*range(0, end, 97), end - 513]:
        with pytest.raises(BackupError):
            read(archive[:length])


def test_a_flipped_bit_is_rejected_or_changes_nothing(tmp_path: Path) -> None:
    archive = archive_of(FILES, tmp_path)
    rng = random.Random(9)
    rejected = 0
    for _ in range(2000):
        damaged = bytearray(archive)
        damaged[rng.randrange(len(archive))] ^= 1 << rng.randrange(8)
        try:
            assert read(bytes(damaged)) == FILES
        except BackupError:
            rejected += 1
    assert rejected > 500  # the others were in padding, dates and modes


def test_rejects_a_path_outside_the_folders() -> None:
    for name in (
        *("/etc/passwd", "../x", "state/../../x", "state/..", "state//x", "state/./x", "state", "other/x"),
        *("state/a\\b", "state/" + "d/" * 20 + "x"),
    ):
        with pytest.raises(BackupError, match="invalid file name in a backup"):
            read(handmade_archive((tarfile.TarInfo(name), b"x")))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_rejects_everything_but_regular_files(kind: bytes) -> None:
    info = tarfile.TarInfo("state/x")
    info.type, info.linkname = kind, "/etc/passwd"
    with pytest.raises(BackupError, match="only regular files"):
        read(handmade_archive((info, b"")))
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 10**12  # not read
    with pytest.raises(BackupError, match="only regular files"):
        read(info.tobuf(tarfile.GNU_FORMAT))


def test_rejects_a_later_version() -> None:
    content_list = b'{"format": "tallybone-backup", "version": 2, "files": []}'
    info = tarfile.TarInfo(CONTENTS)
    info.size = len(content_list)
    with pytest.raises(BackupError, match="expected a backup of version 1, got 2"):
        read(info.tobuf() + content_list + bytes(-len(content_list) % 512))


def test_rejects_files_missing_from_the_list(tmp_path: Path) -> None:
    archive = archive_of({"state/a": b"1"}, tmp_path)
    with pytest.raises(BackupError, match="expected 1 files, got 2"):
        read(archive[:1024] + archive)  # the first member twice


def test_a_file_truncated_during_the_backup_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 3_000_000)

    def cut(_: int) -> None:
        with path.open("r+b") as file:
            file.truncate(10)

    with pytest.raises(BackupError, match="it was truncated while being read"):
        write_archive([ArchivedFile("state/a", path)], io.BytesIO(), made_at="", software="", tick=cut)
    path.unlink()  # a deleted file is omitted
    count = write_archive([ArchivedFile("state/a", path)], out := io.BytesIO(), made_at="", software="", tick=cut)
    assert (count, read(out.getvalue())) == (0, {})
