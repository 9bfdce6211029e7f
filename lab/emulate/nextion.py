"""Emulated Nextion HMI with the page of docs/reference/nextion.md, including its buffer and replies."""

from __future__ import annotations

import re

from hardware.display.drivers.nextion import FIELDS, MESSAGE_CHARACTERS, NAME_CHARACTERS, POINTS_CHARACTERS
from lab.emulate.firmware import Firmware

_MS = 1_000_000
_END = b"\xff\xff\xff"
_BOOTS_NS, _DRAWS_NS, _BYTE_NS = 300 * _MS, 3 * _MS, 20_000
_BUFFER_BYTES = 1024
_STARTED, _READY = b"\x00\x00\x00", b"\x88"
_INVALID, _NO_VARIABLE, _OVERFLOW, _ON_PAGE = b"\x00", b"\x1a", b"\x24", b"\x66\x00"
# Queries of the Nextion editor, and the reply of an NX4832T035: touch, address, model, firmware, chip, number, flash.
_LISTEN, _CONNECT = b"DRAKJHSUYDGBNCJHGJKSHBDN", b"connect"
_CONNECT_REPLY = b"comok 1,30601-0,NX4832T035_011R,163,61488,D264B8204F0E1828,16777216"
_TEXT = re.compile(rb'(\w+)\.txt="((?:[^"\\]|\\.)*)"', re.DOTALL)
# Settings with a trailing s are persistent. wepo writes user EEPROM.
_STORES = re.compile(rb"(bauds|dims|wepo|recmods)\b")
_LENGTHS = {"n": NAME_CHARACTERS, "p": POINTS_CHARACTERS, "t": 1, "m": MESSAGE_CHARACTERS}


class EmulatedNextion(Firmware):
    """A Nextion with the page for four players."""

    def __init__(self, *, baud: int = 9600) -> None:
        """Create a display without power."""
        super().__init__(baud=baud, uart_bytes=_BUFFER_BYTES, ring_bytes=_BUFFER_BYTES)
        self._sent = b""
        self._reported_lost = 0
        self._starts_ns: int | None = None
        self._restart()

    def power_on(self, t_ns: int) -> None:
        """Start with empty texts. Once booted, the display sends its start messages."""
        self._restart()
        self._sent, self._starts_ns = b"", t_ns + _BOOTS_NS
        self._intake.power_on(self._starts_ns)

    def receive(self, data: bytes, t_ns: int) -> None:
        """Receive bytes. Sends an overflow message if bytes were lost."""
        super().receive(data, t_ns)
        if self.lost_bytes > self._reported_lost:
            self._reported_lost = self.lost_bytes
            self._sent += _OVERFLOW + _END

    def screen(self, t_ns: int) -> tuple[str, ...]:
        """Return the texts of the fields."""
        self._intake.run_until(t_ns)
        if self._starts_ns is not None and t_ns >= self._starts_ns:
            self._sent, self._starts_ns = _STARTED + _END + _READY + _END + self._sent, None
        return tuple(self._texts[name] for name in FIELDS)

    def replies(self) -> bytes:
        """Return the bytes sent since the last call."""
        sent, self._sent = self._sent, b""
        return sent

    def _restart(self) -> None:
        self._texts = dict.fromkeys(FIELDS, "")
        self._line = b""

    def _process(self, byte: int, t_ns: int) -> int:
        self._line += bytes((byte,))
        if not self._line.endswith(_END):
            return _BYTE_NS
        line, self._line = self._line.removesuffix(_END), b""
        return self._execute(line) if line else _BYTE_NS

    def _execute(self, line: bytes) -> int:
        text = _TEXT.fullmatch(line)
        if text is not None:
            return self._set_text(text[1].decode("ascii", "replace"), text[2].decode("latin-1"))
        if line in (_LISTEN, _CONNECT):
            self._sent += _CONNECT_REPLY + _END if line == _CONNECT else b""
            return _BYTE_NS
        known = re.fullmatch(
            rb"bkcmd=\d|page \d+|sendme|(ref|vis|get|dim|dims|baud|bauds|wepo|rest|recmods?)\b.*", line
        )
        if known is None:
            self._sent += _INVALID + _END
            return _BYTE_NS
        self._commands.append(line.decode("latin-1"))
        self._writes += _STORES.match(line) is not None
        self._sent += _ON_PAGE + _END if line == b"sendme" else b""
        return _BYTE_NS

    def _set_text(self, name: str, text: str) -> int:
        if name not in self._texts:
            self._sent += _NO_VARIABLE + _END
            return _BYTE_NS
        self._texts[name] = text[: _LENGTHS[name[0]]]
        return _DRAWS_NS
