"""Whether a served table lives: at each turn of its loop camera and page are asked, and systemd is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tallybone.play.counts import Counts
from tallybone.serve.systemd import Notifier, Sign
from tallybone.sources.camera import Clock

Answer: TypeAlias = Callable[[Callable[[], object]], None]
"""Has the page's thread do something as soon as it can."""

_ASKS_EVERY_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Look:
    """What is asked of a camera.

    Attributes:
        seen_ns: When its last picture came; None for never.
        is_silent: Whether it is known and said why none comes.
        words: What the table does, for whoever looks after it.
    """

    seen_ns: Callable[[], int | None]
    is_silent: Callable[[], bool]
    words: Callable[[], str]


class ServedLife:
    """Gathers the signs of life of a table in its loop."""

    def __init__(self, notifier: Notifier, look: Look, answer: Answer, clock: Clock, counts: Counts) -> None:
        """Tell *notifier* what *look* says of the camera, and when the page's thread has answered."""
        self._counts = counts
        self._notifier, self._look, self._answer, self._clock = notifier, look, answer, clock
        self._seen_ns: int | None = None
        self._asked_ns: int | None = None

    def turn(self) -> None:
        """Ask camera and page, once a second at most, and tell systemd what has to be told."""
        now_ns = self._clock()
        if self._asked_ns is None or now_ns - self._asked_ns >= _ASKS_EVERY_NS:
            self._asked_ns = now_ns
            self._ask()
        self._notifier.turn()
        self._counts.watchdog_feeds = self._notifier.feeds

    def _ask(self) -> None:
        seen_ns = self._look.seen_ns()
        if seen_ns != self._seen_ns or self._look.is_silent():
            self._seen_ns = seen_ns
            self._notifier.seen(Sign.CAMERA)
        self._answer(lambda: self._notifier.seen(Sign.PAGE))
        self._notifier.say(self._look.words())
