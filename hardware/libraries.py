"""Optional device libraries: the command that installs what is missing, and gpiozero pin factories."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote, urlsplit

_IN_ALL = frozenset({"many", "mqtt", "pi", "web"})


class InstalledFrom(NamedTuple):
    """The origin of this installation. *path* is the package name, or the path of a wheel or folder."""

    path: str
    is_editable: bool = False


def install_command(extra: str) -> str:
    """Return the shell command that adds extras of pyproject.toml to this installation, such as "web,mqtt".

    pipx and uv are recognized by the files that they write into a venv. Both replace the whole installation, so the
    command for them also names the extra `all`.
    """
    return command_for(extra, Path(sys.prefix), installed_from())


def command_for(extra: str, prefix: Path, source: InstalledFrom) -> str:
    """Return the command for the installation in *prefix*.

    >>> command_for("web", Path("/nowhere"), InstalledFrom("tallybone"))
    "/nowhere/bin/pip install 'tallybone[web]'"
    """
    extras = "all" if _IN_ALL.issuperset(extra.split(",")) else f"all,{extra}"
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx install --force '{source.path}[{extras}]'"
    if (prefix / "uv-receipt.toml").exists():
        return f"uv tool install --force '{source.path}[{extras}]'"
    is_active = sys.prefix == sys.base_prefix or os.environ.get("VIRTUAL_ENV") == str(prefix)
    pip = "pip" if is_active else f"{prefix}/bin/pip"
    sudo = "sudo " if prefix.exists() and not os.access(prefix, os.W_OK) else ""
    return f"{sudo}{pip} install {'-e ' if source.is_editable else ''}'{source.path}[{extra}]'"


def installed_from() -> InstalledFrom:
    """Return the origin that pip recorded (PEP 610): a wheel or folder that still exists, else the package name."""
    try:
        record = json.loads(distribution("tallybone").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        record = {}
    path = unquote(urlsplit(record.get("url", "")).path)
    if not Path(path).is_absolute() or not Path(path).exists():
        return InstalledFrom("tallybone")
    return InstalledFrom(path, is_editable=bool(record.get("dir_info", {}).get("editable")))


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
            from hardware.gpiod_pins import GpiodFactory

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
    """Import lgpio without leaving its named pipe or its working directory behind."""
    # On import lgpio changes to the directory LG_WD, if set, and creates a named pipe there, which programs with the
    # same directory would share. Both ends stay open, so the pipe can be deleted.
    if "lgpio" in sys.modules:
        return sys.modules["lgpio"]
    configured = os.environ.get("LG_WD")
    try:
        before = Path.cwd()
    except FileNotFoundError:  # it has been deleted
        before = Path("/")
    with tempfile.TemporaryDirectory(prefix="tallybone-lgpio-") as folder:
        os.environ["LG_WD"] = folder
        try:
            import lgpio
        finally:
            try:
                os.chdir(before)
            except OSError:  # lgpio's own is about to be deleted
                os.chdir("/")
            if configured is None:
                del os.environ["LG_WD"]
            else:
                os.environ["LG_WD"] = configured
    return lgpio


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
    """Detach pins from a chip that has disappeared, so that closing them does not access it."""
    # gpiozero closes devices again when they are garbage-collected. By then lgpio may have reused the handle for the
    # next chip, and closing would reset pins in use there. Pins of gpiod need no detaching.
    if hasattr(factory, "discard"):
        return
    for pin in [pin for pin in list(factory.pins.values()) if pin.factory is factory]:
        if pin._callback is not None:
            pin._callback.cancel()
        pin._callback, pin._pwm, pin.close = None, None, lambda: None


def _discard(factory: Any) -> None:
    """Release the chip of a factory whose chip has disappeared, to let it come back under the same number."""
    # LGPIOFactory.close cannot do this: it stops at the first pin that it cannot reset. gpiozero also shares pins and
    # reservations between all factories of a process, so the next factory would get the old pins.
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
