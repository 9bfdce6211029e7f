"""Check the computer: model, memory, disks, temperature, power supply, clock, and signs of trouble in the last hour.

Every program may read these signs. The kernel documents them in hwmon/raspberrypi-hwmon, ABI/testing/sysfs-fs-ext4,
ABI/testing/sysfs-bus-usb, ABI/testing/sysfs-class-thermal and filesystems/proc.
"""

from __future__ import annotations

import grp
import os
import pwd
import re
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeAlias

from engine.phrases import Phrase, listed, phrase
from hardware.part import NeededLibrary
from tallybone.doctor.boot import Boot, Library, Venv, board_of
from tallybone.doctor.parts import Device, User
from tallybone.finding import Finding, absent, ok, problem, warning

_GB = 1_000_000_000
# With less free space than the first limit, nothing can be recorded. The second is enough for an evening: four hours
# take about 5 GB at ten images per second.
_FULL_BYTES = _GB // 2
_TIGHT_BYTES = 5 * _GB
# Each event waits until it is on the disk. From the first delay on, people notice. From the second on, images are lost.
_SLOW_MS = 100.0
_STUCK_MS = 1000.0
_RECORDINGS = phrase("recordings")
_DISK = phrase("disk")
_CARD = phrase("card")
_FORGETS = ("tmpfs", "ramfs", "overlay")


@dataclass(frozen=True, slots=True)
class Disk:
    """The folder of recordings and its disk.

    Attributes:
        error: Reason why it is not writable, or "".
        kind: File system type.
        sync_ms: Durations of several fsync calls, in milliseconds.
        is_read_only: Whether the file system refuses to write, as ext4 does after errors of its disk.
    """

    folder: str
    error: str = ""
    free_bytes: int = 0
    kind: str = ""
    sync_ms: tuple[float, ...] = ()
    is_read_only: bool = False


def check_disk(disk: Disk) -> tuple[Finding, ...]:
    """Check that recordings can be stored: free space, file system and, if measured, write speed."""
    if disk.error:
        text = listed((disk.folder, disk.error), ": ")
        return (
            problem(
                _RECORDINGS,
                text,
                phrase("Change its owner, or choose another folder with `tallybone play --record DIR`."),
            ),
        )
    if disk.is_read_only:
        text = phrase("{folder} has become read-only: nothing can be recorded", folder=disk.folder)
        return (problem(_CARD, text, phrase("Restart the computer. If it happens again, replace the card.")),)
    return (_check_room(disk), *_check_speed(disk))


def _check_room(disk: Disk) -> Finding:
    free = phrase("{room} GB free in {folder}", room=f"{disk.free_bytes / _GB:.1f}", folder=disk.folder)
    if disk.kind in _FORGETS:
        return warning(
            _RECORDINGS,
            phrase("{free}, on a file system that is cleared on restart ({kind})", free=free, kind=disk.kind),
            phrase("Record to a disk or USB stick: `tallybone play --record DIR`."),
        )
    if disk.free_bytes < _FULL_BYTES:
        return problem(
            _RECORDINGS,
            free,
            phrase("Nothing can be recorded. Delete the oldest:"),
            "tallybone sessions --keep 5GB",
        )
    if disk.free_bytes < _TIGHT_BYTES:
        return warning(
            _RECORDINGS,
            phrase("{free}: not enough for an evening", free=free),
            phrase("Delete the oldest:"),
            "tallybone sessions --keep 5GB",
        )
    return ok(_RECORDINGS, free)


