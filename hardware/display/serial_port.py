"""Serial ports of pyserial, local or on another machine."""

from __future__ import annotations

import termios
from typing import Any

from hardware.display.display import DisplayError
from hardware.display.link import OpenPort
from hardware.libraries.installing import install_command

# Write timeout. A display that accepts nothing for longer is unplugged, or its adapter hangs.
_WRITES_S = 1.0


class SerialPort:
    """An open serial port."""

    def __init__(self, serial: Any) -> None:
        """Use an open port of pyserial."""
        self._serial = serial

    def write(self, data: bytes) -> None:
        """Send bytes."""
        self._serial.write(data)

    def read(self) -> bytes:
        """Return the bytes received so far."""
        waiting = self._serial.in_waiting
        return bytes(self._serial.read(waiting)) if waiting else b""

    def close(self) -> None:
        """Close the port."""
        self._serial.close()


def serial_port(url: str, baud: int) -> OpenPort:
    """Return a function that opens a serial port.

    Args:
        url: Path such as /dev/ttyUSB0, or a URL of pyserial: `socket://`, `rfc2217://`, `loop://`.
        baud: Bits per second.

    Raises:
        DisplayError: If pyserial is not installed, or does not support the URL.
    """
    try:
        import serial
    except ImportError:
        raise DisplayError(f"score displays need pyserial: {install_command('pi')}") from None
    try:
        serial.serial_for_url(url, do_not_open=True)
    except ValueError as error:
        raise DisplayError(f"{url}: expected a port such as /dev/ttyUSB0 or socket://host:port ({error})") from None

    def open_port() -> SerialPort:
        # Exclusive, because two programs on one display would interleave their bytes.
        options = {"exclusive": True} if "://" not in url else {}
        try:
            port = serial.serial_for_url(url, baudrate=baud, timeout=0, write_timeout=_WRITES_S, **options)
        except termios.error as error:  # Not wrapped by pyserial if the port disappears while it is opened.
            raise OSError(*error.args) from None
        return SerialPort(port)

    return open_port
