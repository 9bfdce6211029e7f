"""Check the parts of a table: device files, LEDs, buttons, piezos, microphone, camera, displays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from hardware.config.part import PartSettings
from hardware.knock.detector import KnockDetector
from hardware.knock.drivers.microphone import MicrophoneSettings
from hardware.knock.heard import ClassifiedSound, SoundBlock
from hardware.knock.sensor import KnockSensor
from hardware.pin_factory import PinLibrary
from hardware.table.settings import HardwareSettings
from tallybone.finding import Finding, ok, problem, warning
from tallybone.sources.camera import Camera
from tallybone.sources.shots import Shot
from vision.arrays import Image

# One may be a door or a cup.
_RESTLESS = 3
_GAME = "Is a game running? Only one program at a time can have it."

_PINS, _SOUND, _MEDIA = "/dev/gpiochip0", "/dev/snd", "/dev/media0"
_MISSING = {
    _PINS: "Only a Raspberry Pi has pins. On any other computer use the driver virtual, or none.",
    _SOUND: "No sound card is there: plug the microphone in, or see I2S above.",
    _MEDIA: "The camera is not seen. Power off, then push its cable in straight, contacts to the contacts.",
}
_UNPLUGGED = "Is it plugged in? These are:"

_LISTENS_S, _TICK_S = 2.0, 0.05
# A 16-bit microphone that works is never quieter than its own noise, -80 dB or so of full scale.
_SILENT_DB, _LOUD_DB = -85.0, -20.0
_CLIPPED, _CLIPPED_SHARE = 0.99, 0.001
# A tenth is what the start of a microphone and its last block may take of two seconds.
_LEAST_SHARE = 0.9

_NS_PER_S = 1_000_000_000
_LOOKS_NS = 4 * _NS_PER_S
_CAMERA_TICK_S = 0.01
# Pictures at the begin are dark until the camera has found its exposure.
_SETTLES_NS = _NS_PER_S
_WIDE_PX, _HIGH_PX = 1280, 720
_SLOW_PER_S = 8.0
_LIVE = ("usb:", "pi:", "/dev/")
# Mean grey of pictures that are read well: 36 to 108 in photographs of tables, 95 in rendered ones.
_DARK, _BRIGHT, _FLAT = 25.0, 215.0, 4.0
_GLARE, _GLARE_SHARE = 250, 0.15
# Fine against coarse edges: 0.36 to 1.0 in photographs in focus, 0.24 and less when they are blurred by 1.0 px of 1280.
_BLURRED = 0.20


@dataclass(frozen=True, slots=True)
class PartTrial:
    """The result of opening and closing a part.

    Attributes:
        trouble: Why it does not open; "" where it does.
        details: A description of it.
        held: Buttons that were down though nobody pressed them.
        hits: Number of hits that a piezo felt in a second without knocks.
        doubt: Another oddity of it; "" for none.
    """

    trouble: str = ""
    details: str = ""
    held: tuple[str, ...] = ()
    hits: int = 0
    doubt: str = ""


def check_opened(part: str, opened: PartTrial) -> Finding:
    """Return whether a part opens and works."""
    if opened.trouble:
        is_taken = "busy" in opened.trouble.lower() or "in use" in opened.trouble.lower()
        return problem(part, opened.trouble, _GAME if is_taken else "")
    if opened.held:
        words = f"held down, or wired wrongly: {', '.join(opened.held)}"
        mend = "Each button stands between its pin and ground, and closes only when pressed (normally open)."
        return warning(part, words, mend)
    if opened.hits >= _RESTLESS:
        words = f"it feels {opened.hits} hits a second though nobody knocks"
        return warning(part, words, "Turn its trimmer up, and join the ground of the piezo with that of the Pi.")
    if opened.doubt:
        return warning(part, opened.doubt, "docs/wiring.md shows its wires.")
    return ok(part, opened.details)


@dataclass(frozen=True, slots=True)
class Device:
    """A device file.

    Attributes:
        is_there: Whether it exists.
        is_usable: Whether this user may read and write it.
        group: The group whose members may.
    """

    is_there: bool
    is_usable: bool = False
    group: str = ""


@dataclass(frozen=True, slots=True)
class User:
    """The user of this process.

    Attributes:
        name: Their login name.
        groups: The groups of this login.
        listed: The groups of their next login.
    """

    name: str
    groups: frozenset[str]
    listed: frozenset[str]


def devices_of(hardware: HardwareSettings, camera: str) -> tuple[tuple[str, str], ...]:
    """Return each device file that a table needs, with the first part that needs it."""
    heard = "microphone" if isinstance(hardware.knock, MicrophoneSettings) else "piezo"
    kinds = (
        ("LEDs", hardware.leds),
        ("buttons", (hardware.buttons,)),
        (heard, (hardware.knock,)),
        ("display", hardware.displays),
    )
    named = [(kind, device_of(part, hardware.pins)) for kind, parts in kinds for part in parts if part is not None]
    first: dict[str, str] = {}
    for part, path in (("camera", camera_device(camera)), *named):
        first.setdefault(path, part)
    return tuple((part, path) for path, part in first.items() if path)


def camera_device(camera: str) -> str:
    """Return the device file of a camera; "" for one that has none, and for usb:N, which may be any."""
    where = camera.partition(",")[0]
    if where.startswith("pi:"):
        return _MEDIA
    return where if where.startswith("/dev/") else ""


def device_of(part: PartSettings, pins: PinLibrary) -> str:
    """Return the device file of a part; "" for one that has none."""
    if part.pin_uses:
        return _PINS if pins is PinLibrary.LGPIO else ""
    return part.location if part.location.startswith("/dev/") else ""


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


@dataclass(frozen=True, slots=True)
class Sounds:
    """The sound of a microphone.

    Attributes:
        error: Why there is none; "" where there is.
        share: How much of the time there was sound, 0 to 1.
        lost: How often the driver said that sound was lost.
        level_db: Loudness, against the loudest possible.
        peak: The loudest sample, 0 to 1.
        clipped: Share of the samples that are as loud as can be.
    """

    error: str = ""
    share: float = 1.0
    lost: int = 0
    level_db: float = -50.0
    peak: float = 0.1
    clipped: float = 0.0


class Ear(KnockDetector):
    """Keeps the sound in place of a detector."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[SoundBlock] = []

    def feed(self, block: SoundBlock) -> tuple[ClassifiedSound, ...]:
        """Keep a block, and hear no knock in it."""
        self.blocks.append(block)
        return ()


