"""Check config.txt and the kernel command line against the configured parts, and the installed libraries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from hardware.display.drivers import UARTS
from hardware.knock.drivers.microphone import MicrophoneSettings, MicrophoneWire
from hardware.leds.drivers.strip import StripSettings
from hardware.libraries import PinLibrary, chosen, install_command
from hardware.part import NeededLibrary, SpiPort, pins_used
from hardware.table import DisplaySettings, HardwareSettings
from tallybone.finding import Finding, ok, problem, warning

_SECTION = re.compile(r"\[(.+)\]$")
_CONSOLES = ("serial0", "ttyS0", "ttyAMA0")
_SPI1_CHIPS = 3
_AUTO_CAMERA = "camera_auto_detect"


class PiModel(StrEnum):
    """Raspberry Pi model. The values are section names of config.txt."""

    PI3 = "pi3"
    PI4 = "pi4"
    PI5 = "pi5"
    ZERO2 = "pi02"
    OTHER = "other"


# First match wins. Pi 400 and compute modules use the section of the Pi they are based on.
_BOARDS = (
    ("Pi 400", PiModel.PI4), ("Pi 500", PiModel.PI5), ("Module 4", PiModel.PI4), ("Module 5", PiModel.PI5),
    ("Zero 2", PiModel.ZERO2), ("Pi 5", PiModel.PI5), ("Pi 4", PiModel.PI4), ("Pi 3", PiModel.PI3),
)  # fmt: skip


def board_of(model: str) -> PiModel:
    """Return the board for a device tree model name, OTHER if unknown.

    >>> board_of("Raspberry Pi 5 Model B Rev 1.0")
    <PiModel.PI5: 'pi5'>
    """
    return next((board for name, board in _BOARDS if name in model), PiModel.OTHER)


@dataclass(frozen=True, slots=True)
class Boot:
    """Boot configuration of a Raspberry Pi.

    Attributes:
        board: Model.
        path: Path of config.txt, or "" if there is none.
        kernel_line: Kernel command line.
    """

    board: PiModel
    path: str
    config: str
    kernel_line: str

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Settings that apply to this board, in order, such as `("dtparam", "spi=on")`."""
        return settings_of(self.config, self.board)

    @property
    def ends_elsewhere(self) -> bool:
        """True if a line appended to config.txt would not apply to this board, because of the last section."""
        return ("end", "here") not in settings_of(f"{self.config}\nend=here", self.board)

    def value(self, key: str) -> str | None:
        """Return the last value of a key that applies to this board, or None."""
        return next((value for name, value in reversed(self.settings) if name == key), None)

    def param(self, name: str) -> str | None:
        """Return the last value of a device tree parameter ("on" if it has no value), or None."""
        found = None
        for value in (value for key, value in self.settings if key == "dtparam"):
            for one in value.split(","):
                parameter, _, setting = one.partition("=")
                found = (setting or "on") if parameter.strip() == name else found
        return found

    def is_on(self, name: str) -> bool:
        """Check if a device tree parameter is enabled."""
        return self.param(name) in ("on", "yes", "true", "1")

    def overlay(self, begin: str) -> str | None:
        """Return the last overlay whose name starts with *begin*, with its parameters, or None."""
        named = (value for key, value in reversed(self.settings) if key == "dtoverlay")
        return next((value for value in named if value.startswith(begin)), None)


def settings_of(config: str, board: PiModel) -> tuple[tuple[str, str], ...]:
    r"""Parse config.txt and return the settings that apply to a board.

    >>> settings_of("dtparam=spi=on\n[pi5]\ndtparam=uart0=on", PiModel.PI4)
    (('dtparam', 'spi=on'),)
    """
    found: list[tuple[str, str]] = []
    counts = True
    for line in (line.partition("#")[0].strip() for line in config.splitlines()):
        section = _SECTION.match(line)
        if section:
            counts = section[1] == "all" or _is_for(section[1], board)
        elif counts and "=" in line:
            key, _, value = line.partition("=")
            found.append((key.strip(), value.strip()))
    return tuple(found)


