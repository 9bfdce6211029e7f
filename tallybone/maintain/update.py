"""Update a table to a signed wheel: verify, test and switch. Any failure keeps the old version."""

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
"""Trusted signers, in the allowed-signers format of `ssh-keygen`. If it exists, every wheel must be signed."""
WHO = "release@tallybone"
WHAT = "tallybone-release"
"""Required identity and namespace of signatures."""
_WITHIN_S = 30

_PIP = ("-m", "pip", "--disable-pip-version-check", "--no-cache-dir", "-qq", "install", "--only-binary", ":all:")
_MAKES_WITHIN_S = 3600
_READY_WITHIN_S = 90.0
_ENDS_WITHIN_S = 20
_SAID = 300  # maximum length of an error

_NAME = re.compile(r"tallybone-[\w.+!]+-py3-none-any\.whl", re.ASCII)
# Metadata of the package, and its pinned requirements with hashes.
_METADATA = re.compile(r"[^/]+\.dist-info/METADATA")
_REQUIREMENTS = re.compile(r"[^/]+\.dist-info/extra_metadata/requirements\.txt")
# Exceptions of zipfile and its decompressors for damaged files. RuntimeError is for files that seem to be encrypted.
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
_MAX_BYTES = 200_000_000
_MAX_TEXT_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class UpdateSteps:
    """Steps of an update. Each raises `UpdateError` on failure.

    Attributes:
        make: Installs the new version in a new folder.
        check: Tests the version in that folder, before the switch.
        start: Starts `versions.current`, and returns once the table is ready.
    """

    make: Callable[[Path], None]
    check: Callable[[Path], None]
    start: Callable[[], None]


