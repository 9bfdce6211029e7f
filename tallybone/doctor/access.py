"""Device files: whether they are there, and whether the user may use them."""

from __future__ import annotations

from dataclasses import dataclass

from hardware.config.config import ButtonsPart, DisplayPart, HardwareConfig, KnockDriver, KnockPart, LedsPart
from hardware.pin_factory import PinLibrary
from tallybone.finding import Finding, ok, problem, warning

_PINS, _SOUND, _MEDIA = "/dev/gpiochip0", "/dev/snd", "/dev/media0"
_MISSING = {
    _PINS: "Only a Raspberry Pi has pins. On any other computer use the driver virtual, or none.",
    _SOUND: "No sound card is there: plug the microphone in, or see I2S above.",
    _MEDIA: "The camera is not seen. Power off, then push its cable in straight, contacts to the contacts.",
}
_UNPLUGGED = "Is it plugged in? These are:"


@dataclass(frozen=True, slots=True)
class Device:
    """What was found of a device file.

    Attributes:
        is_there: Whether there is such a file.
        is_usable: Whether this user may read and write it.
        group: Whose members may.
    """

    is_there: bool
    is_usable: bool = False
    group: str = ""


@dataclass(frozen=True, slots=True)
class User:
    """Who runs this.

    Attributes:
        name: What the system calls them.
        groups: Those that this login has.
        listed: Those that the next login will have.
    """

    name: str
    groups: frozenset[str]
    listed: frozenset[str]


def devices_of(hardware: HardwareConfig, camera: str) -> tuple[tuple[str, str], ...]:
    """Return each device file that a table needs, with the first part that needs it."""
    knock = hardware.knock
    named = (
        ("camera", camera_device(camera)),
        *(("LEDs", leds_device(leds, hardware.pins)) for leds in hardware.leds),
        ("buttons", buttons_device(hardware.buttons, hardware.pins)),
        (
            "microphone" if knock and knock.driver is KnockDriver.MICROPHONE else "piezo",
            knock_device(knock, hardware.pins),
        ),
        *(("display", display_device(display)) for display in hardware.displays),
    )
    first: dict[str, str] = {}
    for part, path in named:
        first.setdefault(path, part)
    return tuple((part, path) for path, part in first.items() if path)


def camera_device(camera: str) -> str:
    """Return the device file of a camera; "" for one that has none, and for usb:N, which may be any."""
    where = camera.partition(",")[0]
    if where.startswith("pi:"):
        return _MEDIA
    return where if where.startswith("/dev/") else ""


def leds_device(leds: LedsPart, pins: PinLibrary) -> str:
    """Return the device file of LEDs; "" for those that have none."""
    if leds.spi is not None:
        return f"/dev/spidev{leds.spi}"
    return _PINS if leds.pins and pins is PinLibrary.LGPIO else ""


def buttons_device(buttons: ButtonsPart | None, pins: PinLibrary) -> str:
    """Return the device file of buttons; "" for those that have none."""
    return _PINS if buttons is not None and buttons.pins and pins is PinLibrary.LGPIO else ""


def knock_device(knock: KnockPart | None, pins: PinLibrary) -> str:
    """Return the device file of a knock sensor; "" for one that has none."""
    match knock:
        case KnockPart(driver=KnockDriver.MICROPHONE):
            return _SOUND
        case KnockPart(driver=KnockDriver.PIEZO_SPI):
            return f"/dev/spidev{knock.spi}"
        case KnockPart(driver=KnockDriver.PIEZO_PIN) if pins is PinLibrary.LGPIO:
            return _PINS
        case _:
            return ""


def display_device(display: DisplayPart) -> str:
    """Return the device file of a display; "" for one that has none."""
    return display.url if display.url.startswith("/dev/") else ""


def check_device(part: str, path: str, device: Device, user: User) -> Finding:
    """Return whether a device file can be used."""
    if not device.is_there:
        if path in _MISSING:
            return problem(part, f"there is no {path}", _MISSING[path])
        if path.startswith("/dev/spidev"):
            return problem(
                part, f"there is no {path}", "SPI is switched off, or the Pi was not restarted since:", "sudo reboot"
            )
        where = "ls -l /dev/v4l/by-id" if part == "camera" else "ls -l /dev/serial/by-id"
        return problem(part, f"there is no {path}", _UNPLUGGED, where)
    if not device.is_usable:
        return _not_allowed(part, path, device, user)
    if path.startswith(("/dev/ttyUSB", "/dev/ttyACM")):
        words = f"{path} may be another adapter after the next start"
        return warning(part, words, "In table.toml use its name that stays, one of:", "ls -l /dev/serial/by-id")
    return ok(part, f"{path} may be used")


def _not_allowed(part: str, path: str, device: Device, user: User) -> Finding:
    if device.group in user.listed and device.group not in user.groups:
        words = f"{path} may not be used yet: {user.name} has joined the group {device.group} since the login"
        return problem(part, words, "Log out and in again, or restart:", "sudo reboot")
    if not device.group or device.group == "root":
        words = f"{path} may be used by root alone"
        return problem(part, words, "A Raspberry Pi OS gives it to a group. Is this another system, or a container?")
    return problem(
        part,
        f"{path} may not be used: {user.name} is not in the group {device.group}",
        "Join it, then log out and in again:",
        f"sudo usermod -aG {device.group} {user.name}",
    )