def _is_for(section: str, board: PiModel) -> bool:
    """Check if a section applies to a board. A Zero 2 W also reads [pi0]."""
    return section == board or (board is PiModel.ZERO2 and section == "pi0")


_CORE_HZ = {PiModel.PI4: "500", PiModel.PI3: "250", PiModel.ZERO2: "250"}


def check_boot(boot: Boot, hardware: HardwareSettings, camera: str) -> tuple[Finding, ...]:
    """Check the boot configuration for the configured parts. Parts that need no setting give no finding."""
    return (
        *_check_spi(boot, hardware),
        *_check_core_clock(boot, hardware),
        *_check_i2s(boot, hardware),
        *(finding for display in hardware.displays for finding in _check_serial(boot, display)),
        *_check_camera(boot, camera),
        *_check_pins(boot, hardware),
    )


def _add(boot: Boot, *settings: str) -> tuple[str, ...]:
    """Return the shell commands that append settings for this board to config.txt and reboot."""
    lines = ("[all]", *settings) if boot.ends_elsewhere else settings
    path = boot.path or "/boot/firmware/config.txt"
    return (*(f"echo '{line}' | sudo tee -a {path}" for line in lines), "sudo reboot")


def spi_ports(hardware: HardwareSettings) -> tuple[SpiPort, ...]:
    """Return the distinct SPI ports used by parts."""
    return tuple(dict.fromkeys(part.spi_port for part in hardware.parts if part.spi_port is not None))


def _check_spi(boot: Boot, hardware: HardwareSettings) -> Iterator[Finding]:
    for port in spi_ports(hardware):
        if port.bus == 0:
            is_on, setting = boot.is_on("spi"), "dtparam=spi=on"
        else:
            overlays = [boot.overlay(f"spi1-{chips}cs") for chips in range(port.chip + 1, _SPI1_CHIPS + 1)]
            is_on, setting = any(overlays), f"dtoverlay=spi1-{port.chip + 1}cs"
        part = f"SPI {port.bus}"
        if is_on:
            yield ok(part, "switched on")
        else:
            yield problem(part, "switched off", "Switch it on and restart:", *_add(boot, setting))


def _check_core_clock(boot: Boot, hardware: HardwareSettings) -> Iterator[Finding]:
    """If there is an LED strip, check that the SPI clock is fixed, because strips decode bits by their duration."""
    hz = _CORE_HZ.get(boot.board)
    if hz is None or not any(isinstance(leds, StripSettings) for leds in hardware.leds):
        return
    wanted = ("core_freq", "core_freq_min") if boot.board is PiModel.PI4 else ("core_freq",)
    missing = [f"{key}={hz}" for key in wanted if boot.value(key) != hz]
    if missing:
        text = "the SPI clock changes with the load of the Pi, so strips flicker"
        yield warning("strip", text, "Fix the clock and restart:", *_add(boot, *missing))
    else:
        yield ok("strip", "the SPI clock is fixed")


def _check_i2s(boot: Boot, hardware: HardwareSettings) -> Iterator[Finding]:
    if not isinstance(hardware.knock, MicrophoneSettings) or hardware.knock.wire is not MicrophoneWire.I2S:
        return
    overlays = ("googlevoicehat-soundcard", "i2s-mems", "adau7002", "i2s-mic", "rpi-i2s", "simple-audio-card")
    if any(boot.overlay(name) for name in overlays):
        yield ok("I2S", "a microphone is switched on")
    else:
        setting = "dtoverlay=googlevoicehat-soundcard"
        yield problem(
            "I2S",
            "no I2S microphone is enabled",
            "For an INMP441, SPH0645 or ICS-43434, enable it and restart:",
            *_add(boot, setting),
        )


