"""Check that the libraries of the parts are installed, complete and compatible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hardware.config.part import NeededLibrary
from hardware.libraries.installing import install_command
from hardware.libraries.pin_factory import PinLibrary, chosen
from hardware.table.settings import HardwareSettings
from tallybone.finding import Finding, ok, problem


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
        if _numbers(library.version) < wanted.oldest:
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


def _numbers(version: str | None) -> tuple[int, ...]:
    """Return the first two numbers of a version as a tuple. Versions that cannot be parsed count as new."""
    parts = (version or "").split(".")[:2]
    return tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else (1_000_000, 0)
