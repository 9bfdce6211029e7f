"""RGB colour of LEDs and backlights."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rgb:
    """An RGB colour with components from 0 to 255."""

    red: int
    green: int
    blue: int

    def __post_init__(self) -> None:
        if not all(0 <= shade <= 255 for shade in (self.red, self.green, self.blue)):
            raise ValueError(f"a colour has parts of 0 to 255, but got {self.red}, {self.green}, {self.blue}")
