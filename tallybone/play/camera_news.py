"""What people are told of the camera: that it was moved, that the table is lost, and that it is found again."""

from __future__ import annotations

from dataclasses import dataclass

from engine.phrases import Phrase, phrase
from vision.aim import STRAIGHT_ON, Aim
from vision.table_view import TableView

_FOUND = phrase("the table can be made out again")
_BACK = phrase("the camera points as it did at the start again")
# Slips are said again when a corner of the picture has moved by so many pixels since they were said.
_WORTH_SAYING_PX = 2.0
# Where it does not show more than this share of the table that it showed, it should be put back.
_MUCH_UNSEEN = 0.05
_GRID = (36, 64)


@dataclass(frozen=True, slots=True)
class CameraNote:
    """One thing to tell.

    Attributes:
        event: "lost", "found" or "shifted".
        words: The same for the people at the table.
        aim: Where the camera points.
    """

    event: str
    words: str
    aim: Aim


class CameraNews:
    """Notices what is new about the camera."""

    def __init__(self) -> None:
        """Begin before the first picture."""
        self._is_lost = False
        self._said = STRAIGHT_ON

    def news(self, view: TableView | None) -> CameraNote | None:
        """Return what is to be told with a view of the table; None for nothing."""
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


def words_of(aim: Aim, size_px: tuple[int, int]) -> str:
    """Return where the camera points.

    >>> words_of(Aim((1.0, 0.0, 12.0, 0.0, 1.0, -5.0)), (1280, 720))
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
