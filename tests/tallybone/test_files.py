"""Tests of writing small files atomically: full and failing disks, and power cuts."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallybone.files import write_durably
from tallybone.store.calibration_file import Calibration, LightKept, earlier_path, load_calibration, save_calibration
from tallybone.store.house import HouseSettings, is_password, load_house, save_house, set_password

CALLS = ("open", "fsync", "replace", "unlink")


def calibrated(level: float) -> Calibration:
    return Calibration(light=LightKept((level, level, level)))


def fail_at(patch: pytest.MonkeyPatch, at: int, problem: int) -> list[int]:
    """Let all calls from number *at* fail, and return a list with their count."""
    count = [0]

    def faulty(real_call: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            count[0] += 1
            if count[0] >= at:
                raise OSError(problem, os.strerror(problem))
            return real_call(*args, **named)

        return call

    for name in CALLS:
        patch.setattr(os, name, faulty(getattr(os, name)))
    return count


@pytest.mark.parametrize("problem", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_failed_write_keeps_the_old_settings(tmp_path: Path, problem: int) -> None:
    path = tmp_path / "house.json"
    save_house(HouseSettings(language="es"), path)
    for at in range(1, 20):
        with pytest.MonkeyPatch.context() as patch:
            count = fail_at(patch, at, problem)
            try:
                save_house(HouseSettings(language="fr"), path)
            except OSError:
                pass
            else:
                break
        # From the rename on, the file may be the new one.
        assert load_house(path)[0].language in ("es", "fr") if at > 4 else load_house(path)[0].language == "es"
        assert count[0] >= at
    assert at > 3
    save_house(HouseSettings(language="pt"), path)
    assert load_house(path) == (HouseSettings(language="pt"), None)
    assert [path.name for path in tmp_path.iterdir()] == ["house.json"]


def test_a_failed_write_keeps_earlier_calibrations(tmp_path: Path) -> None:
    path = tmp_path / "usb-0.json"
    for level in (10.0, 20.0, 30.0):
        save_calibration(calibrated(level), path)
    with pytest.MonkeyPatch.context() as patch:
        for at in (1, 2, 3):
            fail_at(patch, at, errno.ENOSPC)
            with pytest.raises(OSError, match="No space"):
                save_calibration(calibrated(40.0), path)
            patch.undo()
    kept = [load_calibration(file) for file in (path, earlier_path(path, 1), earlier_path(path, 2))]
    assert kept == [calibrated(30.0), calibrated(20.0), calibrated(10.0)]


def test_a_failed_write_keeps_the_old_password(tmp_path: Path) -> None:
    path = tmp_path / "owner.json"
    set_password("the first one", path)
    with pytest.MonkeyPatch.context() as patch:
        fail_at(patch, 2, errno.EIO)
        with pytest.raises(OSError, match="Input/output"):
            set_password("the second one", path)
    assert is_password("the first one", path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_content_and_name_are_synced_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    real_sync, replace = os.fsync, os.replace

    def synced(number: int) -> None:
        done.append(f"sync {Path(f'/proc/self/fd/{number}').readlink().name}")
        real_sync(number)

    def replaced(source: Any, target: Any) -> None:
        done.append("replace")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    write_durably(tmp_path / "a.json", "{}")
    assert done == ["sync a.json.new", "replace", f"sync {tmp_path.name}"]
