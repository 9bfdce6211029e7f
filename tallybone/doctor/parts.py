"""Check the parts of a table: device files, LEDs, buttons, piezos, microphone, camera and displays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from engine.phrases import phrase
from hardware.knock.detector import KnockDetector
from hardware.knock.drivers.microphone import MicrophoneSettings
from hardware.knock.sensor import ClassifiedSound, KnockSensor, SoundBlock
from hardware.knock.signal_quality import SignalFault, SignalQuality, signal_quality
from hardware.libraries import PinLibrary
from hardware.part import PartSettings
from hardware.table import HardwareSettings
from tallybone.finding import Finding, ok, problem, warning
from tallybone.sources.camera import Camera
from tallybone.sources.source import Shot
from vision.arrays import Image

# From this number of hits a second without knocks, a piezo is misadjusted. Fewer hits may come from a door or a cup.
_RESTLESS = 3
_GAME = "Is a game running? Only one program can use it at a time."

_PINS = "/dev/gpiochip0"
_SOUND = "/dev/snd"
_MEDIA = "/dev/media0"
_MISSING = {
    _PINS: "Only a Raspberry Pi has GPIO pins. On other computers, use the driver virtual or none.",
    _SOUND: "No sound card found: plug in the microphone, or see I2S above.",
    _MEDIA: "The camera is not detected. Power off, then reseat its cable, contacts facing the contacts.",
}
_UNPLUGGED = "Is it plugged in? Connected devices:"

_LISTENS_S = 2.0
_TICK_S = 0.05
_LOUD_DB = -20.0
# Below this share of the expected samples, sound is lost. Starting the microphone and its last block may take up to a
# tenth of two seconds.
_MIN_SHARE = 0.9
_MIXER = "alsamixer"
_LOST = "The Pi is busy, or the USB hub is weak: plug the microphone directly into the Pi."
# Finding, remedy and command for each fault that leaves some sound.
_FAULTS = {
    SignalFault.GATED: (
        "a noise gate cuts the sound",
        "Knocks lose their beginning or end. Switch off noise suppression and automatic gain:",
        _MIXER,
    ),
    SignalFault.DROPPED: ("sound is lost: it has gaps", _LOST),
    SignalFault.CLIPPED: ("clipping", "Turn it down; select it with F6, show it with F4:", _MIXER),
    SignalFault.COARSE: ("only 8 bits", "Quiet knocks are lost. Use another microphone or sound card."),
    SignalFault.BAND_LIMITED: (
        "nothing above 4 kHz, as on a telephone",
        "Knocks and tiles sound alike. Use another microphone, rather than a Bluetooth headset.",
    ),
}

_NS_PER_S = 1_000_000_000
_LOOKS_NS = 4 * _NS_PER_S
_CAMERA_TICK_S = 0.01
# Images in this time after the first are not counted for the frame rate. They are dark until auto-exposure settles.
_SETTLES_NS = _NS_PER_S
_WIDE_PX = 1280
_HIGH_PX = 720
_SLOW_PER_S = 8.0
_LIVE = ("usb:", "pi:", "/dev/")
# Mean grey of well-read images: 36 to 108 in photographs of tables, 95 in rendered ones.
_DARK = 25.0
_BRIGHT = 215.0
_FLAT = 4.0
_GLARE = 250
_GLARE_SHARE = 0.15
# Ratio of fine to coarse edges: 0.36 to 1.0 in focused photographs, at most 0.24 after a blur of 1 px in 1280.
_BLURRED = 0.20


@dataclass(frozen=True, slots=True)
class PartTrial:
    """Result of opening and closing a part.

    Attributes:
        trouble: Reason why the part does not open, or "".
        details: Description.
        held: Buttons that were down although nobody pressed them.
        hits: Number of hits per second reported by a piezo without knocks.
        doubt: Any other warning, or "".
    """

    trouble: str = ""
    details: str = ""
    held: tuple[str, ...] = ()
    hits: int = 0
    doubt: str = ""


def check_opened(part: str, opened: PartTrial) -> Finding:
    """Check the result of opening a part."""
    if opened.trouble:
        is_taken = "busy" in opened.trouble.lower() or "in use" in opened.trouble.lower()
        return problem(part, opened.trouble, _GAME if is_taken else "")
    if opened.held:
        text = f"held down, or wired wrongly: {', '.join(opened.held)}"
        advice = "Connect each button between its pin and ground; it must be normally open."
        return warning(part, text, advice)
    if opened.hits >= _RESTLESS:
        text = f"it reports {opened.hits} hits a second although nobody knocks"
        return warning(part, text, "Turn up its trimmer, and connect the grounds of the piezo and the Pi.")
    if opened.doubt:
        return warning(part, opened.doubt, "See docs/start/wiring.md for its wiring.")
    return ok(part, opened.details)


@dataclass(frozen=True, slots=True)
class Device:
    """A device file."""

    is_there: bool
    is_usable: bool = False
    group: str = ""


@dataclass(frozen=True, slots=True)
class User:
    """User of this process.

    Attributes:
        name: Login name.
        groups: Groups of this login session.
        listed: Groups of the next login session.
    """

    name: str
    groups: frozenset[str]
    listed: frozenset[str]


def devices_of(hardware: HardwareSettings, camera: str) -> tuple[tuple[str, str], ...]:
    """Return pairs of a part and its device file. A shared file is listed once, for the first part that uses it."""
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
    """Return the device file of a camera. "" if it has none, or if the file is not fixed, as for usb:N."""
    where = camera.partition(",")[0]
    if where.startswith("pi:"):
        return _MEDIA
    return where if where.startswith("/dev/") else ""


def device_of(part: PartSettings, pins: PinLibrary) -> str:
    """Return the device file of a part, or "" if it has none."""
    if part.pin_uses:
        return "" if pins is PinLibrary.MOCK else _PINS
    return part.location if part.location.startswith("/dev/") else ""


def check_device(part: str, path: str, device: Device, user: User) -> Finding:
    """Check that a device file exists, is accessible, and has a name that is the same after a restart."""
    if not device.is_there:
        if path in _MISSING:
            return problem(part, f"there is no {path}", _MISSING[path])
        if path.startswith("/dev/spidev"):
            return problem(
                part,
                f"there is no {path}",
                "SPI is switched off, or the Pi was not restarted since it was enabled:",
                "sudo reboot",
            )
        where = "ls -l /dev/v4l/by-id" if part == "camera" else "ls -l /dev/serial/by-id"
        return problem(part, f"there is no {path}", _UNPLUGGED, where)
    if not device.is_usable:
        if device.group in user.listed and device.group not in user.groups:
            text = f"{path} is not accessible yet: {user.name} joined the group {device.group} after logging in"
            return problem(part, text, "Log out and in again, or restart:", "sudo reboot")
        if not device.group or device.group == "root":
            text = f"{path} is accessible only to root"
            return problem(part, text, "Raspberry Pi OS assigns it to a group. Is this another system or a container?")
        return problem(
            part,
            f"{path} is not accessible: {user.name} is not in the group {device.group}",
            "Join the group, then log out and in again:",
            f"sudo usermod -aG {device.group} {user.name}",
        )
    if path.startswith(("/dev/ttyUSB", "/dev/ttyACM")):
        text = f"{path} may name another adapter after a restart"
        return warning(part, text, "In table.toml, use a persistent name, one of:", "ls -l /dev/serial/by-id")
    return ok(part, f"{path} is accessible")


@dataclass(frozen=True, slots=True)
class Sounds:
    """Measurements of a microphone.

    Attributes:
        error: Reason why there is no sound, or "".
        share: Fraction of the expected samples that arrived, 0 to 1.
        lost: Number of overruns reported by the driver.
        quality: Measurements of the samples. None if there is an error.
    """

    error: str = ""
    share: float = 1.0
    lost: int = 0
    quality: SignalQuality | None = None


class Ear(KnockDetector):
    """Detector that only stores the sound."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[SoundBlock] = []

    def feed(self, block: SoundBlock) -> tuple[ClassifiedSound, ...]:
        """Store a block. No knock is detected."""
        self.blocks.append(block)
        return ()


