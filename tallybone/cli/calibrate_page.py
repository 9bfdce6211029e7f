"""The page of a guided calibration, if there is to be one: who looks at it decides as somebody at the terminal does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from hardware.camera.device import Clock
from tallybone.calibrate.guide.course import Course


class GuidePage(Protocol):
    """What the guide has to do with its page."""

    @property
    def words(self) -> str:
        """Where it is and its PIN; "" for no page."""

    def turn(self) -> None:
        """Let the course look once, and do what people want."""


class NoPage:
    """A guide at the terminal alone."""

    words = ""

    def __init__(self, course: Course) -> None:
        """Guide through *course*."""
        self._course = course

    def turn(self) -> None:
        """Let the course look once."""
        self._course.turn()


@contextmanager
def open_guide_page(
    where: str | None, course: Course, camera: str, clock: Clock, *, pin: str | None = None
) -> Iterator[GuidePage]:
    """Serve the page of a course until the end of the block; None for no page.

    Args:
        where: A port, or an address and a port; "" for the usual port of the whole network.
        course: What is shown.
        camera: What its camera is called.
        clock: Monotonic, in nanoseconds.
        pin: A new one if none is given.

    Raises:
        OSError: If it cannot be served there, or what serves it is not installed.
    """
    if where is None:
        yield NoPage(course)
        return
    try:
        from tallybone.web.calibration import CalibratingPage
    except ModuleNotFoundError as error:
        words = f"a page needs {error.name}, which is not installed: pip install 'tallybone[web]'"
        raise OSError(words) from error
    page = CalibratingPage(where, course, camera, clock, pin=pin)
    try:
        yield page
    finally:
        page.close()
