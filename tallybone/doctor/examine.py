"""Run all checks in order, format the findings as text or JSON, and collect a support bundle without secrets.

The bundle keeps only words that occur in the program instead of removing known secrets. Nobody can list all secrets,
but the words of the program are known.
"""

from __future__ import annotations

import io
import json
import os
import platform
import re
import sys
import textwrap
import threading
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cache
from importlib.metadata import requires, version
from pathlib import Path
from typing import Any, TextIO, TypeAlias
from urllib.request import urlopen

from rich.text import Text

from hardware.camera.network import without_user
from hardware.knock.drivers.microphone import MicrophoneSettings
from hardware.part import PartSettings
from hardware.table import HardwareSettings, VirtualSettings
from tallybone.doctor import parts as part_checks
from tallybone.doctor.boot import check_boot, check_library, wanted_by
from tallybone.doctor.machine import Machine, Run, check_disk, check_machine, check_speed, run, version_of
from tallybone.doctor.probes import Probes, RealProbes
from tallybone.files import reason_of
from tallybone.finding import Finding, Grade, absent, ok, problem
from tallybone.json_values import to_json
from tallybone.notify.broker import broker_found, name_of, webhook_found
from tallybone.play.start import stored_for
from tallybone.recording.folder import SUFFIX, default_folder
from tallybone.store.calibration_file import Calibration, load_calibration
from tallybone.store.table_file import (
    USUAL_CAMERA,
    USUAL_PATH,
    BeyondSettings,
    TableFile,
    TableFileError,
    load_table,
    parse_toml,
)
from tallybone.terminal import Output, printable

NO_CAMERA = "none"

StyledText: TypeAlias = tuple[str, str]
"""A piece of text, and its style for rich, "" for none."""
_COLUMNS = 80
_GRADE = 11
_PART = 24
_STYLES = {
    Grade.OK: "green",
    Grade.WARNING: "yellow",
    Grade.PROBLEM: "bold red",
    Grade.ABSENT: "dim",
}


def examine(table: TableFile, folder: Path, probes: Probes) -> Iterator[Finding]:
    """Yield findings of all checks, basic ones first, because a later check may fail for the reason of an earlier one.

    Args:
        table: Configuration of the table.
        folder: Folder of recordings.
        probes: Access to the machine.
    """
    camera = table.camera or USUAL_CAMERA
    machine = probes.machine()
    yield from check_machine(machine)
    yield from check_disk(probes.disk(folder))
    venv = probes.venv()
    for wanted in wanted_by(table.hardware, camera):
        yield check_library(wanted, probes.library(wanted), venv)
    yield check_speed(probes.reading())
    if machine.is_pi:
        yield from check_boot(probes.boot(), table.hardware, camera)
    user, lost = probes.user(), set[str]()
    for part, path in part_checks.devices_of(table.hardware, camera):
        found = part_checks.check_device(part, path, probes.device(path), user)
        if found.grade is Grade.PROBLEM:
            lost.add(path)
        if found.grade is not Grade.OK:
            yield found
    # Parts without a usable device were reported above and cannot be opened.
    if camera == NO_CAMERA:
        yield absent("camera", "none in table.toml")
    elif part_checks.camera_device(camera) not in lost:
        yield from part_checks.check_camera(without_user(camera), probes.camera(camera))
    if not table.hardware.leds:
        yield absent("LEDs", "none in table.toml")
    for leds in table.hardware.leds:
        if part_checks.device_of(leds, table.hardware.pins) not in lost:
            yield part_checks.check_opened("LEDs", probes.leds(leds, table.hardware.pins))
    yield from _buttons(table.hardware, probes, lost)
    yield from _knock(table.hardware, probes, lost)
    if not table.hardware.displays:
        yield absent("display", "none in table.toml")
    for display in table.hardware.displays:
        if part_checks.device_of(display, table.hardware.pins) not in lost:
            yield part_checks.check_opened("display", probes.display(display))
    yield from _told(table.beyond, probes)


