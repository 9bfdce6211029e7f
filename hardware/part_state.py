"""State of a part, shared by cameras, displays, LEDs, buttons and knock sensors."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PartState:
    """State of a part.

    Attributes:
        problem: Message explaining why the part does not work and how to fix it, or None.
        warning: Message explaining why the part works worse than it should, or None.
        is_opening: Whether the part has neither opened nor failed yet.
        lost: Number of inputs dropped because they were not read in time.
    """

    problem: str | None = None
    warning: str | None = None
    is_opening: bool = False
    lost: int = 0

    @property
    def works(self) -> bool:
        """True if the part is open and has no problem."""
        return self.problem is None and not self.is_opening

    @property
    def trouble(self) -> str | None:
        """The problem, or the warning if there is no problem, or None."""
        return self.warning if self.problem is None else self.problem
