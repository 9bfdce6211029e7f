"""Uniform cameras for a live game: a real camera, a video, a folder or a recording. Real light is locked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Protocol, TypeAlias

import cv2

from engine.phrases import phrase
from hardware.camera.device import Blind, CameraDevice, CameraError
from hardware.camera.network import without_user
from hardware.camera.open_device import open_device, parse_film
from hardware.part import Clock
from tallybone.recording.format import Pictures
from tallybone.recording.reader import whole_only
from tallybone.session.inputs import Answer
from tallybone.session.questions import Ambiguity
from tallybone.session.session import Session
from tallybone.sources.source import RecordedInput, Shot, source_at
from tallybone.terminal import quiet_libraries
from vision.arrays import Image
from vision.image.picture import PictureError

"""Source name of a simulated table."""

_NS_PER_MS = 1_000_000
_NS_PER_S = 1_000_000_000
# A picture may come early by this share of the period and still count as due, because cameras are not exact.
_EARLY = 0.2
# Quality of recorded JPEG images. The files are half as large as with quality 95.
_JPEG_QUALITY = 90
# Times at which a still picture is shown, long enough that even a hand in it counts as settled, and time until the next
# picture.
_SHOWN_MS = (0, 500, 1000, 1500)
_NEXT_MS = 2000
# If a reader takes an item later than this, the time in the film stops for the rest of the delay. Polling causes
# shorter delays.
_MAX_LATE_NS = 100 * _NS_PER_MS
# Delay of simulated answers, so that viewers of the page can see the question.
_THINK_NS = 1500 * _NS_PER_MS
log = logging.getLogger(__name__)

Shown: TypeAlias = Shot | RecordedInput
"""A picture, or a simulated or recorded input."""


class Camera(Protocol):
    """A source of pictures. A real camera holds only its newest picture. A film waits until each item is taken."""

    @property
    def problem(self) -> str | None:
        """Reason why there are no pictures, or None."""

    @property
    def is_over(self) -> bool:
        """True if there will be no more items."""

    @property
    def pictures(self) -> int:
        """Number of pictures since the camera was opened, including those that were not taken."""

    def take(self, since_ns: int = 0) -> Shown | None:
        """Return the next picture or input, or None if none is due. Never waits.

        A real camera decodes only pictures taken at *since_ns* or later. A film ignores *since_ns*.
        """

    def now_ns(self) -> int:
        """Return the current time on the clock of the pictures."""

    def close(self) -> None:
        """Close the camera."""


class FrameLimiter:
    """Selects pictures to process, at a limited rate."""

    def __init__(self, max_per_s: float) -> None:
        """Allow *max_per_s* pictures per second, and twice as many during motion."""
        self._period_ns = round(_NS_PER_S / max_per_s)
        self._last_due_ns: int | None = None

    def is_due(self, t_ns: int, *, is_moving: bool) -> bool:
        """Return True if a picture taken at *t_ns* should be processed."""
        if t_ns < self.due_ns(is_moving=is_moving):
            return False
        period_ns = self._period_of(is_moving=is_moving)
        due_ns = t_ns if self._last_due_ns is None else self._last_due_ns + period_ns
        self._last_due_ns = max(due_ns, t_ns - period_ns // 2)
        return True

    def due_ns(self, *, is_moving: bool) -> int:
        """Return the earliest time of the next picture to process. 0 before the first picture."""
        if self._last_due_ns is None:
            return 0
        return self._last_due_ns + round((1 - _EARLY) * self._period_of(is_moving=is_moving))

    def _period_of(self, *, is_moving: bool) -> int:
        # A higher rate during motion detects earlier that the table is at rest, and so shortens the delay of scores.
        return self._period_ns // 2 if is_moving else self._period_ns


def shot_of(image: Image, t_ns: int, where: str) -> Shot:
    """Return a shot of a BGR picture, shape (H, W, 3). It is encoded as JPEG on demand."""
    return Shot(t_ns, "", where, lambda: image, lambda: _jpeg_of(image, where))


class PacedCamera:
    """Plays every picture of a film, in real time or slower. It waits for a slow reader."""

    problem: str | None = None
    is_over = False

    def __init__(self, items: Iterator[Shown], clock: Clock, *, speed: float = 1.0) -> None:
        """Play *items*. *speed* 2 is twice as fast, and 0 is as fast as items are taken."""
        self._items, self._clock, self._speed = items, clock, speed
        self._next: Shown | None = None
        self._began_ns: int | None = None
        self._first_ns = self._last_ns = 0
        self.pictures = 0

    def take(self, since_ns: int = 0) -> Shown | None:
        """Return the next picture or input if it is due, else None."""
        item = self._peek()
        if item is None or not self._is_due(item):
            return None
        self._next, self._last_ns = None, item.t_ns
        self.pictures += isinstance(item, Shot)
        self._first_ns -= max(0, self._paced_ns() - item.t_ns - _MAX_LATE_NS)
        return item

    def now_ns(self) -> int:
        """Return the time in the film. It stops while an item that is due waits to be taken."""
        if self._speed == 0 or self._began_ns is None:
            return self._last_ns
        paced_ns = self._paced_ns()
        return max(self._last_ns, paced_ns if self._next is None else min(paced_ns, self._next.t_ns + _MAX_LATE_NS))

    def close(self) -> None:
        """End the film."""
        self.is_over = True

    def _paced_ns(self) -> int:
        """Return the scheduled time in the film, which must have started."""
        assert self._began_ns is not None
        return self._first_ns + round((self._clock() - self._began_ns) * self._speed)

    def _peek(self) -> Shown | None:
        if self._next is None and not self.is_over:
            self._next = next(self._items, None)
            self.is_over = self._next is None
        return self._next

    def _is_due(self, item: Shown) -> bool:
        if self._began_ns is None:
            self._began_ns, self._first_ns, self._last_ns = self._clock(), item.t_ns, item.t_ns
        return self._speed == 0 or item.t_ns <= self._paced_ns()


class PlayedCamera(PacedCamera):
    """A film of a match whose players answer questions after a short delay."""

    def __init__(
        self,
        items: Iterator[Shown],
        clock: Clock,
        *,
        players: Callable[[Session], Answer | None],
        speed: float = 1.0,
    ) -> None:
        """Play *items* as `PacedCamera` does. *players* returns the answer to a question of a session, or None."""
        super().__init__(items, clock, speed=speed)
        self._players = players
        self._ambiguities: tuple[Ambiguity, ...] = ()
        self._asked_ns = 0

    def answer(self, session: Session) -> RecordedInput | None:
        """Return the players' answer to an open question after 1.5 s or at the end of the film.

        None before, or if they have none.
        """
        self._peek()
        # Compares ambiguities instead of questions, whose answers change with each picture of the table.
        ambiguities = tuple(question.ambiguity for question in session.questions)
        if ambiguities != self._ambiguities:
            self._ambiguities, self._asked_ns = ambiguities, self.now_ns()
        if not self._ambiguities or (self.now_ns() - self._asked_ns < _THINK_NS and not self.is_over):
            return None
        answer = self._players(session)
        return None if answer is None else RecordedInput(self.now_ns(), "simulated", lambda: answer)


def open_filmed(text: str, clock: Clock, *, speed: float = 1.0) -> PacedCamera:
    """Return a camera that plays a video, a recording or a folder of pictures. *text* is for `parse_film`.

    Raises:
        OSError: If the path is none of these, or cannot be read.
        VisionError: If the path contains no pictures.
    """
    path, orientation = parse_film(text)
    if not path.exists():
        raise CameraError(f"{path}: there is no such camera or file")
    source = source_at(path, orientation)
    items: Iterator[Shown] = whole_only(source.items, path, partial(log.warning, "%s"))
    is_moving = source.pictures is Pictures.MOVING
    return PacedCamera(items if is_moving else _at_rest(items), clock, speed=speed)


def _at_rest(items: Iterator[Shown]) -> Iterator[Shown]:
    """Yield each still picture several times, as a camera would show a table at rest."""
    # Times of the items are replaced.
    t_ns = 0
    for item in items:
        if isinstance(item, RecordedInput):
            yield replace(item, t_ns=t_ns)
            continue
        for shown_ms in _SHOWN_MS:
            yield replace(item, t_ns=t_ns + shown_ms * _NS_PER_MS)
        t_ns += _NEXT_MS * _NS_PER_MS


def _jpeg_of(image: Image, where: str) -> bytes:
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    if not done:
        raise PictureError(f"{where}: a picture cannot be encoded as JPEG")
    return data.tobytes()


def problem_of(name: str, camera: CameraDevice) -> str | None:
    """Return the reason why *camera* gives no pictures, or None. *name* is its name for users."""
    match camera.blind:
        case Blind.BLACK:
            return phrase(
                "{camera} shows only black: uncover the lens or switch on the light. The game then continues",
                camera=name,
            )
        case Blind.SAME:
            return phrase(
                "{camera} is frozen: it repeats the same picture. If it does not recover, unplug it and plug it"
                " in again. The game then continues",
                camera=name,
            )
        case None:
            return camera.state.problem


class DeviceCamera:
    """A camera of `hardware.camera`."""

    is_over = False

    def __init__(self, name: str, device: CameraDevice, clock: Clock) -> None:
        """Use *device*, and lock its light. *name* is its name for users, and *clock* the clock of its pictures."""
        self._name, self._device, self._clock = without_user(name), device, clock
        device.hold_light()

    @property
    def problem(self) -> str | None:
        """Reason why there are no pictures, or None."""
        return problem_of(self._name, self._device)

    @property
    def size_px(self) -> tuple[int, int] | None:
        """Width and height of the pictures. None if unknown."""
        mode = self._device.mode
        return None if mode is None else (mode.width_px, mode.height_px)

    @property
    def pictures(self) -> int:
        """Number of pictures so far."""
        return self._device.pictures

    def take(self, since_ns: int = 0) -> Shot | None:
        """Return the newest picture once, or None."""
        picture = self._device.take(since_ns)
        return None if picture is None else shot_of(picture.image, picture.t_ns, self._name)

    def now_ns(self) -> int:
        """Return the current time of the clock."""
        return self._clock()

    def close(self) -> None:
        """Close the camera."""
        self._device.close()


class LentCamera(DeviceCamera):
    """A borrowed camera, which stays open after the game."""

    def close(self) -> None:
        """Free exposure and white balance, but leave the camera open."""
        self._device.free_light()


def open_plugged_in(source: str, clock: Clock) -> DeviceCamera:
    """Open a camera for a game. *source* is a setting for `hardware.camera.open_device`.

    Raises:
        CameraError: If there is no such camera, or it cannot be used.
    """
    with quiet_libraries():  # OpenCV and libcamera repeat errors on stderr.
        return DeviceCamera(source, open_device(source, clock), clock)
