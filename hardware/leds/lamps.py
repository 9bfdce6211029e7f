"""Colours of LEDs as a pure function of table state and time, and a set of LEDs with any driver.

Each mood has its own rhythm, to be recognisable without colour. Nothing blinks more than twice a second, because faster
flashing can trigger seizures. LEDs are turned off when they are closed, and when the program ends for any reason except
SIGKILL or a power cut.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from types import FrameType
from typing import Any, Protocol

from hardware.part import PartState, Rgb

OFF = Rgb(0, 0, 0)
_WHITE = Rgb(255, 255, 255)
_GREEN = Rgb(0, 90, 0)
_BLUE = Rgb(0, 60, 255)
_RED = Rgb(255, 0, 0)
_GOLD = Rgb(255, 150, 0)
_VIOLET = Rgb(160, 0, 255)
_CYAN = Rgb(0, 160, 160)
_MS = 1_000_000
_ASKS_NS = 1000 * _MS
_PROBLEM_NS = 500 * _MS
_BREATH_NS = 4000 * _MS
_FLASH_NS = 500 * _MS
# A flash for every five points, at most six.
_POINTS_PER_FLASH = 5
_MAX_FLASHES = 6
_MIN_BREATH = 0.1
_FULL = 1.0


class Mood(StrEnum):
    """State of the game shown by the status LED."""

    PLAYING = "playing"
    WAITING = "waiting"
    """No action is expected, as between hands and before the game."""
    ASKING = "asking"
    """A question awaits an answer."""
    PROBLEM = "problem"
    """A rule is violated, or a part does not work."""


@dataclass(frozen=True, slots=True)
class Gain:
    """Points just scored."""

    seat: int
    points: int
    t_ns: int


@dataclass(frozen=True, slots=True)
class TableState:
    """State of the table that the LEDs signal.

    Attributes:
        seats: Number of seats, at least 1.
        turn: Seat to move, or None.
        mood: State of the game.
        concerns: Seat that a question or problem concerns. None for the whole table.
        gain: Points to flash, or None.
        is_clockwise: Whether play proceeds clockwise. None to show no direction.
        is_spell: Whether a spell has to be broken.
    """

    seats: int
    turn: int | None = None
    mood: Mood = Mood.WAITING
    concerns: int | None = None
    gain: Gain | None = None
    is_clockwise: bool | None = None
    is_spell: bool = False

    def __post_init__(self) -> None:
        named = (self.turn, self.concerns, None if self.gain is None else self.gain.seat)
        if self.seats < 1 or any(seat is not None and not 0 <= seat < self.seats for seat in named):
            raise ValueError(f"expected seats of 0 to {self.seats - 1}, but got {named}")


@dataclass(frozen=True, slots=True)
class Glow:
    """Colours of the LEDs.

    Attributes:
        seats: Colour for each seat, clockwise from seat 0.
        status: Colour for the mood.
        clockwise: Lit if play proceeds clockwise.
        counter: Lit if play proceeds anticlockwise.
    """

    seats: tuple[Rgb, ...]
    status: Rgb
    clockwise: Rgb
    counter: Rgb
    spell: Rgb


def glow_at(state: TableState, t_ns: int) -> Glow:
    """Return the colours of the LEDs at time *t_ns*."""
    match state.mood:
        case Mood.PLAYING:
            status = _GREEN
        case Mood.WAITING:  # the brightness slowly rises and falls
            share = t_ns % _BREATH_NS / _BREATH_NS
            level = _MIN_BREATH + (_FULL - _MIN_BREATH) * (1 - abs(2 * share - 1))
            status = Rgb(round(_GREEN.red * level), round(_GREEN.green * level), round(_GREEN.blue * level))
        case Mood.ASKING:
            status = _BLUE if _is_on(t_ns, _ASKS_NS) else OFF
        case Mood.PROBLEM:
            status = _RED if _is_on(t_ns, _PROBLEM_NS) else OFF
    return Glow(
        tuple(_seat(state, seat, t_ns) for seat in range(state.seats)),
        status,
        _CYAN if state.is_clockwise is True else OFF,
        _CYAN if state.is_clockwise is False else OFF,
        _VIOLET if state.is_spell else OFF,
    )


def _seat(state: TableState, seat: int, t_ns: int) -> Rgb:
    if state.gain is not None and state.gain.seat == seat:
        flashes = min(_MAX_FLASHES, max(0, -(-state.gain.points // _POINTS_PER_FLASH)))
        since_ns = t_ns - state.gain.t_ns
        if 0 <= since_ns < flashes * _FLASH_NS:
            return _GOLD if _is_on(since_ns, _FLASH_NS) else OFF
    if state.concerns == seat and state.mood is Mood.PROBLEM:
        return _RED if _is_on(t_ns, _PROBLEM_NS) else OFF
    if state.concerns == seat and state.mood is Mood.ASKING:
        return _BLUE if _is_on(t_ns, _ASKS_NS) else OFF
    return _WHITE if state.turn == seat else OFF


def _is_on(t_ns: int, period_ns: int) -> bool:
    return t_ns % period_ns < period_ns // 2


class LedError(Exception):
    """LEDs are configured or used incorrectly."""


class LedDevice(Protocol):
    """Opened LEDs of one driver."""

    @property
    def count(self) -> int:
        """Number of LEDs."""

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Set the colour of each LED. May raise OSError."""

    def require_connected(self) -> None:
        """Raise OSError if the LEDs are known to be disconnected. Do nothing if that cannot be detected."""

    def release(self) -> None:
        """Release the pins or the bus. May raise OSError."""