def listen_to(sensor: KnockSensor, ear: Ear, wait: Callable[[float], object]) -> Sounds:
    """Measure a sensor that feeds *ear* for two seconds, then close it.

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
    """Measure blocks of sound. The expected duration is two seconds or the span of their times, whichever is longer."""
    quality = signal_quality(blocks)
    if quality is None:
        return Sounds(error="it opens, but delivers no sound")
    spans_s = (blocks[-1].t_ns - blocks[0].t_ns) / _NS_PER_S
    arrived_s = sum(len(block.samples) / block.rate_hz for block in blocks)
    return Sounds(share=arrived_s / max(_LISTENS_S, spans_s), lost=lost, quality=quality)


def check_sound(sounds: Sounds) -> tuple[Finding, ...]:
    """Check that a microphone is suitable for detecting knocks. Return each fault, or that there is none."""
    part, quality = "microphone", sounds.quality
    if sounds.error or quality is None:
        return (problem(part, sounds.error, "Available devices:", "arecord -l"),)
    how = f"{quality.level_db:.0f} dB, loudest {quality.peak:.0%}"
    faults = quality.faults()
    if SignalFault.MUTED in faults or SignalFault.SILENT in faults:
        return (_check_silence(faults[0], how),)
    found = [warning(part, f"{text} ({how})", *remedy) for text, *remedy in map(_FAULTS.__getitem__, faults)]
    if quality.level_db > _LOUD_DB and SignalFault.CLIPPED not in faults:
        advice = "Knocks are masked: turn it down, or look for a source of hum."
        found.append(warning(part, f"very loud ({how})", advice))
    if sounds.share < _MIN_SHARE:
        often = f", lost {sounds.lost} times" if sounds.lost else ""
        found.append(warning(part, f"sound is lost: {sounds.share:.0%} of it arrived{often}", _LOST))
    return tuple(found) or (ok(part, f"hears ({how}); {_unjudged_faults(quality)}"),)


def _check_silence(fault: SignalFault, how: str) -> Finding:
    advice = "Select it with F6, show it with F4, unmute it with M and turn it up with the up arrow:"
    if fault is SignalFault.MUTED:
        text = "digital silence: it is muted, or a noise gate is closed"
        return problem("microphone", text, f"A gate opens if you knock while the doctor listens. {advice}", _MIXER)
    return problem("microphone", f"silent ({how})", f"Is it muted? {advice}", _MIXER)


def _unjudged_faults(quality: SignalQuality) -> str:
    """Return which faults two seconds of sound could not show, because nobody knocked."""
    unknown = [] if quality.sounds else ["clipping", "noise gates"]
    if quality.is_band_limited is None:
        unknown.append("bandwidth")
    if not unknown:
        return "no clipping, no noise gate"
    return f"not checked without a louder sound: {', '.join(unknown)}; try `tallybone hardware test`"


@dataclass(frozen=True, slots=True)
class CameraSample:
    """Measurements of a camera and its image.

    Attributes:
        error: Reason why there is no image, or "".
        wide_px: Image width.
        high_px: Image height.
        per_s: Frames per second.
        grey: Mean grey value, 0 to 255.
        contrast: Standard deviation of the grey values.
        sharpness: Ratio of fine to coarse edges.
        glare: Fraction of white pixels, 0 to 1.
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
    """Measure the frame rate of a camera for four seconds, or until its pictures end, and its last image.

    Args:
        camera: The camera, which also provides the clock.
        wait: Sleeps for a number of seconds.
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
        return CameraSample(camera.problem or "it delivers no images")
    late_ns = [t_ns for t_ns in times_ns if t_ns - times_ns[0] >= _SETTLES_NS] or times_ns
    spans = len(late_ns) - 1
    per_s = spans * _NS_PER_S / (late_ns[-1] - late_ns[0]) if spans > 0 and late_ns[-1] > late_ns[0] else 0.0
    return seen_in(last.load(), per_s)


def seen_in(image: Image, per_s: float) -> CameraSample:
    """Measure an image of shape (H, W, 3), BGR."""
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
    """Return the strength of the finest edges relative to edges that defocus does not remove."""
    fine, coarse = cv2.GaussianBlur(grey, (0, 0), 1.0), cv2.GaussianBlur(grey, (0, 0), 4.0)
    edges = float(np.percentile(np.abs(fine - coarse), 99.5))
    return float(np.percentile(np.abs(grey - fine), 99.5)) / max(edges, 1e-3)


def check_camera(name: str, seen: CameraSample) -> tuple[Finding, ...]:
    """Check that size, frame rate, light and sharpness of a camera's image are good enough for reading tiles."""
    if seen.error:
        return (problem("camera", seen.error.removeprefix(f"{name}: "), "Available cameras:", "tallybone cameras"),)
    return _check_picture(name, seen), check_light(seen)


