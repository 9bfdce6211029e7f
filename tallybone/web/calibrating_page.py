"""The page of a table that is being calibrated and nothing else: the same page as that of a game, without one."""

from __future__ import annotations

from hardware.camera.device import Clock
from tallybone.calibrate.guide.course import Course
from tallybone.web.calibration import calibration_routes
from tallybone.web.calibration_desk import Calibrating
from tallybone.web.feed import Hub
from tallybone.web.live_page import LivePage
from tallybone.web.snapshot import Lobby

_VIEW = "/#calibrate"


class CalibratingPage:
    """A page that is served until it is closed."""

    def __init__(self, where: str, course: Course, camera: str, clock: Clock, *, pin: str | None = None) -> None:
        """Serve *course* at *where*, as `serving.listen_on` takes it; *pin* is a new one if none is given.

        Raises:
            OSError: If it cannot be served there.
        """
        self._calibrating = Calibrating(clock)
        self._calibrating.begin(course, camera)
        hub = Hub(clock)
        hub.show_lobby(Lobby(f"{camera}: it is being calibrated"))
        self._page = LivePage(
            where, clock, pin=pin, hub=hub, more=lambda access: (calibration_routes(self._calibrating, access),)
        )

    @property
    def words(self) -> str:
        """Where it is and its PIN."""
        return f"page {self._page.url}{_VIEW}  {self._page.pin_words}"

    def turn(self) -> None:
        """Let the course look once, and do what people want."""
        self._calibrating.turn()

    def close(self) -> None:
        """Serve no more."""
        self._calibrating.end()
        self._page.close()