class Lamps:
    """A set of LEDs. Colours are sent only when they change, and again after an error."""

    def __init__(self, driver: LedDevice) -> None:
        """Use the LEDs of *driver*, and turn them off."""
        self._driver = driver
        # Reentrant, because a signal handler may close the LEDs while the same thread holds the lock.
        self._lock = threading.RLock()
        self._shown: tuple[Rgb, ...] | None = None
        self.state = PartState()
        """State after the last attempt to send colours."""
        self.count = driver.count
        self._is_closed = False
        self.light((OFF,) * driver.count)

    def light(self, colours: tuple[Rgb, ...]) -> None:
        """Set the colour of each LED. A failure is reported by `state`, and the next call retries.

        Raises:
            LedError: If the number of colours is wrong, or the LEDs are closed.
        """
        if len(colours) != self.count:
            raise LedError(f"expected a colour for each of {self.count} LEDs, but got {len(colours)}")
        with self._lock:
            if self._is_closed:
                raise LedError("the LEDs are closed")
            self._send(colours)

    def close(self) -> None:
        """Turn the LEDs off and release them. Further calls do nothing."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._shown = None  # Send the colours even if they seem to be off.
            self._send((OFF,) * self.count)
            try:
                self._driver.release()
            except OSError as error:
                self.state = PartState(f"the LEDs cannot be released ({error})")

    def _send(self, colours: tuple[Rgb, ...]) -> None:
        try:
            if colours == self._shown:
                self._driver.require_connected()
                return
            self._driver.write(colours)
        except OSError as error:
            self._shown = None
            self.state = PartState(f"the LEDs do not respond ({error}): check their wiring, and that SPI is enabled")
        else:
            self._shown, self.state = colours, PartState()


class VirtualLeds:
    """LEDs that store their colours."""

    def __init__(self, count: int) -> None:
        """Create *count* LEDs, which are off."""
        self.count = count
        self.colours: tuple[Rgb, ...] = (OFF,) * count
        self._is_released = False

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Set the colour of each LED.

        Raises:
            LedError: If the LEDs were released.
        """
        if self._is_released:
            raise LedError("the virtual LEDs are closed")
        self.colours = colours

    def require_connected(self) -> None:
        """Do nothing: virtual LEDs are always connected."""

    def release(self) -> None:
        """Reject further colours."""
        self._is_released = True


# SIGINT raises KeyboardInterrupt and needs no handler. SIGHUP is sent when the terminal is closed.
_ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def off_at_exit(lamps: Lamps) -> Iterator[Lamps]:
    """Yield LEDs that are turned off and closed when the block or the program ends.

    Signals are handled only if called from the main thread, the only one in which Python allows handlers to be set.
    """
    atexit.register(lamps.close)
    before: dict[signal.Signals, Any] = {}

    def end(number: int, frame: FrameType | None) -> None:
        lamps.close()
        previous = before[signal.Signals(number)]
        if callable(previous):
            previous(number, frame)
        else:  # Die from the signal, to give the parent process the right exit status.
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    if threading.current_thread() is threading.main_thread():
        for ending in _ENDING:
            before[ending] = signal.getsignal(ending)
            if before[ending] is not signal.SIG_IGN:
                signal.signal(ending, end)
    try:
        yield lamps
    finally:
        lamps.close()
        atexit.unregister(lamps.close)
        for ending, previous in before.items():
            signal.signal(ending, previous)
