"""A camera with its own thread, which keeps the newest picture and reopens a camera that was unplugged or hangs."""

from __future__ import annotations

import threading
from dataclasses import replace

from hardware.camera.device import (
    NS_PER_S,
    Blind,
    CameraError,
    CameraMode,
    CameraTurn,
    Feed,
    Light,
    OpenFeed,
    Picture,
)
from hardware.camera.light import LightKeeper, Order, Sight
from hardware.clock import Clock
from hardware.part_state import PartState

# Delays before reopening a camera.
_BACK_OFF_S = (0.5, 1.0, 2.0, 4.0)
# Time without a new picture after which a problem is reported.
_SILENT_NS = 3 * NS_PER_S
# Time with identical pictures after which the camera is reopened.
_STUCK_NS = 6 * NS_PER_S
_CLOSES_S = 3.0
# Interval at which a picture is decoded to check light and faults, even if none is requested. Six pictures are checked
# before a problem is reported.
_WATCHED_EVERY_NS = NS_PER_S // 2
# Time after which the driver counts as hung. Drivers need less to open a camera or to time out: OpenCV needs 10 s.
_HANGS_NS = 30 * NS_PER_S


class WatchedCamera:
    """A camera that holds only its newest picture. Only its thread accesses the device.

    The thread takes every picture from the driver, but decodes only requested ones. A slow reader therefore causes no
    more decoding than it can use.
    """

    def __init__(
        self,
        name: str,
        open_feed: OpenFeed,
        clock: Clock,
        *,
        orientation: CameraTurn | None = None,
        back_off_s: tuple[float, ...] = _BACK_OFF_S,
    ) -> None:
        """Open a camera and start its thread.

        Args:
            name: Name used in messages.
            open_feed: Opens the camera.
            clock: Monotonic clock in nanoseconds.
            orientation: Correction of the pictures. None for none.
            back_off_s: Delays before reopening a lost camera. The last one repeats.

        Raises:
            CameraError: If the camera cannot be opened.
        """
        self._name, self._open, self._clock = name, open_feed, clock
        self._back_off_s, self._orientation = back_off_s, orientation or CameraTurn()
        self._lock = threading.Lock()
        self._keeper, self._sight = LightKeeper(), Sight()
        self._requested_light: Light | None = None
        self._newest: Picture | None = None
        # Earliest time of the picture requested by the reader. None while no picture is requested.
        self._requested_ns: int | None = None
        self.pictures = 0
        self._reason: str | None = None
        self._blind: Blind | None = None
        feed = open_feed()
        # Times of the last picture with new content, of the last activity of the driver, and of opening. Opening may
        # take longer than a camera may be silent: importing picamera2 takes seconds on a slow computer.
        self._last_ns = self._active_ns = self._opened_ns = clock()
        self._watched_ns = self._opened_ns - _WATCHED_EVERY_NS
        self._stops = threading.Event()
        self.mode: CameraMode = self._upright_mode(feed.mode)
        self._thread = threading.Thread(target=self._run, args=(feed,), name=f"camera {name}", daemon=True)
        self._thread.start()

    @property
    def state(self) -> PartState:
        """State of the camera."""
        with self._lock:
            return PartState(self._problem())

    @property
    def light(self) -> Light:
        """State of exposure and white balance. SETTLING as soon as a lock is requested."""
        with self._lock:
            return Light.SETTLING if self._requested_light is Light.HELD else self._keeper.light

    @property
    def blind(self) -> Blind | None:
        """Reason why pictures show nothing new, if this is the current problem."""
        with self._lock:
            return None if self._problem() is None else self._blind

    @property
    def hangs(self) -> bool:
        """True if the driver has not responded for 30 s."""
        with self._lock:
            return self._clock() - self._active_ns > _HANGS_NS

    def take(self, since_ns: int = 0) -> Picture | None:
        """Return the requested picture, or None and request the next one taken at *since_ns* or later.

        Raises:
            CameraError: If the camera is closed.
        """
        if self._stops.is_set():
            raise CameraError(f"{self._name}: it is closed, and gives no more pictures")
        with self._lock:
            newest, self._newest = self._newest, None
            self._requested_ns = since_ns if newest is None else None
        return None if newest is None else replace(newest, image=self._orientation.upright(newest.image))

    def hold_light(self) -> None:
        """Ask the thread to lock exposure and white balance. Discards the newest picture."""
        with self._lock:
            self._requested_light, self._newest = Light.HELD, None

    def free_light(self) -> None:
        """Ask the thread to let the camera adapt to light."""
        with self._lock:
            self._requested_light = Light.FREE

    def close(self) -> None:
        """Release the camera. Waits up to 3 s, and then leaves a hung camera to its thread."""
        self._stops.set()
        self._thread.join(_CLOSES_S)

    def _upright_mode(self, mode: CameraMode) -> CameraMode:
        is_tilted = self._orientation.rotate in (90, 270)
        return replace(mode, width_px=mode.height_px, height_px=mode.width_px) if is_tilted else mode

    def _problem(self) -> str | None:
        if self._clock() - self._last_ns < _SILENT_NS:
            return None
        return self._reason or _with_consequence(f"{self._name} sends no pictures: check that it is plugged in")

    def _run(self, feed: Feed | None) -> None:
        """Use the camera until it is closed, and reopen it after failures."""
        failures = 0
        while not self._stops.is_set():
            if feed is not None:
                failures = 0 if self._use(feed) else failures
                feed = None
            self._stops.wait(self._back_off_s[min(failures, len(self._back_off_s) - 1)])
            failures += 1
            if not self._stops.is_set():
                feed = self._reopen()
        if feed is not None:
            feed.close()

    def _reopen(self) -> Feed | None:
        self._active_ns = self._clock()
        try:
            feed = self._open()
        except CameraError as error:
            with self._lock:
                self._reason, self._blind = _with_consequence(error), None
            return None
        with self._lock:
            # The reason for reopening remains valid until there is new content.
            self.mode, self._opened_ns = self._upright_mode(feed.mode), self._clock()
            self._keeper.reopened()
        return feed

    def _use(self, feed: Feed) -> bool:
        """Take pictures until the camera is closed, lost or stuck. Return True if there was new content."""
        began_ns = self._opened_ns
        try:
            while not self._stops.is_set() and not self._is_stuck:
                if not self._needs_decoding(feed.grab()):
                    continue
                order = self._store(feed.read())
                if order is Order.HOLD:
                    feed.hold_light()
                elif order is Order.FREE:
                    feed.free_light()
        except CameraError as error:
            with self._lock:
                self._reason, self._blind = _with_consequence(error), None
        finally:
            feed.close()
        return self._last_ns > began_ns

    def _needs_decoding(self, t_ns: int) -> bool:
        """Count a picture. Return True if the reader requests it, or if light and faults must be checked."""
        with self._lock:
            self._active_ns = self._clock()
            self.pictures += self._keeper.is_ready
            is_watched = not self._keeper.is_ready or t_ns - self._watched_ns >= _WATCHED_EVERY_NS
            return is_watched or self._requested_light is not None or self._is_requested(t_ns)

    def _is_requested(self, t_ns: int) -> bool:
        return self._requested_ns is not None and t_ns >= self._requested_ns

    def _store(self, picture: Picture) -> Order | None:
        """Store a picture if it is requested, and return an order for the camera, if any."""
        with self._lock:
            self._watched_ns = picture.t_ns
            blind = self._sight.after(picture)
            self._update_problem(blind)
            requested, self._requested_light = self._requested_light, None
            order = None if requested is None else self._keeper.want(requested)
            if order is None:
                order = self._keeper.after(picture)
            if not self._keeper.is_ready or order is not None:
                self._newest = None
            elif blind is None and self._is_requested(picture.t_ns):
                self._newest = picture
            return order

    def _update_problem(self, blind: Blind | None) -> None:
        """Record the arrival of a picture. *blind* is the reason if it shows nothing new."""
        now_ns = self._active_ns = self._clock()
        self._blind = blind
        if blind is None:
            self._last_ns, self._reason = now_ns, None
        else:
            self._reason = _with_consequence(f"{self._name} {blind.value}")

    @property
    def _is_stuck(self) -> bool:
        """True if the camera has repeated a picture for more than 6 s, so that it should be reopened."""
        return self._blind is Blind.SAME and self._active_ns - max(self._last_ns, self._opened_ns) > _STUCK_NS


def _with_consequence(problem: object) -> str:
    """Return a problem, followed by its consequence for the game."""
    text = str(problem)
    return f"{text}{'' if text.endswith('?') else '.'} The game goes on when it is back"
