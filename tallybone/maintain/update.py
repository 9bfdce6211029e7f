"""Makes a version and tries it: it has to say that it is ready, as systemd would be told, before it may be used."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tallybone.maintain.errors import UpdateError
from tallybone.maintain.wheel import Wheel

_PIP = ("-m", "pip", "--disable-pip-version-check", "--no-cache-dir", "-qq", "install", "--only-binary", ":all:")
_MAKES_WITHIN_S, _READY_WITHIN_S, _ENDS_WITHIN_S = 3600, 90.0, 20
_SAID = 300  # characters of an error


def make_venv(folder: Path, wheel: Wheel, wheels: Path | None) -> None:
    """Make a version in a new folder: everything by hash, nothing is compiled.

    Args:
        folder: Where.
        wheel: What.
        wheels: A folder with all that it needs; None to ask the index of this machine.

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
    os.sync()  # before anything leads to it


def require_ready(folder: Path, within_s: float = _READY_WITHIN_S) -> None:
    """Start the table of a version with no camera and nothing to record, until it says that it is ready.

    Raises:
        UpdateError: If it does not say so.
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
    """Return whether the table says that it is ready before it ends or time is up."""
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
    """Return whether a venv sees what apt has installed: camera and pins of a Raspberry Pi come from there."""
    config = venv / "pyvenv.cfg"
    return config.is_file() and "include-system-site-packages = true" in config.read_text(encoding="utf-8")


def _last(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:_SAID] if lines else "it says nothing"
