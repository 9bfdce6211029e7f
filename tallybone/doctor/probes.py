"""Access to the machine: each probe opens one part with the driver used in games, and closes it again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from statistics import median

import cv2
import numpy as np

from hardware.buttons.drivers import ButtonsDriver
from hardware.buttons.panel import ButtonError, PinSample
from hardware.display.display import DisplayError
from hardware.display.page import DisplayPage
from hardware.knock.drivers.microphone import MicrophoneKnockSensor, MicrophoneSettings
from hardware.knock.sensor import KnockError
from hardware.leds.drivers import LedsDriver
from hardware.leds.lamps import LedError
from hardware.libraries import PinError, PinLibrary, install_command, open_pins
from hardware.table import DisplaySettings, KnockSettings, PartOpener, VirtualPanel
from tallybone.doctor import machine as machine_files
from tallybone.doctor import parts
from tallybone.doctor.boot import Boot
from tallybone.doctor.machine import Machine
from tallybone.notify.broker import try_webhook
from tallybone.play.start import open_for_trial
from tallybone.store.table_file import Broker
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
