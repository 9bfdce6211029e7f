"""Give a live game its pictures, all alike: from a camera, a video, a folder or a recording."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol, TypeAlias

import cv2

from hardware.camera.device import CameraError
from hardware.clock import Clock
from tallybone.recording.format import Pictures
from tallybone.recording.reader import whole_only
from tallybone.session.inputs import Answer
from tallybone.session.referee import Ambiguity
from tallybone.session.session import Session
from tallybone.sources.shots import Shot
from tallybone.sources.source import RecordedInput, source_at
from vision.arrays import Image
from vision.image.picture import PictureError

SIMULATED = "simulated"
"""The name of a table that plays by itself, in place of a camera."""

_NS_PER_MS, _NS_PER_S = 1_000_000, 1_000_000_000
# A picture may come a little before its time, in shares of the time between two: cameras are not exact.
_EARLY = 0.2
# Of the JPEG that is kept and read: half as long as at 95.
_JPEG_QUALITY = 90
# A picture on which nothing moves is shown so often and for so long that it counts as settled, a hand in it too.
_SHOWN_MS, _NEXT_MS = (0, 500, 1000, 1500), 2000
# A picture may be taken so late before the film waits. Polling is late by less.
_MOST_LATE_NS = 100 * _NS_PER_MS
# Visitors of the page see a question for so long before the simulated players answer it.
_THINK_NS = 1500 * _NS_PER_MS
log = logging.getLogger(__name__)

Shown: TypeAlias = Shot | RecordedInput
"""A picture, or an input beside it where that is simulated or recorded too."""


class Camera(Protocol):
    """A source of pictures of the table. A real camera keeps only its newest picture; a film waits for the reader."""

    @property
    def problem(self) -> str | None:
        """Why it gives no pictures, in words; None while it gives some."""

    @property
    def is_over(self) -> bool:
        """Whether nothing will ever come any more."""

    @property
    def pictures(self) -> int:
        """Number of pictures it has given since it was opened, whether or not they were taken."""

    def take(self, since_ns: int = 0) -> Shown | None:
        """Return the newest picture or input since the last call, at once; None for nothing.

        A real camera decodes no picture from before *since_ns*. A film loads each when it is looked at.
        """

    def now_ns(self) -> int:
        """Return the time that its pictures are stamped with."""

    def close(self) -> None:
        """Close it."""


class FrameLimiter:
    """Selects the pictures that are looked at, so that no more come than are wanted."""

    def __init__(self, most_per_s: float) -> None:
        """Allow *most_per_s* pictures a second, and twice as many while something moves."""
        self._period_ns = round(_NS_PER_S / most_per_s)
        self._last_due_ns: int | None = None

    def is_due(self, t_ns: int, *, is_moving: bool) -> bool:
        """Return whether the picture taken at *t_ns* is looked at."""
        if t_ns < self.due_ns(is_moving=is_moving):
            return False
        period_ns = self._period_of(is_moving=is_moving)
        due_ns = t_ns if self._last_due_ns is None else self._last_due_ns + period_ns
        self._last_due_ns = max(due_ns, t_ns - period_ns // 2)
        return True

    def due_ns(self, *, is_moving: bool) -> int:
        """Return the earliest time of the next picture that is looked at; 0 for the first one."""
        if self._last_due_ns is None:
            return 0
        return self._last_due_ns + round((1 - _EARLY) * self._period_of(is_moving=is_moving))

    def _period_of(self, *, is_moving: bool) -> int:
        # The sooner the first picture of a table at rest is seen, the sooner the score is.
        return self._period_ns // 2 if is_moving else self._period_ns


def shot_of(image: Image, t_ns: int, where: str) -> Shot:
    """Return a picture that was just taken, shape (H, W, 3), BGR; it becomes a JPEG when somebody wants it."""
    return Shot(t_ns, "", where, lambda: image, lambda: _jpeg_of(image, where))


class PacedCamera:
    """Shows every picture of a film, at the pace of the film or slower: it waits for a reader that is too slow."""

    problem: str | None = None
    is_over = False

    def __init__(self, items: Iterator[Shown], clock: Clock, *, speed: float = 1.0) -> None:
        """Show *items*; *speed* 2 is twice as fast, 0 as fast as they are taken."""
        self._items, self._clock, self._speed = items, clock, speed
        self._next: Shown | None = None
        self._began_ns: int | None = None
        self._first_ns = self._last_ns = 0
        self.pictures = 0

    def take(self, since_ns: int = 0) -> Shown | None:
        """Return the next picture or input, if it is due."""
        given = self._peek()
        if given is None or not self._is_due(given):
            return None
        self._next, self._last_ns = None, given.t_ns
        self.pictures += isinstance(given, Shot)
        self._first_ns -= max(0, self._paced_ns() - given.t_ns - _MOST_LATE_NS)
        return given

    def now_ns(self) -> int:
        """Return the time in the film, which stands still until a late picture is taken."""
        if self._speed == 0 or self._began_ns is None:
            return self._last_ns
        paced_ns = self._paced_ns()
        return max(self._last_ns, paced_ns if self._next is None else min(paced_ns, self._next.t_ns + _MOST_LATE_NS))

    def close(self) -> None:
        """Show no more."""
        self.is_over = True

    def _paced_ns(self) -> int:
        """Return the time in a film that waits for nobody, once it has begun."""
        assert self._began_ns is not None
        return self._first_ns + round((self._clock() - self._began_ns) * self._speed)

    def _peek(self) -> Shown | None:
        if self._next is None and not self.is_over:
            self._next = next(self._items, None)
            self.is_over = self._next is None
        return self._next

    def _is_due(self, given: Shown) -> bool:
        if self._began_ns is None:
            self._began_ns, self._first_ns, self._last_ns = self._clock(), given.t_ns, given.t_ns
        return self._speed == 0 or given.t_ns <= self._paced_ns()


class PlayedCamera(PacedCamera):
    """A film of a match whose players answer the questions of the table, a moment after they are asked."""

    def __init__(
        self,
        items: Iterator[Shown],
        clock: Clock,
        *,
        players: Callable[[Session], Answer | None],
        speed: float = 1.0,
    ) -> None:
        """Show *items* as `PacedCamera` does; *players* return their answer to what a session asks, None for none."""
        super().__init__(items, clock, speed=speed)
        self._players = players
        self._asked: tuple[Ambiguity, ...] = ()
        self._asked_ns = 0

    def answer(self, session: Session) -> RecordedInput | None:
        """Return the players' answer, if they have had the time to read the question or the film is over."""
        self._peek()
        # Answers change with each look at the table, for they hold what lies there.
        asked = tuple(question.ambiguity for question in session.questions)
        if asked != self._asked:
            self._asked, self._asked_ns = asked, self.now_ns()
        if not self._asked or (self.now_ns() - self._asked_ns < _THINK_NS and not self.is_over):
            return None
        answer = self._players(session)
        return None if answer is None else RecordedInput(self.now_ns(), SIMULATED, lambda: answer)


