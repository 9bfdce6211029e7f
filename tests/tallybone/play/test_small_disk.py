"""Tests of a game on a real disk that is full or read-only for a while: nothing is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tallybone.play.start import resumed_game
from tests.tallybone.crash.game import jpeg_of, picture_of
from tests.tallybone.play.test_lasting_recorder import AGAIN, SECOND, Table

BEGAN = datetime(2026, 11, 21, 13, tzinfo=UTC)
_MOUNTED = 'mount --make-rprivate / && mount -t tmpfs -o size=$1 tmpfs "$0" && shift && exec "$@"'


@pytest.mark.slow
@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs root, and unshare of util-linux"
)
@pytest.mark.parametrize(("size", "lived"), [("24m", "others"), ("100m", "itself")])
def test_a_game_survives_a_full_disk(tmp_path: Path, size: str, lived: str) -> None:
    program = [sys.executable, "-m", "tests.tallybone.play.test_small_disk", str(tmp_path), lived]
    command = ["unshare", "-m", "sh", "-c", _MOUNTED, str(tmp_path), size, *program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[3])
    assert (done.returncode, done.stdout) == (0, "kept\n"), done.stderr


def fill_with_its_own_pictures(disk: Path) -> None:
    """Record twice as many pictures as fit on the disk."""
    table = Table(disk / "sessions")
    table.go_on(2, points=5)
    jpeg = jpeg_of(picture_of(0)) + bytes(300_000)
    for number in range(1, 701):
        table.recorder.frame(table.t_s * SECOND + number, jpeg, None)
        assert table.recorder.is_whole, f"the recording stopped after {number} pictures"
    table.go_on(1, points=10)
    assert set(table.notes) == {"the disk is full: earlier pictures of this match were deleted, its scores were kept"}
    assert len(table.files) == 1, "the earlier files are gone"
    assert table.kept == (15, 0)


def survive_disk_faults(disk: Path) -> None:
    """Play while other data fills the disk, and while it is read-only."""
    folder = disk / "sessions"
    full = Table(folder)
    full.go_on(2, points=5)
    fill(disk / "filling")
    full.go_on(3, points=10)
    assert full.recorder.text == "RECORDING STOPPED"
    assert "the disk is full" in full.notes[0]
    (disk / "filling").unlink()
    full.go_on(6)
    assert full.notes[-1] == AGAIN
    assert full.kept == (15, 0)
    remount(disk, "ro")
    read_only = Table(folder, resumed_game(None, folder, began=BEGAN, software="tallybone"))
    read_only.go_on(6, points=20)
    assert "the disk is read-only" in read_only.notes[0]
    remount(disk, "rw")
    read_only.go_on(6)
    assert read_only.notes[1:] == [AGAIN]
    assert read_only.kept == (35, 0)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        for size_bytes in (1 << 20, 4096, 1):
            with suppress(OSError):
                while file.write(bytes(size_bytes)) == size_bytes:
                    pass


def remount(disk: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)


if __name__ == "__main__":
    {"others": survive_disk_faults, "itself": fill_with_its_own_pictures}[sys.argv[2]](Path(sys.argv[1]))
    sys.stdout.write("kept\n")
