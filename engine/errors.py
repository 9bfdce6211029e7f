"""Errors in calls and configuration. Mistakes of players are data (`Problem`), not exceptions."""

from collections.abc import Iterable


class EngineError(ValueError):
    """A value or call that is invalid in every game."""


class OptionsError(EngineError):
    """Invalid rules or options.

    Attributes:
        faults: One message for each fault, starting with the key.
    """

    def __init__(self, faults: Iterable[str], about: str = "") -> None:
        """Create an error that lists all *faults* after *about*."""
        self.faults = tuple(faults)
        super().__init__(about + "; ".join(self.faults))
