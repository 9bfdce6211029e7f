"""The versions of a table beside one another, and the link that says which one runs; it is changed at one moment."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tallybone.maintain.errors import UpdateError


class Versions:
    """The folder in which `systemd/install.sh` has put Tallybone: `venv` leads to one of `venvs`."""

    def __init__(self, opt: Path) -> None:
        """Take what is in *opt*, usually /opt/tallybone.

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
        """Let the table run what is in *folder* from its next start: after a power cut it is this or the one before."""
        link = self._opt / "venv.new"
        link.unlink(missing_ok=True)
        link.symlink_to(folder)
        link.replace(self._link)
        self._sync()

    def remove_others(self) -> None:
        """Delete all but the current one: those that were exchanged, and what an update left that was cut off."""
        for folder in (self._opt / "venvs").iterdir():
            if folder.resolve() != self.current:
                shutil.rmtree(folder, ignore_errors=True)

    def _sync(self) -> None:
        descriptor = os.open(self._opt, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