def open_filmed(path: Path, clock: Clock, *, speed: float = 1.0) -> PacedCamera:
    """Return a camera that shows a video, a recording or a folder of pictures.

    Raises:
        OSError: If it is none of these, or cannot be read.
        VisionError: If there is no picture in it.
    """
    if not path.exists():
        raise CameraError(f"{path}: there is no such camera or file")
    source = source_at(path)
    items: Iterator[Shown] = whole_only(source.items, path, partial(log.warning, "%s"))
    is_moving = source.pictures is Pictures.MOVING
    return PacedCamera(items if is_moving else _at_rest(items), clock, speed=speed)


def _at_rest(items: Iterator[Shown]) -> Iterator[Shown]:
    """Yield settled pictures as a camera shows a table on which nothing moves."""
    t_ns = 0
    for given in items:
        if isinstance(given, RecordedInput):
            yield replace(given, t_ns=t_ns)
            continue
        for shown_ms in _SHOWN_MS:
            yield replace(given, t_ns=t_ns + shown_ms * _NS_PER_MS)
        t_ns += _NEXT_MS * _NS_PER_MS


def _jpeg_of(image: Image, where: str) -> bytes:
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    if not done:
        raise PictureError(f"{where}: a picture cannot be written as a JPEG")
    return data.tobytes()
