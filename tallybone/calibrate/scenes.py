"""Scenes shown during a calibration, and the timetable of sounds for knock calibration."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from calibration.knock.fit import KNOCKS_PER_SEAT
from engine.phrases import phrase

_QUIET_S, _TILES_S, _SEAT_S = 10, 20, 8
# Pause before each part, for reading its instruction. Sounds during a pause are ignored.
_READ_S = 2


class AskedScene(StrEnum):
    """Scene in front of the camera during a step."""

    BOARD = "the board for the lens"
    TABLE = "corner blocks or mat"
    TILES = "open tiles all over the table"
    SET = "the whole set, face up"


@dataclass(frozen=True, slots=True)
class TimetablePart:
    """A part of the timetable.

    Attributes:
        text: Instruction for users.
        from_s, to_s: Start and end, relative to the start of the timetable.
    """

    text: str
    from_s: int
    to_s: int


def timetable(seats: int) -> tuple[TimetablePart, ...]:
    """Return the parts of the timetable: silence, tiles, then each seat, with a pause before each part.

    >>> [(part.from_s, part.to_s) for part in timetable(2)]
    [(2, 12), (14, 34), (36, 44), (46, 54)]
    """
    instructions = [
        (phrase("Be quiet."), _QUIET_S),
        (phrase("Shuffle the tiles, and put many of them down, some gently and some hard."), _TILES_S),
        *(
            (
                phrase("Seat {seat}: knock {times} times, about once a second.", seat=seat + 1, times=KNOCKS_PER_SEAT),
                _SEAT_S,
            )
            for seat in range(seats)
        ),
    ]
    parts, at_s = [], 0
    for text, duration_s in instructions:
        parts.append(TimetablePart(text, at_s + _READ_S, at_s + _READ_S + duration_s))
        at_s = parts[-1].to_s
    return tuple(parts)