def _buttons(hardware: HardwareSettings, probes: Probes, lost: set[str]) -> Iterator[Finding]:
    part = hardware.buttons
    if part is None:
        yield absent("buttons", "none in table.toml")
    elif isinstance(part, VirtualSettings):
        yield ok("buttons", "virtual ones")
    elif part_checks.device_of(part, hardware.pins) not in lost:
        yield part_checks.check_opened("buttons", probes.buttons(part, hardware.pins))


def _knock(hardware: HardwareSettings, probes: Probes, lost: set[str]) -> Iterator[Finding]:
    part = hardware.knock
    if part is None:
        yield absent("knock", "no sensor in table.toml")
    elif part_checks.device_of(part, hardware.pins) in lost:
        return
    elif isinstance(part, MicrophoneSettings):
        yield from part_checks.check_sound(probes.microphone(part))
    else:
        yield part_checks.check_opened("knock", probes.knock(part, hardware.pins))


def _told(beyond: BeyondSettings, probes: Probes) -> Iterator[Finding]:
    """Check the connections to the broker and each webhook."""
    if beyond.mqtt is not None:
        broker = beyond.mqtt.broker
        yield broker_found(broker.text, probes.broker(broker))
    for hook in beyond.webhooks:
        yield webhook_found(name_of(hook), probes.webhook(hook))


def lines_of(finding: Finding) -> tuple[tuple[StyledText, ...], ...]:
    """Format a finding as lines: grade, part and description, followed by advice and commands."""
    style = _STYLES[finding.grade]
    text = _wrapped(finding.text, _COLUMNS - _PART)
    head: tuple[StyledText, ...] = (
        (f"{finding.grade.value:<{_GRADE}}", style),
        (f"{finding.part:<{_PART - _GRADE}}", "bold" if finding.remedy else ""),
        (text[0], "dim" if finding.grade is Grade.ABSENT else ""),
    )
    rest = tuple(((" " * _PART + line, ""),) for line in text[1:])
    remedy = tuple(((" " * _GRADE + line, ""),) for line in _wrapped(finding.remedy, _COLUMNS - _GRADE))
    commands = tuple(((" " * _GRADE + "$ ", "dim"), (command, "cyan")) for command in finding.commands)
    return (head, *rest, *(remedy if finding.remedy else ()), *commands)


def summary(findings: tuple[Finding, ...]) -> str:
    """Return a sentence with the numbers of problems and warnings, and with a hint if there are several problems."""
    counts = Counter(finding.grade for finding in findings)
    problems, warnings = counts[Grade.PROBLEM], counts[Grade.WARNING]
    if not problems and not warnings:
        return "All checks passed."
    found = [
        f"{number} {word}{'' if number == 1 else 's'}"
        for number, word in ((problems, "problem"), (warnings, "warning"))
        if number
    ]
    hint = "\nFix the first one first: it may cause the others." if problems > 1 else ""
    return f"{' and '.join(found)}.{hint}"


def is_well(findings: tuple[Finding, ...]) -> bool:
    """Check that a game can start: warnings are allowed, problems are not."""
    return all(finding.grade is not Grade.PROBLEM for finding in findings)


def as_values(findings: tuple[Finding, ...]) -> dict[str, object]:
    """Convert findings for JSON."""
    return {
        "well": is_well(findings),
        "findings": [
            {
                "part": finding.part,
                "grade": finding.grade.value,
                "text": finding.text,
                "remedy": finding.remedy,
                "commands": list(finding.commands),
            }
            for finding in findings
        ],
    }


def _wrapped(text: str, columns: int) -> list[str]:
    return textwrap.wrap(printable(text), columns, break_on_hyphens=False) or [""]


