"""Emulated firmware OpenLCD 1.2 of SparkFun's SerLCD (sparkfun/OpenLCD): modes, EEPROM, splash screen and delays."""

from __future__ import annotations

from enum import Enum, auto

from lab.emulate.firmware import Firmware

_COMMAND, _SETTING, _BACKSPACE = 254, 124, 8
_MS = 1_000_000
_MESSAGE_NS, _WRITE_NS, _BYTE_NS, _CLEAR_NS = 500 * _MS, 3_400_000, 100_000, 2 * _MS
_BOOTS_NS, _SPLASH_NS = 50 * _MS, 500 * _MS
# Display memory has two lines: rows 1 and 3 are consecutive, and so are rows 2 and 4.
_ROW_ADDRESS = (0x00, 0x40, 0x14, 0x54)
_LINE_BYTES = 40
# EEPROM addresses.
_BAUD, _SPLASH_ON, _LINES, _WIDTH, _RED, _IGNORE_RX, _TWI, _CONTRAST = 0, 2, 3, 4, 5, 8, 9, 10
_SPLASH, _CUSTOM = 20, 100


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
        """Create a display with factory settings and without power."""
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
        self._message, self._message_until_ns = "SparkFun OpenLCD", t_ns + _BOOTS_NS + _SPLASH_NS
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

    def replies(self) -> bytes:
        """Return nothing: the display never replies."""
        return b""

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
        return _BYTE_NS

    def _store(self, address: int, *values: int) -> int:
        """Write EEPROM, and return the time taken. Unchanged values are rewritten, as in versions before 11."""
        for offset, value in enumerate(values):
            self.eeprom[address + offset] = value
        self._writes += len(values)
        return _WRITE_NS * len(values)

    def _show(self, message: str, t_ns: int) -> int:
        """Show a message for half a second, and return this time. The firmware reads nothing meanwhile."""
        self._message, self._message_until_ns = message, t_ns + _MESSAGE_NS
        return _MESSAGE_NS

    def _process(self, byte: int, t_ns: int) -> int:
        match self._mode:
            case _Mode.NORMAL:
                return self._print(byte)
            case _Mode.SETTING:
                self._mode = _Mode.NORMAL
                return self._set(byte, t_ns)
            case _Mode.COMMAND:
                self._mode = _Mode.NORMAL
                return self._command(byte)
            case _Mode.CONTRAST | _Mode.TWI:
                address = _CONTRAST if self._mode is _Mode.CONTRAST else _TWI
                self._mode = _Mode.NORMAL
                return self._store(address, byte) + self._show("Contrast Set", t_ns)
            case _Mode.CUSTOM:
                return self._collect(byte, 8, _CUSTOM + 8 * self._custom)
            case _Mode.RGB:
                return self._collect(byte, 3, _RED)

    def _print(self, byte: int) -> int:
        if byte == _SETTING:
            self._mode = _Mode.SETTING
        elif byte == _COMMAND:
            self._mode = _Mode.COMMAND
        elif byte == _BACKSPACE:
            self._commands.append("backspace")
        else:
            return self._write(byte)
        return 0

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
        self._commands.append(f"setting {byte}")
        modes = {24: _Mode.CONTRAST, 25: _Mode.TWI, 43: _Mode.RGB} | dict.fromkeys(range(27, 35), _Mode.CUSTOM)
        stores = {9: _SPLASH_ON, 26: _IGNORE_RX, 48: _SPLASH_ON, 49: _SPLASH_ON} | dict.fromkeys(range(11, 24), _BAUD)
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
            return _BYTE_NS
        self._commands.append(f"command {byte}")
        if byte >= 0x40:
            self._mode, self._custom = _Mode.CUSTOM, (byte & 0xBF) % 8
        elif byte == 1:
            self._memory, self._address = bytearray(b" " * 2 * _LINE_BYTES), 0
        return _CLEAR_NS