def _check_serial(boot: Boot, display: DisplaySettings) -> Iterator[Finding]:
    if display.location not in UARTS:
        return
    if boot.board is PiModel.PI5:
        is_on, setting = boot.is_on("uart0"), "dtparam=uart0=on"
    else:
        is_on, setting = boot.value("enable_uart") == "1", "enable_uart=1"
    if not is_on:
        yield problem("serial", "switched off", "Switch it on and restart:", *_add(boot, setting))
    elif any(f"console={name}" in boot.kernel_line for name in _CONSOLES):
        yield problem(
            "serial",
            "the system console prints to the display",
            "Disable the serial console and restart:",
            "sudo raspi-config nonint do_serial_cons 1",
            "sudo reboot",
        )
    elif boot.board is PiModel.PI5 and display.location == "/dev/serial0":
        text = "on a Pi 5, /dev/serial0 may be the debug connector between the HDMI ports, not the pins"
        yield warning("serial", text, 'Set url = "/dev/ttyAMA0" in table.toml.')
    else:
        yield ok("serial", "switched on and free")


def _check_camera(boot: Boot, camera: str) -> Iterator[Finding]:
    if boot.value("start_x") == "1" and camera.startswith("pi:"):
        yield problem(
            "camera",
            "start_x=1 enables the legacy camera stack, which hides the camera from libcamera",
            "Remove it and restart:",
            f"sudo sed -i '/^start_x=1/d' {boot.path}",
            "sudo reboot",
        )
    if camera.startswith("pi:") and boot.value(_AUTO_CAMERA) == "0" and not any(map(boot.overlay, ("imx", "ov"))):
        yield problem(
            "camera",
            "camera detection is disabled",
            "Enable it and restart:",
            *_add(boot, f"{_AUTO_CAMERA}=1"),
        )


def _check_pins(boot: Boot, hardware: HardwareSettings) -> Iterator[Finding]:
    """Report pins that a configured part needs but config.txt uses for something else."""
    # Pins of SPI, I2S and UART buses are not checked.
    taken = taken_pins(boot)
    for use in pins_used(hardware.parts):
        if use.pin in taken and not use.what.startswith(("SPI", "I2S", "UART")):
            text = f"GPIO {use.pin} is configured for the {use.what}, but {taken[use.pin]} in config.txt uses it"
            yield problem("pins", text, f"Remove that line from {boot.path} and restart, or use another pin.")


def taken_pins(boot: Boot) -> dict[int, str]:
    """Return the pins (BCM) that known settings in config.txt assign, each with its setting."""
    taken: dict[int, str] = {}
    params = {"spi": (7, 8, 9, 10, 11), "i2c_arm": (2, 3), "i2s": (18, 19, 20, 21), "uart0": (14, 15)}
    overlays = {"w1-gpio": 4, "gpio-fan": 12, "gpio-ir": 18, "gpio-shutdown": 3, "gpio-poweroff": 26}
    for name, pins in params.items():
        if boot.is_on(name):
            taken |= dict.fromkeys(pins, f"dtparam={name}=on")
    if boot.value("enable_uart") == "1":
        taken |= dict.fromkeys((14, 15), "enable_uart=1")
    for name, usual in overlays.items():
        line = boot.overlay(name)
        if line is not None:
            given = dict(one.partition("=")[::2] for one in line.split(",")[1:])
            pin = given.get("gpiopin") or given.get("gpio_pin") or str(usual)
            taken |= {int(pin): f"dtoverlay={line}"} if pin.isdecimal() else {}
    if boot.overlay("googlevoicehat"):
        taken |= dict.fromkeys((18, 19, 20, 21), "dtoverlay=googlevoicehat-soundcard")
    return taken


@dataclass(frozen=True, slots=True)
class Library:
    """Installation state of a library.

    Attributes:
        version: Installed version. None if it is not installed.
        error: Import error in one line. "" if the import succeeded.
    """

    version: str | None
    error: str


@dataclass(frozen=True, slots=True)
class Venv:
    """Virtual environment of this process.

    Attributes:
        path: Path of the virtual environment. "" outside of one.
        sees_system: True if the process can import system packages (apt).
    """

    path: str
    sees_system: bool


