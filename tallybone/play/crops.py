"""Crop the tiles of plays and questions from the pictures in which they were read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from engine import Amend, Stack
from tallybone.plain_text import plain
from tallybone.recording.evidence import Evidence
from tallybone.session.session import Session
from tallybone.session.sitting import Step
from vision.arrays import Image
from vision.reading import PointPx, SeenTile
from vision.tracking.camera_motion import STRAIGHT_ON, Alignment

_TileOutline = tuple[PointPx, ...]
# Margin around the outlined tiles, in lengths of the first tile. It is wide enough to show adjacent tiles.
_MARGIN_TILES = 1.0
_MAX_PX = 320
_QUALITIES = (80, 60, 40)
MAX_CROP_BYTES = 20_000
"""Maximum size of a crop. Larger ones are dropped. On rendered tables, crops usually have 6 kB, and 8 kB at most."""
_DARK, _BRIGHT = (20, 20, 20), (80, 220, 255)


class Cutter:
    """Cuts a crop for each new tile of the layout, each stack, and each question about tiles."""

    def __init__(self, session: Session) -> None:
        """Start from *session*. Plays made before are not cropped."""
        self._image: Image | None = None
        self._t_ns, self._aim = 0, STRAIGHT_ON
        self._nodes = {int(known.node) for known in session.places.known}
        self._asked: frozenset[str] = frozenset()

    def after(self, step: Step, image: Image | None = None) -> tuple[Evidence, ...]:
        """Return the new crops after an input, cut from the last settled picture. Empty before the first one.

        Args:
            step: Effects of the input.
            image: The picture, if the input is one, shape (H, W, 3), BGR. A settled picture is kept for later inputs.
        """
        view = step.view
        if image is not None and view is not None and view.is_settled:
            self._image, self._t_ns, self._aim = image, step.t_ns, view.aim
        new = dict(self._of_plays(step)) | dict(self._of_questions(step.session))
        if self._image is None:
            return ()
        cut = ((of, crop(self._image, outlines, self._aim)) for of, outlines in new.items())
        return tuple(Evidence(of, self._t_ns, jpeg) for of, jpeg in cut if jpeg is not None)

    def _of_plays(self, step: Step) -> Iterator[tuple[int, tuple[_TileOutline, ...]]]:
        """Yield new stacks and plays, and plays that a view has amended, each with the outline of its tile."""
        places, log = step.session.places, step.session.state.log
        first = len(log) - len(step.events)
        amended: set[int] = set()
        for seq, event in enumerate(step.events, start=first):
            if isinstance(event, Stack) and (below := places.find(event.on)) is not None:
                yield seq, (below.tile.corners_px,)
            elif isinstance(event, Amend) and step.view is not None:
                amended.add(event.seq)
        for known in places.known:
            seq = int(known.node)
            if (seq not in self._nodes or seq in amended) and not known.is_missing:
                self._nodes.add(seq)
                yield seq, (known.tile.corners_px,)

    def _of_questions(self, session: Session) -> Iterator[tuple[str, tuple[_TileOutline, ...]]]:
        """Yield new topics of questions, each with the outline of its tile, or of all waiting tiles without one."""
        questions = {plain(str(question.ambiguity.topic)): question.ambiguity for question in session.questions}
        for topic, asked in questions.items():
            waiting = (tile.tile for tile in session.places.waiting)
            tiles: Iterable[SeenTile] = waiting if asked.tile is None else (asked.tile,)
            outlines = tuple(tile.corners_px for tile in tiles)
            if outlines and topic not in self._asked:
                yield topic, outlines
        self._asked = frozenset(questions)


def crop(image: Image, outlines: tuple[_TileOutline, ...], aim: Alignment = STRAIGHT_ON) -> bytes | None:
    """Return a JPEG of outlined tiles and their surroundings, at most _MAX_PX wide and high.

    None if no tile is in the picture, or if the JPEG is larger than MAX_CROP_BYTES at the lowest quality.

    Args:
        image: The picture, shape (H, W, 3), BGR.
        outlines: Corners of each tile, in pixels of the first picture.
        aim: Alignment of the camera in *image*, relative to the first picture.
    """
    motion = aim.motion
    height, width = image.shape[:2]
    moved = [np.asarray(outline, np.float64) @ motion[:, :2].T + motion[:, 2] for outline in outlines]
    middles = [corners.mean(axis=0) for corners in moved]
    are_inside = [((middle >= 0) & (middle < (width, height))).all() for middle in middles]
    shown = [corners for corners, is_inside in zip(moved, are_inside, strict=True) if is_inside]
    if not shown:
        return None
    sides = np.linalg.norm(np.diff(shown[0], axis=0), axis=1)
    margin = _MARGIN_TILES * float(sides.max())
    corners = np.concatenate(shown)
    low = np.clip(np.floor(corners.min(axis=0) - margin), 0, (width, height)).astype(int)
    high = np.clip(np.ceil(corners.max(axis=0) + margin), 0, (width, height)).astype(int)
    part = image[low[1] : high[1], low[0] : high[0]]
    scale = min(1.0, _MAX_PX / max(part.shape[:2]))
    size = (max(1, round(part.shape[1] * scale)), max(1, round(part.shape[0] * scale)))
    small = np.asarray(cv2.resize(part, size, interpolation=cv2.INTER_AREA) if scale < 1.0 else part.copy(), np.uint8)
    for outline in shown:
        _outline(small, (outline - low) * scale)
    for quality in _QUALITIES:
        jpeg = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()
        if len(jpeg) <= MAX_CROP_BYTES:
            return jpeg
    return None


def _outline(image: Image, corners: NDArray[np.float64]) -> None:
    """Draw an outline around a tile, bright on a dark border, to be visible on any table."""
    middle = corners.mean(axis=0)
    away = corners - middle
    grown = middle + away * (1 + 3.5 / np.maximum(1.0, np.linalg.norm(away, axis=1, keepdims=True)))
    points = [np.round(grown).astype(np.int32)]
    for colour, thickness in ((_DARK, 4), (_BRIGHT, 2)):
        cv2.polylines(image, points, isClosed=True, color=colour, thickness=thickness, lineType=cv2.LINE_AA)
