"""Camera of an always-on table: keeps it open between games, and retries while it is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from engine.phrases import phrase
from hardware.camera.device import CameraDevice, CameraError
from hardware.camera.network import without_user
from hardware.camera.open_device import is_device, is_no_camera, open_device
from hardware.part import Clock
from tallybone.calibrate.look import CalibrationCamera, LentLook, open_look
from tallybone.play.start import MatchPlan, open_camera
from tallybone.sources.camera import Camera, LentCamera, problem_of, shot_of
from tallybone.sources.source import Shot
from tallybone.terminal import quiet_libraries

OpenDevice: TypeAlias = Callable[[str, Clock], CameraDevice]
_TRIES_EVERY_NS = 5_000_000_000
_LOOKS_EVERY_NS = 500_000_000


class TableCamera:
    """Camera of a table. A device stays open. A simulation or video restarts with each game."""

    def __init__(self, source: str, clock: Clock, *, speed: float = 1.0, opener: OpenDevice = open_device) -> None:
        """Set the source, without opening it. *source* and *speed* are as in `play.start.open_camera`."""
        self.source = source
        self._clock, self._speed, self._opener = clock, speed, opener
        self._device: CameraDevice | None = None
        self._missing: str | None = None
        self._tried_ns: int | None = None
        self._looked_ns = clock()

    @property
    def problem(self) -> str | None:
        """Reason why the camera gives no images, as text. None if it gives images, or will when a game begins."""
        if self._missing is not None or self._device is None:
            return self._missing
        return problem_of(without_user(self.source), self._device)

    @property
    def is_silent(self) -> bool:
        """True if missing images are expected: no camera, a known problem, or a source that starts with a match.

        False if the camera hangs.
        """
        hangs = self._device is not None and self._device.hangs
        will_come = is_device(self.source) and not is_no_camera(self.source)
        return not hangs and (self.problem is not None or not will_come)

    @property
    def text(self) -> str:
        """State of the camera as text."""
        if not is_device(self.source):
            return phrase("{source}: starts with the match", source=self.source)
        problem = self.problem
        if problem is not None:
            return problem
        mode = None if self._device is None else self._device.mode
        name = without_user(self.source)
        return name if mode is None else f"{name}, {mode.width_px} x {mode.height_px}"

    def look(self) -> Shot | None:
        """Return an image for viewers, at most twice a second, or None. Retries a missing camera every five seconds."""
        if not is_device(self.source):
            return None
        if self._device is None:
            self._try()
            return None
        now_ns = self._clock()
        if now_ns - self._looked_ns < _LOOKS_EVERY_NS:
            return None
        picture = self._device.take()
        if picture is None:
            return None
        self._looked_ns = now_ns
        return shot_of(picture.image, picture.t_ns, self.source)

    def for_game(self, game: MatchPlan) -> tuple[Camera, MatchPlan]:
        """Return a camera for a game, and the game, with zones if the table is simulated.

        Closing the returned camera keeps the device open.

        Raises:
            OSError: If the camera cannot be opened.
            VisionError: If the video contains no image.
        """
        if not is_device(self.source):
            return open_camera(self.source, game, self._clock, speed=self._speed)
        return LentCamera(self.source, self._opened(), self._clock), game

    def for_calibration(self) -> CalibrationCamera:
        """Return a camera view for calibration. Closing the view keeps the device open.

        Raises:
            CameraError: If the camera cannot be opened.
            OSError: If an image file cannot be read.
            VisionError: If the image file is not an image.
        """
        if not is_device(self.source):
            # The options of a simulated game have no meaning here.
            is_simulated = self.source.partition(":")[0] == "simulated"
            return open_look("simulated" if is_simulated else self.source, self._clock)
        return LentLook(self._opened())

    def close(self) -> None:
        """Close the camera."""
        if self._device is not None:
            self._device.close()

    def _opened(self) -> CameraDevice:
        return self._open() if self._device is None else self._device

    def _try(self) -> None:
        now_ns = self._clock()
        if self._tried_ns is not None and now_ns - self._tried_ns < _TRIES_EVERY_NS:
            return
        self._tried_ns = now_ns
        try:
            self._open()
        except CameraError as error:
            self._missing = str(error)

    def _open(self) -> CameraDevice:
        with quiet_libraries():  # OpenCV and libcamera repeat the error on stderr
            self._device = self._opener(self.source, self._clock)
        self._missing = None
        return self._device
