"""Choose gpiozero's pin factory by name; its own guess raises on a laptop and falls back on a Pi."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

_APT = "sudo apt install python3-lgpio (Raspberry Pi OS, Ubuntu), and a venv with --system-site-packages"
# No handle of lgpio, and no None either: whatever is done with it is an error of lgpio.
_NO_HANDLE = 0xFFFF


OpenPins: TypeAlias = Callable[[], Any]
"""Returns a pin factory of gpiozero, or raises `PinError`."""


class PinError(Exception):
    """Pins that cannot be driven; the message says what to install or to do."""


class PinLibrary(StrEnum):
    """What drives the pins."""

    LGPIO = "lgpio"
    MOCK = "mock"


def pin_errors() -> tuple[type[Exception], ...]:
    """Return what is raised where a pin cannot be used: gpiozero lets the errors of lgpio through ("GPIO busy")."""
    from gpiozero import GPIOZeroError

    # What has not been imported raises nothing.
    lgpio: Any = sys.modules.get("lgpio")
    return (GPIOZeroError, lgpio.error) if hasattr(lgpio, "error") else (GPIOZeroError,)


def open_pins(library: PinLibrary) -> Any:
    """Return a pin factory of gpiozero.

    Raises:
        PinError: If gpiozero or the library is missing, or this machine has no pins.
    """
    try:
        if library is PinLibrary.MOCK:
            from gpiozero.pins.mock import MockFactory, MockPWMPin

            return MockFactory(pin_class=MockPWMPin)
        lgpio = _lgpio()
        from gpiozero import GPIOZeroError
        from gpiozero.pins.lgpio import LGPIOFactory
    except ImportError as error:
        # On Python 3.13 pip installs an empty lgpio (docs/dependencies.md), so apt's package is named.
        is_gpiozero = error.name is not None and error.name.startswith("gpiozero")
        needed = "pip install 'tallybone[pi]'" if is_gpiozero else _APT
        raise PinError(f"buttons and LEDs need {error.name or 'a library'}: {needed}") from None
    except OSError as error:
        raise PinError(f"lgpio does not start ({error}): can this user write into /tmp?") from error
    if not hasattr(lgpio, "gpiochip_open"):
        raise PinError(f"the lgpio that pip has installed is empty: {_APT}")
    try:
        return LGPIOFactory()
    except (GPIOZeroError, lgpio.error, OSError) as error:
        raise PinError(f"the pins cannot be used ({error}): is this a Raspberry Pi, is the user in gpio?") from error


def _lgpio() -> Any:
    """Import lgpio, and leave neither its pipe nor its working folder behind.

    As it is imported it goes into the folder LG_WD, or stays in the present one, and makes a pipe there that other
    programs with the same folder would share. Both ends are open from then on, so the name can go.
    """
    if "lgpio" in sys.modules:
        return sys.modules["lgpio"]
    before, wished = _present_folder(), os.environ.get("LG_WD")
    with tempfile.TemporaryDirectory(prefix="tallybone-lgpio-") as folder:
        os.environ["LG_WD"] = folder
        try:
            import lgpio
        finally:
            _enter(before)
            if wished is None:
                del os.environ["LG_WD"]
            else:
                os.environ["LG_WD"] = wished
    return lgpio


def _present_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:  # somebody has deleted it
        return Path("/")


def _enter(folder: Path) -> None:
    """Go into a folder, or to the root where this user may not: lgpio has gone elsewhere, and that one is deleted."""
    try:
        os.chdir(folder)
    except OSError:
        os.chdir("/")


def let_go(devices: Iterable[Any], factory: Any) -> None:
    """Close devices of gpiozero on pins of *factory*, whose chip may have gone."""
    if not is_there(factory):
        _disarm(factory)
    for device in devices:
        with contextlib.suppress(*pin_errors()):
            device.close()


class SharedPins:
    """One pin factory for all parts. It is opened when the first of them needs it, and anew when its chip has gone."""

    def __init__(self, open_factory: OpenPins) -> None:
        """Open it with *open_factory*, which may raise PinError."""
        self._open = open_factory
        self._lock = threading.Lock()
        self._factory: Any = None

    def __call__(self) -> Any:
        """Return the factory; any thread may ask.

        Raises:
            PinError: If there are no pins.
        """
        with self._lock:
            if self._factory is not None and not is_there(self._factory):
                _retire(self._factory)
                self._factory = None
            if self._factory is None:
                self._factory = self._open()
            return self._factory


def is_there(factory: Any) -> bool:
    """Return whether the chip behind a pin factory still answers; mock pins always do."""
    lgpio, handle = sys.modules.get("lgpio"), getattr(factory, "_handle", None)
    if lgpio is None or handle is None:
        return True
    try:
        lgpio.gpio_get_chip_info(handle)
    except lgpio.error:
        return False
    return True


def _disarm(factory: Any) -> None:
    """Let devices on a chip that has gone be closed without asking it.

    gpiozero closes them again when they are collected. By then lgpio may have given their handle to the next chip, and
    pins that somebody uses there would be reset.
    """
    for pin in [one for one in list(factory.pins.values()) if one.factory is factory]:
        if pin._callback is not None:
            pin._callback.cancel()
        pin._callback, pin._pwm, pin.close = None, None, lambda: None


def _retire(factory: Any) -> None:
    """Give back the chip of a factory that has gone, under whose number it has to come back.

    LGPIOFactory.close ends at the first pin that cannot be reset. And gpiozero keeps pins and reservations for all
    factories of a process: the next one would be given the old pins.
    """
    _disarm(factory)
    factory.pins.clear()
    factory._reservations.clear()
    handle, factory._handle = factory._handle, _NO_HANDLE
    lgpio = sys.modules["lgpio"]
    with contextlib.suppress(lgpio.error):
        lgpio.gpiochip_close(handle)
