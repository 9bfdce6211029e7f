"""What gpiozero drives pins with, always chosen by name: its own guess raises on a laptop and falls back on a Pi."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

_APT = "sudo apt install python3-lgpio, and a venv with --system-site-packages"


class PinError(Exception):
    """Pins that cannot be driven; the message says what to install or to do."""


class PinLibrary(StrEnum):
    """What drives the pins."""

    LGPIO = "lgpio"
    MOCK = "mock"


def pin_errors() -> tuple[type[Exception], ...]:
    """Return what is raised where a pin cannot be used: gpiozero lets the errors of lgpio through ("GPIO busy")."""
    from gpiozero import GPIOZeroError

    try:
        import lgpio
    except ImportError:
        return (GPIOZeroError,)
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
        import lgpio
        from gpiozero import GPIOZeroError
        from gpiozero.pins.lgpio import LGPIOFactory
    except ImportError as error:
        # On Python 3.13 pip installs an empty lgpio (docs/dependencies.md), so apt's package is named.
        is_gpiozero = error.name is not None and error.name.startswith("gpiozero")
        needed = "pip install 'tallybone[pi]'" if is_gpiozero else _APT
        raise PinError(f"buttons and LEDs need {error.name or 'a library'}: {needed}") from None
    if not hasattr(lgpio, "gpiochip_open"):
        raise PinError(f"the lgpio that pip has installed is empty: {_APT}")
    try:
        return LGPIOFactory()
    except (GPIOZeroError, lgpio.error, OSError) as error:
        raise PinError(f"the pins cannot be used ({error}): is this a Raspberry Pi, is the user in gpio?") from error
