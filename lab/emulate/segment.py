"""Emulated firmware 3.0.1 of SparkFun's Serial 7-Segment and OpenSegment (sparkfun/Serial7SegmentDisplay)."""

from __future__ import annotations

from lab.emulate.firmware import Firmware

_MS = 1_000_000
_RESET, _DECIMALS, _BLANK, _CURSOR, _BRIGHTNESS, _DIGIT_1 = 0x76, 0x77, 0x78, 0x79, 0x7A, 0x7B
_BAUD, _TWI, _FACTORY_RESET, _MODE = 0x7F, 0x80, 0x81, 0x82
_STORES = {_BRIGHTNESS: 0, _BAUD: 1, _TWI: 2, _MODE: 3}
# A timer processes a byte every 32 microseconds. The digits are multiplexed once between two reads of the UART.
_BYTE_NS, _SHOWS_NS, _WRITE_NS, _BOOTS_NS = 32_000, 400_000, 3_400_000, 400 * _MS
_DIGITS = 4
_MAX_BRIGHTNESS = 100


class EmulatedSegment(Firmware):
    """An emulated four-digit display."""

    def __init__(self, *, baud: int = 9600) -> None:
        """Create a display with factory settings and without power."""
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
        self._intake.power_on(t_ns + _BOOTS_NS)

    def screen(self, t_ns: int) -> tuple[str, ...]:
        """Return the four digits, and the positions of lit dots (4 is the colon, 5 the apostrophe)."""
        self._intake.run_until(t_ns)
        shown = "".join(_segments(code) for code in self._digits)
        return shown, "".join(str(position) for position in range(6) if self._decimals >> position & 1)

    def replies(self) -> bytes:
        """Return nothing: the display never replies."""
        return b""

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
            self._commands.append("reset")
            self._digits, self._decimals, self._cursor = [_BLANK] * _DIGITS, 0, 0
        else:
            self._command = byte
        return _BYTE_NS + _SHOWS_NS

    def _finish(self, command: int, byte: int) -> int:
        """Execute a command with its argument byte."""
        if command == _CURSOR:
            self._cursor = byte if byte < _DIGITS else self._cursor
        elif command == _DECIMALS:
            self._decimals = byte
        elif command in _STORES:
            self._commands.append(f"store {command:02x} {byte:02x}")
            self.eeprom[_STORES[command]] = byte
            self._writes += 1
            return _WRITE_NS
        elif command == _FACTORY_RESET:
            self._commands.append("factory reset")
            self.eeprom.clear()
            self._writes += len(_STORES)
            return _WRITE_NS * len(_STORES)
        elif _DIGIT_1 <= command < _DIGIT_1 + _DIGITS:
            self._commands.append(f"segments {command:02x}")
            self._digits[command - _DIGIT_1] = byte | 0x80
        return _BYTE_NS


def _segments(code: int) -> str:
    """Return the character shown for a code. 0 to 15 are hexadecimal digits. Unknown shapes are shown as blocks."""
    if code <= 0x0F:
        return "0123456789ABCDEF"[code]
    if code == _BLANK or code == 0x20:
        return " "
    return chr(code) if 0x20 < code < _RESET else "\u2588"
