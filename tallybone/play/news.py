"""Detect news beside the game: a moved or lost camera, and objects that cannot be read."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TypeAlias

from engine.phrases import Phrase, phrase
from vision.reading import SeenTile
from vision.tracking.camera_motion import STRAIGHT_ON, Alignment
from vision.tracking.table_view import TableView
from vision.tracking.tracks import in_place_of

_FOUND = phrase("the table is recognized again")
_BACK = phrase("the camera is back in its original position")
# Minimum movement of a corner of the picture since the last report for the camera to be reported as moved.
_REPORTED_PX = 2.0
# Above this share of the original view outside the current picture, the players are asked to put the camera back.
_MUCH_UNSEEN = 0.05
_GRID = (36, 64)
# Maximum number of unreadable objects that are remembered, to ask about each only once.
_MAX_ASKED = 100
WHAT_IS_THIS = phrase("is this a tile? It cannot be read: move it a little, or take it away")


@dataclass(frozen=True, slots=True)
class CameraNote:
    """A note about the camera.

    Attributes:
        event: "lost", "found" or "shifted".
        words: Text for the players.
        aim: Alignment of the camera.
    """

    event: str
    words: str
    aim: Alignment


class CameraNews:
    """Detects movements and losses of the camera pose."""

    def __init__(self) -> None:
        """Start before the first view."""
        self._is_lost = False
        self._reported = STRAIGHT_ON

    def news(self, view: TableView | None) -> CameraNote | None:
        """Return a note if the camera pose was lost, found again or shifted in a view of the table, or None."""
        if view is None:
            return None
        if (view.lost is not None) != self._is_lost:
            self._is_lost = not self._is_lost
            return CameraNote(
                "lost" if self._is_lost else "found", _FOUND if view.lost is None else Phrase(view.lost), view.aim
            )
        if view.lost is not None or view.size_px is None:
            return None
        if view.aim.farthest_px(self._reported, view.size_px) < _REPORTED_PX:
            return None
        self._reported = view.aim
        return CameraNote("shifted", words_of(view.aim, view.size_px), view.aim)


def words_of(aim: Alignment, size_px: tuple[int, int]) -> str:
    """Describe the movement of the camera since the start, or its return to the original position.

    >>> words_of(Alignment((1.0, 0.0, 12.0, 0.0, 1.0, -5.0)), (1280, 720))
    'the camera moved by 13 pixels; positions were corrected, the game goes on'
    """
    if aim.farthest_px(STRAIGHT_ON, size_px) < _REPORTED_PX:
        return _BACK
    moved = phrase("the camera moved by {pixels} pixels", pixels=f"{aim.shift_px(size_px):.0f}")
    if abs(aim.degrees) >= 0.05:
        degrees = f"{abs(aim.degrees):.1f}"
        moved = phrase("{moved} and rotated by {degrees} degrees", moved=moved, degrees=degrees)
    words = phrase("{moved}; positions were corrected, the game goes on", moved=moved)
    if aim.unseen(_GRID, size_px[0] / _GRID[1]).mean() <= _MUCH_UNSEEN:
        return words
    return phrase("{words}; part of the table is out of view: put the camera back when you can", words=words)


@dataclass(frozen=True, slots=True)
class UnsureNote:
    """A question about an object that looks like a tile but cannot be read.

    Attributes:
        tile: The object.
    """

    tile: SeenTile

    @property
    def words(self) -> str:
        """Text for the players."""
        return WHAT_IS_THIS


Note: TypeAlias = CameraNote | UnsureNote


class News:
    """Detects all news beside the game."""

    def __init__(self) -> None:
        """Start before the first view."""
        self._camera = CameraNews()
        self._asked: deque[SeenTile] = deque(maxlen=_MAX_ASKED)

    def of(self, view: TableView | None) -> tuple[Note, ...]:
        """Return the new notes about a view of the table. Objects that cannot be read are noted once for each place."""
        camera = self._camera.news(view)
        return (*(() if camera is None else (camera,)), *self._asked_first(view))

    def _asked_first(self, view: TableView | None) -> tuple[UnsureNote, ...]:
        new = () if view is None else tuple(tile for tile in view.unsure if in_place_of(tile, self._asked) is None)
        self._asked.extend(new)
        return tuple(UnsureNote(tile) for tile in new)
