"""Run the calibration of a table that is always on: start it from the page, keep, check and restore it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from hardware.camera.device import Light
from hardware.clock import Clock
from hardware.knock.drivers.microphone import MicrophoneSettings
from hardware.table.settings import HardwareSettings
from tallybone.calibrate.look import Onlooker, wait_for_picture
from tallybone.calibrate.scenes import AskedScene
from tallybone.finding import Finding
from tallybone.serve.camera import TableCamera
from tallybone.serve.parts_test import ServedParts
from tallybone.sources.camera import shot_of
from tallybone.sources.shots import Shot
from tallybone.store.calibration_file import load_calibration
from tallybone.web.calibration_desk import Calibrating
from vision.arrays import Image

if TYPE_CHECKING:
    from tallybone.calibrate.lens_and_table import ReadTiles

GoesOn = Callable[[], bool]
See = Callable[[Shot], None]

_NS_PER_S = 1_000_000_000
# A board is held before the camera for a minute or two, and the phone may sleep meanwhile.
_NOBODY_AFTER_NS = 5 * 60 * _NS_PER_S
_SHOWN_EVERY_NS = _NS_PER_S // 2
_RESTS_S = 0.01


class ServedCalibration:
    """One calibration at a time, in the table's thread; other threads follow it by `calibrating`."""

    def __init__(
        self,
        camera: TableCamera,
        parts: ServedParts,
        path: Callable[[], Path],
        clock: Clock,
        *,
        read_tiles: ReadTiles | None = None,
    ) -> None:
        """Calibrate *camera*; keep the result in the file that *path* returns at that moment."""
        self._camera, self._parts, self._clock, self._read_tiles = camera, parts, clock, read_tiles
        self._waits = threading.Event()
        self.path = path
        self.calibrating = Calibrating(clock)
        self.findings: tuple[Finding, ...] = ()

    @property
    def camera(self) -> str:
        """The source that is calibrated."""
        return self._camera.source

    def run(self, goes_on: GoesOn, see: See, began: Callable[[], None]) -> None:
        """Lead through the steps until somebody ends it, or nobody has looked for some minutes.

        Args:
            goes_on: Asked often; False ends it.
            see: Takes the camera's picture, twice a second.
            began: Called as soon as it can be followed.

        Raises:
            CalibrationError: If the stored calibration is damaged.
            VisionError: If tiles cannot be read, or the film holds no picture.
            OSError: If there is no camera, or a file cannot be read.
        """
        from tallybone.calibrate.guide.course import GuideCourse, GuideSettings
        from tallybone.calibrate.lens_and_table import shipped_eye  # much to load, and seldom needed

        into = self.path()
        wish = GuideSettings(self.camera, into, microphone=microphone_of(self._parts.hardware), asks_always=True)
        before = load_calibration(into)
        with ExitStack() as stack:
            look = stack.enter_context(closing(_Shared(self._camera.for_calibration(), self.camera, see, self._clock)))
            if wish.microphone is not None:
                stack.enter_context(self._parts.lent())  # no two can hear through one microphone
            course = stack.enter_context(
                closing(GuideCourse(wish, look, before, self._read_tiles or shipped_eye, self._clock))
            )
            stack.callback(self.calibrating.end)
            self.calibrating.begin(course, self.camera)
            began()
            while goes_on() and not self.calibrating.is_left and self.calibrating.unwatched_ns < _NOBODY_AFTER_NS:
                self.calibrating.turn()
                look.turn()
                self._waits.wait(_RESTS_S)

    def check(self, goes_on: GoesOn, see: See) -> None:
        """Compare a picture with the stored calibration; the result is in `findings`.

        Raises:
            CalibrationError: If the stored calibration is damaged.
            VisionError: If tiles cannot be read.
            OSError: If there is no picture.
        """
        from tallybone.calibrate.lens_and_table import shipped_eye
        from tallybone.calibrate.stored import compare_with_picture

        calibration = load_calibration(self.path())

        def pause(seconds: float) -> None:
            goes_on()
            self._waits.wait(seconds)

        with closing(_Shared(self._camera.for_calibration(), self.camera, see, self._clock)) as look:
            look.present(AskedScene.TILES)
            image = wait_for_picture(look, self._clock, pause=pause)
            self.findings, _ = compare_with_picture(image, calibration, self._read_tiles or shipped_eye, None)


def microphone_of(hardware: HardwareSettings) -> str | None:
    """Return the microphone that hears knocks, as `calibrate.knock.sensor_for` takes it; None for none."""
    knock = hardware.knock
    if not isinstance(knock, MicrophoneSettings):
        return None
    return "any" if knock.device is None else str(knock.device)


class _Shared:
    """A look at the table for a calibration and for all viewers of the page."""

    def __init__(self, look: Onlooker, name: str, see: See, clock: Clock) -> None:
        self._look, self._name, self._see, self._clock = look, name, see, clock
        self.present, self.hold_light, self.close = look.present, look.hold_light, look.close
        self._newest: Image | None = None
        self._shown_ns = self._taken_ns = clock()

    @property
    def problem(self) -> str | None:
        """Why it gives no pictures; None while it does."""
        return self._look.problem

    @property
    def light(self) -> Light:
        """How it adapts to the light."""
        return self._look.light

    def take(self) -> Image | None:
        """Return the newest picture, once."""
        image = self._look.take()
        if image is not None:
            self._newest, self._taken_ns = image, self._clock()
        return image

    def turn(self) -> None:
        """Show the newest picture; while the calibration takes none, take one."""
        now_ns = self._clock()
        if now_ns - self._shown_ns < _SHOWN_EVERY_NS:
            return
        image = self.take() if now_ns - self._taken_ns >= _SHOWN_EVERY_NS else self._newest
        self._newest = None
        if image is not None:
            self._shown_ns = now_ns
            self._see(shot_of(image, now_ns, self._name))
