"""Firmware of score displays: what each shows for the bytes that it receives."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from enum import Enum, auto
from typing import TypeAlias

from hardware.display.drivers.nextion import FIELDS, MESSAGE_CHARACTERS, NAME_CHARACTERS, POINTS_CHARACTERS

# Base class of emulated firmware, and its receive buffers.
#
# Bytes arrive at the baud rate and are lost if a buffer is full.


_BITS_PER_BYTE = 10
_NS_PER_S = 1_000_000_000

ProcessByte: TypeAlias = Callable[[int, int], int]
"""Processes a byte at a time, and returns for how many nanoseconds the firmware is busy."""


class Intake:
    """Two ring buffers: an interrupt fills the one of the UART, and the main loop moves bytes to the firmware's own."""

    def __init__(self, process: ProcessByte, *, baud: int, uart_bytes: int, ring_bytes: int) -> None:
        """Pass each received byte to *process*."""
        self._process, self._uart_bytes, self._ring_bytes = process, uart_bytes, ring_bytes
        self._byte_ns = _BITS_PER_BYTE * _NS_PER_S // baud
        self._uart: deque[tuple[int, int]] = deque()
        self._ring: deque[int] = deque()
        self._line_free_ns = self._free_ns = self._ready_ns = 0
        self.lost_bytes = 0

    def power_on(self, ready_ns: int) -> None:
        """Clear the buffers, and ignore input until *ready_ns*."""
        self._uart.clear()
        self._ring.clear()
        self._ready_ns = self._free_ns = ready_ns

    def receive(self, data: bytes, t_ns: int) -> None:
        """Receive bytes one after the other, at the baud rate."""
        for byte in data:
            self._line_free_ns = at_ns = max(t_ns, self._line_free_ns) + self._byte_ns
            self.run_until(at_ns)
            if at_ns < self._ready_ns:
                continue
            if len(self._uart) < self._uart_bytes:
                self._uart.append((at_ns, byte))
            else:
                self.lost_bytes += 1

    def run_until(self, t_ns: int) -> None:
        """Run the firmware until *t_ns*."""
        while self._free_ns <= t_ns:
            if not self._ring:
                self._copy()
            if not self._ring:
                return
            byte = self._ring.popleft()
            self._free_ns += self._process(byte, self._free_ns)

    def _copy(self) -> None:
        """Move bytes from the UART to the ring, as the main loop does when the ring is empty."""
        if self._uart:
            self._free_ns = max(self._free_ns, self._uart[0][0])
        while self._uart and self._uart[0][0] <= self._free_ns:
            _, byte = self._uart.popleft()
            if len(self._ring) < self._ring_bytes:
                self._ring.append(byte)
            else:
                self.lost_bytes += 1


class Firmware(ABC):
    """Firmware that processes its input byte by byte."""

    def __init__(self, *, baud: int, uart_bytes: int, ring_bytes: int) -> None:
        """Create firmware with empty buffers of *uart_bytes* and *ring_bytes*."""
        self.baud = baud
        self.eeprom_writes = 0
        # Commands received so far, except for text and cursor positions.
        self.commands: list[str] = []
        self._intake = Intake(self._process, baud=baud, uart_bytes=uart_bytes, ring_bytes=ring_bytes)

    @property
    def lost_bytes(self) -> int:
        """Number of bytes lost to full buffers."""
        return self._intake.lost_bytes

    def receive(self, data: bytes, t_ns: int) -> None:
        """Receive bytes whose transmission starts at *t_ns*."""
        self._intake.receive(data, t_ns)

    def replies(self) -> bytes:
        """Return the bytes sent since the last call."""
        return b""

    @abstractmethod
    def power_on(self, t_ns: int) -> None:
        """Restart. Only EEPROM is preserved."""

    @abstractmethod
    def screen(self, t_ns: int) -> tuple[str, ...]:
        """Return the visible content."""

    @abstractmethod
    def _process(self, byte: int, t_ns: int) -> int:
        """Process a byte, and return the time in nanoseconds that it takes."""


# Emulated Nextion HMI with the page of docs/reference/nextion.md, including its buffer and replies.


