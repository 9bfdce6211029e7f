"""Calibration of an always-on table from the page: run, store and check it."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from engine.phrases import phrase
from hardware.camera.device import Light
from hardware.knock.drivers.microphone import MicrophoneSettings
from hardware.part import Clock
from hardware.table import HardwareSettings
from tallybone.calibrate.look import AskedScene, CalibrationCamera, wait_for_picture
from tallybone.finding import Finding, absent, ok, warning
from tallybone.serve.camera import TableCamera
from tallybone.serve.parts_test import ServedParts
from tallybone.sources.camera import shot_of
from tallybone.sources.source import Shot
from tallybone.store.calibration_file import load_calibration
from tallybone.web.calibration.desk import Calibrating
from vision.arrays import Image
from vision.image.picture import decode_picture

if TYPE_CHECKING:
    from tallybone.calibrate.lens_and_table import ReadTiles

GoesOn = Callable[[], bool]
See = Callable[[Shot], None]

_NS_PER_S = 1_000_000_000
# A calibration ends if no viewer has polled its state for this time. Holding a board in front of the camera takes a
# minute or two, during which the phone may sleep.
_NOBODY_AFTER_NS = 5 * 60 * _NS_PER_S
_SHOWN_EVERY_NS = _NS_PER_S // 2
_RESTS_S = 0.01
_MAX_TILT_DEG = 25
"""Maximum tilt of a camera: docs/guides/cameras.md."""


class ServedCalibration:
    """Runs a calibration in the table's thread. Other threads follow it through `calibrating`."""

    def __init__(
        self,
        camera: TableCamera,
        parts: ServedParts,
        path: Callable[[], Path],
        clock: Clock,
        *,
        read_tiles: ReadTiles | None = None,
    ) -> None:
        """Calibrate *camera*, and store the result in the file that *path* returns at the start of each calibration."""
        self._camera, self._parts, self._clock, self._read_tiles = camera, parts, clock, read_tiles
        self._waits = threading.Event()
        self.path = path
        self.calibrating = Calibrating(clock)
        self.findings: tuple[Finding, ...] = ()

    @property
    def camera(self) -> str:
        """Source of the camera."""
        return self._camera.source

    def run(self, continues: GoesOn, see: See, began: Callable[[], None]) -> None:
        """Run the guided calibration until it ends, or nobody has watched for five minutes.

        Args:
            continues: Polled often. Returning False ends the calibration.
            see: Called with a camera image up to twice a second.
            began: Called once viewers can follow the calibration.

        Raises:
            CalibrationError: If the stored calibration is damaged.
            VisionError: If the models that read tiles cannot be loaded, or the video contains no image.
            OSError: If the camera cannot be opened, or a file cannot be read.
        """
        from tallybone.calibrate.guide.course import GuideCourse, GuideSettings
        from tallybone.calibrate.lens_and_table import detect_tiles  # Slow to import and rarely needed.

        into = self.path()
        request = GuideSettings(self.camera, into, microphone=microphone_of(self._parts.hardware), asks_always=True)
        before = load_calibration(into)
        with ExitStack() as stack:
            look = stack.enter_context(closing(_Shared(self._camera.for_calibration(), self.camera, see, self._clock)))
            if request.microphone is not None:
                stack.enter_context(self._parts.lent())  # Only one user can open a microphone.
            course = stack.enter_context(
                closing(GuideCourse(request, look, before, self._read_tiles or detect_tiles, self._clock))
            )
            stack.callback(self.calibrating.end)
            self.calibrating.begin(course, self.camera)
            began()
            while continues() and not self.calibrating.is_left and self.calibrating.unwatched_ns < _NOBODY_AFTER_NS:
                self.calibrating.turn()
                look.turn()
                self._waits.wait(_RESTS_S)

    def check(self, continues: GoesOn, see: See) -> None:
        """Compare an image with the stored calibration, and set `findings` to the result.

        Raises:
            CalibrationError: If the stored calibration is damaged.
            VisionError: If tiles cannot be read.
            OSError: If there is no image.
        """
        from tallybone.calibrate.lens_and_table import detect_tiles
        from tallybone.calibrate.stored import compare_with_picture

        calibration = load_calibration(self.path())

        def pause(seconds: float) -> None:
            continues()
            self._waits.wait(seconds)

        with closing(_Shared(self._camera.for_calibration(), self.camera, see, self._clock)) as look:
            look.present(AskedScene.TILES)
            image = wait_for_picture(look, self._clock, pause=pause)
            self.findings, _ = compare_with_picture(image, calibration, self._read_tiles or detect_tiles, None)


def microphone_of(hardware: HardwareSettings) -> str | None:
    """Return the microphone for knocks, in the form for `calibrate.knock.sensor_for`. None for another or no sensor."""
    knock = hardware.knock
    if not isinstance(knock, MicrophoneSettings):
        return None
    return "any" if knock.device is None else str(knock.device)


def sight_findings(jpeg: bytes | None, path: Path) -> tuple[Finding, ...]:
    """Judge the light and sharpness of an image, and the tilt in the calibration at *path*.

    Raises:
        CalibrationError: If the stored calibration is damaged.
        OSError: If the file cannot be read.
    """
    from tallybone.doctor.parts import check_light, seen_in

    light = () if jpeg is None else (check_light(seen_in(decode_picture(jpeg, "camera"), 0.0)),)
    part, table = phrase("tilt"), load_calibration(path).table
    if table is None:
        return (*light, absent(part, phrase("not measured: calibrate the table to know it")))
    degrees = math.degrees(table.tilt_rad)
    text = phrase("the camera is tilted by {tilt} degrees", tilt=f"{degrees:.0f}")
    if degrees <= _MAX_TILT_DEG:
        return (*light, ok(part, text))
    remedy = phrase("Mount it above the centre of the table, tilted by at most {most} degrees.", most=_MAX_TILT_DEG)
    return (*light, warning(part, text, remedy))


class _Shared:
    """A camera view shared by a calibration and the viewers of the page."""

    def __init__(self, look: CalibrationCamera, name: str, see: See, clock: Clock) -> None:
        self._look, self._name, self._see, self._clock = look, name, see, clock
        self.present, self.hold_light, self.close = look.present, look.hold_light, look.close
        self._newest: Image | None = None
        self._shown_ns = self._taken_ns = clock()

    @property
    def problem(self) -> str | None:
        """Reason why there are no images, or None."""
        return self._look.problem

    @property
    def light(self) -> Light:
        """Exposure and white balance of the camera."""
        return self._look.light

    def take(self) -> Image | None:
        """Return the latest image, or None if there is no new one."""
        image = self._look.take()
        if image is not None:
            self._newest, self._taken_ns = image, self._clock()
        return image

    def turn(self) -> None:
        """Show the latest image to viewers, twice a second at most.

        Take an image if the calibration has not taken any.
        """
        now_ns = self._clock()
        if now_ns - self._shown_ns < _SHOWN_EVERY_NS:
            return
        image = self.take() if now_ns - self._taken_ns >= _SHOWN_EVERY_NS else self._newest
        self._newest = None
        if image is not None:
            self._shown_ns = now_ns
            self._see(shot_of(image, now_ns, self._name))
