"""Detect news beside the game: a moved or lost camera, and objects that cannot be read."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TypeAlias

from engine.phrases import Phrase, phrase
from hardware.camera.device import CameraTurn
from tallybone.session.zones import Zones
from vision.reading import Face, SeenTile
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
# The orientation is judged as soon as there are this many face-down tiles: nearly all are in the boneyard's zone.
_MIN_FACE_DOWN = 5
_UPRIGHT, _TURNED = 0.5, 0.8
_ORIENTATIONS = tuple(CameraTurn(rotate, flip) for flip in (False, True) for rotate in (0, 180, 90, 270))
WHAT_IS_THIS = phrase("is this a tile? It cannot be read: move it a little, or take it away")


@dataclass(frozen=True, slots=True)
class CameraNote:
    """A note about the camera.

    Attributes:
        event: "lost", "found", "shifted" or "turned".
        text: Text for the players.
        aim: Alignment of the camera.
    """

    event: str
    text: str
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
    text = phrase("{moved}; positions were corrected, the game goes on", moved=moved)
    if aim.unseen(_GRID, size_px[0] / _GRID[1]).mean() <= _MUCH_UNSEEN:
        return text
    return phrase("{words}; part of the table is out of view: put the camera back when you can", words=text)


@dataclass(frozen=True, slots=True)
class UnsureNote:
    """A question about an object that looks like a tile but cannot be read.

    Attributes:
        tile: The object.
    """

    tile: SeenTile

    @property
    def text(self) -> str:
        """Text for the players."""
        return WHAT_IS_THIS


Note: TypeAlias = CameraNote | UnsureNote


class News:
    """Detects all news beside the game."""

    def __init__(self) -> None:
        """Start before the first view."""
        self._camera = CameraNews()
        self._asked: deque[SeenTile] = deque(maxlen=_MAX_ASKED)
        self._is_judged = False

    def of(self, view: TableView | None, zones: Zones | None = None) -> tuple[Note, ...]:
        """Return the new notes about a view of the table. Objects that cannot be read are noted once for each place.

        *zones* are those of the table, or None.
        """
        turned, camera = self._turned(view, zones), self._camera.news(view)
        return (*(note for note in (turned, camera) if note is not None), *self._asked_first(view))

    def _turned(self, view: TableView | None, zones: Zones | None) -> CameraNote | None:
        """Return a note if the boneyard is where it would be in a turned or mirrored picture, once."""
        if self._is_judged or view is None or zones is None:
            return None
        found = orientation_of(view, zones)
        self._is_judged = found is not None
        return None if found is None or found == CameraTurn() else CameraNote("turned", words_to(found), view.aim)

    def _asked_first(self, view: TableView | None) -> tuple[UnsureNote, ...]:
        new = () if view is None else tuple(tile for tile in view.unsure if in_place_of(tile, self._asked) is None)
        self._asked.extend(new)
        return tuple(UnsureNote(tile) for tile in new)


def orientation_of(view: TableView, zones: Zones) -> CameraTurn | None:
    """Return the correction that moves the face-down tiles to the boneyard's zone, or None if that is unclear.

    A corner remains ambiguous between a rotation and a mirroring. Of two equal candidates, the one that leaves the
    picture wider than high is preferred, because cameras give such pictures.
    """
    if zones.boneyard is None or view.size_px is None:
        return None
    width_px, height_px = view.size_px
    shares = [(x / width_px, y / height_px) for x, y in (t.center_px for t in view.tiles if t.face is Face.DOWN)]
    if len(shares) < _MIN_FACE_DOWN:
        return None

    def inside(orientation: CameraTurn) -> float:
        return sum(zones.is_boneyard(*_turned_share(share, orientation)) for share in shares) / len(shares)

    if inside(CameraTurn()) >= _UPRIGHT:
        return CameraTurn()

    def fit(orientation: CameraTurn) -> tuple[float, bool]:
        return inside(orientation), (width_px > height_px) == (orientation.rotate in (0, 180))

    best = max(_ORIENTATIONS, key=fit)
    return best if inside(best) >= _TURNED else None


def _turned_share(share: tuple[float, float], orientation: CameraTurn) -> tuple[float, float]:
    x, y = share
    x = 1 - x if orientation.flip else x
    return {0: (x, y), 90: (1 - y, x), 180: (1 - x, 1 - y), 270: (y, 1 - x)}[orientation.rotate]


def words_to(orientation: CameraTurn) -> str:
    """Describe a turned or mirrored camera, and the setting that corrects it."""
    rotate = orientation.rotate
    turned = phrase("turned by {degrees} degrees", degrees=str(360 - rotate))
    mirrored = phrase("mirrored and turned") if rotate else phrase("mirrored")
    settings = [("rotate", str(rotate), f"--rotate {rotate}")] if rotate else []
    settings += [("flip", "true", "--flip")] if orientation.flip else []
    return phrase(
        "the camera sees the table {seen}, compared with its zones: set {keys} in [camera] of table.toml, or play with"
        " --camera SOURCE{options} (replay: {flags}). If the picture is upright, move the boneyard to its zone",
        seen=mirrored if orientation.flip else turned,
        keys=", ".join(f"{key} = {value}" for key, value, _ in settings),
        options="".join(f",{key}={value}" for key, value, _ in settings).replace("flip=true", "flip=yes"),
        flags=" ".join(flag for _, _, flag in settings),
    )
