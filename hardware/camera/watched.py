"""A camera in a thread of its own, which keeps its newest picture and opens it again when it was unplugged or hangs."""

from __future__ import annotations

import threading

from hardware.camera.device import (
    NS_PER_S,
    Blind,
    CameraError,
    CameraMode,
    Feed,
    Light,
    OpenFeed,
    Picture,
)
from hardware.camera.light import LightKeeper, Order
from hardware.camera.sight import Sight
from hardware.clock import Clock
from hardware.part_state import PartState

# So long is waited before an unplugged camera is tried again, longer each time.
_BACK_OFF_S = (0.5, 1.0, 2.0, 4.0)
# A camera that gives nothing new for so long hangs, was unplugged, or sees nothing.
_SILENT_NS = 3 * NS_PER_S
# One that gives the same picture for so long is opened anew, and then again.
_STUCK_NS = 6 * NS_PER_S
_CLOSES_S = 3.0
# Light and faults are watched on so many pictures even if nobody looks: six in the time after which one is reported.
_WATCHED_EVERY_NS = NS_PER_S // 2
# No driver takes so long to open a camera or to give a picture up: OpenCV gives up after 10 s.
_HANGS_NS = 30 * NS_PER_S


class WatchedCamera:
    """The newest picture of a camera, and nothing older. It is used by its thread alone, from opening to closing.

    The thread takes every picture from the driver, but decodes only those that the reader has asked for. A reader that
    is slower than the camera leaves it no more work than it can do itself.
    """

    def __init__(
        self, name: str, open_feed: OpenFeed, clock: Clock, *, back_off_s: tuple[float, ...] = _BACK_OFF_S
    ) -> None:
        """Open a camera that people call *name*; one that has gone is tried again after *back_off_s*, and so on.

        Raises:
            CameraError: If it cannot be had.
        """
        self._name, self._open, self._clock = name, open_feed, clock
        self._back_off_s = back_off_s
        self._lock = threading.Lock()
        self._keeper, self._sight = LightKeeper(), Sight()
        self._wanted: Light | None = None
        self._newest: Picture | None = None
        # The reader asks for a picture taken then or later; None while it is busy with the one before.
        self._asked_ns: int | None = None
        self.pictures = 0
        self._why: str | None = None
        self._blind: Blind | None = None
        # When it last gave a picture that shows something new, gave any or was looked for, and was opened.
        self._last_ns = self._turned_ns = self._opened_ns = clock()
        self._watched_ns = self._opened_ns - _WATCHED_EVERY_NS
        self._stops = threading.Event()
        feed = open_feed()
        self.mode: CameraMode = feed.mode
        self._thread = threading.Thread(target=self._run, args=(feed,), name=f"camera {name}", daemon=True)
        self._thread.start()

    @property
    def state(self) -> PartState:
        """Its state."""
        with self._lock:
            return PartState(self._problem())

    @property
    def light(self) -> Light:
        """Its present reaction to light."""
        with self._lock:
            return Light.SETTLING if self._wanted is Light.HELD else self._keeper.light

    @property
    def blind(self) -> Blind | None:
        """Why its pictures show nothing new, if that is its problem."""
        with self._lock:
            return None if self._problem() is None else self._blind

    @property
    def hangs(self) -> bool:
        """Whether its driver has not come back for half a minute."""
        with self._lock:
            return self._clock() - self._turned_ns > _HANGS_NS

    def take(self, since_ns: int = 0) -> Picture | None:
        """Return the newest picture that was asked for; ask for the next one if there is none."""
        if self._stops.is_set():
            raise CameraError(f"{self._name}: it is closed, and gives no more pictures")
        with self._lock:
            newest, self._newest = self._newest, None
            self._asked_ns = since_ns if newest is None else None
        return newest

    def hold_light(self) -> None:
        """Have its thread hold the light; what it saw before is not given any more."""
        with self._lock:
            self._wanted, self._newest = Light.HELD, None

    def free_light(self) -> None:
        """Have its thread free the light."""
        with self._lock:
            self._wanted = Light.FREE

    def close(self) -> None:
        """Let the camera go. One that hangs is left to its thread after some seconds."""
        self._stops.set()
        self._thread.join(_CLOSES_S)

    def _problem(self) -> str | None:
        if self._clock() - self._last_ns < _SILENT_NS:
            return None
        return self._why or _going_on(f"{self._name} gives no pictures: is it plugged in?")

    def _run(self, feed: Feed | None) -> None:
        """Use the camera until it is closed, and look for it again when it has gone."""
        failures = 0
        while not self._stops.is_set():
            if feed is not None:
                failures = 0 if self._use(feed) else failures
                feed = None
            self._stops.wait(self._back_off_s[min(failures, len(self._back_off_s) - 1)])
            failures += 1
            if not self._stops.is_set():
                feed = self._opened()
        if feed is not None:
            feed.close()

    def _opened(self) -> Feed | None:
        self._turned_ns = self._clock()
        try:
            feed = self._open()
        except CameraError as error:
            with self._lock:
                self._why, self._blind = _going_on(error), None
            return None
        with self._lock:
            # Why it was opened anew stays true until it shows something new.
            self.mode, self._opened_ns = feed.mode, self._clock()
            self._keeper.reopened()
        return feed

    def _use(self, feed: Feed) -> bool:
        """Keep its newest picture until it is closed, has gone or hangs; return whether there was a new one."""
        began_ns = self._opened_ns
        try:
            while not self._stops.is_set() and not self._is_stuck:
                if not self._is_wanted(feed.grab()):
                    continue
                order = self._kept(feed.read())
                if order is Order.HOLD:
                    feed.hold_light()
                elif order is Order.FREE:
                    feed.free_light()
        except CameraError as error:
            with self._lock:
                self._why, self._blind = _going_on(error), None
        finally:
            feed.close()
        return self._last_ns > began_ns

    def _is_wanted(self, t_ns: int) -> bool:
        """Count a picture, and return whether to decode it: for the reader, or to watch light and faults."""
        with self._lock:
            self._turned_ns = self._clock()
            self.pictures += self._keeper.is_ready
            is_watched = not self._keeper.is_ready or t_ns - self._watched_ns >= _WATCHED_EVERY_NS
            return is_watched or self._wanted is not None or self._is_asked(t_ns)

    def _is_asked(self, t_ns: int) -> bool:
        return self._asked_ns is not None and t_ns >= self._asked_ns

    def _kept(self, picture: Picture) -> Order | None:
        """Keep a picture, and return what to tell the camera."""
        with self._lock:
            self._watched_ns = picture.t_ns
            blind = self._sight.after(picture)
            self._note(blind)
            wanted, self._wanted = self._wanted, None
            order = None if wanted is None else self._keeper.want(wanted)
            if order is None:
                order = self._keeper.after(picture)
            if not self._keeper.is_ready or order is not None:
                self._newest = None
            elif blind is None and self._is_asked(picture.t_ns):
                self._newest = picture
            return order

    def _note(self, blind: Blind | None) -> None:
        """Take note of a picture, and of why it shows nothing new, if it does not."""
        now_ns = self._turned_ns = self._clock()
        self._blind = blind
        if blind is None:
            self._last_ns, self._why = now_ns, None
        else:
            self._why = _going_on(f"{self._name} {blind.value}")

    @property
    def _is_stuck(self) -> bool:
        """Whether it has given the same picture for so long that it is worth opening anew."""
        return self._blind is Blind.SAME and self._turned_ns - max(self._last_ns, self._opened_ns) > _STUCK_NS


def _going_on(problem: object) -> str:
    """Return a problem with what people at the table want to know about it."""
    words = str(problem)
    return f"{words}{'' if words.endswith('?') else '.'} The game goes on when it is back"