def _check_picture(name: str, seen: CameraSample) -> Finding:
    pace = f", {seen.per_s:.0f} a second" if seen.per_s else ""
    text = f"{name}: {seen.wide_px}x{seen.high_px}{pace}"
    if max(seen.wide_px, seen.high_px) < _WIDE_PX or min(seen.wide_px, seen.high_px) < _HIGH_PX:
        return warning("camera", text, "Tiles are too small. Use at least 1280x720.")
    # The frame rate of folders and videos does not matter.
    if name.startswith(_LIVE) and seen.per_s < _SLOW_PER_S:
        advice = "Slow. Add light, because exposure is longer in the dark, or use a separate USB port."
        return warning("camera", text, advice)
    return ok("camera", text)


def check_light(seen: CameraSample) -> Finding:
    """Check that light and sharpness of a camera's image are good enough for reading tiles."""
    part, grey, contrast = phrase("picture"), f"{seen.grey:.0f}", f"{seen.contrast:.0f}"
    if seen.contrast < _FLAT:
        text = phrase("uniform (grey {grey} of 255, contrast {contrast})", grey=grey, contrast=contrast)
        return problem(part, text, phrase("Is the lens cap on, or the table dark?"))
    if seen.grey < _DARK:
        text = phrase("dark (grey {grey} of 255, contrast {contrast})", grey=grey, contrast=contrast)
        return warning(part, text, phrase("Light the table with a lamp from the side, not next to the camera."))
    if seen.grey > _BRIGHT or seen.glare > _GLARE_SHARE:
        glare = f"{100 * seen.glare:.0f}"
        text = phrase("too bright (grey {grey} of 255, {glare} % white)", grey=grey, glare=glare)
        return warning(part, text, phrase("Point the lamp away from the table, or use a matt cloth."))
    edges = f"{seen.sharpness:.2f}"
    if seen.sharpness < _BLURRED:
        text = phrase("blurred (edges {edges}, at least {least} wanted)", edges=edges, least=f"{_BLURRED:.2f}")
        return warning(
            part,
            text,
            phrase(
                "Focus or clean the lens until pips are sharp. Put tiles on the table: an empty cloth looks blurred."
            ),
        )
    text = phrase("bright and sharp enough (grey {grey} of 255, edges {edges})", grey=grey, edges=edges)
    return ok(part, text)
