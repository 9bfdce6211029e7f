"""The file of a backup: what goes in comes out, and nothing else is ever taken for it."""

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
    """An archive of files with such contents."""
    entries = []
    for number, (name, content) in enumerate(files.items()):
        path = folder / str(number)
        path.write_bytes(content)
        entries.append(ArchivedFile(name, path))
    out = io.BytesIO()
    write_archive(entries, out, made_at="2026-11-21T18:30:05+00:00", software="tallybone 0", tick=lambda _: None)
    return out.getvalue()


def read(archive: bytes) -> dict[str, bytes]:
    return {member.name: b"".join(pieces) for member, pieces in members(io.BytesIO(archive))}


def made_by_hand(*found: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """An archive that Tallybone would not write, with a list of its files that is right."""
    out = io.BytesIO()
    sums = [
        {"name": about.name, "size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for about, content in found
    ]
    said = json.dumps({"format": "tallybone-backup", "version": 1, "files": sums}).encode()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for about, content in (*found, (tarfile.TarInfo(CONTENTS), said)):
            about.size = len(content)
            tar.addfile(about, io.BytesIO(content))
    return out.getvalue()


def test_what_goes_in_comes_out(tmp_path: Path) -> None:
    assert read(archive_of(FILES, tmp_path)) == FILES


def test_tar_can_read_it_too(tmp_path: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(archive_of(FILES, tmp_path))) as tar:
        assert tar.getnames() == [*FILES, CONTENTS]
        said = json.load(tar.extractfile(CONTENTS))  # type: ignore[arg-type]  # it is a file
    assert said["format"] == "tallybone-backup"
    assert said["files"][3] == {"name": "state/empty", "size_bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()}


def test_one_that_is_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = archive_of(FILES, tmp_path)
    end = len(whole) - 1024  # the two blocks of nothing at the end mean nothing
    for length in [*range(0, end, 97), end - 513]:
        with pytest.raises(BackupError):
            read(whole[:length])


def test_a_flipped_bit_is_refused_or_changes_nothing(tmp_path: Path) -> None:
    whole = archive_of(FILES, tmp_path)
    rng = random.Random(9)
    refused = 0
    for _ in range(2000):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        try:
            assert read(bytes(damaged)) == FILES
        except BackupError:
            refused += 1
    assert refused > 500  # the others were in fillings, dates and modes


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../x",
        "state/../../x",
        "state/..",
        "state//x",
        "state/./x",
        "state",
        "other/x",
        "state/a\\b",
        "state/" + "d/" * 20 + "x",
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(BackupError, match="invalid file name in a backup"):
        read(made_by_hand((tarfile.TarInfo(name), b"x")))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_what_is_no_plain_file_is_refused(kind: bytes) -> None:
    about = tarfile.TarInfo("state/x")
    about.type, about.linkname = kind, "/etc/passwd"
    with pytest.raises(BackupError, match="only regular files"):
        read(made_by_hand((about, b"")))


def test_a_name_that_claims_to_be_huge_is_not_read() -> None:
    about = tarfile.TarInfo("././@LongLink")
    about.type, about.size = tarfile.GNUTYPE_LONGNAME, 10**12
    with pytest.raises(BackupError, match="only regular files"):
        read(about.tobuf(tarfile.GNU_FORMAT))


def test_one_of_a_later_version_is_refused_by_name() -> None:
    said = b'{"format": "tallybone-backup", "version": 2, "files": []}'
    about = tarfile.TarInfo(CONTENTS)
    about.size = len(said)
    with pytest.raises(BackupError, match="expected a backup of version 1, got 2"):
        read(about.tobuf() + said + bytes(-len(said) % 512))


def test_files_that_the_list_does_not_name_are_refused(tmp_path: Path) -> None:
    whole = archive_of({"state/a": b"1"}, tmp_path)
    with pytest.raises(BackupError, match="expected 1 files, got 2"):
        read(whole[:1024] + whole)  # the first member twice


def test_a_file_that_becomes_shorter_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 3_000_000)

    def cut(_: int) -> None:
        with path.open("r+b") as file:
            file.truncate(10)

    with pytest.raises(BackupError, match="it was truncated while being read"):
        write_archive([ArchivedFile("state/a", path)], io.BytesIO(), made_at="", software="", tick=cut)


def test_a_file_that_has_gone_is_left_out(tmp_path: Path) -> None:
    out = io.BytesIO()
    count = write_archive([ArchivedFile("state/a", tmp_path / "a")], out, made_at="", software="", tick=lambda _: None)
    assert (count, read(out.getvalue())) == (0, {})