def doctor(
    path: Path | None,
    *,
    as_json: bool = False,
    probes: Probes | None = None,
    folder: Path | None = None,
    bundle: Path | None = None,
    out: TextIO | None = None,
) -> int:
    """Check a table and print the findings.

    Args:
        path: Path of table.toml. None for the default one, which need not exist.
        as_json: Print one JSON object at the end instead.
        probes: Access to the machine, by default this one.
        folder: Folder of recordings, by default that of `tallybone play`.
        bundle: Path of the support bundle to write, or None.
        out: Stream for the findings, by default stdout.

    Returns:
        The exit code: 0, or 1 if there is a problem or the bundle cannot be written.
    """
    output = Output.of("doctor", out, None)
    console = output.console
    probes = probes or RealProbes(threading.Event().wait)
    folder = folder or default_folder(os.environ, Path.home())
    found: list[Finding] = []
    for finding in _examined(path, folder, probes):
        found.append(finding)
        if not as_json:
            for line in lines_of(finding):
                console.print(Text.assemble(*line), soft_wrap=True)
    findings = tuple(found)
    if as_json:
        output.write(json.dumps(as_values(findings)))
    else:
        console.print(Text(f"\n{summary(findings)}", style="bold"), soft_wrap=True)
    if bundle is not None:
        try:
            _write(bundle, path, folder, findings, probes)
        except OSError as error:
            return output.complain(f"--bundle {bundle}: cannot write the file: {reason_of(error)}")
        output.err.write(f"{printable(str(bundle))} can be sent with a support request; review it first.\n")
    return 0 if is_well(findings) else 1


def _write(bundle: Path, path: Path | None, folder: Path, findings: tuple[Finding, ...], probes: Probes) -> None:
    """Write a support bundle."""
    try:
        table = load_table(path)
    except (TableFileError, OSError):
        table = TableFile()
    place = BundleSources(
        table=table, config=path or USUAL_PATH, folder=folder, findings=findings, machine=probes.machine()
    )
    write_bundle(bundle, bundle_texts(place))


def _examined(path: Path | None, folder: Path, probes: Probes) -> Iterator[Finding]:
    """Check table.toml and then its parts. An invalid or missing file is treated as one without parts."""
    try:
        table = load_table(path)
    except TableFileError as error:
        table = TableFile()
        for text in error.problems:
            yield problem(
                "table.toml", text, "" if text is not error.problems[-1] else "docs/start/wiring.md has an example."
            )
    except OSError as error:
        table = TableFile()
        yield problem("table.toml", f"{path}: {reason_of(error)}", "Check the path.")
    else:
        is_there = table.path is not None
        yield (ok("table.toml", str(table.path)) if is_there else absent("table.toml", f"there is no {USUAL_PATH}"))
    yield from examine(table, folder, probes)


BundleText: TypeAlias = Callable[[], str]
"""Function that returns the text of a file in the bundle.

It raises `OSError` or `ValueError` if the text is unavailable.
"""
READ_ME = """Findings of `tallybone doctor`, for a support request. Review them before you send them.

Names of players, other people and this computer, passwords, PINs, addresses, and all other words that the program does
not print itself were replaced by "…".
"""
# Device names that cannot identify a person. Paths outside /dev might.
_DEVICE = re.compile(r"/dev/[a-z]+\d*|(?:pi|usb):\d{1,3}|none|simulated|hardware\.[a-z]+(?: \d+)?", re.ASCII)
_WHEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d", re.ASCII)
_LOG_LINE = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S{0,6}) \S+ (tallybone|systemd|python3?)\[(\d+)\]: (.*)", re.ASCII
)
_METRIC = re.compile(r"(?:# (?:HELP|TYPE) )?(?:tallybone|process)_[^\n]*", re.ASCII)

_JOURNAL = ("journalctl", "--unit=tallybone", "--lines=300", "--no-pager", "--output=short-iso")
_SHOWN_ENVIRONMENT = ("LANG", "TZ", "OPENBLAS_NUM_THREADS", "PYTHONDONTWRITEBYTECODE")
_ANSWERS_S = 2.0
_MAX_BYTES = 1_000_000
_PAGE = "http://127.0.0.1:8080"

GONE = "…"
"""Replaces a removed word."""
_PACKAGES = ("engine", "vision", "hardware", "calibration", "tallybone", "lab")
_WORD = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r"\w+")
_SHORT_NUMBER = re.compile(r"\d{1,4}(?:[a-z]{1,2})?", re.ASCII)
"""Numbers of up to four digits are kept. The page's PIN has six."""
_LEAST = 3
"""Foreign values up to this length are ignored, because they occur in too many other words."""


