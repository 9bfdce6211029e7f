"""The file that is sent with a request for help: all that says how a table is, and nothing that is a secret."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from re import ASCII
from re import compile as pattern
from typing import Any, TypeAlias

from tallybone.doctor.examine import as_values
from tallybone.doctor.own_words import GONE, OwnWords
from tallybone.finding import Finding
from tallybone.json_values import to_json
from tallybone.store.table_file import TableFile

Part: TypeAlias = Callable[[], str]
"""Makes the text of one member; an `OSError` or `ValueError` says why it cannot."""

READ_ME = """What `tallybone doctor` found, for whoever helps. Look through it before you send it.

Names of players, of people and of this computer, passwords, PINs, addresses, and all else that the program does not say
itself were taken out; "…" stands for them.
"""
# The name of a device in /dev, a camera's or a part's; a path elsewhere may name a person.
_DEVICE = pattern(r"/dev/[a-z]+\d*|(?:pi|usb):\d{1,3}|none|simulated|hardware\.[a-z]+(?: \d+)?", ASCII)
_WHEN = pattern(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d", ASCII)
_LOG_LINE = pattern(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S{0,6}) \S+ (tallybone|systemd|python3?)\[(\d+)\]: (.*)", ASCII)
_METRIC = pattern(r"(?:# (?:HELP|TYPE) )?(?:tallybone|process)_[^\n]*", ASCII)


@dataclass(frozen=True, slots=True)
class Recording:
    """A file of the folder of recordings."""

    name: str
    size_bytes: int


def write_bundle(path: Path, parts: Mapping[str, Part]) -> None:
    """Write a new file that only its owner can read.

    Raises:
        OSError: If it is there, or cannot be written.
    """
    data = packed(parts)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)


def packed(parts: Mapping[str, Part]) -> bytes:
    """Return a zip of all parts; of one that cannot be made, what kind of error it was."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("README.txt"), READ_ME)
        for name, part in parts.items():
            try:
                text = part()
            except (OSError, ValueError) as error:
                text = f"could not be had: {type(error).__name__}\n"
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def findings_text(findings: tuple[Finding, ...], own: OwnWords) -> str:
    """Return what was found, as JSON."""
    return as_json(_kept(as_values(findings), own))


def config_text(table: TableFile) -> str:
    """Return what is configured, as JSON: values of known fields that can be no secret."""
    return as_json({"camera": _value(table.camera), "hardware": _value(table.hardware)})


def calibration_text(calibration: object, own: OwnWords) -> str:
    """Return what was calibrated, as JSON."""
    return as_json(_kept(to_json(calibration, type(calibration)), own))


def recordings_text(found: tuple[Recording, ...]) -> str:
    """Return when recordings were begun and how large they are; their names go on with those of the players."""
    shown = []
    for one in found:
        when = _WHEN.match(one.name)
        shown.append({"name": f"{when[0] if when else GONE}{GONE}", "bytes": one.size_bytes})
    return as_json(shown)


def log_text(lines: tuple[str, ...], own: OwnWords) -> str:
    """Return the last lines of the journal, without what the program does not say itself."""
    shown = []
    for line in lines:
        found = _LOG_LINE.fullmatch(line)
        shown.append(f"{found[1]} {found[2]}: {own.kept(found[4])}" if found else own.kept(line))
    return "\n".join(shown) + "\n"


def metrics_text(said: str, own: OwnWords) -> str:
    """Return the numbers that a table says; a line of any other kind goes."""
    return "".join(f"{own.kept(line)}\n" for line in said.splitlines() if _METRIC.fullmatch(line))


def as_json(values: object) -> str:
    """Return values as JSON for people."""
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"


def _kept(value: Any, own: OwnWords) -> Any:
    """Return a value of JSON with only own words in it."""
    if isinstance(value, str):
        return own.kept(value)
    if isinstance(value, Mapping):
        return {own.kept(str(key)): _kept(one, own) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_kept(one, own) for one in value]
    return value


def _value(value: object) -> object:
    """Return what can be no secret of a configured value: numbers, choices, devices."""
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, bool | int | float | None):
        return value
    if isinstance(value, tuple):
        return [_value(one) for one in value]
    if is_dataclass(value):
        return {field.name: _value(getattr(value, field.name)) for field in fields(value)}
    return value if isinstance(value, str) and _DEVICE.fullmatch(value) else GONE
