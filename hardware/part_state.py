"""State of a part: the same value for cameras, displays, LEDs, buttons and knock sensors."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PartState:
    """State that a part reports of itself.

    Attributes:
        problem: Why it does not work and what to do about it, in words; None for nothing.
        warning: Why it works less well than it should, in words; None for nothing.
        is_opening: Whether it has neither answered nor failed yet.
        lost: How often input was lost because nobody took it in time.
    """

    problem: str | None = None
    warning: str | None = None
    is_opening: bool = False
    lost: int = 0

    @property
    def works(self) -> bool:
        """Whether it is open and answers."""
        return self.problem is None and not self.is_opening

    @property
    def trouble(self) -> str | None:
        """The problem or, if there is none, the warning."""
        return self.warning if self.problem is None else self.problem
