"""Update a table to a signed wheel: check it, try it, switch to it; any failure keeps the old version."""

from __future__ import annotations

import hashlib
import hmac
import lzma
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

from tallybone.files import sync_folder

SIGNERS = Path("/etc/tallybone/release_signers")
"""Signers that this table trusts: an allowed-signers file of `ssh-keygen`. With it, every wheel needs a signature."""
WHO, WHAT = "release@tallybone", "tallybone-release"
"""Name and purpose that a signature has to be made for."""
_WITHIN_S = 30

_PIP = ("-m", "pip", "--disable-pip-version-check", "--no-cache-dir", "-qq", "install", "--only-binary", ":all:")
_MAKES_WITHIN_S, _READY_WITHIN_S, _ENDS_WITHIN_S = 3600, 90.0, 20
_SAID = 300  # characters of an error

_NAME = re.compile(r"tallybone-[\w.+!]+-py3-none-any\.whl", re.ASCII)
# Of the package itself, and the versions that it runs with, each with its hash.
_METADATA = re.compile(r"[^/]+\.dist-info/METADATA")
_REQUIREMENTS = re.compile(r"[^/]+\.dist-info/extra_metadata/requirements\.txt")
# What zipfile and what unpacks for it raise at damaged bytes; RuntimeError at those that seem to be encrypted.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    KeyError,
    ValueError,
    RuntimeError,
    OSError,
)
_MOST_BYTES = 200_000_000
_MOST_TEXT_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class UpdateSteps:
    """The steps of an update; each raises an `UpdateError` where it fails.

    Attributes:
        make: Makes it in a new folder.
        check: Tries it there, before anything links to it.
        start: Starts `versions.current`, and returns when the table is ready.
    """

    make: Callable[[Path], None]
    check: Callable[[Path], None]
    start: Callable[[], None]


def exchange(versions: Versions, name: str, steps: UpdateSteps) -> None:
    """Replace the version that runs.

    Raises:
        UpdateError: If it could not be made or does not become ready; then the one before runs on, or again.
    """
    versions.remove_others()
    before, folder = versions.current, versions.new(name)
    try:
        steps.make(folder)
        steps.check(folder)
    except UpdateError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    versions.switch_to(folder)
    try:
        steps.start()
    except UpdateError as error:
        versions.switch_to(before)
        with suppress(UpdateError):  # the error is reported below
            steps.start()
        shutil.rmtree(folder, ignore_errors=True)
        raise UpdateError(f"{error}; the version before runs again") from error
    versions.remove_others()


def require_signature(wheel: Path, signature: Path, signers: Path) -> None:
    """Refuse a wheel that is not signed by a key of *signers*.

    Raises:
        UpdateError: If it is not, or nothing here can tell.
    """
    for path in (signature, signers):
        if not path.is_file():
            raise UpdateError(f"{path}: there is no such file, so the wheel cannot be checked")
    command = ("ssh-keygen", "-Y", "verify", "-f", signers, "-I", WHO, "-n", WHAT, "-s", signature)
    try:
        with wheel.open("rb") as file:
            done = subprocess.run(command, stdin=file, capture_output=True, timeout=_WITHIN_S, check=False)
    except FileNotFoundError:
        raise UpdateError("signatures are checked by ssh-keygen: sudo apt install openssh-client") from None
    except subprocess.TimeoutExpired:
        raise UpdateError(f"{signature}: ssh-keygen gave no answer") from None
    if done.returncode:
        raise UpdateError(f"{wheel.name} is not signed by anybody in {signers}")


def make_venv(folder: Path, wheel: Wheel, wheels: Path | None) -> None:
    """Make a version in a new folder: everything by hash, nothing is compiled.

    Args:
        folder: The new folder.
        wheel: The version.
        wheels: A folder with all packages that it needs; None to ask the index of this machine.

    Raises:
        UpdateError: If that fails.
    """
    python = folder / "bin" / "python"
    sees_system = ("--system-site-packages",) if _sees_system(Path(sys.prefix)) else ()
    source = () if wheels is None else ("--no-index", "--find-links", str(wheels))
    _run((sys.executable, "-m", "venv", *sees_system, str(folder)))
    pins = folder / "requirements.txt"
    pins.write_text(wheel.requirements, encoding="utf-8")
    _run((str(python), *_PIP, *source, "--require-hashes", "-r", str(pins)))
    _run((str(python), *_PIP, "--no-index", "--no-deps", str(wheel.path)))
    os.sync()  # before anything links to it