def write_bundle(path: Path, parts: Mapping[str, BundleText]) -> None:
    """Write a bundle to a new file that only its owner can read.

    Raises:
        OSError: If the file exists or cannot be written.
    """
    data = packed(parts)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)


def packed(parts: Mapping[str, BundleText]) -> bytes:
    """Return a zip archive of README.txt and all parts. An unavailable part is replaced by the type of its error."""
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
    """Return the findings as JSON, with foreign words removed."""
    return pretty_json(_kept(as_values(findings), own))


def config_text(table: TableFile) -> str:
    """Return the configuration as JSON, without values that may be secret."""
    return pretty_json({"camera": _value(table.camera), "hardware": _value(table.hardware)})


def calibration_text(place: BundleSources, own: OwnWords) -> str:
    """Return the stored calibration as JSON, with foreign words removed. Raises FileNotFoundError if there is none."""
    path = stored_for(place.table.camera or USUAL_CAMERA, None, place.environment, place.home)
    if path is None:
        raise FileNotFoundError("there is no calibration")
    return pretty_json(_kept(to_json(load_calibration(path), Calibration), own))


def recordings_text(folder: Path) -> str:
    """Return the start time and size of each recording. The rest of its name is removed: it may name the players."""
    shown = []
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        when = _WHEN.match(path.name)
        shown.append({"name": f"{when[0] if when else GONE}{GONE}", "bytes": path.stat().st_size})
    return pretty_json(shown)


def log_text(journal: str, own: OwnWords) -> str:
    """Return the lines of the journal, with foreign words removed."""
    shown = []
    for line in journal.splitlines():
        found = _LOG_LINE.fullmatch(line)
        shown.append(f"{found[1]} {found[2]}: {own.kept(found[4])}" if found else own.kept(line))
    return "\n".join(shown) + "\n"


def metrics_text(body: str, own: OwnWords) -> str:
    """Return the metrics of a table with foreign words removed, and drop all other lines."""
    return "".join(f"{own.kept(line)}\n" for line in body.splitlines() if _METRIC.fullmatch(line))


def pretty_json(values: object) -> str:
    """Return indented JSON."""
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"


def _kept(value: Any, own: OwnWords) -> Any:
    """Return a JSON value with foreign words removed."""
    if isinstance(value, str):
        return own.kept(value)
    if isinstance(value, Mapping):
        return {own.kept(str(key)): _kept(one, own) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_kept(one, own) for one in value]
    return value


def _value(value: object) -> object:
    """Return a configured value if it cannot be secret (number, choice or device), else `GONE`."""
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, bool | int | float | None):
        return value
    if isinstance(value, tuple):
        return [_value(one) for one in value]
    if isinstance(value, PartSettings):
        return {key: _value(one) for key, one in value} | {"driver": value.driver, "name": value.name}
    if isinstance(value, HardwareSettings):
        return {key: _value(one) for key, one in value}
    if is_dataclass(value):
        return {field.name: _value(getattr(value, field.name)) for field in fields(value)}
    return value if isinstance(value, str) and _DEVICE.fullmatch(value) else GONE


