"""The lab of `make guest`: guests with a real kernel, whose parts are Linux' test drivers."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.guest.guest import Guest
from tests.guest.match import write_match
from tests.guest.table import INSTALL


@pytest.fixture(scope="session")
def lab() -> Path:
    """Return the folder made by build.sh."""
    folder = os.environ.get("TALLYBONE_GUEST")
    if folder is None:
        pytest.skip("takes minutes, and root: sudo make guest runs it")
    return Path(folder).resolve()


@pytest.fixture
def measured(lab: Path) -> Callable[[str], None]:
    """Return a function that adds a line to the results printed at the end."""

    def add(text: str) -> None:
        with (lab / "measured").open("a") as file:
            file.write(f"{text}\n")

    return add


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was measured."""
    file = Path(os.environ.get("TALLYBONE_GUEST", "")) / "measured"
    if file.is_file() and "PYTEST_XDIST_WORKER" not in os.environ:
        terminalreporter.section("measured")
        terminalreporter.write(file.read_text())
        file.unlink()


@contextmanager
def alone(lab: Path) -> Iterator[None]:
    """Wait until no other process of the tests makes something in *lab*."""
    with (lab / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def installed(lab: Path) -> Path:
    """Return a disk on which Tallybone has been installed. It is kept until what is installed changes."""
    guest = Guest(lab, "installed", ROOT)
    made_of = guest.disk.with_name("made_of")
    with alone(lab):
        parts = digest(lab)
        if not made_of.exists() or made_of.read_text() != parts:
            install(guest)
            made_of.write_text(parts)
    return guest.disk


def digest(lab: Path) -> str:
    """Return a hash of all that is installed, and of the age of the disk below."""
    found = hashlib.sha256(f"{(lab / 'base.raw').stat().st_mtime_ns}".encode())
    for folder in (lab / "wheels", ROOT / "systemd", ROOT / "requirements"):
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            found.update(path.name.encode())
            found.update(path.read_bytes())
    return found.hexdigest()


def install(guest: Guest) -> None:
    """Install Tallybone on the disk of a new guest."""
    guest.start(is_new=True)
    try:
        shutil.copytree(guest.lab / "wheels", guest.share / "wheels", copy_function=os.link)
        guest.run(INSTALL, 300)
        guest.shut_down()
    finally:
        guest.cut_power()


@pytest.fixture
def boot(lab: Path, installed: Path, worker_id: str) -> Iterator[Callable[[str], Guest]]:
    """Return a function that boots a guest of a name, with Tallybone installed.

    In the end, the guest's journal is written to the file `journal` in its shared folder.
    """
    guests: list[Guest] = []

    def booted(name: str) -> Guest:
        guest = Guest(lab, f"{name}-{worker_id}", ROOT)
        guests.append(guest)
        shutil.rmtree(guest.share.parent, ignore_errors=True)
        shutil.copytree(lab / "wheels", guest.share / "wheels", copy_function=os.link)
        subprocess.run(["cp", "--sparse=always", installed, guest.disk], check=True)
        guest.start()
        return guest

    yield booted
    for guest in guests:
        if guest.is_running:
            guest.run("journalctl -b -o short-monotonic --no-pager >/lab/journal")
        guest.cut_power()


@pytest.fixture(scope="session")
def match(lab: Path) -> Path:
    """Return a folder with a rendered match (`tests.guest.match`). It is kept for the next time."""
    folder, new = lab / "match", lab / "match.new"
    with alone(lab):
        if not folder.exists():
            shutil.rmtree(new, ignore_errors=True)
            write_match(new)
            new.rename(folder)
    return folder
