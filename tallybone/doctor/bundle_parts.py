"""What goes into a support bundle, looked for on this machine: each part by itself, so that one may fail."""

from __future__ import annotations

import json
import os
import platform
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from re import match
from typing import Any
from urllib.request import urlopen

from tallybone.doctor.bundle import (
    Part,
    Recording,
    as_json,
    calibration_text,
    config_text,
    findings_text,
    log_text,
    metrics_text,
    recordings_text,
)
from tallybone.doctor.machine import Machine, Run, run
from tallybone.doctor.own_words import OwnWords, words_of_program
from tallybone.finding import Finding
from tallybone.play.calibrated import stored_for
from tallybone.recording.folder import SUFFIX
from tallybone.store.calibration_file import load_calibration
from tallybone.store.table_file import USUAL_CAMERA, TableFile

_JOURNAL = ("journalctl", "--unit=tallybone", "--lines=300", "--no-pager", "--output=short-iso")
_SHOWN_ENVIRONMENT = ("LANG", "TZ", "OPENBLAS_NUM_THREADS", "PYTHONDONTWRITEBYTECODE")
_ANSWERS_S, _MOST_BYTES = 2.0, 1_000_000
_PAGE = "http://127.0.0.1:8080"


def ask(url: str) -> str:
    """Return what a table on this machine says.

    Raises:
        OSError: If none answers.
    """
    with urlopen(url, timeout=_ANSWERS_S) as answer:
        said: bytes = answer.read(_MOST_BYTES)
    return said.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a bundle is made of.

    Attributes:
        table: What table.toml says; empty where it is wrong.
        config: The file itself; None where there is none.
        folder: Where recordings are; all else that is kept lies beside it.
        findings: What the doctor found.
        machine: The computer.
        environment: Of this process.
        home: The user's folder.
        run: Runs commands.
        ask: Asks the table that runs.
    """

    table: TableFile
    config: Path | None
    folder: Path
    findings: tuple[Finding, ...]
    machine: Machine
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    home: Path = field(default_factory=Path.home)
    run: Run = run
    ask: Callable[[str], str] = ask


def parts_of(place: Place) -> dict[str, Part]:
    """Return what goes into a bundle, by the name of its member."""
    own = OwnWords(words_of_program(), foreign_values(place))
    return {
        "about.json": lambda: as_json(_about(place)),
        "doctor.json": lambda: findings_text(place.findings, own),
        "config.json": lambda: config_text(place.table),
        "calibration.json": lambda: calibration_text(_calibration(place), own),
        "recordings.json": lambda: recordings_text(_recordings(place.folder)),
        "log.txt": lambda: log_text(tuple(place.run(_JOURNAL).splitlines()), own),
        "health.json": lambda: _health(place.ask(f"{_PAGE}/health"), own),
        "metrics.txt": lambda: metrics_text(place.ask(f"{_PAGE}/metrics"), own),
    }


def foreign_values(place: Place) -> tuple[str, ...]:
    """Return the texts that are known to come from outside: they go even where they are made of the program's words."""
    found = [str(place.home), place.home.name, platform.node()]
    found += [text for name, text in place.environment.items() if name not in _SHOWN_ENVIRONMENT]
    found += _texts_in(_toml(place.config))
    for path in sorted(place.folder.parent.glob("*.json")):
        found += _texts_in(_json(path))
    known = words_of_program()
    # A driver or a game is a word of the program; to take it out would leave nothing to read.
    return tuple({text for text in found if text.strip() and not _is_choice(text, known)})


def _is_choice(text: str, known: frozenset[str]) -> bool:
    return text.lower() in known


def _about(place: Place) -> dict[str, object]:
    needed = sorted({found[0] for one in requires("tallybone") or () if (found := match(r"[\w.-]+", one))})
    return {
        "tallybone": version("tallybone"),
        "python": platform.python_version(),
        "processor": platform.machine(),
        "system": asdict(place.machine),
        "in_venv": sys.prefix != sys.base_prefix,
        "packages": {name: _version(name) for name in needed if _version(name)},
        "environment": {name: place.environment[name] for name in _SHOWN_ENVIRONMENT if _is_plain(place, name)},
    }


def _is_plain(place: Place, name: str) -> bool:
    return bool(match(r"[\w.:/+-]{1,30}$", place.environment.get(name, "")))


def _calibration(place: Place) -> object:
    path = stored_for(place.table.camera or USUAL_CAMERA, None, place.environment, place.home)
    if path is None:
        raise FileNotFoundError("there is no calibration")
    return load_calibration(path)


def _recordings(folder: Path) -> tuple[Recording, ...]:
    paths = sorted(folder.glob(f"*{SUFFIX}"))
    return tuple(Recording(path.name, path.stat().st_size) for path in paths)


def _health(said: str, own: OwnWords) -> str:
    """Return the verdict of a table; what answered may be any other program."""
    values = json.loads(said)
    if not isinstance(values, dict) or not isinstance(values.get("reasons"), list):
        raise ValueError("this is no table")
    reasons = [own.kept(str(reason)) for reason in values["reasons"][:100]]
    return as_json(
        {"ok": values.get("ok") is True, "version": own.kept(str(values.get("version"))), "reasons": reasons}
    )


def _toml(path: Path | None) -> object:
    """Return what a file says; where it cannot be understood, its words."""
    if path is None:
        return None
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return text.split()


def _json(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError, RecursionError):
        return None


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts_in(one)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