_MS = 1_000_000
_END = b"\xff\xff\xff"
_BOOTS_NS = 300 * _MS
_DRAWS_NS = 3 * _MS
_BYTE_NS = 20_000
_BUFFER_BYTES = 1024
_STARTED = b"\x00\x00\x00"
_READY = b"\x88"
_INVALID = b"\x00"
_NO_VARIABLE = b"\x1a"
_OVERFLOW = b"\x24"
_ON_PAGE = b"\x66\x00"
# Queries of the Nextion editor, and the reply of an NX4832T035: touch, address, model, firmware, chip, number, flash.
_LISTEN = b"DRAKJHSUYDGBNCJHGJKSHBDN"
_CONNECT = b"connect"
_CONNECT_REPLY = b"comok 1,30601-0,NX4832T035_011R,163,61488,D264B8204F0E1828,16777216"
_TEXT = re.compile(rb'(\w+)\.txt="((?:[^"\\]|\\.)*)"', re.DOTALL)
# Settings with a trailing s are persistent. wepo writes user EEPROM.
_STORES = re.compile(rb"(bauds|dims|wepo|recmods)\b")
_LENGTHS = {"n": NAME_CHARACTERS, "p": POINTS_CHARACTERS, "t": 1, "m": MESSAGE_CHARACTERS}


class EmulatedNextion(Firmware):
    """A Nextion with the page for four players."""

    def __init__(self, *, baud: int = 9600) -> None:
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
        self.commands.append(line.decode("latin-1"))
        self.eeprom_writes += _STORES.match(line) is not None
        self._sent += _ON_PAGE + _END if line == b"sendme" else b""
        return _BYTE_NS

    def _set_text(self, name: str, text: str) -> int:
        if name not in self._texts:
            self._sent += _NO_VARIABLE + _END
            return _BYTE_NS
        self._texts[name] = text[: _LENGTHS[name[0]]]
        return _DRAWS_NS


# Emulated firmware 3.0.1 of SparkFun's Serial 7-Segment and OpenSegment (sparkfun/Serial7SegmentDisplay).


_RESET = 0x76
_DECIMALS = 0x77
_BLANK = 0x78
_CURSOR = 0x79
_BRIGHTNESS = 0x7A
_DIGIT_1 = 0x7B
_BAUD = 0x7F
_TWI = 0x80
_FACTORY_RESET = 0x81
_MODE = 0x82
_SEGMENT_STORES = {_BRIGHTNESS: 0, _BAUD: 1, _TWI: 2, _MODE: 3}
# A timer processes a byte every 32 microseconds. The digits are multiplexed once between two reads of the UART.
_SEGMENT_BYTE_NS = 32_000
_SHOWS_NS = 400_000
_WRITE_NS = 3_400_000
_SEGMENT_BOOTS_NS = 400 * _MS
_DIGITS = 4
_MAX_BRIGHTNESS = 100


class EmulatedSegment(Firmware):
    """An emulated four-digit display."""

    def __init__(self, *, baud: int = 9600) -> None:
        self.eeprom: dict[int, int] = {}
        super().__init__(baud=baud, uart_bytes=63, ring_bytes=63)
        self._restart()

    @property
    def brightness(self) -> int:
        """Brightness in percent."""
        return self.eeprom.get(0, _MAX_BRIGHTNESS)

    def power_on(self, t_ns: int) -> None:
        """Start. The display shows 1234."""
        self._restart()
        self._intake.power_on(t_ns + _SEGMENT_BOOTS_NS)

    def screen(self, t_ns: int) -> tuple[str, ...]:
        """Return the four digits, and the positions of lit dots (4 is the colon, 5 the apostrophe)."""
        self._intake.run_until(t_ns)
        shown = "".join(_segments(code) for code in self._digits)
        return shown, "".join(str(position) for position in range(6) if self._decimals >> position & 1)

    def _restart(self) -> None:
        self._command, self._cursor, self._decimals = 0, 0, 0
        self._digits = [1, 2, 3, 4]

    def _process(self, byte: int, t_ns: int) -> int:
        command, self._command = self._command, 0
        if command:
            return self._finish(command, byte)
        if byte < _RESET or byte == _BLANK:
            self._digits[self._cursor] = byte
            self._cursor = (self._cursor + 1) % _DIGITS
        elif byte == _RESET:
            self.commands.append("reset")
            self._digits, self._decimals, self._cursor = [_BLANK] * _DIGITS, 0, 0
        else:
            self._command = byte
        return _SEGMENT_BYTE_NS + _SHOWS_NS

    def _finish(self, command: int, byte: int) -> int:
        """Execute a command with its argument byte."""
        if command == _CURSOR:
            self._cursor = byte if byte < _DIGITS else self._cursor
        elif command == _DECIMALS:
            self._decimals = byte
        elif command in _SEGMENT_STORES:
            self.commands.append(f"store {command:02x} {byte:02x}")
            self.eeprom[_SEGMENT_STORES[command]] = byte
            self.eeprom_writes += 1
            return _WRITE_NS
        elif command == _FACTORY_RESET:
            self.commands.append("factory reset")
            self.eeprom.clear()
            self.eeprom_writes += len(_SEGMENT_STORES)
            return _WRITE_NS * len(_SEGMENT_STORES)
        elif _DIGIT_1 <= command < _DIGIT_1 + _DIGITS:
            self.commands.append(f"segments {command:02x}")
            self._digits[command - _DIGIT_1] = byte | 0x80
        return _SEGMENT_BYTE_NS