def _check_speed(disk: Disk) -> tuple[Finding, ...]:
    if not disk.sync_ms:
        return ()
    middle, longest = sorted(disk.sync_ms)[len(disk.sync_ms) // 2], max(disk.sync_ms)
    text = phrase(
        "writes reach the disk in {middle} ms (median), at most {longest} ms",
        middle=round(middle),
        longest=round(longest),
    )
    if longest >= _STUCK_MS:
        return (
            problem(_DISK, text, phrase("Far too slow: the card is worn out or counterfeit. Use a new card (A2).")),
        )
    if middle >= _SLOW_MS:
        return (warning(_DISK, text, phrase("A faster card (A2) or a USB stick makes the score appear sooner.")),)
    return (ok(_DISK, text),)


_HOT_MILLI = 80_000
_HOUR_NS = 3_600_000_000_000
_MAX_KEPT = 1000
# A person also unplugs things. So many reconnections or silences in an hour have another cause.
_OFTEN = 3
# Below this level, phones and brokers lose their connection now and then.
_WEAK_DBM = -75.0
_USB = phrase("USB")
_WIFI = phrase("Wi-Fi")
_RAM = phrase("memory")
SINCE_START = phrase("since the computer started")
LAST_HOUR = phrase("in the last hour")


class MachineTrouble(StrEnum):
    """Something that happens now and then. The value is its label in the metrics."""

    LOW_VOLTAGE = "undervoltage"
    HEAT = "heat"
    OVER_CURRENT = "usb_over_current"
    RECONNECTION = "usb_reconnection"
    OUT_OF_MEMORY = "out_of_memory"
    CAMERA = "camera_timeout"


# Counters that the kernel begins at 0 when it starts. Of a device number, only changes count.
_TOTALS = (MachineTrouble.OVER_CURRENT, MachineTrouble.OUT_OF_MEMORY)
_LEVELS = (MachineTrouble.LOW_VOLTAGE, MachineTrouble.HEAT, MachineTrouble.CAMERA)


CountedTrouble: TypeAlias = tuple[MachineTrouble, str, int]
"""Trouble, place, and value: a total, 0 or 1 for a state, or the number of a USB device."""
_HUB = phrase("Connect cameras and displays through a hub with its own power supply.")
_CABLE = phrase("Use a short cable of good quality, another port and the official supply.")
_CAMERA_CABLE = phrase("Check its cable and the power supply.")
_AIR = phrase("Improve the airflow.")
_FREE = phrase("Stop other programs, or use a computer with more memory.")
# Trouble, least number to be reported, grade, part, words, and remedy.
_REPORTS = (
    (MachineTrouble.OVER_CURRENT, 1, problem, _USB, phrase("a device drew too much current"), _HUB),
    (MachineTrouble.RECONNECTION, _OFTEN, warning, _USB, phrase("devices were lost and found again"), _CABLE),
    (MachineTrouble.CAMERA, _OFTEN, warning, phrase("camera"), phrase("no pictures for a while"), _CAMERA_CABLE),
    (MachineTrouble.OUT_OF_MEMORY, 1, warning, _RAM, phrase("a program was ended because memory ran out"), _FREE),
    (MachineTrouble.HEAT, 1, warning, phrase("heat"), phrase("too hot for full speed"), _AIR),
)


@dataclass(frozen=True, slots=True)
class Vitals:
    """State of the kernel.

    Attributes:
        counters: Values of all troubles.
        card_errors: Errors of each ext4 file system, by its disk. They are kept until the file system is checked.
        has_clock_chip: Whether the clock runs while the power is off.
        wifi_dbm: Signal of the weakest Wi-Fi. None without Wi-Fi.
    """

    counters: tuple[CountedTrouble, ...] = ()
    card_errors: tuple[tuple[str, int], ...] = ()
    has_clock_chip: bool = False
    wifi_dbm: float | None = None

    @property
    def is_low(self) -> bool | None:
        """True if the supply voltage is too low. None if unknown."""
        return next((value > 0 for trouble, _, value in self.counters if trouble is MachineTrouble.LOW_VOLTAGE), None)

    def since_start(self) -> Counter[MachineTrouble]:
        """Return how often each trouble occurred since the computer started, as far as the kernel counts it."""
        found = Counter[MachineTrouble]()
        for trouble, _, value in self.counters:
            found[trouble] += value if trouble in _TOTALS else 0
        return found


def read_vitals(root: Path) -> Vitals:
    """Read the state of the kernel from the files under *root*. Missing files are left out."""
    system = root / "sys"
    errors = ((file.parent.name, _number(file)) for file in sorted(system.glob("fs/ext4/*/errors_count")))
    levels = [
        float(row.split()[3].rstrip("."))
        for row in text_of(root / "proc/net/wireless").splitlines()
        if len(row.split()) > 3 and row.split()[0].endswith(":")
    ]
    return Vitals(
        tuple(_counters(root)),
        tuple((disk, count) for disk, count in errors if count is not None),
        any(system.glob("class/rtc/rtc*")),
        min(levels, default=None),
    )


def _counters(root: Path) -> Iterator[CountedTrouble]:
    system = root / "sys"
    files: list[tuple[MachineTrouble, str, Path]] = [
        (MachineTrouble.LOW_VOLTAGE, "", file)
        for file in system.glob("class/hwmon/*/in0_lcrit_alarm")
        if text_of(file.with_name("name")) == "rpi_volt"
    ]
    ports = system.glob("bus/usb/devices/*:*/*-port*/over_current_count")
    files += [(MachineTrouble.OVER_CURRENT, file.parent.name, file) for file in ports]
    devices = system.glob("bus/usb/devices/*/devnum")
    files += [(MachineTrouble.RECONNECTION, file.parent.name, file) for file in devices]
    for trouble, place, file in files:
        if (number := _number(file)) is not None:
            yield trouble, place, number
    for line in text_of(root / "proc/vmstat").splitlines():
        if line.startswith("oom_kill "):
            yield MachineTrouble.OUT_OF_MEMORY, "", int(line.split()[1])
    # The firmware of a Raspberry Pi slows it down at 80 degrees. On other computers, Linux does so as a cooling device.
    states = (
        _number(file) or 0
        for file in system.glob("class/thermal/cooling_device*/cur_state")
        if "cpufreq" in text_of(file.with_name("type"))
    )
    heat = _number(system / "class/thermal/thermal_zone0/temp")
    if heat is not None:
        yield MachineTrouble.HEAT, "", int(heat >= _HOT_MILLI or any(states))


class LastHour:
    """Counts the troubles of the last hour from readings a second apart."""

    def __init__(self) -> None:
        self._last: dict[tuple[MachineTrouble, str], int] = {}
        self._found: deque[tuple[int, MachineTrouble]] = deque(maxlen=_MAX_KEPT)

    def add(self, counters: Iterable[CountedTrouble], t_ns: int) -> None:
        """Add a reading of `Vitals.counters`."""
        for trouble, place, value in counters:
            more = value - self._last.get((trouble, place), 0 if trouble in _LEVELS else value)
            if trouble is MachineTrouble.RECONNECTION:
                more = int(more != 0)
            self._found.extend([(t_ns, trouble)] * min(more, _MAX_KEPT))
            self._last[trouble, place] = value

    def counts(self, t_ns: int) -> Counter[MachineTrouble]:
        """Return how often each trouble began within the hour before *t_ns*. A state that lasts counts once."""
        found = Counter(trouble for at_ns, trouble in tuple(self._found) if t_ns - at_ns < _HOUR_NS)
        lasting = {trouble for (trouble, _), value in tuple(self._last.items()) if trouble in _LEVELS and value}
        return found | Counter(lasting)


def check_vitals(vitals: Vitals, counts: Mapping[MachineTrouble, int], span: Phrase) -> tuple[Finding, ...]:
    """Name the troubles of the computer. *counts* has those of a *span*. Too little voltage is judged elsewhere."""
    often = (
        grade(part, phrase("{trouble} ({count}× {span})", trouble=text, count=count, span=span), remedy)
        for trouble, least, grade, part, text, remedy in _REPORTS
        if (count := counts.get(trouble, 0)) >= least
    )
    return (*_of_state(vitals), *often)


def _of_state(vitals: Vitals) -> Iterator[Finding]:
    for disk, count in vitals.card_errors:
        if count:
            yield problem(
                phrase("card"),
                phrase("{count} errors in the file system of {disk}", count=count, disk=disk),
                phrase("Make a backup. Then check the card, or replace it by a new one (A2)."),
            )
    if not vitals.has_clock_chip:
        text = phrase("none: without a network, the time is wrong after the power was off")
        yield absent(phrase("clock chip"), text)
    if vitals.wifi_dbm is not None:
        text = phrase("signal of {level} dBm", level=round(vitals.wifi_dbm))
        weak = phrase("Too weak. Move the table's computer closer to the access point, or use a network cable.")
        yield warning(_WIFI, text, weak) if vitals.wifi_dbm < _WEAK_DBM else ok(_WIFI, text)


def text_of(path: Path) -> str:
    """Return the text of a small file, or "" if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    text = text_of(path)
    return int(text) if text.lstrip("-").isdecimal() else None


_OLDEST_PYTHON = (3, 11)
_BITS = 64
# With less than the first amount, reading fails. With less than the second, it only just works. A replay takes up to
# 266 MB (docs/explanation/reading.md), and system and camera half as much again.
_MIN_MEMORY_MB = 400
_GOOD_MEMORY_MB = 900
_HOT_C = 80.0
_WARM_C = 70.0
# Bits of get_throttled: bits 0 to 3 apply now, and bits 16 to 19 mean that the same has occurred since boot.
_LOW_VOLTAGE = 0x1
_CAPPED = 0x2
_SLOWED = 0x4
_SOFT_LIMIT = 0x8
_SINCE_START = 16
# A Raspberry Pi reports a low voltage below 4.63 V. USB guarantees its devices 4.75 V.
_LOW_V = 4.63
_TIGHT_V = 4.75
_EXT5V = re.compile(r"EXT5V_V volt\(\d+\)=(\d+\.\d+)V", re.ASCII)
_WITH_METER = ("Raspberry Pi 5", "Raspberry Pi Compute Module 5")
# Above this time to read a picture, plays appear twice as late as on a two-core laptop, which takes 0.07 s
# (docs/explanation/reading.md).
_SLOW_READ_S = 0.5
_MEMORY = phrase("memory")
_HEAT = phrase("heat")
_POWER = phrase("power")
_CLOCK = phrase("clock")
_SUPPLY = phrase("Use the official power supply for this Pi (4: 5 V 3 A, 5: 5 V 5 A) and its cable.")

Run: TypeAlias = Callable[[tuple[str, ...]], str]
"""Function that runs a command and returns its output, or "" if the command is missing or fails."""
_CONFIGS = ("boot/firmware/config.txt", "boot/config.txt")
_KB_PER_MB = 1024
_MILLI = 1000.0
_SYNCS = 8
_SYNC_BYTES = 65_536
_IMPORTS_S = 60.0
_COMMAND_S = 5.0


@dataclass(frozen=True, slots=True)
class Machine:
    """Facts about the computer. Those that may be None are None if unknown.

    Attributes:
        model: Model name in the device tree, as on a Raspberry Pi. "" for most other computers.
        bits: Word size of programs, 32 or 64.
        throttled: Bits of `vcgencmd get_throttled`.
        is_clock_set: True if the clock was synchronized over the network.
        supply_v: Supply voltage, which a Raspberry Pi 5 measures.
        vitals: State of the kernel.
    """

    model: str
    system: str
    bits: int
    python: tuple[int, int]
    memory_mb: int | None
    temperature_c: float | None
    throttled: int | None
    is_clock_set: bool | None
    supply_v: float | None = None
    vitals: Vitals = field(default_factory=Vitals)

    @property
    def is_pi(self) -> bool:
        """True if this is a Raspberry Pi."""
        return self.model.startswith("Raspberry Pi")


def check_machine(machine: Machine) -> tuple[Finding, ...]:
    """Check all facts about the computer."""
    return (
        check_system(machine),
        check_memory(machine.memory_mb),
        check_temperature(machine.temperature_c),
        check_power(machine),
        check_clock(is_set=machine.is_clock_set),
        *check_vitals(machine.vitals, machine.vitals.since_start(), SINCE_START),
    )


def check_system(machine: Machine) -> Finding:
    """Check the operating system and the Python version."""
    version = ".".join(str(part) for part in machine.python)
    text = f"{machine.model or 'no Raspberry Pi'}, {machine.system}, {machine.bits} bit, Python {version}"
    if machine.bits != _BITS:
        return problem(
            "machine",
            text,
            "OpenCV is not available for 32-bit systems. Install the 64-bit Raspberry Pi OS with Raspberry Pi Imager.",
        )
    if machine.python < _OLDEST_PYTHON:
        return problem(
            "machine", text, "Tallybone needs Python 3.11 or later: use Raspberry Pi OS 12 (bookworm) or later."
        )
    return ok("machine", text)


def check_memory(memory_mb: int | None) -> Finding:
    """Check the amount of memory."""
    if memory_mb is None:
        return absent(_MEMORY, phrase("this system does not report its memory"))
    text = phrase("{memory} GB", memory=f"{memory_mb / 1024:.1f}")
    if memory_mb < _MIN_MEMORY_MB:
        return problem(_MEMORY, text, phrase("Too little to read pictures. Use a Pi with at least 1 GB."))
    if memory_mb < _GOOD_MEMORY_MB:
        return warning(
            _MEMORY,
            text,
            phrase("Just enough. Do not run a desktop alongside Tallybone:"),
            "sudo raspi-config nonint do_boot_behaviour B1",
        )
    return ok(_MEMORY, text)


def check_temperature(temperature_c: float | None) -> Finding:
    """Check the processor temperature."""
    if temperature_c is None:
        return absent(_HEAT, phrase("this computer does not report its temperature"))
    text = phrase("{temperature} degrees", temperature=f"{temperature_c:.0f}")
    if temperature_c >= _HOT_C:
        return problem(
            _HEAT, text, phrase("The Pi is throttled by heat. Add a heat sink or fan and improve the airflow.")
        )
    if temperature_c >= _WARM_C:
        return warning(_HEAT, text, phrase("The Pi throttles at 80 degrees. Add a heat sink, and avoid a closed case."))
    return ok(_HEAT, text)


def check_power(machine: Machine, dips: int = 0) -> Finding:
    """Check the power supply and throttling, now and since boot. *dips* is the number of voltage dips in an hour."""
    throttled, supply_v, is_low = machine.throttled or 0, machine.supply_v, machine.vitals.is_low
    if machine.throttled is None and supply_v is None and is_low is None:
        return absent(_POWER, phrase("only a Raspberry Pi reports its supply voltage"))
    before = throttled >> _SINCE_START
    if throttled & _LOW_VOLTAGE or is_low or (supply_v is not None and supply_v < _LOW_V):
        return problem(_POWER, phrase("the supply voltage is too low: cameras and displays may drop out"), _SUPPLY)
    if dips:
        text = phrase("the supply voltage dropped too low ({count}× in the last hour)", count=dips)
        return warning(_POWER, text, _SUPPLY)
    if before & _LOW_VOLTAGE:
        return warning(_POWER, phrase("the supply voltage has dropped too low since the Pi started"), _SUPPLY)
    if supply_v is not None and supply_v < _TIGHT_V:
        return warning(_POWER, phrase("only {supply} V: cameras may drop out", supply=f"{supply_v:.2f}"), _SUPPLY)
    hot = phrase("Improve the airflow.")
    if throttled & (_CAPPED | _SLOWED | _SOFT_LIMIT):
        return warning(_POWER, phrase("the Pi is throttled by heat"), hot)
    if before & (_CAPPED | _SLOWED | _SOFT_LIMIT):
        return warning(_POWER, phrase("the Pi has been throttled by heat since it started"), hot)
    return ok(_POWER, phrase("voltage good since the Pi started"))


def check_clock(*, is_set: bool | None) -> Finding:
    """Check that the clock is synchronized. Games do not depend on it, only dates of recordings."""
    if is_set is None:
        return absent(_CLOCK, phrase("this system does not report whether its clock is set"))
    if not is_set:
        return warning(
            _CLOCK,
            phrase("not set from the network: recordings may have the wrong date"),
            phrase("Scoring is not affected. When a network is available:"),
            "sudo timedatectl set-ntp true",
        )
    return ok(_CLOCK, phrase("set from the network"))


def check_speed(read_s: float | str) -> Finding:
    """Check the reading speed. *read_s* is the time to read 28 tiles in seconds, or an error message."""
    if isinstance(read_s, str):
        return problem("speed", read_s, "Install Tallybone again.")
    text = f"a picture of 28 tiles is read in {read_s:.2f} s"
    if read_s > _SLOW_READ_S:
        return warning("speed", f"{text}: plays show late", "Stop other programs on it, or use a faster machine.")
    return ok("speed", text)


def run(command: tuple[str, ...]) -> str:
    """Run a system command for up to five seconds. See `Run`."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_COMMAND_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def this_machine() -> Machine:
    """Return facts about this computer."""
    return read_machine(Path("/"), run)


def read_machine(root: Path, run: Run) -> Machine:
    """Return facts about the computer from the files under *root*. *run* runs commands for facts not in files."""
    heat = text_of(root / "sys/class/thermal/thermal_zone0/temp")
    model = text_of(root / "proc/device-tree/model").rstrip("\0")
    throttled = run(("vcgencmd", "get_throttled")) if model else ""
    supply = _EXT5V.search(run(("vcgencmd", "pmic_read_adc", "EXT5V_V"))) if model.startswith(_WITH_METER) else None
    return Machine(
        model=model,
        system=_field(text_of(root / "etc/os-release"), "PRETTY_NAME=").strip('"') or sys.platform,
        bits=8 * struct.calcsize("P"),
        python=(sys.version_info.major, sys.version_info.minor),
        memory_mb=_memory_mb(text_of(root / "proc/meminfo")),
        temperature_c=int(heat) / _MILLI if heat.lstrip("-").isdecimal() else None,
        throttled=_hexadecimal(throttled.partition("=")[2]),
        is_clock_set=_is_clock_set(root, run),
        supply_v=None if supply is None else float(supply[1]),
        vitals=read_vitals(root),
    )


def read_boot(root: Path, model: str) -> Boot:
    """Read the boot configuration from the files under *root*."""
    path = next((root / name for name in _CONFIGS if (root / name).is_file()), None)
    config = "" if path is None else text_of(path)
    return Boot(board_of(model), "" if path is None else str(path), config, text_of(root / "proc/cmdline"))


def read_user() -> User:
    """Return the user of this process."""
    me = pwd.getpwuid(os.getuid())
    listed = {group.gr_name for group in grp.getgrall() if me.pw_name in group.gr_mem}
    groups = {_group_name(number) for number in (os.getgid(), *os.getgroups())}
    return User(me.pw_name, frozenset(groups), frozenset(listed))


def read_venv() -> Venv:
    """Return the virtual environment of this process."""
    if sys.prefix == sys.base_prefix:
        return Venv("", sees_system=True)
    value = _field(text_of(Path(sys.prefix) / "pyvenv.cfg"), "include-system-site-packages =")
    return Venv(sys.prefix, sees_system=value.strip() == "true")


def try_library(wanted: NeededLibrary) -> Library:
    """Import a library in a child process, because one built for another processor would crash this one."""
    probe = f"; {wanted.module}.{wanted.probe}" if wanted.probe else ""
    command = (sys.executable, "-W", "ignore", "-c", f"import {wanted.module}{probe}")
    try:
        # On import, lgpio creates a pipe in the folder LG_WD and leaves it there.
        with tempfile.TemporaryDirectory(prefix="tallybone-doctor-") as folder:
            environment = {**os.environ, "LG_WD": folder}
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_IMPORTS_S, check=False, env=environment
            )
    except subprocess.TimeoutExpired:
        return Library(None, f"the import did not finish within {_IMPORTS_S:.0f} s")
    if done.returncode < 0:
        return Library(_version_of(wanted.package), f"Python crashes with signal {-done.returncode} on import")
    last = done.stderr.strip().splitlines()[-1:] or [""]
    error = last[0].partition(": ")[2] or last[0]
    return Library(_version_of(wanted.package), error if done.returncode else "")


