"""Colours of the LEDs as a pure function of the state of the table and a clock.

Each mood has its rhythm, so that it can be told apart without colour. Nothing blinks more than twice a second: faster
flashing is dangerous to some people.
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
# One flash for each five points; who scores more has seen enough.
_POINTS_PER_FLASH, _MOST_FLASHES = 5, 6
_LEAST_BREATH, _FULL = 0.1, 1.0


class Mood(StrEnum):
    """How the game stands."""

    PLAYING = "playing"
    WAITING = "waiting"
    """Nothing is expected: between hands, or before the game."""
    ASKING = "asking"
    """A question is open."""
    PROBLEM = "problem"
    """Something is not as the rules say, or a part does not work."""


@dataclass(frozen=True, slots=True)
class Gain:
    """Points that somebody has just made.

    Attributes:
        seat: Whose.
        points: How many.
        t_ns: When.
    """

    seat: int
    points: int
    t_ns: int


@dataclass(frozen=True, slots=True)
class TableState:
    """What the LEDs have to tell.

    Attributes:
        seats: How many there are, 1 or more.
        turn: Whose turn it is; None for nobody's.
        mood: How the game stands.
        concerns: Whom a question or a problem is about; None for all.
        gain: The last points, for as long as they flash.
        is_clockwise: Which way round the table it goes; None where no direction is shown.
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
    """What each LED shows.

    Attributes:
        seats: One for each, clockwise from seat 0.
        status: The mood.
        clockwise: Lit where it goes clockwise.
        counter: Lit where it goes the other way.
        spell: Lit while a spell holds.
    """

    seats: tuple[Rgb, ...]
    status: Rgb
    clockwise: Rgb
    counter: Rgb
    spell: Rgb

    @property
    def all(self) -> tuple[Rgb, ...]:
        """All of them in the order in which they are wired: seats, status, clockwise, counter, spell."""
        return (*self.seats, self.status, self.clockwise, self.counter, self.spell)


def glow_at(state: TableState, t_ns: int) -> Glow:
    """Return what the LEDs show of a state at a time."""
    return Glow(
        tuple(_seat(state, seat, t_ns) for seat in range(state.seats)),
        _status(state.mood, t_ns),
        _CYAN if state.is_clockwise is True else OFF,
        _CYAN if state.is_clockwise is False else OFF,
        _VIOLET if state.is_spell else OFF,
    )


def _seat(state: TableState, seat: int, t_ns: int) -> Rgb:
    if state.gain is not None and state.gain.seat == seat:
        flashes = min(_MOST_FLASHES, max(0, -(-state.gain.points // _POINTS_PER_FLASH)))
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
    """Return a colour that slowly gets bright and dim again."""
    share = t_ns % _BREATH_NS / _BREATH_NS
    level = _LEAST_BREATH + (_FULL - _LEAST_BREATH) * (1 - abs(2 * share - 1))
    return Rgb(round(colour.red * level), round(colour.green * level), round(colour.blue * level))
