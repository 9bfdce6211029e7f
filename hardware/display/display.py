"""The score display interface, and a strict fake."""

from __future__ import annotations

from typing import Protocol

from hardware.display.page import DisplayPage
from hardware.part_state import PartState


class DisplayError(Exception):
    """A display is configured or used incorrectly. An unplugged display is reported by its state instead."""


class ScoreDisplay(Protocol):
    """Shows the newest page. No method except `close` blocks."""

    @property
    def state(self) -> PartState:
        """State of the display."""

    def show(self, page: DisplayPage) -> None:
        """Queue a page. It replaces the previous page, even if that was not shown yet.

        Raises:
            DisplayError: If the display is closed.
        """

    def close(self) -> None:
        """Show the last page, if the display is connected, and release it. Further calls do nothing."""


class FakeDisplay:
    """A display for tests. It records every page, and rejects anything else."""

    def __init__(self) -> None:
        self._pages: list[DisplayPage] = []
        self._is_closed = False
        self._state = PartState()

    @property
    def pages(self) -> tuple[DisplayPage, ...]:
        """All pages passed to `show`, oldest first."""
        return tuple(self._pages)

    @property
    def is_closed(self) -> bool:
        """True if the display was closed."""
        return self._is_closed

    @property
    def state(self) -> PartState:
        """State set by the test."""
        return self._state

    def unplug(self) -> None:
        """Simulate that the display is unplugged."""
        self._state = PartState("the display was unplugged")

    def plug(self) -> None:
        """Simulate that the display is plugged in again."""
        self._state = PartState()

    def show(self, page: DisplayPage) -> None:
        """Record a page.

        Raises:
            DisplayError: If the display is closed.
            TypeError: If *page* is not a `DisplayPage`.
        """
        refuse_if_closed(is_closed=self._is_closed)
        if not isinstance(page, DisplayPage):
            raise TypeError(f"expected a DisplayPage, but got {page!r}")
        self._pages.append(page)

    def close(self) -> None:
        """Reject further pages."""
        self._is_closed = True


def refuse_if_closed(*, is_closed: bool) -> None:
    """Raise DisplayError if the display is closed."""
    if is_closed:
        raise DisplayError("the display is closed")
