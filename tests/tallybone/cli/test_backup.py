"""Tests of `tallybone backup` and `restore`, including power cuts at any point."""

from __future__ import annotations

import errno
import io
import os
import stat
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tallybone.cli.keeping import Streams, TableFolders, back_up, restore_table
from tallybone.maintain import backup as kept
from tallybone.maintain.backup import ArchivedFile, write_archive
from tallybone.recording.writer import RecordingWriter
from tests.tallybone.maintain.test_archive import handmade_archive
from tests.tallybone.recording.sittings import START, write


@dataclass
class Table:
    """A table and its folders."""

    root: Path
    err: io.StringIO = field(default_factory=io.StringIO)

    @property
    def place(self) -> TableFolders:
        return TableFolders(state=self.root / "state", config=self.root / "etc")

    def backup(self, target: Path | str, *, force: bool = False) -> int:
        return back_up(str(target), is_forced=force, place=self.place, streams=Streams(err=self.err))

    def restore(self, source: Path | str) -> int:
        return restore_table(str(source), place=self.place, streams=Streams(err=self.err))


def new_table(root: Path) -> Table:
    """Return a table with a recording, a calibration, settings and a configuration."""
    table = Table(root)
    for folder in ("state/sessions", "state/calibration", "etc"):
        (root / folder).mkdir(parents=True)
    write(root / "state/sessions/a.mcap")
    (root / "state/calibration/usb-0.json").write_text("lens")
    (root / "state/house.json").write_text("house")
    (root / "etc/table.toml").write_text("# mine\n")
    os.utime(root / "state/sessions/a.mcap", (1_000_000_000, 1_000_000_000))
    return table


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def of_table(found: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files of the table, without earlier ones that were set aside."""
    return {name: content for name, content in found.items() if kept.is_kept(name.split("/")[0])}


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return new_table(tmp_path / "one")


@pytest.fixture
def other(tmp_path: Path) -> Table:
    """Return another table with a recording of its own."""
    other = Table(tmp_path / "other")
    (other.place.state / "sessions").mkdir(parents=True)
    (other.place.state / "sessions" / "own.mcap").write_text("own")
    return other


def test_a_backup_is_restored_to_another_table(table: Table, other: Table, tmp_path: Path) -> None:
    assert table.backup(tmp_path / "b.tar") == 0
    assert other.restore(tmp_path / "b.tar") == 0
    after = contents(other.place.state)
    assert of_table(after) == contents(table.place.state)
    assert after["before-restore-1/sessions/own.mcap"] == b"own"
    assert (other.place.state / "sessions/a.mcap").stat().st_mtime == 1_000_000_000
    assert "4 files restored." in other.err.getvalue()


@pytest.mark.parametrize(
    ("name", "mode", "restored"),
    [
        *(("house.json", mode, mode) for mode in (0o600, 0o640, 0o644)),
        ("house.json", 0o4711, 0o600),  # readable and not executable
        *((name, 0o644, 0o600) for name in ("owner.json", "last_table.toml")),  # files with secrets
    ],
)
def test_a_file_is_restored_with_its_mode_within_limits(
    table: Table, other: Table, tmp_path: Path, name: str, mode: int, restored: int
) -> None:
    (table.place.state / name).write_text("{}")
    (table.place.state / name).chmod(mode)
    table.backup(tmp_path / "b.tar")
    assert other.restore(tmp_path / "b.tar") == 0
    assert stat.S_IMODE((other.place.state / name).stat().st_mode) == restored


def restore_made(other: Table, *entries: tuple[tarfile.TarInfo, bytes]) -> int:
    (other.root / "b.tar").write_bytes(handmade_archive(*entries))
    return other.restore(other.root / "b.tar")


@pytest.mark.parametrize(("mode", "restored"), [(0o7777, 0o644), (0o666, 0o644), (0o622, 0o600), (0, 0o600)])
def test_restored_files_are_not_writable_by_others(other: Table, mode: int, restored: int) -> None:
    about = tarfile.TarInfo("state/house.json")
    about.mode = mode
    assert restore_made(other, (about, b"house")) == 0
    assert stat.S_IMODE((other.place.state / "house.json").stat().st_mode) == restored


@pytest.mark.parametrize("mtime_s", [1 << 70, -1, 8**11])
def test_an_impossible_date_is_rejected(other: Table, mtime_s: int) -> None:
    about = tarfile.TarInfo("state/house.json")
    about.mtime = mtime_s
    before = contents(other.place.state)
    assert restore_made(other, (about, b"x")) == 1
    expected = f"'state/house.json': expected a date from 0 to 8589934591 s since 1970, got {mtime_s}"
    assert expected in other.err.getvalue()
    assert contents(other.place.state) == before


def test_a_file_of_any_date_is_backed_up_and_restored(table: Table, other: Table, tmp_path: Path) -> None:
    os.utime(table.place.state / "house.json", (-5, -5))
    assert table.backup(tmp_path / "b.tar") == 0
    assert other.restore(tmp_path / "b.tar") == 0
    assert (other.place.state / "house.json").stat().st_mtime == 0


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["state/sessions"], "state/sessions: expected a folder, but it is a file"),
        (["state/calibration"], "state/calibration: expected a folder, but it is a file"),
        (["state/a", "state/a/b"], "state/a/b: the archive contains it twice, or as both a file and a folder"),
        (["state/a/b/c", "state/a/b"], "state/a/b: the archive contains it twice, or as both a file and a folder"),
    ],
)
def test_a_file_in_place_of_a_folder_is_rejected(other: Table, names: list[str], text: str) -> None:
    before = contents(other.place.state)
    assert restore_made(other, *((tarfile.TarInfo(name), b"x") for name in names)) == 1
    assert other.err.getvalue().lstrip() == f"tallybone restore: {text}\n"
    assert contents(other.place.state) == before


def test_a_state_folder_that_is_a_file_is_an_error(table: Table, tmp_path: Path) -> None:
    table.backup(tmp_path / "b.tar")
    third = Table(tmp_path / "third")
    third.root.mkdir()
    third.place.state.write_text("mine")
    assert third.restore(tmp_path / "b.tar") == 1
    assert "expected the folder of the table, but it is a file" in third.err.getvalue()


def test_a_configuration_is_never_overwritten(table: Table, other: Table, tmp_path: Path) -> None:
    table.backup(tmp_path / "b.tar")
    other.place.config.mkdir()
    (other.place.config / "table.toml").write_text("# others\n")
    other.restore(tmp_path / "b.tar")
    assert (other.place.config / "table.toml").read_text() == "# others\n"
    assert (other.place.state / "config-of-backup/table.toml").read_text() == "# mine\n"
    assert "config-of-backup/table.toml" in other.err.getvalue()


def test_a_backup_of_a_restored_table_equals_the_first(table: Table, other: Table, tmp_path: Path) -> None:
    table.backup(tmp_path / "b.tar")
    for _ in range(2):
        other.restore(tmp_path / "b.tar")
    other.backup(tmp_path / "c.tar")
    third = Table(tmp_path / "third")
    third.restore(tmp_path / "c.tar")
    assert contents(third.place.state) == contents(table.place.state)
    assert (other.place.state / "before-restore-2").is_dir()


def test_backup_and_restore_work_through_a_pipe(table: Table, tmp_path: Path) -> None:
    piped = io.BytesIO()
    assert back_up("-", place=table.place, streams=Streams(err=table.err, bytes_out=piped)) == 0
    third = Table(tmp_path / "third")
    streams = Streams(err=third.err, bytes_in=io.BytesIO(piped.getvalue()))
    assert restore_table("-", place=third.place, streams=streams) == 0
    assert of_table(contents(third.place.state)) == contents(table.place.state)


def test_a_backup_is_private_and_overwrites_a_file_only_with_force(table: Table, tmp_path: Path) -> None:
    table.backup(tmp_path / "b.tar")
    assert stat.S_IMODE((tmp_path / "b.tar").stat().st_mode) == 0o600
    target = tmp_path / "c.tar"
    target.write_text("precious")
    assert table.backup(target) == 1
    assert target.read_text() == "precious"
    assert "--force" in table.err.getvalue()
    assert table.backup(target, force=True) == 0


def test_a_backup_cannot_be_inside_the_state_folder_or_empty(table: Table, tmp_path: Path) -> None:
    assert table.backup(table.place.state / "b.tar") == 1
    assert "cannot be inside" in table.err.getvalue()
    empty = Table(tmp_path / "empty")
    assert empty.backup(tmp_path / "b.tar") == 1
    assert "there is nothing to back up yet" in empty.err.getvalue()


def test_links_are_not_followed(table: Table, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (table.place.state / "link").symlink_to(tmp_path / "secret")
    table.backup(tmp_path / "b.tar")
    assert b"secret" not in (tmp_path / "b.tar").read_bytes()


def test_a_running_recording_is_backed_up_and_blocks_a_restore(table: Table, other: Table, tmp_path: Path) -> None:
    with RecordingWriter(table.place.state / "sessions" / "now.mcap", START):
        assert table.backup(tmp_path / "b.tar") == 0
        assert table.restore(tmp_path / "b.tar") == 1
        assert table.restore(tmp_path / "nosuch.tar") == 1
    assert "a game is being recorded" in table.err.getvalue()
    assert table.err.getvalue().endswith("nosuch.tar: there is no such file or folder\n")
    assert other.restore(tmp_path / "b.tar") == 0
    assert (other.place.state / "sessions" / "now.mcap").stat().st_size > 0


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.9])
def test_a_truncated_backup_changes_nothing(share: float, table: Table, other: Table, tmp_path: Path) -> None:
    table.backup(tmp_path / "b.tar")
    whole = (tmp_path / "b.tar").read_bytes()
    (tmp_path / "b.tar").write_bytes(whole[: int(len(whole) * share)])
    before = contents(other.place.state)
    assert other.restore(tmp_path / "b.tar") == 1
    assert contents(other.place.state) == before
    assert not (other.place.state / ".unpacking").exists()


@pytest.mark.parametrize("name", ["state/.placing/x", "state/before-restore-1/x"])
def test_a_backup_cannot_contain_the_folders_of_a_restore(name: str, other: Table, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    with (tmp_path / "b.tar").open("wb") as out:
        write_archive([ArchivedFile(name, tmp_path / "x")], out, made_at="", software="", tick=lambda _: None)
    assert other.restore(tmp_path / "b.tar") == 1
    assert "invalid file name in a backup" in other.err.getvalue()


class PowerCut(Exception):  # noqa: N818 - not an error
    """A simulated power cut."""


def test_a_restore_interrupted_anywhere_is_finished_at_the_next_start(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.backup(tmp_path / "b.tar")
    rename, survived = Path.rename, []
    for cut_at in range(1, 40):
        other = Table(tmp_path / f"cut{cut_at}")
        for name in ("sessions/own.mcap", "calibration/own.json", "other.json"):
            (other.place.state / name).parent.mkdir(parents=True, exist_ok=True)
            (other.place.state / name).write_text("own")
        count = [0]

        def cut(path: Path, target: Path, cut_at: int = cut_at, count: list[int] = count) -> Path:
            count[0] += 1
            if count[0] == cut_at:
                raise PowerCut
            return rename(path, target)

        monkeypatch.setattr(Path, "rename", cut)
        try:
            other.restore(tmp_path / "b.tar")
        except PowerCut:
            pass
        else:
            break
        finally:
            monkeypatch.setattr(Path, "rename", rename)
        if cut_at > 1:  # before the first rename, nothing has changed
            assert kept.finish_at_start(other.place.state)
            assert not kept.finish_at_start(other.place.state)
            after = contents(other.place.state)
            assert of_table(after) == contents(table.place.state)
            assert sum(content == b"own" for content in after.values()) == 3
        survived.append(cut_at)
    assert len(survived) >= 8


def test_files_written_after_an_interruption_are_kept(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.backup(tmp_path / "b.tar")
    other = Table(tmp_path / "other")
    (other.place.state / "sessions").mkdir(parents=True)
    (other.place.state / "sessions" / "own.mcap").write_text("own")
    monkeypatch.setattr(kept, "finish", lambda state: None)
    other.restore(tmp_path / "b.tar")
    monkeypatch.undo()
    (other.place.state / ".restoring" / "before" / "sessions").mkdir(parents=True)
    kept.finish(other.place.state)
    after = contents(other.place.state)
    assert of_table(after) == contents(table.place.state)
    assert after["before-restore-1/sessions.2/own.mcap"] == b"own"


def test_a_restore_interrupted_while_unpacking_is_discarded_at_the_next_start(table: Table, tmp_path: Path) -> None:
    before = contents(table.place.state)
    (table.place.state / ".unpacking" / "state").mkdir(parents=True)
    (table.place.state / ".unpacking" / "state" / "house.json").write_text("half")
    assert kept.finish_at_start(table.place.state)
    assert contents(table.place.state) == before
    assert not kept.finish_at_start(tmp_path / "absent")


def test_a_full_disk_fails_a_backup_or_restore_and_changes_nothing(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before, fsync = contents(tmp_path), os.fsync
    monkeypatch.setattr(os, "fsync", fail)
    assert table.backup(tmp_path / "b.tar") == 1
    assert "no space is left on the disk" in table.err.getvalue()
    assert contents(tmp_path) == before
    monkeypatch.setattr(os, "fsync", fsync)
    table.backup(tmp_path / "b.tar")
    (table.place.state / "house.json").write_text("another")
    before = contents(table.place.state)
    monkeypatch.setattr(os, "fsync", fail)
    assert table.restore(tmp_path / "b.tar") == 1
    assert table.err.getvalue().count("no space is left on the disk") == 2
    assert contents(table.place.state) == before
