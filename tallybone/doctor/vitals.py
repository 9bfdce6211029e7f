"""Read signs of trouble from the kernel, and count those of the last hour.

Every program may read these files. The kernel documents them in hwmon/raspberrypi-hwmon, ABI/testing/sysfs-fs-ext4,
ABI/testing/sysfs-bus-usb, ABI/testing/sysfs-class-thermal and filesystems/proc.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from engine.phrases import Phrase, phrase
from tallybone.finding import Finding, absent, ok, problem, warning

_HOT_MILLI = 80_000
_HOUR_NS = 3_600_000_000_000
_MAX_KEPT = 1000
# A person also unplugs things. So many reconnections or silences in an hour have another cause.
_OFTEN = 3
# Below this level, phones and brokers lose their connection now and then.
_WEAK_DBM = -75.0
_USB, _WIFI, _MEMORY = phrase("USB"), phrase("Wi-Fi"), phrase("memory")
SINCE_START, LAST_HOUR = phrase("since the computer started"), phrase("in the last hour")


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
_CAMERA_CABLE, _AIR = phrase("Check its cable and the power supply."), phrase("Improve the airflow.")
_FREE = phrase("Stop other programs, or use a computer with more memory.")
# Trouble, least number to be reported, grade, part, words, and remedy.
_REPORTS = (
    (MachineTrouble.OVER_CURRENT, 1, problem, _USB, phrase("a device drew too much current"), _HUB),
    (MachineTrouble.RECONNECTION, _OFTEN, warning, _USB, phrase("devices were lost and found again"), _CABLE),
    (MachineTrouble.CAMERA, _OFTEN, warning, phrase("camera"), phrase("no pictures for a while"), _CAMERA_CABLE),
    (MachineTrouble.OUT_OF_MEMORY, 1, warning, _MEMORY, phrase("a program was ended because memory ran out"), _FREE),
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
        """Start without troubles."""
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