def listen_to(sensor: KnockSensor, ear: Ear, wait: Callable[[float], object]) -> Sounds:
    """Listen for two seconds to a sensor that gives its sound to an ear, then close it.

    Raises:
        KnockSensorError: If its library is not installed.
    """
    sensor.start()
    try:
        for _ in range(round(_LISTENS_S / _TICK_S)):
            wait(_TICK_S)
            sensor.read()
        state = sensor.state
    finally:
        sensor.close()
    return Sounds(error=state.problem) if state.problem is not None else sounds_of(ear.blocks, state.lost)


def sounds_of(blocks: list[SoundBlock], lost: int = 0) -> Sounds:
    """Return the measures of blocks of sound, of which there should be two seconds, or as much as their times span."""
    if not blocks:
        return Sounds(error="it is open, but no sound comes")
    samples = np.concatenate([block.samples for block in blocks])
    samples = samples - np.mean(samples)  # I2S microphones stand beside zero
    spans_s = (blocks[-1].t_ns - blocks[0].t_ns) / _NS_PER_S
    level = float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))
    return Sounds(
        share=sum(len(block.samples) / block.rate_hz for block in blocks) / max(_LISTENS_S, spans_s),
        lost=lost,
        level_db=20 * float(np.log10(max(level, 1e-9))),
        peak=float(np.max(np.abs(samples))),
        clipped=float(np.mean(np.abs(samples) >= _CLIPPED)),
    )


def check_sound(sounds: Sounds) -> Finding:
    """Return whether a microphone is good for hearing knocks."""
    part, mixer = "microphone", "alsamixer"
    if sounds.error:
        return problem(part, sounds.error, "What there is:", "arecord -l")
    how = f"{sounds.level_db:.0f} dB, loudest {sounds.peak:.0%}"
    if sounds.level_db < _SILENT_DB:
        words = f"silent ({how})"
        return problem(part, words, "Is it muted? F6 chooses it, F4 shows it, M and the arrow up open it:", mixer)
    if sounds.clipped > _CLIPPED_SHARE:
        return warning(part, f"as loud as can be ({how})", "Turn it down; F6 chooses it, F4 shows it:", mixer)
    if sounds.level_db > _LOUD_DB:
        return warning(part, f"very loud ({how})", "Knocks drown in it: turn it down, or look for a hum.")
    if sounds.share < _LEAST_SHARE:
        often = f", lost {sounds.lost} times" if sounds.lost else ""
        words = f"sound is missing: {sounds.share:.0%} of it came{often}"
        return warning(part, words, "The Pi is busy, or the USB hub is weak: plug it into the Pi itself.")
    return ok(part, f"hears ({how}); knock on the table with `tallybone hardware test`")