def ask(url: str) -> str:
    """Return the response of a URL of the table on this machine.

    Raises:
        OSError: If there is no response.
    """
    with urlopen(url, timeout=_ANSWERS_S) as answer:
        body: bytes = answer.read(_MAX_BYTES)
    return body.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleSources:
    """Data sources of a bundle.

    Attributes:
        table: Contents of table.toml. Empty if it is invalid.
        config: Path of table.toml. None if there is none.
        folder: Folder of recordings. Its parent contains the other files of the table.
        findings: Findings of the doctor.
        machine: Facts about the computer.
        environment: Environment variables of this process.
        home: Home folder of the user.
        run: Runs a command.
        ask: Requests a URL of the running table.
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


def bundle_texts(place: BundleSources) -> dict[str, BundleText]:
    """Return the functions that create the files of a bundle, by file name."""
    own = OwnWords(words_of_program(), foreign_values(place))
    return {
        "about.json": lambda: pretty_json(_about(place)),
        "doctor.json": lambda: findings_text(place.findings, own),
        "config.json": lambda: config_text(place.table),
        "calibration.json": lambda: calibration_text(place, own),
        "recordings.json": lambda: recordings_text(place.folder),
        "log.txt": lambda: log_text(place.run(_JOURNAL), own),
        "health.json": lambda: health_text(place.ask(f"{_PAGE}/health"), own),
        "metrics.txt": lambda: metrics_text(place.ask(f"{_PAGE}/metrics"), own),
    }


def foreign_values(place: BundleSources) -> tuple[str, ...]:
    """Return texts from configuration and environment, to be removed even if they consist of known words."""
    found = [str(place.home), place.home.name, platform.node()]
    found += [text for name, text in place.environment.items() if name not in _SHOWN_ENVIRONMENT]
    found += _texts_in(_toml(place.config))
    for path in sorted(place.folder.parent.glob("*.json")):
        found += _texts_in(_json(path))
    known = words_of_program()
    # Values that are a single known word, such as a driver or a game, are kept. Without them the bundle would be
    # useless.
    return tuple({text for text in found if text.strip() and text.lower() not in known})


def _about(place: BundleSources) -> dict[str, object]:
    needed = sorted({found[0] for one in requires("tallybone") or () if (found := re.match(r"[\w.-]+", one))})
    return {
        "tallybone": version("tallybone"),
        "python": platform.python_version(),
        "processor": platform.machine(),
        "system": asdict(place.machine),
        "in_venv": sys.prefix != sys.base_prefix,
        "packages": {name: version_of(name) for name in needed if version_of(name)},
        "environment": {
            name: place.environment[name]
            for name in _SHOWN_ENVIRONMENT
            if re.match(r"[\w.:/+-]{1,30}$", place.environment.get(name, ""))
        },
    }


def health_text(body: str, own: OwnWords) -> str:
    """Return the health of a table from its response *body*. Raises ValueError if another program sent the response."""
    values = json.loads(body)
    if not isinstance(values, dict) or not isinstance(values.get("reasons"), list):
        raise ValueError("the response is not from a Tallybone table")
    reasons = [own.kept(str(reason)) for reason in values["reasons"][:100]]
    return pretty_json(
        {"ok": values.get("ok") is True, "version": own.kept(str(values.get("version"))), "reasons": reasons}
    )


def _toml(path: Path | None) -> object:
    """Return the contents of a TOML file, its words if it cannot be parsed, or None if it cannot be read."""
    if path is None:
        return None
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    try:
        return parse_toml(text)
    except ValueError:
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


class OwnWords:
    """Removes from texts all words that do not occur in the program."""

    def __init__(self, known: frozenset[str], foreign: Iterable[str] = ()) -> None:
        """Keep *known* words (lower case), and remove each *foreign* value completely, even if its words are known."""
        self._known = known
        self._foreign = sorted((one for one in foreign if len(one) > _LEAST), key=len, reverse=True)

    def kept(self, text: str) -> str:
        """Return a text with foreign words removed.

        >>> OwnWords(frozenset({"mm", "at"}), ["no camera"]).kept("no camera: 12 mm at hunter2, PIN 123456")
        '…: 12 mm at …, … …'
        """
        for value in self._foreign:
            text = text.replace(value, GONE)
        return _TOKEN.sub(lambda found: found[0] if self._is_own(found[0]) else GONE, text)

    def _is_own(self, token: str) -> bool:
        if _SHORT_NUMBER.fullmatch(token):
            return True
        return all(word in self._known for word in _WORD.findall(token.lower()))


@cache
def words_of_program() -> frozenset[str]:
    """Return all words in the source code, in lower case: a superset of everything the program prints itself."""
    root = Path(__file__).resolve().parents[2]
    files = (path for package in _PACKAGES for path in (root / package).rglob("*.py"))
    return frozenset(word for path in files for word in _WORD.findall(path.read_text(encoding="utf-8").lower()))
