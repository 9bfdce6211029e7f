"""LED colours as a pure function of table state and time.

Each mood has its own rhythm, to be recognisable without colour. Nothing blinks more than twice a second, because faster
flashing can trigger seizures.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hardware.colour import Rgb

OFF = Rgb(0, 0, 0)
_WHITE, _GREEN, _BLUE, _RED = Rgb(255, 255, 255), Rgb(0, 90, 0), Rgb(0, 60, 255), Rgb(255, 0, 0)
_GOLD, _VIOLET, _CYAN = Rgb(255, 150, 0), Rgb(160, 0, 255), Rgb(0, 160, 160)
_MS = 1_000_000
_ASKS_NS, _PROBLEM_NS, _BREATH_NS, _FLASH_NS = 1000 * _MS, 500 * _MS, 4000 * _MS, 500 * _MS
# A flash for every five points, at most six.
_POINTS_PER_FLASH, _MAX_FLASHES = 5, 6
_MIN_BREATH, _FULL = 0.1, 1.0


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
    """Points just scored.

    Attributes:
        seat: Seat that scored.
        points: Number of points.
        t_ns: Time of the score.
    """

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
        spell: Lit while a spell is active.
    """

    seats: tuple[Rgb, ...]
    status: Rgb
    clockwise: Rgb
    counter: Rgb
    spell: Rgb

    @property
    def all(self) -> tuple[Rgb, ...]:
        """All colours in wiring order: seats, status, clockwise, counter, spell."""
        return (*self.seats, self.status, self.clockwise, self.counter, self.spell)


def glow_at(state: TableState, t_ns: int) -> Glow:
    """Return the colours of the LEDs at time *t_ns*."""
    return Glow(
        tuple(_seat(state, seat, t_ns) for seat in range(state.seats)),
        _status(state.mood, t_ns),
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


def _status(mood: Mood, t_ns: int) -> Rgb:
    match mood:
        case Mood.PLAYING:
            return _GREEN
        case Mood.WAITING:
            return _breathing(_GREEN, t_ns)
        case Mood.ASKING:
            return _BLUE if _is_on(t_ns, _ASKS_NS) else OFF
        case Mood.PROBLEM:
            return _RED if _is_on(t_ns, _PROBLEM_NS) else OFF


def _is_on(t_ns: int, period_ns: int) -> bool:
    return t_ns % period_ns < period_ns // 2


def _breathing(colour: Rgb, t_ns: int) -> Rgb:
    """Return *colour* with a brightness that slowly rises and falls."""
    share = t_ns % _BREATH_NS / _BREATH_NS
    level = _MIN_BREATH + (_FULL - _MIN_BREATH) * (1 - abs(2 * share - 1))
    return Rgb(round(colour.red * level), round(colour.green * level), round(colour.blue * level))