_CORE = (
    NeededLibrary("numpy", "numpy", "all pictures", oldest=(2, 0)),
    NeededLibrary("cv2", "opencv-python-headless", "all pictures", oldest=(4, 12)),
)
_GPIOZERO = NeededLibrary("gpiozero", "gpiozero", "LEDs and buttons on pins", oldest=(2, 0))
_LGPIO = NeededLibrary("lgpio", "lgpio", "LEDs and buttons on pins", "python3-lgpio", probe="gpiochip_open")
_GPIOD = NeededLibrary("gpiod", "gpiod", "LEDs and buttons on pins", oldest=(2, 2))
_PINS = {PinLibrary.LGPIO: (_GPIOZERO, _LGPIO), PinLibrary.GPIOD: (_GPIOZERO, _GPIOD), PinLibrary.MOCK: (_GPIOZERO,)}
_SPIDEV = NeededLibrary("spidev", "spidev", "strips and piezos on SPI", "python3-spidev", probe="SpiDev")
_PICAMERA = NeededLibrary("picamera2", "picamera2", "the camera of the Pi", "python3-picamera2", probe="Picamera2")


def wanted_by(hardware: HardwareSettings, camera: str) -> tuple[NeededLibrary, ...]:
    """Return the libraries required by the parts of a table."""
    has_pins = any(part.pin_uses for part in hardware.parts)
    has_spi = any(part.spi_port for part in hardware.parts)
    return (
        *_CORE,
        *(_PINS[chosen(hardware.pins)] if has_pins else ()),
        *((_SPIDEV,) if has_spi else ()),
        *((_PICAMERA,) if camera.startswith("pi:") else ()),
        *dict.fromkeys(one for part in hardware.parts for one in part.libraries),
    )


def check_library(wanted: NeededLibrary, library: Library, venv: Venv) -> Finding:
    """Check the state of a library. If it is missing, broken or too old, suggest how to install it."""
    name = wanted.package
    part = name.removesuffix("-python-headless")
    if not library.error:
        oldest = ".".join(map(str, wanted.oldest))
        # The first two numbers of a version as a tuple. Versions that cannot be parsed count as new.
        parts = (library.version or "").split(".")[:2]
        numbers = tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else (1_000_000, 0)
        if numbers < wanted.oldest:
            text = f"{library.version} is too old, probably from apt"
            return problem(part, text, f"Tallybone needs {oldest}:", f"pip install '{name}>={oldest}'")
        return ok(part, f"{library.version or 'installed'}, for {wanted.why}")
    missing = f"No module named '{wanted.module}'" in library.error
    text = f"missing; needed for {wanted.why}" if missing else library.error
    return problem(part, text, *_how(wanted, library, venv))


def _how(wanted: NeededLibrary, library: Library, venv: Venv) -> Iterator[str]:
    """Yield advice for fixing a library, followed by commands."""
    if "dtype size changed" in library.error or "compiled using NumPy 1" in library.error:
        # Bookworm's python3-picamera2 and simplejpeg are built for numpy 1. OpenCV wheels from 4.12 on need numpy 2.
        yield "The apt package is built for numpy 1, but OpenCV needs numpy 2. Use Raspberry Pi OS 13 (trixie), or:"
        yield "pip install --upgrade simplejpeg picamera2"
    elif "PortAudio" in library.error:
        yield "It needs a system library:"
        yield "sudo apt install libportaudio2"
    elif wanted.apt:
        yield from _from_apt(wanted, library, venv)
    else:
        yield "Install it:"
        yield install_command("pi") if wanted.module not in ("numpy", "cv2") else f"pip install '{wanted.package}'"


def _from_apt(wanted: NeededLibrary, library: Library, venv: Venv) -> Iterator[str]:
    is_hidden = bool(venv.path) and not venv.sees_system
    is_without_half = wanted.module == "picamera2" and "libcamera" in library.error
    is_stub = wanted.module == "lgpio" and "gpiochip_open" in library.error
    if is_stub:
        yield "pip installed an empty package, because it has none for this Python. Use the one from apt instead:"
        yield "pip uninstall -y lgpio"
    elif is_without_half:
        yield "picamera2 from pip lacks libcamera. Use the one from apt, which includes it:"
        yield "pip uninstall -y picamera2"
    elif is_hidden:
        yield f"It is a system package, which the venv {venv.path} cannot access. Give it access:"
    else:
        yield "Install the system package:"
    yield f"sudo apt install {wanted.apt}"
    if is_hidden:
        yield f"python3 -m venv --system-site-packages {venv.path}"
