"""What the doctor asks of the world: each question has one answer, and tests give their own."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from hardware.config.config import ButtonsPart, DisplayPart, KnockPart, LedsPart
from hardware.pin_factory import PinLibrary
from tallybone.doctor.boot import Boot
from tallybone.doctor.libraries import Library, Venv, Wanted
from tallybone.doctor.machine import Machine
from tallybone.doctor.parts import Device, Opened, Seen, Sounds, User
from tallybone.doctor.storage import Disk
from tallybone.store.table_file import Broker, Webhook


class Probes(Protocol):
    """Looks at the machine and its parts. Nothing that is broken out there is an error: it is in the answer."""

    def machine(self) -> Machine:
        """Look at the computer."""

    def boot(self) -> Boot:
        """Look at how it was started."""

    def user(self) -> User:
        """Look at who runs this."""

    def venv(self) -> Venv:
        """Look where Python finds libraries."""

    def library(self, wanted: Wanted) -> Library:
        """Import a library."""

    def device(self, path: str) -> Device:
        """Look at a device file."""

    def disk(self, folder: Path) -> Disk:
        """Write a little into a folder."""

    def camera(self, source: str) -> Seen:
        """Look through a camera for some seconds."""

    def leds(self, part: LedsPart, pins: PinLibrary) -> Opened:
        """Take LEDs, and let them go dark."""

    def buttons(self, part: ButtonsPart, pins: PinLibrary) -> Opened:
        """Take buttons, and see which are held."""

    def microphone(self, part: KnockPart) -> Sounds:
        """Listen for some seconds."""

    def knock(self, part: KnockPart, pins: PinLibrary) -> Opened:
        """Take a knock sensor that is no microphone."""

    def display(self, part: DisplayPart) -> Opened:
        """Show a word on a display."""

    def broker(self, broker: Broker) -> str | None:
        """Open a line to a broker; return why that cannot be."""

    def webhook(self, hook: Webhook) -> str | None:
        """Open a line to a web address; return why that cannot be."""
