"""Notice what is new at the table beside the game: the camera was moved, something cannot be read."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TypeAlias

from engine.phrases import Phrase, phrase
from vision.reading import SeenTile
from vision.tracking.camera_motion.alignment import STRAIGHT_ON, Alignment
from vision.tracking.table_view import TableView
from vision.tracking.tracks import in_place_of

_FOUND = phrase("the table can be made out again")
_BACK = phrase("the camera points as it did at the start again")
# A slip is reported again when a corner of the picture has moved by so many pixels since the last report.
_WORTH_SAYING_PX = 2.0
# Where it does not show more than this share of the table that it showed, it should be put back.
_MUCH_UNSEEN = 0.05
_GRID = (36, 64)
# So many places are remembered at which it was asked what lies there.
_MOST_ASKED = 100
WHAT_IS_THIS = phrase("what is this? It looks like a tile, but cannot be read: move it a little, or take it away")


@dataclass(frozen=True, slots=True)
class CameraNote:
    """A note about the camera.

    Attributes:
        event: "lost", "found" or "shifted".
        words: The same for the people at the table.
        aim: Where the camera points.
    """

    event: str
    words: str
    aim: Alignment


class CameraNews:
    """Notices news of the camera."""

    def __init__(self) -> None:
        """Begin before the first picture."""
        self._is_lost = False
        self._said = STRAIGHT_ON

    def news(self, view: TableView | None) -> CameraNote | None:
        """Return the note that a view of the table calls for; None for none."""
        if view is None:
            return None
        if (view.lost is not None) != self._is_lost:
            self._is_lost = not self._is_lost
            return CameraNote(
                "lost" if self._is_lost else "found", _FOUND if view.lost is None else Phrase(view.lost), view.aim
            )
        if view.lost is not None or view.size_px is None:
            return None
        if view.aim.farthest_px(self._said, view.size_px) < _WORTH_SAYING_PX:
            return None
        self._said = view.aim
        return CameraNote("shifted", words_of(view.aim, view.size_px), view.aim)


def words_of(aim: Alignment, size_px: tuple[int, int]) -> str:
    """Return in words how far the camera was moved.

    >>> words_of(Alignment((1.0, 0.0, 12.0, 0.0, 1.0, -5.0)), (1280, 720))
    'the camera was moved by 13 pixels; places are put right, the game goes on'
    """
    if aim.farthest_px(STRAIGHT_ON, size_px) < _WORTH_SAYING_PX:
        return _BACK
    moved = phrase("the camera was moved by {pixels} pixels", pixels=f"{aim.shift_px(size_px):.0f}")
    if abs(aim.degrees) >= 0.05:
        degrees = f"{abs(aim.degrees):.1f}"
        moved = phrase("{moved} and turned by {degrees} degrees", moved=moved, degrees=degrees)
    words = phrase("{moved}; places are put right, the game goes on", moved=moved)
    if aim.unseen(_GRID, size_px[0] / _GRID[1]).mean() <= _MUCH_UNSEEN:
        return words
    return phrase("{words}; it does not see all of the table any more: put it back when you can", words=words)


@dataclass(frozen=True, slots=True)
class UnsureNote:
    """A question: something lies still that looks like a tile, but cannot be read.

    Attributes:
        tile: Where it lies.
    """

    tile: SeenTile

    @property
    def words(self) -> str:
        """The same for the people at the table."""
        return WHAT_IS_THIS


Note: TypeAlias = CameraNote | UnsureNote


class News:
    """Notices all that is new at the table beside the game."""

    def __init__(self) -> None:
        """Begin before the first picture."""
        self._camera = CameraNews()
        self._asked: deque[SeenTile] = deque(maxlen=_MOST_ASKED)

    def of(self, view: TableView | None) -> tuple[Note, ...]:
        """Return the notes that a view of the table calls for; of what cannot be read one for each place."""
        camera = self._camera.news(view)
        return (*(() if camera is None else (camera,)), *self._asked_first(view))

    def _asked_first(self, view: TableView | None) -> tuple[UnsureNote, ...]:
        fresh = () if view is None else tuple(one for one in view.unsure if in_place_of(one, self._asked) is None)
        self._asked.extend(fresh)
        return tuple(UnsureNote(one) for one in fresh)
