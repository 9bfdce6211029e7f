"""A camera with its own thread, which keeps the newest picture and reopens a camera that was unplugged or hangs.

Pure classes decide when to lock exposure and white balance, and detect pictures without new content.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from enum import Enum, auto
from typing import TypeAlias

import numpy as np

from hardware.camera import device
from hardware.part import Clock, PartState

# A picture is black if at least half of its pixels are at most _BLACK, and at most 1 % exceed _DIM. Tiles in a dim room
# are brighter.
_BLACK = 12
_DIM = 32
_MAX_DIM = 0.01
# Uniform pictures may repeat, because overexposed areas have no noise. This is their maximum range of grey levels.
_EVEN = 8


class Sight:
    """Compares each picture with the previous one. Sensor noise makes any two pictures differ.

    On a still table at least 28 % of the pixels differ with a usual webcam. With a tenth of its noise and strong JPEG
    compression (quality 30) it is still 3 %.
    """

    def __init__(self) -> None:
        self._before: device.Pixels | None = None

    def after(self, picture: device.Picture) -> device.Blind | None:
        """Return the reason why *picture* shows nothing new compared with the previous one, or None if it does."""
        before, self._before = self._before, picture.grey
        if is_black(picture.grey):
            return device.Blind.BLACK
        is_same = before is not None and np.array_equal(before, picture.grey)
        return device.Blind.SAME if is_same and int(np.ptp(picture.grey)) > _EVEN else None


def is_black(grey: device.Pixels) -> bool:
    """Return True if a grey picture of shape (h, w) is black."""
    dark, dim = np.count_nonzero(grey > _BLACK), np.count_nonzero(grey > _DIM)
    return bool(2 * dark <= grey.size and dim <= _MAX_DIM * grey.size)


Levels: TypeAlias = tuple[float, float, float]
"""Median blue, green and red of a picture, from 0 to 255."""

# Time to adapt for a camera that does not report it. Webcams need about a second.
_ADAPTS_NS = 2 * device.NS_PER_S
# Maximum time to adapt for a camera that reports it. It may not converge while somebody moves over the table.
_LONGEST_NS = 4 * device.NS_PER_S
# Time after which new settings are visible in pictures.
_SHOWS_NS = 1 * device.NS_PER_S
# Maximum ratio of brightness before and after locking. Moving hands change the median by less than this.
_MAX_CHANGE = 1.25
_TRIES = 3
# If the median is outside these bounds for 3 s, a lamp was probably switched, and the camera adapts again. Hands do not
# cover half the table that long.
_DARK = 12.0
_BRIGHT = 245.0
_LOST_NS = 3 * device.NS_PER_S
_STEP_PX = 16


class Order(Enum):
    """Order to a camera."""

    HOLD = auto()
    FREE = auto()


class LightKeeper:
    """Lets a camera adapt, locks its light, and checks that the picture did not change."""

    def __init__(self) -> None:
        self._is_wanted = False
        self.light = device.Light.FREE
        """State of exposure and white balance: automatic, settling or locked."""
        self._since_ns: int | None = None
        self._before: Levels | None = None
        self._lost_since_ns: int | None = None
        self._tries = 0

    @property
    def is_ready(self) -> bool:
        """True unless the light is settling."""
        return self.light is not device.Light.SETTLING

    def want(self, light: device.Light) -> Order | None:
        """Request that the light is HELD or FREE, and return an order for the camera, if any."""
        self._is_wanted = light is device.Light.HELD
        if self._is_wanted:
            self.reopened()
            return None
        was_free, self.light = self.light is device.Light.FREE, device.Light.FREE
        return None if was_free else Order.FREE

    def reopened(self) -> None:
        """Restart, after the camera was reopened and adapts automatically."""
        self._settle()
        self._tries = 0

    def after(self, picture: device.Picture) -> Order | None:
        """Process a picture, and return an order for the camera, if any."""
        match self.light:
            case device.Light.SETTLING if self._before is None:
                return self._hold_if_settled(picture)
            case device.Light.SETTLING:
                return self._check_hold(picture)
            case device.Light.HELD:
                return self._free_if_lost(picture)
            case _:
                return None

    def _settle(self) -> None:
        self.light = device.Light.SETTLING if self._is_wanted else device.Light.FREE
        self._since_ns = self._before = self._lost_since_ns = None

    def _hold_if_settled(self, picture: device.Picture) -> Order | None:
        """Hold the light once the camera has adapted, but never to darkness, which would overexpose later pictures."""
        if is_black(picture.grey):
            self._since_ns = None
            return None
        if self._since_ns is None:
            self._since_ns = picture.t_ns
        since_ns = picture.t_ns - self._since_ns
        wait_ns = _ADAPTS_NS if picture.is_light_settled is None else _LONGEST_NS
        if not picture.is_light_settled and since_ns < wait_ns:
            return None
        self._before, self._since_ns = levels_of(picture.image), picture.t_ns
        return Order.HOLD

    def _check_hold(self, picture: device.Picture) -> Order | None:
        """Check that locking did not change the picture: some cameras jump to old settings. Gives up after 3 tries."""
        assert self._before is not None
        assert self._since_ns is not None
        if picture.t_ns - self._since_ns < _SHOWS_NS:
            return None
        if is_similar(self._before, levels_of(picture.image)):
            self.light = device.Light.HELD
            return None
        self._tries += 1
        self._settle()
        if self._tries == _TRIES:
            self.light = device.Light.CANNOT_BE_HELD
        return Order.FREE

    def _free_if_lost(self, picture: device.Picture) -> Order | None:
        """Let the camera adapt again if the picture has been too dark or too bright for 3 s."""
        level = float(np.median(picture.grey))
        if _DARK <= level <= _BRIGHT:
            self._lost_since_ns = None
            return None
        if self._lost_since_ns is None:
            self._lost_since_ns = picture.t_ns
        if picture.t_ns - self._lost_since_ns < _LOST_NS:
            return None
        self.reopened()
        return Order.FREE


def levels_of(image: device.Pixels) -> Levels:
    """Return the median of each colour of a picture of shape (H, W, 3), subsampled by 16."""
    blue, green, red = np.median(image[::_STEP_PX, ::_STEP_PX].reshape(-1, 3), axis=0)
    return float(blue), float(green), float(red)


def is_similar(before: Levels, after: Levels) -> bool:
    """Return True if two pictures have similar brightness in each colour, with a tolerance for moving hands."""
    # Adding eight levels suppresses noise, which alone can double a level in the dark.
    return all(
        max(first, second) + 8 <= _MAX_CHANGE * (min(first, second) + 8)
        for first, second in zip(before, after, strict=True)
    )


# Delays before reopening a camera.
_BACK_OFF_S = (0.5, 1.0, 2.0, 4.0)
# Time without a new picture after which a problem is reported.
_SILENT_NS = 3 * device.NS_PER_S
# Time with identical pictures after which the camera is reopened.
_STUCK_NS = 6 * device.NS_PER_S
_CLOSES_S = 3.0
# Interval at which a picture is decoded to check light and faults, even if none is requested. Six pictures are checked
# before a problem is reported.
_WATCHED_EVERY_NS = device.NS_PER_S // 2
# Time after which the driver counts as hung. Drivers need less to open a camera or to time out: OpenCV needs 10 s.
_HANGS_NS = 30 * device.NS_PER_S


class WatchedCamera:
    """A camera that holds only its newest picture. Only its thread accesses the device.

    The thread takes every picture from the driver, but decodes only requested ones. A slow reader therefore causes no
    more decoding than it can use.
    """

    def __init__(
        self,
        name: str,
        open_feed: device.OpenFeed,
        clock: Clock,
        *,
        orientation: device.CameraTurn | None = None,
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
        self._back_off_s, self._orientation = back_off_s, orientation or device.CameraTurn()
        self._lock = threading.Lock()
        self._keeper, self._sight = LightKeeper(), Sight()
        self._requested_light: device.Light | None = None
        self._newest: device.Picture | None = None
        # Earliest time of the picture requested by the reader. None while no picture is requested.
        self._requested_ns: int | None = None
        self.pictures = 0
        self._reason: str | None = None
        self._blind: device.Blind | None = None
        feed = open_feed()
        # Times of the last picture with new content, of the last activity of the driver, and of opening. Opening may
        # take longer than a camera may be silent: importing picamera2 takes seconds on a slow computer.
        self._last_ns = self._active_ns = self._opened_ns = clock()
        self._watched_ns = self._opened_ns - _WATCHED_EVERY_NS
        self._stops = threading.Event()
        self.mode: device.CameraMode = self._upright_mode(feed.mode)
        self._thread = threading.Thread(target=self._run, args=(feed,), name=f"camera {name}", daemon=True)
        self._thread.start()

    @property
    def state(self) -> PartState:
        """State of the camera."""
        with self._lock:
            return PartState(self._problem())

    @property
    def light(self) -> device.Light:
        """State of exposure and white balance. SETTLING as soon as a lock is requested."""
        with self._lock:
            return device.Light.SETTLING if self._requested_light is device.Light.HELD else self._keeper.light

    @property
    def blind(self) -> device.Blind | None:
        """Reason why pictures show nothing new, if this is the current problem."""
        with self._lock:
            return None if self._problem() is None else self._blind

    @property
    def hangs(self) -> bool:
        """True if the driver has not responded for 30 s."""
        with self._lock:
            return self._clock() - self._active_ns > _HANGS_NS

    def take(self, since_ns: int = 0) -> device.Picture | None:
        """Return the requested picture, or None and request the next one taken at *since_ns* or later.

        Raises:
            CameraError: If the camera is closed.
        """
        if self._stops.is_set():
            raise device.CameraError(f"{self._name}: it is closed, and gives no more pictures")
        with self._lock:
            newest, self._newest = self._newest, None
            self._requested_ns = since_ns if newest is None else None
        return None if newest is None else replace(newest, image=self._orientation.upright(newest.image))

    def hold_light(self) -> None:
        """Ask the thread to lock exposure and white balance. Discards the newest picture."""
        with self._lock:
            self._requested_light, self._newest = device.Light.HELD, None

    def free_light(self) -> None:
        """Ask the thread to let the camera adapt to light."""
        with self._lock:
            self._requested_light = device.Light.FREE

    def close(self) -> None:
        """Release the camera. Waits up to 3 s, and then leaves a hung camera to its thread."""
        self._stops.set()
        self._thread.join(_CLOSES_S)

    def _upright_mode(self, mode: device.CameraMode) -> device.CameraMode:
        is_tilted = self._orientation.rotate in (90, 270)
        return replace(mode, width_px=mode.height_px, height_px=mode.width_px) if is_tilted else mode

    def _problem(self) -> str | None:
        if self._clock() - self._last_ns < _SILENT_NS:
            return None
        return self._reason or _with_consequence(f"{self._name} sends no pictures: check that it is plugged in")

    def _run(self, feed: device.Feed | None) -> None:
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

    def _reopen(self) -> device.Feed | None:
        self._active_ns = self._clock()
        try:
            feed = self._open()
        except device.CameraError as error:
            with self._lock:
                self._reason, self._blind = _with_consequence(error), None
            return None
        with self._lock:
            # The reason for reopening remains valid until there is new content.
            self.mode, self._opened_ns = self._upright_mode(feed.mode), self._clock()
            self._keeper.reopened()
        return feed

    def _use(self, feed: device.Feed) -> bool:
        """Take pictures until the camera is closed, lost or stuck. Return True if there was new content."""
        began_ns = self._opened_ns
        try:
            while not self._stops.is_set():
                if (
                    self._blind is device.Blind.SAME
                    and self._active_ns - max(self._last_ns, self._opened_ns) > _STUCK_NS
                ):
                    break
                if not self._needs_decoding(feed.grab()):
                    continue
                order = self._store(feed.read())
                if order is Order.HOLD:
                    feed.hold_light()
                elif order is Order.FREE:
                    feed.free_light()
        except device.CameraError as error:
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

    def _store(self, picture: device.Picture) -> Order | None:
        """Store a picture if it is requested, and return an order for the camera, if any."""
        with self._lock:
            self._watched_ns = picture.t_ns
            blind = self._sight.after(picture)
            now_ns = self._active_ns = self._clock()
            self._blind = blind
            if blind is None:
                self._last_ns, self._reason = now_ns, None
            else:
                self._reason = _with_consequence(f"{self._name} {blind.value}")
            requested, self._requested_light = self._requested_light, None
            order = None if requested is None else self._keeper.want(requested)
            if order is None:
                order = self._keeper.after(picture)
            if not self._keeper.is_ready or order is not None:
                self._newest = None
            elif blind is None and self._is_requested(picture.t_ns):
                self._newest = picture
            return order


def _with_consequence(problem: object) -> str:
    """Return a problem, followed by its consequence for the game."""
    text = str(problem)
    return f"{text}{'' if text.endswith('?') else '.'} The game goes on when it is back"
