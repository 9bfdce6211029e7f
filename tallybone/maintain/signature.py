"""Whether a wheel comes from whom you trust: a signature of OpenSSH, whose `ssh-keygen` is on every Debian."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tallybone.maintain.errors import UpdateError

SIGNERS = Path("/etc/tallybone/release_signers")
"""Whom this table trusts: an allowed-signers file of `ssh-keygen`. Where it is, every wheel needs a signature."""
WHO, WHAT = "release@tallybone", "tallybone-release"
"""Name and purpose that a signature has to be made for."""
_WITHIN_S = 30


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