def _segments(code: int) -> str:
    """Return the character shown for a code. 0 to 15 are hexadecimal digits. Unknown shapes are shown as blocks."""
    if code <= 0x0F:
        return "0123456789ABCDEF"[code]
    if code == _BLANK or code == 0x20:
        return " "
    return chr(code) if 0x20 < code < _RESET else "\u2588"


# Emulated firmware OpenLCD 1.2 of SparkFun's SerLCD (sparkfun/OpenLCD): modes, EEPROM, splash screen and delays.


_COMMAND = 254
_SETTING = 124
_BACKSPACE = 8
_MESSAGE_NS = 500 * _MS
_SERLCD_WRITE_NS = 3_400_000
_SERLCD_BYTE_NS = 100_000
_CLEAR_NS = 2 * _MS
_SERLCD_BOOTS_NS = 50 * _MS
_SPLASH_NS = 500 * _MS
# Display memory has two lines: rows 1 and 3 are consecutive, and so are rows 2 and 4.
_ROW_ADDRESS = (0x00, 0x40, 0x14, 0x54)
_LINE_BYTES = 40
# EEPROM addresses.
_SERLCD_BAUD = 0
_SPLASH_ON = 2
_LINES = 3
_WIDTH = 4
_RED = 5
_IGNORE_RX = 8
_SERLCD_TWI = 9
_CONTRAST = 10
_SPLASH = 20
_CUSTOM = 100


class _Mode(Enum):
    NORMAL = auto()
    COMMAND = auto()
    SETTING = auto()
    CONTRAST = auto()
    TWI = auto()
    CUSTOM = auto()
    RGB = auto()