def require_ready(folder: Path, within_s: float = _READY_WITHIN_S) -> None:
    """Start the table of a version with no camera and nothing to record, until it reports that it is ready.

    Raises:
        UpdateError: If it does not.
    """
    with (
        tempfile.TemporaryDirectory(prefix="tallybone-") as name,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told,
    ):
        told.bind(f"{name}/notify")
        told.settimeout(within_s)
        command = (folder / "bin" / "tallybone", "serve", "--at", "127.0.0.1:0", "--camera", "none", "--record", "none")
        (config := Path(name) / "table.toml").touch()
        environment = {"NOTIFY_SOCKET": f"{name}/notify", "HOME": name, "XDG_STATE_HOME": name, "PATH": os.defpath}
        with subprocess.Popen(
            (*command, "--config", config), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process:
            try:
                is_ready = _hears_ready(told, process)
            finally:
                process.terminate()
                try:
                    _, said = process.communicate(timeout=_ENDS_WITHIN_S)
                except subprocess.TimeoutExpired:
                    process.kill()
                    _, said = process.communicate()
    if not is_ready:
        raise UpdateError(f"the new version does not start: {_last(said)}")


def _hears_ready(told: socket.socket, process: subprocess.Popen[bytes]) -> bool:
    """Return whether the table reports that it is ready before it ends or time is up."""
    limit_s, told_s = told.gettimeout() or 0.0, 0.5
    told.settimeout(told_s)
    for _ in range(round(limit_s / told_s)):
        try:
            if b"READY=1" in told.recv(4096).split(b"\n"):
                return True
        except TimeoutError:
            if process.poll() is not None:
                return False
    return False


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, timeout=_MAKES_WITHIN_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UpdateError(f"the new version could not be made: {error}") from error
    if done.returncode:
        raise UpdateError(f"the new version could not be made: {_last(done.stderr)}")


def _sees_system(venv: Path) -> bool:
    """Return whether a venv sees the packages of apt: camera and pins of a Raspberry Pi come from there."""
    config = venv / "pyvenv.cfg"
    return config.is_file() and "include-system-site-packages = true" in config.read_text(encoding="utf-8")


def _last(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:_SAID] if lines else "it says nothing"


class Versions:
    """The folder in which `systemd/install.sh` has put Tallybone: `venv` leads to one of `venvs`."""

    def __init__(self, opt: Path) -> None:
        """Manage the versions in *opt*, usually /opt/tallybone.

        Raises:
            UpdateError: If nothing is installed there that could be exchanged.
        """
        self._opt, self._link = opt, opt / "venv"
        if not self._link.is_symlink() or not self.current.is_dir():
            raise UpdateError(f"{opt}: nothing is installed there by systemd/install.sh, so there is nothing to update")

    @property
    def current(self) -> Path:
        """The version that runs, or will when the table starts."""
        return self._link.resolve()

    def new(self, name: str) -> Path:
        """Return the folder for another version; it is not there yet."""
        folder = self._opt / "venvs" / name
        if folder.exists():
            raise UpdateError(f"{folder}: it is there already")
        folder.parent.mkdir(exist_ok=True)
        return folder

    def switch_to(self, folder: Path) -> None:
        """Let the table run *folder* from its next start: after a power cut it is this or the one before."""
        link = self._opt / "venv.new"
        link.unlink(missing_ok=True)
        link.symlink_to(folder)
        link.replace(self._link)
        sync_folder(self._opt)

    def remove_others(self) -> None:
        """Delete all but the current one: replaced ones, and remains of an update that was cut off."""
        for folder in (self._opt / "venvs").iterdir():
            if folder.resolve() != self.current:
                shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel that was looked into.

    Attributes:
        path: The file.
        version: Of Tallybone.
        requirements: The text of its pinned versions.
    """

    path: Path
    version: str
    requirements: str


def read_wheel(path: Path) -> Wheel:
    """Look into a wheel; nothing in it is run.

    Raises:
        UpdateError: If it is none of Tallybone, or damaged.
    """
    if not _NAME.fullmatch(path.name):
        raise UpdateError(f"{path.name}: expected a name such as tallybone-0.2.0-py3-none-any.whl")
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(one.file_size for one in archive.infolist()) > _MOST_BYTES:
                raise UpdateError(f"{path.name}: far larger than any version of Tallybone")
            damaged = archive.testzip()
            if damaged is not None:
                raise UpdateError(f"{path.name}: {damaged} in it is damaged")
            metadata = HeaderParser().parsestr(_text(archive, _METADATA))
            requirements = _text(archive, _REQUIREMENTS)
    except _DAMAGED as error:
        if isinstance(error, UpdateError):
            raise
        raise UpdateError(f"{path.name}: this is no wheel of Tallybone, or it is damaged ({error})") from error
    if metadata["Name"] != "tallybone" or not metadata["Version"]:
        raise UpdateError(f"{path.name}: this is a wheel of {metadata['Name']}")
    return Wheel(path, str(metadata["Version"]), requirements)


def require_sha256(path: Path, expected: str) -> None:
    """Refuse a file that is another than the one that is meant.

    Raises:
        UpdateError: If its SHA-256 is not *expected*, as 64 hexadecimal digits.
    """
    if not re.fullmatch(r"[0-9a-fA-F]{64}", expected):
        raise UpdateError("--sha256: expected 64 hexadecimal digits")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if not hmac.compare_digest(found, expected.lower()):
        raise UpdateError(f"{path.name}: its SHA-256 is {found}, not the one that was given")


def _text(archive: zipfile.ZipFile, wanted: re.Pattern[str]) -> str:
    name = next((name for name in archive.namelist() if wanted.fullmatch(name)), wanted.pattern)
    with archive.open(name) as file:
        return file.read(_MOST_TEXT_BYTES).decode("utf-8")


class UpdateError(OSError):
    """The version was not updated, with the reason; the old one runs on."""
