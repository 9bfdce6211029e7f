"""A fake table without faults, for tests to break."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hardware.buttons.drivers import ButtonsDriver
from hardware.knock.drivers.microphone import MicrophoneSettings
from hardware.knock.signal_quality import SignalQuality
from hardware.leds.drivers import LedsDriver
from hardware.libraries import PinLibrary
from hardware.part import NeededLibrary
from hardware.table import DisplaySettings, HardwareSettings, KnockSettings
from tallybone.doctor.boot import Boot, Library, PiModel, Venv
from tallybone.doctor.examine import Probes
from tallybone.doctor.machine import Disk, Machine, Vitals
from tallybone.doctor.parts import CameraSample, Device, PartTrial, Sounds, User
from tallybone.store.table_file import Broker, Webhook
from tests.hardware.table.reading import read_hardware

PI = Machine(
    "Raspberry Pi 4 Model B Rev 1.5",
    "Debian GNU/Linux 13 (trixie)",
    64,
    (3, 13),
    3796,
    51.0,
    0,
    is_clock_set=True,
    vitals=Vitals(has_clock_chip=True),
)
SOUNDS = Sounds(quality=SignalQuality(2.0, -50.0, -60.0, 0.1))
CONFIG = "dtparam=spi=on\nenable_uart=1\ncore_freq=500\ncore_freq_min=500\n"
BOOT = Boot(PiModel.PI4, "/boot/firmware/config.txt", CONFIG, "console=tty1 root=PARTUUID=1")
ANN = User("ann", frozenset({"ann", "gpio"}), frozenset({"gpio"}))
VENV = Venv("/home/pi/tallybone/.venv", sees_system=True)
SEEN = CameraSample(wide_px=1280, high_px=720, per_s=29.7, grey=96.0, contrast=40.0, sharpness=0.5, glare=0.01)
WHOLE: HardwareSettings = read_hardware(
    {
        "leds": [
            {"driver": "single", "pins": [5, 6, 13, 26]},
            {"driver": "strip", "count": 8, "shows": "all"},
        ],
        "buttons": {"driver": "gpio", "call": [17, 27, 22, 23], "next": 24},
        "knock": {"driver": "microphone"},
        "displays": [{"driver": "serlcd-20x4", "url": "/dev/serial0"}],
    }
)


@dataclass
class FakeProbes(Probes):
    """Probes with the results of a test. They record the tested parts."""

    given_machine: Machine = PI
    given_boot: Boot = BOOT
    given_user: User = ANN
    libraries: dict[str, Library] = field(default_factory=dict)
    devices: dict[str, Device] = field(default_factory=dict)
    seen: CameraSample = SEEN
    sounds: Sounds = SOUNDS
    opened: dict[str, PartTrial] = field(default_factory=dict)
    unreached: dict[str, str] = field(default_factory=dict)
    tested: list[str] = field(default_factory=list)

    def machine(self) -> Machine:
        return self.given_machine

    def boot(self) -> Boot:
        assert self.given_machine.is_pi, "only a Raspberry Pi has a config.txt"
        return self.given_boot

    def user(self) -> User:
        return self.given_user

    def venv(self) -> Venv:
        return VENV

    def library(self, wanted: NeededLibrary) -> Library:
        return self.libraries.get(wanted.module, Library("5.0", ""))

    def reading(self) -> float | str:
        return 0.07

    def device(self, path: str) -> Device:
        return self.devices.get(path, Device(is_there=True, is_usable=True, group="gpio"))

    def disk(self, folder: Path, mounts: Path = Path("/")) -> Disk:
        return Disk(str(folder), "", 30_000_000_000, "ext4", (4.0, 5.0, 30.0))

    def camera(self, source: str) -> CameraSample:
        self.tested.append(f"camera {source}")
        return self.seen

    def leds(self, part: LedsDriver, pins: PinLibrary) -> PartTrial:
        return self._opened(f"LEDs {part.driver}")

    def buttons(self, part: ButtonsDriver, pins: PinLibrary) -> PartTrial:
        return self._opened("buttons")

    def microphone(self, part: MicrophoneSettings) -> Sounds:
        self.tested.append("microphone")
        return self.sounds

    def knock(self, part: KnockSettings, pins: PinLibrary) -> PartTrial:
        return self._opened("knock")

    def display(self, part: DisplaySettings) -> PartTrial:
        return self._opened(f"display {part.location}")

    def broker(self, broker: Broker) -> str | None:
        self.tested.append(f"broker {broker.text}")
        return self.unreached.get(broker.text)

    def webhook(self, hook: Webhook) -> str | None:
        self.tested.append(f"webhook {hook.url}")
        return self.unreached.get(hook.url)

    def _opened(self, name: str) -> PartTrial:
        self.tested.append(name)
        return self.opened.get(name, PartTrial(details="there"))
