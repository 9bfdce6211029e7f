"""Measure the machine and its parts, run all checks in order, and format the findings as text or JSON."""

from __future__ import annotations

import asyncio
import json
import os
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from statistics import median
from typing import TextIO, TypeAlias

import cv2
import numpy as np
from rich.text import Text

from hardware.buttons.drivers import ButtonsDriver
from hardware.buttons.panel import ButtonError, PinSample
from hardware.camera.network import without_user
from hardware.display.display import DisplayError
from hardware.display.page import DisplayPage
from hardware.knock.drivers.microphone import MicrophoneKnockSensor, MicrophoneSettings
from hardware.knock.sensor import KnockError
from hardware.leds.drivers import LedsDriver
from hardware.leds.lamps import LedError
from hardware.libraries import PinError, PinLibrary, install_command, open_pins
from hardware.table import DisplaySettings, HardwareSettings, KnockSettings, PartOpener, VirtualPanel, VirtualSettings
from tallybone.doctor import machine as machine_files
from tallybone.doctor import parts
from tallybone.doctor import parts as part_checks
from tallybone.doctor.boot import Boot, check_boot, check_library, wanted_by
from tallybone.doctor.machine import Machine, check_disk, check_machine, check_speed
from tallybone.files import reason_of
from tallybone.finding import Finding, Grade, absent, ok, problem
from tallybone.notify.broker import broker_found, name_of, try_webhook, webhook_found
from tallybone.play.start import open_for_trial
from tallybone.recording.folder import default_folder
from tallybone.store.table_file import (
    USUAL_CAMERA,
    USUAL_PATH,
    BeyondSettings,
    Broker,
    TableFile,
    TableFileError,
    load_table,
)
from tallybone.terminal import Output, printable
from vision import VisionError
from vision.arrays import Image

_TICK_S = 0.05
_ANSWERS_S = 3.0
_FEELS_S = 1.0
# Time for which the message is shown. Displays that reboot when their port opens need it to become ready and receive
# the page again.
_SHOWS_S = 1.5
_SHOWN = DisplayPage(message="The doctor is here")


_READS = 3


def drawn_tiles() -> Image:
    """Draw 28 tiles on a cloth: an image of shape (720, 1280, 3), BGR."""
    image = np.full((720, 1280, 3), (70, 90, 60), np.uint8)
    for x, y in product(range(80, 1200, 160), range(90, 690, 170)):
        cv2.rectangle(image, (x, y), (x + 100, y + 50), (225, 230, 235), -1)
        cv2.line(image, (x + 50, y + 5), (x + 50, y + 45), (60, 60, 60), 2)
        for pip_px in (25, 63, 87):
            cv2.circle(image, (x + pip_px, y + 25), 5, (30, 30, 30), -1, cv2.LINE_AA)
    return image


