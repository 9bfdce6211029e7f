"""`tallybone update FILE.whl`: checks a wheel, makes its version, lets the table run it, or what ran before."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TextIO

from rich.console import Console

from tallybone.maintain.update import (
    SIGNERS,
    Steps,
    UpdateError,
    Versions,
    Wheel,
    exchange,
    make_venv,
    read_wheel,
    require_ready,
    require_sha256,
    require_signature,
)
from tallybone.terminal import printable

OPT = Path("opt/tallybone")
_STARTS_WITHIN_S = 180


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateWishes:
    """What is asked for.

    Attributes:
        wheel: The file.
        sha256: That it has to have; None for any.
        signature: A file made by `ssh-keygen -Y sign`; None for none.
        wheels: A folder with all that it needs; None to ask the index of this machine.
        root: Of the system; another folder only for looking at it.
    """

    wheel: Path
    sha256: str | None = None
    signature: Path | None = None
    wheels: Path | None = None
    root: Path = Path("/")


def update(wishes: UpdateWishes, *, now: datetime, out: TextIO | None = None) -> int:
    """Exchange the version; *now* names its folder.

    Returns:
        The exit code: 0, or 1 if the version that ran before runs on.
    """
    console = Console(file=out or sys.stdout, highlight=False, soft_wrap=True)
    try:
        versions = Versions(wishes.root / OPT)
        if (wishes.root / "var/lib/dpkg/info/tallybone.list").exists():
            raise UpdateError("Tallybone is installed as a Debian package: update that, by apt")
        with tempfile.TemporaryDirectory(prefix="tallybone-") as folder:
            wheel = checked_wheel(wishes, Path(folder))
            console.print(f"Making {wheel.version} beside what runs; minutes on a Raspberry Pi.", markup=False)
            steps = Steps(
                make=partial(make_venv, wheel=wheel, wheels=wishes.wheels),
                check=require_ready,
                start=partial(_start, wishes),
            )
            exchange(versions, f"{now:%Y%m%d-%H%M%S}-{os.getpid()}", steps)
    except OSError as error:
        Console(file=out or sys.stderr, stderr=out is None, soft_wrap=True, highlight=False).print(
            f"tallybone update: {printable(str(error))}", markup=False
        )
        return 1
    console.print(f"Tallybone {wheel.version} runs.", markup=False)
    return 0


def checked_wheel(wishes: UpdateWishes, folder: Path) -> Wheel:
    """Return a copy of the wheel in *folder*, which nobody else can change while it is checked and used.

    Raises:
        UpdateError: If it is not what it should be.
        OSError: If it cannot be read.
    """
    copy = folder / wishes.wheel.name
    shutil.copyfile(wishes.wheel, copy)
    if wishes.sha256 is not None:
        require_sha256(copy, wishes.sha256)
    signers = wishes.root / SIGNERS.relative_to("/")
    if wishes.signature is not None:
        require_signature(copy, wishes.signature, signers)
    elif signers.exists():
        raise UpdateError(f"this table takes only signed versions ({signers}): --signature {copy.name}.sig")
    return read_wheel(copy)


def _start(wishes: UpdateWishes) -> None:
    """Start the service anew where systemd runs; elsewhere there is none, and the trial before has to do."""
    if wishes.root != Path("/") or not Path("/run/systemd/system").is_dir():
        return
    # It returns when the table has said that it is ready.
    try:
        subprocess.run(
            ("systemctl", "restart", "tallybone.service"), check=True, capture_output=True, timeout=_STARTS_WITHIN_S
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise UpdateError("the new version did not become ready (journalctl -u tallybone)") from error
