"""Files of Debian packages that training uses: recorded sounds and photographed surfaces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

LIBRARY = Path("/usr/share")
"""Folder below which Debian installs the packages."""


@dataclass(frozen=True, slots=True)
class Collection:
    """Some files of a Debian package.

    Attributes:
        files: Pattern of the files below `/usr/share`.
    """

    package: str
    files: str


class MissingPackagesError(FileNotFoundError):
    """Packages are not installed."""


def require_packages(root: Path, collections: Iterable[Collection], kind: str) -> None:
    """Check that all collections are below *root*.

    Args:
        root: Folder below which the packages are installed, usually `/usr/share`.
        kind: Plural noun for these files, for the error.

    Raises:
        MissingPackagesError: If packages are missing.
    """
    missing = sorted({part.package for part in collections if not files_of(root, part)})
    if missing:
        raise MissingPackagesError(f"{root}: {kind} are missing; they come with: apt install {' '.join(missing)}")


@lru_cache
def files_of(root: Path, collection: Collection) -> tuple[Path, ...]:
    """Return the files of a collection below *root*, in order. Empty if it is not installed."""
    return tuple(sorted(root.glob(collection.files)))