class Probes:
    """Access to the machine and its parts. Methods report faults in their results and do not raise exceptions."""

    user = staticmethod(machine_files.read_user)
    venv = staticmethod(machine_files.read_venv)
    library = staticmethod(machine_files.try_library)
    device = staticmethod(machine_files.read_device)
    disk = staticmethod(machine_files.try_disk)
    webhook = staticmethod(try_webhook)

    def __init__(
        self, wait: Callable[[float], object], *, root: Path = Path("/"), clock: Callable[[], int] = time.monotonic_ns
    ) -> None:
        """Sleep with *wait* (seconds), and read system files under *root*."""
        self._wait, self._root, self._clock = wait, root, clock

    def machine(self) -> Machine:
        """Return facts about the computer."""
        return machine_files.read_machine(self._root, machine_files.run)

    def boot(self) -> Boot:
        """Return the boot configuration."""
        return machine_files.read_boot(self._root, self.machine().model)

    def reading(self) -> float | str:
        """Return the median time of several reads, without the first, which is slower. Or an error message."""
        from vision.reader.reader import load_reader

        picture, took_s = drawn_tiles(), list[float]()
        try:
            reader = load_reader(6)
        except (OSError, VisionError) as error:
            return str(error)
        for _ in range(1 + _READS):
            began_s = time.perf_counter()
            reader.read(picture)
            took_s.append(time.perf_counter() - began_s)
        return median(took_s[1:])

    def camera(self, source: str) -> parts.CameraSample:
        """Measure a camera, opened as for a game."""
        try:
            camera = open_for_trial(source, self._clock)
            with closing(camera):
                return parts.look_through(camera, self._wait)
        except (OSError, VisionError) as error:
            return parts.CameraSample(str(error))

    def leds(self, part: LedsDriver, pins: PinLibrary) -> parts.PartTrial:
        """Open LEDs and switch them off."""
        try:
            lamps = self._opener(pins).leds(part)
        except (LedError, PinError) as error:
            return parts.PartTrial(str(error))
        lamps.close()
        if lamps.state.problem is not None:
            return parts.PartTrial(lamps.state.problem)
        return parts.PartTrial(
            details=f"{lamps.count} for {part.shows} ({part.driver}); `tallybone hardware test` lights them",
            doubt=part.doubt(self._wait),
        )

    def buttons(self, part: ButtonsDriver, pins: PinLibrary) -> parts.PartTrial:
        """Open buttons and report which are held."""
        down: dict[str, bool] = {}

        def tap(name: str, sample: PinSample) -> None:
            down[name] = sample.is_down

        try:
            with closing(part.open(partial(open_pins, pins), self._clock, tap)) as buttons:
                self._wait(_TICK_S)
                buttons.read()
                count = len(buttons.names)
        except (ButtonError, PinError) as error:
            return parts.PartTrial(str(error))
        held = tuple(name for name, is_down in down.items() if is_down)
        return parts.PartTrial(details=f"{count}, none of them held", held=held, doubt=part.doubt(self._wait))

    def microphone(self, part: MicrophoneSettings) -> parts.Sounds:
        """Measure a microphone for some seconds."""
        ear = parts.Ear()
        sensor = MicrophoneKnockSensor(clock=self._clock, device=part.device, detector=ear)
        try:
            return parts.listen_to(sensor, ear, self._wait)
        except KnockError as error:
            return parts.Sounds(error=str(error))

    def knock(self, part: KnockSettings, pins: PinLibrary) -> parts.PartTrial:
        """Open a knock sensor other than a microphone."""
        try:
            with closing(self._opener(pins).knock(part)) as sensor:
                self._wait(_FEELS_S)
                hits, trouble = len(sensor.read()), sensor.state.problem
        except (KnockError, PinError) as error:
            return parts.PartTrial(str(error))
        details = f"{part.driver}, quiet; knock on it with `tallybone hardware test`"
        return parts.PartTrial(trouble or "", details, hits=hits, doubt=part.doubt(self._wait))

    def display(self, part: DisplaySettings) -> parts.PartTrial:
        """Run the driver's own check, then show a message on the display."""
        doubt = part.doubt(self._wait)
        try:
            display = self._opener(PinLibrary.MOCK).display(part)
        except DisplayError as error:
            return parts.PartTrial(str(error))
        display.show(_SHOWN)
        for _ in range(round(_ANSWERS_S / _TICK_S)):
            if not display.state.is_opening:
                break
            self._wait(_TICK_S)
        if display.state.works:
            self._wait(_SHOWS_S)
        state = display.state
        display.close()
        if not state.works:
            return parts.PartTrial(state.problem or "cannot open its port")
        shown = f'it should say "{_SHOWN.message}" now' if part.location else "virtual"
        return parts.PartTrial(details=f"{part.driver} {part.location}: {shown}".replace("  ", " "), doubt=doubt)

    def broker(self, broker: Broker) -> str | None:
        """Connect to a broker and disconnect, without publishing. Return an error message, or None."""
        try:
            from tallybone.notify.broker import BrokerConnection
        except ModuleNotFoundError as error:
            return f"{error.name} is not installed: {install_command('mqtt')}"
        return asyncio.run(BrokerConnection(broker, Random()).once())

    def _opener(self, pins: PinLibrary) -> PartOpener:
        return PartOpener(pins, VirtualPanel(()), self._clock)


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
    """Yield findings of all checks, basic ones first: a later check may fail for the reason of an earlier one."""
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
    yield from _check_recipients(table.beyond, probes)


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


def _check_recipients(beyond: BeyondSettings, probes: Probes) -> Iterator[Finding]:
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
    out: TextIO | None = None,
) -> int:
    """Check a table and print the findings. The exit code is 0, or 1 if there is a problem.

    Args:
        path: Path of table.toml. None for the default one, which need not exist.
        as_json: Print one JSON object at the end instead.
        probes: Access to the machine, by default this one.
        folder: Folder of recordings, by default that of `tallybone play`.
        out: Stream for the findings, by default stdout.
    """
    output = Output.of("doctor", out, None)
    console = output.console
    probes = probes or Probes(threading.Event().wait)
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
    return 0 if is_well(findings) else 1


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
