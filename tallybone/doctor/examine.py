"""Run all checks in order, and format the findings as text or JSON."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from hardware.camera.network import without_user
from hardware.knock.drivers.microphone import MicrophoneSettings
from hardware.table.settings import HardwareSettings
from hardware.virtual.panel import VirtualSettings
from tallybone.doctor.boot import check_boot
from tallybone.doctor.libraries import check_library, wanted_by
from tallybone.doctor.machine import check_machine, check_speed
from tallybone.doctor.parts import (
    camera_device,
    check_camera,
    check_device,
    check_opened,
    check_sound,
    device_of,
    devices_of,
)
from tallybone.doctor.probes import Probes
from tallybone.doctor.storage import check_disk
from tallybone.finding import Finding, Grade, absent, ok
from tallybone.notify.findings import broker_found, webhook_found
from tallybone.notify.webhook import name_of
from tallybone.store.table_file import USUAL_CAMERA, BeyondSettings, TableFile
from tallybone.terminal import printable

NO_CAMERA = "none"

StyledText: TypeAlias = tuple[str, str]
"""A piece of text, and its style for rich, "" for none."""
_COLUMNS, _GRADE, _PART = 80, 11, 24
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
    for part, path in devices_of(table.hardware, camera):
        found = check_device(part, path, probes.device(path), user)
        if found.grade is Grade.PROBLEM:
            lost.add(path)
        if found.grade is not Grade.OK:
            yield found
    # Parts without a usable device were reported above and cannot be opened.
    if camera == NO_CAMERA:
        yield absent("camera", "none in table.toml")
    elif camera_device(camera) not in lost:
        yield from check_camera(without_user(camera), probes.camera(camera))
    yield from _lights(table.hardware, probes, lost)
    yield from _buttons(table.hardware, probes, lost)
    yield from _knock(table.hardware, probes, lost)
    yield from _displays(table.hardware, probes, lost)
    yield from _told(table.beyond, probes)


def _lights(hardware: HardwareSettings, probes: Probes, lost: set[str]) -> Iterator[Finding]:
    if not hardware.leds:
        yield absent("LEDs", "none in table.toml")
    for leds in hardware.leds:
        if device_of(leds, hardware.pins) not in lost:
            yield check_opened("LEDs", probes.leds(leds, hardware.pins))


def _buttons(hardware: HardwareSettings, probes: Probes, lost: set[str]) -> Iterator[Finding]:
    part = hardware.buttons
    if part is None:
        yield absent("buttons", "none in table.toml")
    elif isinstance(part, VirtualSettings):
        yield ok("buttons", "virtual ones")
    elif device_of(part, hardware.pins) not in lost:
        yield check_opened("buttons", probes.buttons(part, hardware.pins))


def _knock(hardware: HardwareSettings, probes: Probes, lost: set[str]) -> Iterator[Finding]:
    part = hardware.knock
    if part is None:
        yield absent("knock", "no sensor in table.toml")
    elif device_of(part, hardware.pins) in lost:
        return
    elif isinstance(part, MicrophoneSettings):
        yield from check_sound(probes.microphone(part))
    else:
        yield check_opened("knock", probes.knock(part, hardware.pins))


def _displays(hardware: HardwareSettings, probes: Probes, lost: set[str]) -> Iterator[Finding]:
    if not hardware.displays:
        yield absent("display", "none in table.toml")
    for display in hardware.displays:
        if device_of(display, hardware.pins) not in lost:
            yield check_opened("display", probes.display(display))


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
    found = [_counted(number, word) for number, word in ((problems, "problem"), (warnings, "warning")) if number]
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


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
