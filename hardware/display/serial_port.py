"""A wire of pyserial: any of its URLs, a device of its own or one on another machine."""

from __future__ import annotations

import termios
from typing import Any

from hardware.display.display import DisplayError
from hardware.display.link import OpenPort

# A display that takes nothing for so long is gone, or its adapter hangs.
_WRITES_S = 1.0


class SerialPort:
    """An open port of pyserial."""

    def __init__(self, serial: Any) -> None:
        """Use what pyserial has opened."""
        self._serial = serial

    def write(self, data: bytes) -> None:
        """Send some bytes."""
        self._serial.write(data)

    def read(self) -> bytes:
        """Return what has come."""
        waiting = self._serial.in_waiting
        return bytes(self._serial.read(waiting)) if waiting else b""

    def close(self) -> None:
        """Close the port."""
        self._serial.close()


def serial_port(url: str, baud: int) -> OpenPort:
    """Return what opens a port at *baud* bits a second.

    Args:
        url: A path such as /dev/ttyUSB0, or any URL of pyserial: `socket://`, `rfc2217://`, `loop://`.

    Raises:
        DisplayError: If pyserial is not installed, or knows no such URL.
    """
    try:
        import serial
    except ImportError:
        raise DisplayError("score displays need pyserial: pip install 'tallybone[pi]'") from None
    try:
        serial.serial_for_url(url, do_not_open=True)
    except ValueError as error:
        raise DisplayError(f"{url}: expected a port such as /dev/ttyUSB0 or socket://host:port ({error})") from None

    def opened() -> SerialPort:
        # Nothing may be waited for when reading; exclusive, because two programs on one display would mix their bytes.
        kind = {"exclusive": True} if "://" not in url else {}
        try:
            port = serial.serial_for_url(url, baudrate=baud, timeout=0, write_timeout=_WRITES_S, **kind)
        except termios.error as error:  # pyserial lets it through where a port goes while it is being opened
            raise OSError(*error.args) from None
        return SerialPort(port)

    return opened
