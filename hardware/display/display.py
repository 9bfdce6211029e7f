"""A score display: the protocol, none, a strict fake, and several that are used as one."""

from __future__ import annotations

from typing import Protocol

from hardware.display.page import DisplayPage
from hardware.part_state import PartState


class DisplayError(Exception):
    """A display that is set up or used wrongly; that one is unplugged is no error, it is a state."""


class ScoreDisplay(Protocol):
    """Shows the newest page. The game never waits for it."""

    @property
    def state(self) -> PartState:
        """How it is, at once."""

    def show(self, page: DisplayPage) -> None:
        """Take a page to show, at once; a newer one replaces it even where it was not shown yet.

        Raises:
            DisplayError: If it was closed.
        """

    def close(self) -> None:
        """Show the last page, if it is there, and let it go. Once more does nothing."""


class FakeDisplay:
    """A display for tests: it keeps every page, and takes nothing that is no page."""

    def __init__(self) -> None:
        self._pages: list[DisplayPage] = []
        self._is_closed = False
        self._state = PartState()

    @property
    def pages(self) -> tuple[DisplayPage, ...]:
        """What was to be shown, oldest first."""
        return tuple(self._pages)

    @property
    def is_closed(self) -> bool:
        """Whether it was let go."""
        return self._is_closed

    @property
    def state(self) -> PartState:
        """How a test says that it is."""
        return self._state

    def unplug(self) -> None:
        """Be unplugged from now on."""
        self._state = PartState("the display was unplugged")

    def plug(self) -> None:
        """Be plugged in again."""
        self._state = PartState()

    def show(self, page: DisplayPage) -> None:
        """Keep a page.

        Raises:
            TypeError: If it is none.
        """
        refuse_if_closed(is_closed=self._is_closed)
        if not isinstance(page, DisplayPage):
            raise TypeError(f"expected a DisplayPage, but got {page!r}")
        self._pages.append(page)

    def close(self) -> None:
        """Take no more pages."""
        self._is_closed = True


def refuse_if_closed(*, is_closed: bool) -> None:
    """Raise where something is to be shown on a display that was let go."""
    if is_closed:
        raise DisplayError("the display was closed: nothing can be shown on it any more")
