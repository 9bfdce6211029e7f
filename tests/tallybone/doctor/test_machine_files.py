"""Tests of the probes of the computer, with fake system files and on the machine of the tests."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hardware.part import NeededLibrary
from tallybone.doctor import machine
from tallybone.doctor.boot import PiModel
from tallybone.finding import Grade

FILES = {
    "proc/device-tree/model": "Raspberry Pi 5 Model B Rev 1.0\0",
    "proc/meminfo": "MemTotal:        8137168 kB\nMemFree:         1 kB\n",
    "proc/cmdline": "console=serial0,115200 quiet\n",
    "etc/os-release": 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 13 (trixie)"\n',
    "sys/class/thermal/thermal_zone0/temp": "51234\n",
    "boot/firmware/config.txt": "dtparam=spi=on\n",
}


def write_files(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def answer_to(answers: dict[str, str], command: tuple[str, ...]) -> str:
    return answers.get(command[0], "")


def test_a_pi_is_described_by_its_files_and_commands(tmp_path: Path) -> None:
    answers = {"vcgencmd": "throttled=0x50000", "timedatectl": "no"}
    found = machine.read_machine(write_files(tmp_path, FILES), lambda command: answer_to(answers, command))
    version = (sys.version_info.major, sys.version_info.minor)
    assert replace(found, bits=64, vitals=machine.Vitals()) == machine.Machine(
        "Raspberry Pi 5 Model B Rev 1.0", "Debian GNU/Linux 13 (trixie)", 64, version, 7946, 51.234, 0x50000, False
    )
    boot = machine.read_boot(tmp_path, found.model)
    assert (boot.board, boot.path) == (PiModel.PI5, str(tmp_path / "boot/firmware/config.txt"))
    assert boot.is_on("spi")
    assert "serial0" in boot.kernel_line


def test_a_pi_5_measures_its_supply(tmp_path: Path) -> None:
    def answer(command: tuple[str, ...]) -> str:
        return "     EXT5V_V volt(24)=5.14570000V" if command[-1] == "EXT5V_V" else "throttled=0x0"

    found = machine.read_machine(write_files(tmp_path, FILES), answer)
    assert (found.supply_v, found.throttled) == (5.1457, 0)
    (tmp_path / "proc/device-tree/model").write_text("Raspberry Pi 4 Model B Rev 1.5")
    assert machine.read_machine(tmp_path, answer).supply_v is None


def test_missing_information_stays_unknown(tmp_path: Path) -> None:
    found = machine.read_machine(tmp_path, lambda _: "")
    values = (found.model, found.memory_mb, found.temperature_c, found.throttled, found.is_clock_set)
    assert values == ("", None, None, None, None)
    assert not found.is_pi
    assert machine.read_boot(tmp_path, "").path == ""
    assert [machine.run(command) for command in (("no-such-command",), ("false",), ("echo", "yes"))] == ["", "", "yes"]
    write_files(tmp_path, {"run/systemd/timesync/synchronized": ""})
    assert machine.read_machine(tmp_path, lambda _: "no").is_clock_set is True


def test_device_files_and_the_user_are_checked(tmp_path: Path) -> None:
    assert not machine.read_device(str(tmp_path / "absent")).is_there
    null, user = machine.read_device("/dev/null"), machine.read_user()
    assert (null.is_there, null.is_usable) == (True, True)
    assert user.name
    assert user.groups


def test_libraries_are_imported() -> None:
    there = machine.try_library(NeededLibrary("numpy", "numpy", "pictures", probe="array"))
    assert (there.error, there.version is None) == ("", False)
    gone = machine.try_library(NeededLibrary("no_such_library", "no-such-library", "nothing"))
    assert (gone.version, gone.error) == (None, "No module named 'no_such_library'")
    empty = machine.try_library(NeededLibrary("numpy", "numpy", "pictures", probe="gpiochip_open"))
    assert empty.error == "module 'numpy' has no attribute 'gpiochip_open'"


def test_a_library_that_crashes_python_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crashes_here.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGILL)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = machine.try_library(NeededLibrary("crashes_here", "crashes-here", "nothing"))
    assert found.error == "Python crashes with signal 4 on import"


def test_a_venv_with_and_without_system_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    for value, sees in (("true", True), ("false", False)):
        (tmp_path / "pyvenv.cfg").write_text(f"home = /usr/bin\ninclude-system-site-packages = {value}\n")
        assert machine.read_venv().sees_system is sees
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    assert machine.read_venv().path == ""


def test_a_disk_is_tested_without_leaving_files(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"disk / ext4 rw 0 0\nmemory {tmp_path} tmpfs rw 0 0\n")
    found = machine.try_disk(tmp_path / "not" / "yet", mounts)
    assert (found.error, found.kind, len(found.sync_ms)) == ("", "tmpfs", 8)
    assert found.free_bytes > 0
    assert list(tmp_path.iterdir()) == [mounts]
    assert machine.try_disk(Path("/proc/recordings")).error


@pytest.mark.parametrize("options", ["ro,noatime", "rw,noatime,emergency_ro"])
def test_a_file_system_that_became_read_only_is_named(tmp_path: Path, options: str) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"disk / ext4 rw 0 0\ncard {tmp_path} ext4 rw 0 0\ncard {tmp_path} ext4 {options} 0 0\n")
    (found,) = machine.check_disk(machine.room_in(tmp_path, mounts))
    assert (found.part, found.grade) == ("card", Grade.PROBLEM)
    assert "has become read-only" in found.text
    assert machine.try_disk(tmp_path, mounts).is_read_only