def read_device(path: str) -> Device:
    """Return the state of a device file, or of the first control or capture device in a folder such as /dev/snd."""
    file = Path(path)
    if not file.exists():
        return Device(is_there=False)
    group = _group_name(file.stat().st_gid)
    # Everybody may access the folder. The files in it have the relevant permissions.
    inside = (
        [one for one in sorted(file.iterdir()) if "C" in one.name and one.is_char_device()] if file.is_dir() else []
    )
    if inside:
        file, group = inside[0], _group_name(inside[0].stat().st_gid)
    return Device(is_there=True, is_usable=os.access(file, os.R_OK | os.W_OK), group=group)


def try_disk(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> Disk:
    """Measure free space and write speed of the disk of a folder that need not exist yet, with a temporary file."""
    room = room_in(folder, mounts)
    if room.error or room.is_read_only:
        return room
    try:
        return replace(room, sync_ms=_sync_ms(_there(folder)))
    except OSError as error:
        return Disk(str(folder), error=error.strerror or str(error))


def room_in(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> Disk:
    """Return the free space for a folder that need not exist yet, without writing anything."""
    there = _there(folder)
    try:
        free = os.statvfs(there)
    except OSError as error:
        return Disk(str(folder), error=error.strerror or str(error))
    kind, options = _mount_of(there.resolve(), text_of(mounts))
    # ext4 reports the second one since Linux 6.15: after an error, it refuses to write.
    is_read_only = not {"ro", "emergency_ro"}.isdisjoint(options.split(","))
    return Disk(str(folder), "", free.f_bavail * free.f_frsize, kind, is_read_only=is_read_only)


def _there(folder: Path) -> Path:
    """Return the folder, or its nearest existing parent."""
    return next(one for one in (folder, *folder.parents) if one.is_dir())


def _sync_ms(folder: Path) -> tuple[float, ...]:
    """Measure the duration of several fsync calls, in milliseconds."""
    found = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(_SYNCS):
            began = time.perf_counter()
            file.write(os.urandom(_SYNC_BYTES))
            file.flush()
            os.fsync(file.fileno())
            found.append(_MILLI * (time.perf_counter() - began))
    return tuple(found)


def _mount_of(folder: Path, mounts: str) -> tuple[str, str]:
    """Return the file system type of a folder and its mount options, or "" for each if unknown."""
    rows = [line.split() for line in mounts.splitlines() if len(line.split()) > 3]
    within = [(len(row[1]), at, row[2], row[3]) for at, row in enumerate(rows) if folder.is_relative_to(row[1])]
    return max(within, default=(0, 0, "", ""))[2:]


def _is_clock_set(root: Path, run: Run) -> bool | None:
    if (root / "run/systemd/timesync/synchronized").exists():
        return True
    value = run(("timedatectl", "show", "-p", "NTPSynchronized", "--value"))
    return {"yes": True, "no": False}.get(value)


def _memory_mb(meminfo: str) -> int | None:
    value = _field(meminfo, "MemTotal:").split()
    return int(value[0]) // _KB_PER_MB if value and value[0].isdecimal() else None


def _hexadecimal(text: str) -> int | None:
    try:
        return int(text, 16)
    except ValueError:
        return None


def _field(text: str, key: str) -> str:
    """Return the rest of the first line that starts with *key*, or ""."""
    return next((line.removeprefix(key).strip() for line in text.splitlines() if line.startswith(key)), "")


def _group_name(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
