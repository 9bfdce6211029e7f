"""One version for another, step by step: what fails or is cut off leaves the one before."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tallybone.maintain.errors import UpdateError
from tallybone.maintain.versions import Versions


@dataclass(frozen=True, slots=True)
class Steps:
    """What is done for a version; each raises an `UpdateError` where it fails.

    Attributes:
        make: Makes it in a new folder.
        check: Tries it there, before anything leads to it.
        start: Starts what `versions.current` is, and returns when the table is ready.
    """

    make: Callable[[Path], None]
    check: Callable[[Path], None]
    start: Callable[[], None]


def exchange(versions: Versions, name: str, steps: Steps) -> None:
    """Put a version in the place of the one that runs.

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
        with suppress(UpdateError):  # what was wrong is said below
            steps.start()
        shutil.rmtree(folder, ignore_errors=True)
        raise UpdateError(f"{error}; the version before runs again") from error
    versions.remove_others()