@dataclass(frozen=True, slots=True)
class CameraSample:
    """A picture of a camera, and its pace.

    Attributes:
        error: Why there is no picture; "" where there is.
        wide_px: Of its pictures.
        high_px: Of its pictures.
        per_s: Pictures a second.
        grey: Mean, 0 to 255.
        contrast: Standard deviation of the greys.
        sharpness: Fine edges against coarse ones.
        glare: Share of the picture that is white.
    """

    error: str = ""
    wide_px: int = 0
    high_px: int = 0
    per_s: float = 0.0
    grey: float = 0.0
    contrast: float = 0.0
    sharpness: float = 0.0
    glare: float = 0.0


def look_through(camera: Camera, wait: Callable[[float], object]) -> CameraSample:
    """Look through a camera for four seconds, or to its end.

    Args:
        camera: It gives the time as well.
        wait: Waits a number of seconds.
    """
    began_ns = camera.now_ns()
    times_ns: list[int] = []
    last: Shot | None = None
    while camera.now_ns() - began_ns < _LOOKS_NS and not camera.is_over:
        shown = camera.take()
        if isinstance(shown, Shot):
            last = shown
            times_ns.append(shown.t_ns)
        elif shown is None:
            wait(_CAMERA_TICK_S)
    if last is None:
        return CameraSample(camera.problem or "it gives no picture")
    late_ns = [t_ns for t_ns in times_ns if t_ns - times_ns[0] >= _SETTLES_NS] or times_ns
    spans = len(late_ns) - 1
    per_s = spans * _NS_PER_S / (late_ns[-1] - late_ns[0]) if spans > 0 and late_ns[-1] > late_ns[0] else 0.0
    return seen_in(last.load(), per_s)


def seen_in(image: Image, per_s: float) -> CameraSample:
    """Return the measures of a picture, shape (H, W, 3), BGR."""
    high, wide = image.shape[:2]
    shrinks = min(1.0, _WIDE_PX / max(high, wide))
    small = cv2.resize(image, None, fx=shrinks, fy=shrinks, interpolation=cv2.INTER_AREA)
    grey = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY).astype(np.float32)
    return CameraSample(
        wide_px=wide,
        high_px=high,
        per_s=per_s,
        grey=float(grey.mean()),
        contrast=float(grey.std()),
        sharpness=_sharpness(grey),
        glare=float((grey >= _GLARE).mean()),
    )


def _sharpness(grey: np.ndarray) -> float:
    """Return how strong the finest edges are against those that survive any focus."""
    fine, coarse = cv2.GaussianBlur(grey, (0, 0), 1.0), cv2.GaussianBlur(grey, (0, 0), 4.0)
    edges = float(np.percentile(np.abs(fine - coarse), 99.5))
    return float(np.percentile(np.abs(grey - fine), 99.5)) / max(edges, 1e-3)


def check_camera(name: str, seen: CameraSample) -> tuple[Finding, ...]:
    """Return whether the picture of a camera is good enough to play by."""
    if seen.error:
        return (problem("camera", seen.error.removeprefix(f"{name}: "), "What there is:", "tallybone cameras"),)
    return _check_picture(name, seen), _check_light(seen)


def _check_picture(name: str, seen: CameraSample) -> Finding:
    pace = f", {seen.per_s:.0f} a second" if seen.per_s else ""
    words = f"{name}: {seen.wide_px}x{seen.high_px}{pace}"
    if max(seen.wide_px, seen.high_px) < _WIDE_PX or min(seen.wide_px, seen.high_px) < _HIGH_PX:
        return warning("camera", words, "Tiles are small in it. A camera with 1280x720 reads better.")
    # A folder or a video has the pace at which it was filmed.
    if name.startswith(_LIVE) and seen.per_s < _SLOW_PER_S:
        mend = "Slow: more light makes it faster (it exposes longer in the dark), so does a USB socket of its own."
        return warning("camera", words, mend)
    return ok("camera", words)


def _check_light(seen: CameraSample) -> Finding:
    how = f"grey {seen.grey:.0f} of 255, contrast {seen.contrast:.0f}"
    if seen.contrast < _FLAT:
        return problem("picture", f"all of one colour ({how})", "Is the cap on the lens, or the table in the dark?")
    if seen.grey < _DARK:
        return warning("picture", f"dark ({how})", "Light the table: a lamp from the side, not beside the camera.")
    if seen.grey > _BRIGHT or seen.glare > _GLARE_SHARE:
        words = f"too bright ({how}, {seen.glare:.0%} white)"
        return warning("picture", words, "Turn the lamp away from the table, or put a cloth on it that does not shine.")
    if seen.sharpness < _BLURRED:
        words = f"blurred (edges {seen.sharpness:.2f}, at least {_BLURRED:.2f} wanted)"
        mend = "Turn the lens until pips have edges; wipe it; on an empty cloth this says nothing: lay some tiles."
        return warning("picture", words, mend)
    return ok("picture", f"bright and sharp enough ({how}, edges {seen.sharpness:.2f})")