def exchange(versions: Versions, name: str, steps: UpdateSteps) -> None:
    """Replace the running version.

    Raises:
        UpdateError: If installation or start fails. In that case the previous version continues to run or is restarted.
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
        raise UpdateError(f"{error}; the previous version is running again") from error
    versions.remove_others()


def require_signature(wheel: Path, signature: Path, signers: Path) -> None:
    """Verify that a wheel is signed by a key in *signers*.

    Raises:
        UpdateError: If the wheel is not signed by such a key, or the signature cannot be checked.
    """
    for path in (signature, signers):
        if not path.is_file():
            raise UpdateError(f"{path}: no such file, so the wheel cannot be verified")
    command = ("ssh-keygen", "-Y", "verify", "-f", signers, "-I", WHO, "-n", WHAT, "-s", signature)
    try:
        with wheel.open("rb") as file:
            done = subprocess.run(command, stdin=file, capture_output=True, timeout=_WITHIN_S, check=False)
    except FileNotFoundError:
        raise UpdateError("ssh-keygen is needed to check signatures: sudo apt install openssh-client") from None
    except subprocess.TimeoutExpired:
        raise UpdateError(f"{signature}: ssh-keygen did not finish in time") from None
    if done.returncode:
        raise UpdateError(f"{wheel.name} is not signed by anybody in {signers}")


def make_venv(folder: Path, wheel: Wheel, wheels: Path | None) -> None:
    """Install a version in a new folder, with hash checking and without compiling.

    Args:
        folder: New folder for the virtual environment.
        wheel: Version to install.
        wheels: Folder with all dependencies. None to use pip's default index.

    Raises:
        UpdateError: If the installation fails.
    """
    python = folder / "bin" / "python"
    sees_system = ("--system-site-packages",) if _sees_system(Path(sys.prefix)) else ()
    source = () if wheels is None else ("--no-index", "--find-links", str(wheels))
    _run((sys.executable, "-m", "venv", *sees_system, str(folder)))
    pins = folder / "requirements.txt"
    pins.write_text(wheel.requirements, encoding="utf-8")
    _run((str(python), *_PIP, *source, "--require-hashes", "-r", str(pins)))
    _run((str(python), *_PIP, "--no-index", "--no-deps", str(wheel.path)))
    os.sync()  # before switching to it


def require_ready(folder: Path, within_s: float = _READY_WITHIN_S) -> None:
    """Start the table of a version without camera and recordings, and wait until it reports READY=1.

    Raises:
        UpdateError: If the table ends, or does not become ready in time.
    """
    with (
        tempfile.TemporaryDirectory(prefix="tallybone-") as name,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified,
    ):
        notified.bind(f"{name}/notify")
        notified.settimeout(within_s)
        command = (folder / "bin" / "tallybone", "serve", "--at", "127.0.0.1:0", "--camera", "none", "--record", "none")
        (config := Path(name) / "table.toml").touch()
        environment = {"NOTIFY_SOCKET": f"{name}/notify", "HOME": name, "XDG_STATE_HOME": name, "PATH": os.defpath}
        with subprocess.Popen(
            (*command, "--config", config), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process:
            try:
                is_ready = _hears_ready(notified, process)
            finally:
                process.terminate()
                try:
                    _, output = process.communicate(timeout=_ENDS_WITHIN_S)
                except subprocess.TimeoutExpired:
                    process.kill()
                    _, output = process.communicate()
    if not is_ready:
        raise UpdateError(f"the new version does not start: {_last(output)}")


def _hears_ready(notified: socket.socket, process: subprocess.Popen[bytes]) -> bool:
    """Wait for READY=1. Return False if the process ends or the time is up first."""
    limit_s, told_s = notified.gettimeout() or 0.0, 0.5
    notified.settimeout(told_s)
    for _ in range(round(limit_s / told_s)):
        try:
            if b"READY=1" in notified.recv(4096).split(b"\n"):
                return True
        except TimeoutError:
            if process.poll() is not None:
                return False
    return False


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, timeout=_MAKES_WITHIN_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UpdateError(f"the new version could not be installed: {error}") from error
    if done.returncode:
        raise UpdateError(f"the new version could not be installed: {_last(done.stderr)}")


def _sees_system(venv: Path) -> bool:
    """Check if a venv includes system packages, which provide camera and pins on a Raspberry Pi."""
    config = venv / "pyvenv.cfg"
    return config.is_file() and "include-system-site-packages = true" in config.read_text(encoding="utf-8")


def _last(output: bytes) -> str:
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:_SAID] if lines else "no error message"


class Versions:
    """Versions installed by `systemd/install.sh`: `venv` is a link to a folder in `venvs`."""

    def __init__(self, opt: Path) -> None:
        """Manage the versions in *opt*, normally /opt/tallybone.

        Raises:
            UpdateError: If no version was installed there by `systemd/install.sh`.
        """
        self._opt, self._link = opt, opt / "venv"
        if not self._link.is_symlink() or not self.current.is_dir():
            raise UpdateError(f"{opt}: nothing to update, because systemd/install.sh has not installed a version there")

    @property
    def current(self) -> Path:
        """Folder of the version that the next start runs."""
        return self._link.resolve()

    def new(self, name: str) -> Path:
        """Return the folder for a new version, without creating it. Raises UpdateError if it exists."""
        folder = self._opt / "venvs" / name
        if folder.exists():
            raise UpdateError(f"{folder}: already exists")
        folder.parent.mkdir(exist_ok=True)
        return folder

    def switch_to(self, folder: Path) -> None:
        """Select the version for the next start. The switch is atomic, even if power is lost."""
        link = self._opt / "venv.new"
        link.unlink(missing_ok=True)
        link.symlink_to(folder)
        link.replace(self._link)
        sync_folder(self._opt)

    def remove_others(self) -> None:
        """Delete all other versions: replaced ones, and remains of interrupted updates."""
        for folder in (self._opt / "venvs").iterdir():
            if folder.resolve() != self.current:
                shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Wheel:
    """Facts about a wheel.

    Attributes:
        path: Path of the wheel.
        version: Version of Tallybone.
        requirements: Text of its pinned requirements.
    """

    path: Path
    version: str
    requirements: str


def read_wheel(path: Path) -> Wheel:
    """Read the metadata of a wheel without running anything in it.

    Raises:
        UpdateError: If the file is damaged or too large, or not a wheel of Tallybone.
    """
    if not _NAME.fullmatch(path.name):
        raise UpdateError(f"{path.name}: expected a name such as tallybone-0.2.0-py3-none-any.whl")
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(one.file_size for one in archive.infolist()) > _MAX_BYTES:
                raise UpdateError(f"{path.name}: too large for a version of Tallybone")
            damaged = archive.testzip()
            if damaged is not None:
                raise UpdateError(f"{path.name}: {damaged} is damaged")
            metadata = HeaderParser().parsestr(_text(archive, _METADATA))
            requirements = _text(archive, _REQUIREMENTS)
    except _DAMAGED as error:
        if isinstance(error, UpdateError):
            raise
        raise UpdateError(f"{path.name}: not a wheel of Tallybone, or damaged ({error})") from error
    if metadata["Name"] != "tallybone" or not metadata["Version"]:
        raise UpdateError(f"{path.name}: this is a wheel of {metadata['Name']}")
    return Wheel(path, str(metadata["Version"]), requirements)


def require_sha256(path: Path, expected: str) -> None:
    """Verify the SHA-256 of a file.

    Raises:
        UpdateError: If it differs from *expected*, or *expected* is not 64 hexadecimal digits.
    """
    if not re.fullmatch(r"[0-9a-fA-F]{64}", expected):
        raise UpdateError("--sha256: expected 64 hexadecimal digits")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if not hmac.compare_digest(found, expected.lower()):
        raise UpdateError(f"{path.name}: its SHA-256 is {found}, expected {expected}")


def _text(archive: zipfile.ZipFile, wanted: re.Pattern[str]) -> str:
    name = next((name for name in archive.namelist() if wanted.fullmatch(name)), wanted.pattern)
    with archive.open(name) as file:
        return file.read(_MAX_TEXT_BYTES).decode("utf-8")


class UpdateError(OSError):
    """The update failed. The old version continues to run."""
