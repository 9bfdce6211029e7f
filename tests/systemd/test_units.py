"""Tests of the systemd units: syntax, sandboxing, devices, limits and configuration examples."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tallybone.web.access.serving import limits_of
from tests.conftest import ROOT

SYSTEMD = ROOT / "systemd"
UNITS = sorted(path for path in SYSTEMD.iterdir() if path.suffix in {".service", ".target", ".timer"})
SERVICES = [path for path in UNITS if path.suffix == ".service"]
PROGRAM = "/opt/tallybone/venv/bin/tallybone"

needs_analyze = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze: sudo apt install systemd"
)


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def verify_output(folder: Path) -> str:
    """Return the warnings of systemd-analyze. Its exit code is 0 even for unknown keys."""
    return run("systemd-analyze", "verify", "--man=no", *sorted(folder.iterdir())).stderr


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Copy the units with an existing program, because systemd-analyze checks for it."""
    for path in UNITS:
        (tmp_path / path.name).write_text(path.read_text().replace(PROGRAM, "/bin/true"))
    return tmp_path


def test_all_units_exist() -> None:
    assert [path.name for path in UNITS] == [
        "tallybone-club.target",
        "tallybone-prune.service",
        "tallybone-prune.timer",
        "tallybone.service",
    ]


@needs_analyze
def test_systemd_accepts_every_line_and_no_other(copied: Path) -> None:
    assert verify_output(copied) == ""
    with (copied / "tallybone.service").open("a") as file:
        file.write("WantetBy=x\n")
    assert "Unknown key" in verify_output(copied)


@needs_analyze
@pytest.mark.parametrize("unit", SERVICES, ids=lambda path: path.name)
def test_services_are_sandboxed(unit: Path) -> None:
    result = run("systemd-analyze", "security", "--offline=yes", "--threshold=20", unit)
    assert result.returncode == 0, result.stdout.splitlines()[-1]


@needs_analyze
def test_an_unsandboxed_service_is_detected(tmp_path: Path) -> None:
    unit = tmp_path / "open.service"
    unit.write_text("[Service]\nExecStart=/bin/true\n")
    assert run("systemd-analyze", "security", "--offline=yes", "--threshold=20", unit).returncode == 1


def test_devices_are_allowed_by_their_paths_or_groups_and_not_hidden_by_sandboxing() -> None:
    """Both are misc devices: the groups of /proc/devices have only `misc`, which would allow far more."""
    allowed = re.findall(r"^DeviceAllow=(\S+) rw$", (SYSTEMD / "tallybone.service").read_text(), re.MULTILINE)
    groups = ("video4linux", "media", "dma_heap", "gpiochip", "spi", "ttyUSB", "ttyACM", "alsa")
    assert {"/dev/vcio", "/dev/vcio_gencmd", *(f"char-{kind}" for kind in groups)} <= set(allowed)
    assert {"char-vcio", "char-misc"}.isdisjoint(allowed)
    text = (SYSTEMD / "tallybone.service").read_text()
    # Each of these would block the devices, their groups, or the library for the microphone.
    for key in ("PrivateDevices", "PrivateUsers", "DynamicUser", "PrivateNetwork", "MemoryDenyWriteExecute"):
        assert f"{key}=" not in text


@pytest.mark.parametrize("unit", SERVICES, ids=lambda path: path.name)
def test_all_state_is_in_a_single_folder(unit: Path) -> None:
    text = unit.read_text()
    assert "StateDirectory=tallybone\n" in text
    assert "ProtectSystem=strict\n" in text
    assert re.search(r"^Environment=HOME=/var/lib/tallybone XDG_STATE_HOME=/var/lib ", text, re.MULTILINE)


def test_the_table_has_a_watchdog_and_enough_file_descriptors() -> None:
    lines = (SYSTEMD / "tallybone.service").read_text().splitlines()
    assert {"Type=notify", "Restart=always", "WatchdogSec=30", "StartLimitBurst=20"} <= set(lines)
    found = re.search(r"^LimitNOFILE=(\d+)$", (SYSTEMD / "tallybone.service").read_text(), re.MULTILINE)
    assert found
    assert limits_of(int(found[1])) == limits_of(1_000_000)


def test_no_unit_depends_on_a_network() -> None:
    for unit in UNITS:
        text = re.sub(r"^#.*$|PrivateNetwork", "", unit.read_text(), flags=re.MULTILINE)
        assert "network" not in text


@pytest.mark.skipif(shutil.which("systemd-sysusers") is None, reason="there is no systemd-sysusers")
def test_the_user_is_in_the_device_groups(tmp_path: Path) -> None:
    shutil.copy(SYSTEMD / "tallybone.sysusers", tmp_path / "tallybone.conf")
    (tmp_path / "etc" / "sysusers.d").mkdir(parents=True)
    shutil.copy(SYSTEMD / "tallybone.sysusers", tmp_path / "etc" / "sysusers.d" / "tallybone.conf")
    result = run("systemd-sysusers", f"--root={tmp_path}", "tallybone.conf")
    if "Permission denied" in result.stderr or "Operation not permitted" in result.stderr:
        pytest.skip("only root may make users in a folder")
    assert result.returncode == 0, result.stderr
    groups = dict(line.split(":x:") for line in (tmp_path / "etc" / "group").read_text().splitlines())
    for group in ("video", "gpio", "spi", "i2c", "dialout", "audio"):
        assert groups[group].endswith(":tallybone")
    assert "/usr/sbin/nologin" in (tmp_path / "etc" / "passwd").read_text()


@pytest.mark.skipif(shutil.which("systemd-tmpfiles") is None, reason="there is no systemd-tmpfiles")
def test_the_state_folder_is_private() -> None:
    assert "d /var/lib/tallybone 0750 tallybone tallybone\n" in (SYSTEMD / "tallybone.tmpfiles").read_text()


def test_the_configuration_examples_are_valid(tmp_path: Path) -> None:
    from tallybone.store.table_file import load_table

    assert load_table(SYSTEMD / "table.toml").camera is None
    uncommented = re.sub(r"^#(?=\S)", "", (SYSTEMD / "table.toml").read_text(), flags=re.MULTILINE)
    (tmp_path / "table.toml").write_text(uncommented)
    table = load_table(tmp_path / "table.toml")
    assert table.camera == "pi:0,rotate=180,mains=50"
    assert [display.location for display in table.hardware.displays] == ["/dev/tallybone-display"]


def test_every_setting_of_the_service_is_documented() -> None:
    documented = set(re.findall(r"^#(TALLYBONE_\w+)=", (SYSTEMD / "service.env").read_text(), re.MULTILINE))
    used = {name for unit in SERVICES for name in re.findall(r"\$\{(TALLYBONE_\w+)\}", unit.read_text())}
    assert documented == used
