"""Writes the licences and notices of the wheels in a folder, which a Debian package has to bring with them."""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

_TEXT = re.compile(
    r"[^/]+\.dist-info/(?:licenses/(?P<below>.+)|(?P<own>(?:licen[cs]e|copying|copyright|notice|authors)[^/]*))", re.I
)
_CLASSIFIER = "License :: "
_OWN = "tallybone"
_LINE = "=" * 100


@dataclass(frozen=True, slots=True)
class Notice:
    """What a wheel says of its licence.

    Attributes:
        name: Of the package, and its version.
        licence: In a few words.
        texts: Each text that it brings, after the name of its file.
    """

    name: str
    licence: str
    texts: tuple[tuple[str, str], ...]


def notice_of(wheel: Path) -> Notice:
    """Return what a wheel says of its licence."""
    with zipfile.ZipFile(wheel) as archive:
        names = sorted(archive.namelist())
        metadata = next(name for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
        said = HeaderParser().parsestr(archive.read(metadata).decode("utf-8"))
        found = ((name, _TEXT.fullmatch(name)) for name in names if not name.endswith("/"))
        texts = tuple(
            (match["below"] or match["own"], archive.read(name).decode("utf-8", "replace").strip())
            for name, match in found
            if match
        )
    classified = (one.rpartition(" :: ")[2] for one in said.get_all("Classifier", []) if one.startswith(_CLASSIFIER))
    licence = said["License-Expression"] or (said["License"] or "").partition("\n")[0] or ", ".join(classified)
    return Notice(f"{said['Name']} {said['Version']}", licence or "not said in its wheel", texts)


def notices_in(folder: Path) -> Iterator[Notice]:
    """Yield what each wheel in a folder says, but for Tallybone's own."""
    for wheel in sorted(folder.glob("*.whl")):
        if not wheel.name.startswith(f"{_OWN}-"):
            yield notice_of(wheel)


def as_text(notice: Notice) -> str:
    """Return the part of a file of notices that is about one package."""
    texts = "".join(f"\n--- {name}\n\n{text}\n" for name, text in notice.texts)
    return f"{_LINE}\n{notice.name}: {notice.licence}\n{texts}\n"


def main(licence: Path, folder: Path) -> None:
    """Print Tallybone's own licence, and what the wheels in a folder say."""
    sys.stdout.write(f"{licence.read_text(encoding='utf-8')}\n{_LINE}\nThis package brings the following ones.\n\n")
    for notice in notices_in(folder):
        sys.stdout.write(as_text(notice))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