class EmulatedSerLcd(Firmware):
    """An emulated SerLCD with 16x2 or 20x4 characters."""

    def __init__(self, columns: int = 16, rows: int = 2, *, baud: int = 9600) -> None:
        self._columns, self._rows = columns, rows
        self.eeprom: dict[int, int] = {}
        super().__init__(baud=baud, uart_bytes=63, ring_bytes=127)
        self._restart()

    @property
    def backlight(self) -> tuple[int, int, int]:
        """Red, green and blue of the backlight."""
        red, green, blue = (self.eeprom.get(_RED + channel, 255) for channel in range(3))
        return red, green, blue

    def power_on(self, t_ns: int) -> None:
        """Start. The splash screen is shown for half a second, during which input is ignored."""
        self._restart()
        self._message, self._message_until_ns = "SparkFun OpenLCD", t_ns + _SERLCD_BOOTS_NS + _SPLASH_NS
        self._intake.power_on(self._message_until_ns)

    def screen(self, t_ns: int) -> tuple[str, ...]:
        """Return the rows. Codes that are not ASCII are shown as blocks."""
        self._intake.run_until(t_ns)
        if t_ns < self._message_until_ns:
            return tuple(
                f"{self._message:<{self._columns}}"[: self._columns] if not row else " " * self._columns
                for row in range(self._rows)
            )
        return tuple(self._row(row) for row in range(self._rows))

    def _restart(self) -> None:
        self._mode = _Mode.NORMAL
        self._memory = bytearray(b" " * 2 * _LINE_BYTES)
        self._address = 0
        self._collected: list[int] = []
        self._custom = 0
        self._message, self._message_until_ns = "", 0

    def _row(self, row: int) -> str:
        first = self._offset(_ROW_ADDRESS[row])
        codes = self._memory[first : first + self._columns]
        return "".join(chr(code) if 0x20 <= code < 0x7E else "\u2588" for code in codes)

    def _offset(self, address: int) -> int:
        """Return the offset of a display address in memory."""
        line, column = divmod(address, 0x40)
        return line * _LINE_BYTES + column % _LINE_BYTES

    def _write(self, code: int) -> int:
        self._memory[self._offset(self._address)] = code
        self._address += 1
        if self._address in (_LINE_BYTES, 0x40 + _LINE_BYTES):
            self._address = 0x40 if self._address == _LINE_BYTES else 0
        return _SERLCD_BYTE_NS

    def _store(self, address: int, *values: int) -> int:
        """Write EEPROM, and return the time taken. Unchanged values are rewritten, as in versions before 11."""
        for offset, value in enumerate(values):
            self.eeprom[address + offset] = value
        self.eeprom_writes += len(values)
        return _SERLCD_WRITE_NS * len(values)

    def _show(self, message: str, t_ns: int) -> int:
        """Show a message for half a second, and return this time. The firmware reads nothing meanwhile."""
        self._message, self._message_until_ns = message, t_ns + _MESSAGE_NS
        return _MESSAGE_NS

    def _process(self, byte: int, t_ns: int) -> int:
        match self._mode:
            case _Mode.NORMAL:
                if byte == _SETTING:
                    self._mode = _Mode.SETTING
                elif byte == _COMMAND:
                    self._mode = _Mode.COMMAND
                elif byte == _BACKSPACE:
                    self.commands.append("backspace")
                else:
                    return self._write(byte)
                return 0
            case _Mode.SETTING:
                self._mode = _Mode.NORMAL
                return self._set(byte, t_ns)
            case _Mode.COMMAND:
                self._mode = _Mode.NORMAL
                return self._command(byte)
            case _Mode.CONTRAST | _Mode.TWI:
                address = _CONTRAST if self._mode is _Mode.CONTRAST else _SERLCD_TWI
                self._mode = _Mode.NORMAL
                return self._store(address, byte) + self._show("Contrast Set", t_ns)
            case _Mode.CUSTOM:
                return self._collect(byte, 8, _CUSTOM + 8 * self._custom)
            case _Mode.RGB:
                return self._collect(byte, 3, _RED)

    def _collect(self, byte: int, count: int, address: int) -> int:
        """Collect *count* bytes, and store them at *address* once complete."""
        self._collected.append(byte)
        if len(self._collected) < count:
            return 0
        values, self._collected = self._collected, []
        self._mode = _Mode.NORMAL
        return self._store(address, *values)

    def _set(self, byte: int, t_ns: int) -> int:
        """Execute the setting byte after `|`."""
        self.commands.append(f"setting {byte}")
        modes = {24: _Mode.CONTRAST, 25: _Mode.TWI, 43: _Mode.RGB} | dict.fromkeys(range(27, 35), _Mode.CUSTOM)
        stores = {9: _SPLASH_ON, 26: _IGNORE_RX, 48: _SPLASH_ON, 49: _SPLASH_ON} | dict.fromkeys(
            range(11, 24), _SERLCD_BAUD
        )
        if byte in modes:
            self._mode, self._custom = modes[byte], (byte - 27) % 8
        elif 3 <= byte <= 7:
            return self._store(_LINES, self._rows) + self._store(_WIDTH, self._columns) + self._show("Lines", t_ns)
        elif byte == 8:
            self.power_on(t_ns + 250 * _MS)  # the watchdog
        elif byte == 10:
            return self._store(_SPLASH, *self._memory) + self._show("Splash Recorded", t_ns)
        elif byte == 45:
            self._memory, self._address = bytearray(b" " * 2 * _LINE_BYTES), 0
            return _CLEAR_NS
        elif byte == _SETTING or 35 <= byte <= 42:
            return self._write(byte if byte == _SETTING else byte - 35)
        elif byte in stores:
            return self._store(stores[byte], byte) + self._show("Setting", t_ns)
        elif 128 <= byte <= 217:
            return self._store(_RED + (byte - 128) // 30, (byte - 128) % 30 * 255 // 29) + self._show("Backlight", t_ns)
        return self._show("Firmware v1.2", t_ns) if byte == 44 else 0

    def _command(self, byte: int) -> int:
        """Execute the command byte after FE."""
        if byte >= 0x80:
            lines = {base: range(base, base + 20) for base in _ROW_ADDRESS}
            address = byte & 0x7F
            self._address = address if any(address in line for line in lines.values()) else 0
            return _SERLCD_BYTE_NS
        self.commands.append(f"command {byte}")
        if byte >= 0x40:
            self._mode, self._custom = _Mode.CUSTOM, (byte & 0xBF) % 8
        elif byte == 1:
            self._memory, self._address = bytearray(b" " * 2 * _LINE_BYTES), 0
        return _CLEAR_NS
