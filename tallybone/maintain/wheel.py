"""A wheel that somebody gives: whether it is one of Tallybone, whole, and the one that is meant."""

from __future__ import annotations

import hashlib
import hmac
import re
import zipfile
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

from tallybone.maintain.errors import UpdateError

_NAME = re.compile(r"tallybone-[\w.+!]+-py3-none-any\.whl", re.ASCII)
# Of the package itself, and the versions that it runs with, each with its hash.
_METADATA = re.compile(r"[^/]+\.dist-info/METADATA")
_REQUIREMENTS = re.compile(r"[^/]+\.dist-info/extra_metadata/requirements\.txt")
_MOST_BYTES = 200_000_000
_MOST_TEXT_BYTES = 1_000_000


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
    except (zipfile.BadZipFile, KeyError, ValueError, NotImplementedError, OSError) as error:
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
