"""Pushes of the camera that a simulated sitting is asked for: how far, and at which moment of which play."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from vision.render.motion import STRAIGHT, Bump


class PushTime(StrEnum):
    """When in a play the camera is pushed."""

    BEFORE = "before"
    HAND = "hand"
    LAYING = "laying"


# Shares of a gesture after which a hand is over the table, and after which it puts its tile down.
_SHARES = {PushTime.BEFORE: 0.0, PushTime.HAND: 0.3, PushTime.LAYING: 0.46}


@dataclass(frozen=True, slots=True)
class CameraPush:
    """One push.

    Attributes:
        play: With which play, counted from 1 through the sitting.
        when: At which moment of it.
        right_px, down_px, degrees: Where the camera points then, compared with the start, as `Bump` says it.
        seconds: How long it takes; 0 for at once, more for a slow slip.
    """

    play: int
    when: PushTime
    right_px: float
    down_px: float
    degrees: float
    seconds: float = 0.0

    @property
    def bump(self) -> Bump:
        """Where the camera points in the end."""
        return (self.right_px, self.down_px, self.degrees)

    def frames(self, before: Bump, *, gesture_frames: int, fps: int) -> Iterator[Bump | None]:
        """Yield where the camera points in the coming frames; None for as before.

        Args:
            before: Where it pointed.
            gesture_frames: How long the gesture of the play takes.
            fps: Frames in a second.
        """
        for _ in range(round(_SHARES[self.when] * gesture_frames)):
            yield None
        steps = max(1, round(self.seconds * fps))
        for step in range(1, steps + 1):
            x, y, turn = (old + (new - old) * step / steps for old, new in zip(before, self.bump, strict=True))
            yield (x, y, turn)


def together(one: Bump, other: Bump) -> Bump:
    """Return two bumps as one; small ones simply add up."""
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2])


__all__ = ["STRAIGHT", "CameraPush", "PushTime", "together"]
