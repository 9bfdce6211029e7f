"""Tests of installing, upgrading, packaging and removing on a bare system, run by `make chroot` and `make arm`."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.systemd.bare_system import BareSystem

pytestmark = [pytest.mark.slow, pytest.mark.chroot]

INSTALL = ["/srv/tallybone/systemd/install.sh", "--wheels", "/srv/wheels"]
INSTALLED = "/opt/tallybone/systemd/install.sh"
DATA = "var/lib/tallybone/sessions/kept.txt"


@pytest.fixture
def bare() -> Iterator[BareSystem]:
    """Yield a system with everything needed for installation in /srv. Removes Tallybone afterwards."""
    folder = os.environ.get("TALLYBONE_CHROOT")
    if folder is None:
        pytest.skip("takes minutes: make chroot SUITE=bookworm (or trixie) runs it")
    if os.geteuid() != 0:
        pytest.skip("only root may enter a chroot")
    bare = BareSystem(Path(folder).resolve())
    source = bare.root / "srv" / "tallybone"
    shutil.rmtree(bare.root / "srv")
    (bare.root / "opt").mkdir(exist_ok=True)
    for name in ("systemd", "requirements", "docs"):
        shutil.copytree(ROOT / name, source / name)
    subprocess.run([ROOT / "systemd" / "wheels.sh", bare.root / "srv/wheels", bare.python, bare.arch], check=True)
    (wheel,) = (bare.root / "srv" / "wheels").glob("tallybone-*.whl")
    wheel.rename(bare.root / "srv" / wheel.name)
    yield bare
    if bare.run("dpkg", "-s", "tallybone").returncode == 0:
        bare.run("dpkg", "--purge", "tallybone")
    bare.run(*INSTALL[:1], "--uninstall", "--purge")


def wheel_of(bare: BareSystem) -> str:
    (wheel,) = (bare.root / "srv").glob("tallybone-*.whl")
    return f"/srv/{wheel.name}"


def files_of(bare: BareSystem) -> set[str]:
    return set(
        bare.output("find", "/etc", "/opt", "/usr", "-name", "__pycache__", "-prune", "-o", "-print").splitlines()
    )


def assert_installation_works(bare: BareSystem) -> None:
    assert bare.output("tallybone", "--version").startswith("tallybone ")
    assert bare.output("systemctl", "is-enabled", "tallybone.service", "tallybone-prune.timer") == "enabled\nenabled\n"
    groups = bare.output("id", "-Gn", "tallybone").split()
    assert {"video", "gpio", "spi", "i2c", "dialout", "audio"} <= set(groups)
    assert "0 recordings, 0 B, in /var/lib/tallybone/sessions" in bare.output("tallybone-table", "sessions")
    imports = "import cv2, fastapi, gpiozero, serial, uvicorn, vision.reader.reader as reader; reader.load_reader(6)"
    bare.output("/opt/tallybone/venv/bin/python", "-c", imports)
    for unit in ("tallybone.service", "tallybone-prune.service", "tallybone-prune.timer", "tallybone-club.target"):
        assert bare.run("systemd-analyze", "verify", "--man=no", unit).stderr == ""


def test_install_upgrade_and_uninstall(bare: BareSystem) -> None:
    install = [*INSTALL, "--wheel", wheel_of(bare)]
    bare.output(*install)
    assert_installation_works(bare)
    first = (bare.root / "opt/tallybone/venv").readlink()
    config = bare.root / "etc/tallybone/table.toml"
    config.write_text("# mine\n")
    (bare.root / DATA).write_text("kept")

    bare.output(*install, "--upgrade")
    second = (bare.root / "opt/tallybone/venv").readlink()
    assert second != first
    assert [path.name for path in (bare.root / "opt/tallybone/venvs").iterdir()] == [second.name]
    assert config.read_text() == "# mine\n"

    # A failed installation leaves the existing one unchanged.
    (wheel,) = (bare.root / "srv" / "wheels").glob("websockets-*.whl")
    wheel.rename(wheel.with_suffix(".gone"))
    result = bare.run(*install)
    assert result.returncode == 1
    assert "what was there before is unchanged" in result.stderr
    assert (bare.root / "opt/tallybone/venv").readlink() == second
    assert bare.output("tallybone", "--version")

    bare.output(INSTALLED, "--uninstall")
    for name in ("opt/tallybone", "usr/local/bin/tallybone", "etc/systemd/system/tallybone.service"):
        assert not bare.has(name)
    assert not list((bare.root / "etc/systemd/system").rglob("tallybone*"))
    assert (config.read_text(), (bare.root / DATA).read_text()) == ("# mine\n", "kept")

    bare.output(INSTALL[0], "--uninstall", "--purge")
    assert not bare.has("etc/tallybone")
    assert not bare.has("var/lib/tallybone")
    assert bare.run("id", "tallybone").returncode == 1


def test_the_debian_package_installs_and_purges_cleanly(bare: BareSystem, tmp_path: Path) -> None:
    result = subprocess.run(
        [ROOT / "systemd" / "make_deb.sh", tmp_path, bare.python, bare.arch], capture_output=True, text=True, check=True
    )
    deb = Path(result.stdout.strip())
    shutil.move(deb, bare.root / "srv" / "tallybone.deb")
    before = files_of(bare)

    bare.output("dpkg", "-i", "/srv/tallybone.deb")
    assert_installation_works(bare)
    bare.output("tallybone", "demo", "--plays", "3")
    config = bare.root / "etc/tallybone/table.toml"
    config.write_text("# mine\n")
    (bare.root / DATA).write_text("kept")
    assert "first: sudo apt remove tallybone" in bare.run(*INSTALL, "--wheel", wheel_of(bare)).stderr

    bare.output("dpkg", "-i", "/srv/tallybone.deb")
    assert config.read_text() == "# mine\n"

    bare.output("dpkg", "--remove", "tallybone")
    assert not bare.has("opt/tallybone")
    assert (config.read_text(), (bare.root / DATA).read_text()) == ("# mine\n", "kept")

    bare.output("dpkg", "--purge", "tallybone")
    # Debian keeps device groups, and the backup files that useradd and similar tools create.
    remaining = {name for name in files_of(bare) - before if not name.endswith("-")}
    assert remaining == set()
    assert not bare.has("var/lib/tallybone")
