"""A real disk that is full, then read-only, then as it was: a game goes on through all of it, and is kept whole."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tallybone.play.start import game_that_goes_on
from tests.tallybone.play.test_lasting_recorder import AGAIN, Table

BEGAN = datetime(2026, 11, 21, 13, tzinfo=UTC)
_MOUNTED = 'mount --make-rprivate / && mount -t tmpfs -o size=24m tmpfs "$0" && exec "$@"'


@pytest.mark.slow
@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs root, and unshare of util-linux"
)
def test_a_game_outlives_a_full_and_a_read_only_disk(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.tallybone.play.test_small_disk", str(tmp_path)]
    command = ["unshare", "-m", "sh", "-c", _MOUNTED, str(tmp_path), *program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[3])
    assert (done.returncode, done.stdout) == (0, "kept\n"), done.stderr


def live_through_it(disk: Path) -> None:
    """Play on a small disk that is mounted for this process alone."""
    folder = disk / "sessions"
    full = Table(folder)
    full.go_on(2, points=5)
    fill(disk / "filling")
    full.go_on(3, points=10)
    assert full.recorder.words == "NOT RECORDED any more"
    assert "there is no room left" in full.notes[0]
    (disk / "filling").unlink()
    full.go_on(6)
    assert full.notes[-1] == AGAIN
    assert full.kept == (15, 0)
    remount(disk, "ro")
    read_only = Table(folder, game_that_goes_on(None, folder, began=BEGAN, software="tallybone"))
    read_only.go_on(6, points=20)
    assert "Read-only file system" in read_only.notes[0]
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
    live_through_it(Path(sys.argv[1]))
    sys.stdout.write("kept\n")
