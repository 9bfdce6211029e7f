"""Open and close gpiozero pin factories.

The factory is chosen explicitly: gpiozero's default fails on a laptop and silently falls back on a Raspberry Pi.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from hardware.libraries.installing import install_command

_APT = "sudo apt install python3-lgpio (Raspberry Pi OS, Ubuntu), and a venv with --system-site-packages"
# Not None: lgpio must raise its own error for an invalid handle.
_INVALID_HANDLE = 0xFFFF


OpenPins: TypeAlias = Callable[[], Any]
"""Returns a gpiozero pin factory, or raises `PinError`."""


class PinError(Exception):
    """Pins cannot be used. The message suggests a fix."""


class PinLibrary(StrEnum):
    """What drives the pins. `AUTO` stands for lgpio if it is installed, else gpiod."""

    AUTO = "auto"
    LGPIO = "lgpio"
    GPIOD = "gpiod"
    MOCK = "mock"


def chosen(library: PinLibrary) -> PinLibrary:
    """Return the library that `AUTO` stands for here, and any other as it is.

    lgpio comes first because its own thread in C dims LEDs without flicker.
    """
    if library is not PinLibrary.AUTO:
        return library
    return PinLibrary.GPIOD if find_spec("lgpio") is None else PinLibrary.LGPIO


def pin_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions raised if a pin cannot be used.

    They include those of gpiod (OSError) and lgpio, such as "GPIO busy", which gpiozero does not wrap.
    """
    from gpiozero import GPIOZeroError

    # lgpio is not imported here: until something else loads it, its error cannot be raised.
    lgpio: Any = sys.modules.get("lgpio")
    return (GPIOZeroError, OSError, *([lgpio.error] if hasattr(lgpio, "error") else []))


def open_pins(library: PinLibrary) -> Any:
    """Return a gpiozero pin factory.

    Raises:
        PinError: If gpiozero or the pin library is missing, or the machine has no usable pins.
    """
    try:
        if library is PinLibrary.MOCK:
            from gpiozero.pins.mock import MockFactory, MockPWMPin

            return MockFactory(pin_class=MockPWMPin)
        if chosen(library) is PinLibrary.GPIOD:
            from hardware.libraries.gpiod_pins import GpiodFactory

            return _opened(GpiodFactory)
        lgpio = _lgpio()
        from gpiozero.pins.lgpio import LGPIOFactory
    except ImportError as error:
        # On Python 3.13 pip installs an empty lgpio (docs/explanation/dependencies.md), so the message names the apt
        # package.
        is_from_pip = error.name is not None and error.name.startswith(("gpiozero", "gpiod"))
        needed = install_command("pi") if is_from_pip else _APT
        raise PinError(f"buttons and LEDs need {error.name or 'a library'}: {needed}") from None
    except OSError as error:
        raise PinError(f"lgpio does not start ({error}): can this user write into /tmp?") from error
    if not hasattr(lgpio, "gpiochip_open"):
        raise PinError(f"the lgpio installed by pip is an empty package: {_APT}")
    return _opened(LGPIOFactory)


def _opened(factory: OpenPins) -> Any:
    try:
        return factory()
    except pin_errors() as error:
        raise PinError(f"the pins cannot be used ({error}): is this a Raspberry Pi, is the user in gpio?") from error


def _lgpio() -> Any:
    """Import lgpio without leaving its named pipe or its working directory behind.

    On import lgpio changes to the directory LG_WD, if set, and creates a named pipe there, which programs with the same
    directory would share. Both ends stay open, so the pipe can be deleted.
    """
    if "lgpio" in sys.modules:
        return sys.modules["lgpio"]
    before, configured = _working_directory(), os.environ.get("LG_WD")
    with tempfile.TemporaryDirectory(prefix="tallybone-lgpio-") as folder:
        os.environ["LG_WD"] = folder
        try:
            import lgpio
        finally:
            _change_directory(before)
            if configured is None:
                del os.environ["LG_WD"]
            else:
                os.environ["LG_WD"] = configured
    return lgpio


def _working_directory() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:  # it has been deleted
        return Path("/")


def _change_directory(folder: Path) -> None:
    """Change to *folder*, or to the root directory if that fails. lgpio's own is about to be deleted."""
    try:
        os.chdir(folder)
    except OSError:
        os.chdir("/")


def close_devices(devices: Iterable[Any], factory: Any) -> None:
    """Close gpiozero devices on pins of *factory*, even if its chip has disappeared."""
    if not is_connected(factory):
        _detach_pins(factory)
    for device in devices:
        with contextlib.suppress(*pin_errors()):
            device.close()


class SharedPins:
    """Pin factory shared by all parts. It is opened on first use, and reopened if its chip has disappeared."""

    def __init__(self, open_factory: OpenPins) -> None:
        """Share the factory that *open_factory* returns."""
        self._open = open_factory
        self._lock = threading.Lock()
        self._factory: Any = None

    def __call__(self) -> Any:
        """Return the factory. Thread-safe.

        Raises:
            PinError: If the factory cannot be opened.
        """
        with self._lock:
            if self._factory is not None and not is_connected(self._factory):
                _discard(self._factory)
                self._factory = None
            if self._factory is None:
                self._factory = self._open()
            return self._factory


def is_connected(factory: Any) -> bool:
    """Return True if the GPIO chip of a pin factory still responds. Always True for mock pins."""
    if hasattr(factory, "is_connected"):
        return bool(factory.is_connected())
    lgpio, handle = sys.modules.get("lgpio"), getattr(factory, "_handle", None)
    if lgpio is None or handle is None:
        return True
    try:
        lgpio.gpio_get_chip_info(handle)
    except lgpio.error:
        return False
    return True


def _detach_pins(factory: Any) -> None:
    """Detach pins from a chip that has disappeared, so that closing them does not access it.

    gpiozero closes devices again when they are garbage-collected. By then lgpio may have reused the handle for the next
    chip, and closing would reset pins in use there. Pins of gpiod need no detaching.
    """
    if hasattr(factory, "discard"):
        return
    for pin in [pin for pin in list(factory.pins.values()) if pin.factory is factory]:
        if pin._callback is not None:
            pin._callback.cancel()
        pin._callback, pin._pwm, pin.close = None, None, lambda: None


def _discard(factory: Any) -> None:
    """Release the chip of a factory whose chip has disappeared, to let it come back under the same number.

    LGPIOFactory.close cannot do this: it stops at the first pin that it cannot reset. gpiozero also shares pins and
    reservations between all factories of a process, so the next factory would get the old pins.
    """
    if hasattr(factory, "discard"):
        factory.discard()
        return
    _detach_pins(factory)
    factory.pins.clear()
    factory._reservations.clear()
    handle, factory._handle = factory._handle, _INVALID_HANDLE
    lgpio = sys.modules["lgpio"]
    with contextlib.suppress(lgpio.error):
        lgpio.gpiochip_close(handle)
