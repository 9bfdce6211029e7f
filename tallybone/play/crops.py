"""Crop the pictures from which plays and questions were read."""

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
from vision.tracking.camera_motion.alignment import STRAIGHT_ON, Alignment

_TileOutline = tuple[PointPx, ...]
# Shown around the outlined tiles, in lengths of the first: enough for the tile that each end of it touches.
_MARGIN_TILES = 1.0
_MOST_PX = 320
_QUALITIES = (80, 60, 40)
MOST_CROP_BYTES = 20_000
"""A crop is never larger. On a rendered table one has 6 kB, at most 8 kB."""
_DARK, _BRIGHT = (20, 20, 20), (80, 220, 255)


class Cutter:
    """Cuts one crop for each tile that becomes part of the layout, each stack, and each question about tiles."""

    def __init__(self, session: Session) -> None:
        """Begin where a sitting stands; the pictures of its earlier plays are not available."""
        self._image: Image | None = None
        self._t_ns, self._aim = 0, STRAIGHT_ON
        self._nodes = {int(one.node) for one in session.places.known}
        self._asked: frozenset[str] = frozenset()

    def after(self, happened: Step, image: Image | None = None) -> tuple[Evidence, ...]:
        """Return the crops of what follows from an input, out of the last picture in which nothing moved.

        Args:
            happened: The effects of the input.
            image: The picture, if it was one, shape (H, W, 3), BGR; it is kept until the next.
        """
        view = happened.view
        if image is not None and view is not None and view.is_settled:
            self._image, self._t_ns, self._aim = image, happened.t_ns, view.aim
        shown = dict(self._of_plays(happened)) | dict(self._of_questions(happened.session))
        if self._image is None:
            return ()
        cut = ((of, crop(self._image, outlines, self._aim)) for of, outlines in shown.items())
        return tuple(Evidence(of, self._t_ns, jpeg) for of, jpeg in cut if jpeg is not None)

    def _of_plays(self, happened: Step) -> Iterator[tuple[int, tuple[_TileOutline, ...]]]:
        places, log = happened.session.places, happened.session.state.log
        first = len(log) - len(happened.events)
        read_again: set[int] = set()
        for seq, event in enumerate(happened.events, start=first):
            if isinstance(event, Stack) and (below := places.find(event.on)) is not None:
                yield seq, (below.tile.corners_px,)
            elif isinstance(event, Amend) and happened.view is not None:
                read_again.add(event.seq)
        for one in places.known:
            seq = int(one.node)
            if (seq not in self._nodes or seq in read_again) and not one.is_missing:
                self._nodes.add(seq)
                yield seq, (one.tile.corners_px,)

    def _of_questions(self, session: Session) -> Iterator[tuple[str, tuple[_TileOutline, ...]]]:
        questions = {plain(str(one.ambiguity.topic)): one.ambiguity for one in session.questions}
        for topic, asked in questions.items():
            waiting = (one.tile for one in session.places.waiting)
            tiles: Iterable[SeenTile] = waiting if asked.tile is None else (asked.tile,)
            outlines = tuple(tile.corners_px for tile in tiles)
            if outlines and topic not in self._asked:
                yield topic, outlines
        self._asked = frozenset(questions)


def crop(image: Image, outlines: tuple[_TileOutline, ...], aim: Alignment = STRAIGHT_ON) -> bytes | None:
    """Return a JPEG of the tiles in a picture, outlined, with what lies around them; None if none is in it.

    Args:
        image: The picture, shape (H, W, 3), BGR.
        outlines: Corners of each tile, in pixels of the first picture.
        aim: Where the camera points now.
    """
    motion = aim.motion
    height, width = image.shape[:2]
    moved = [np.asarray(one, np.float64) @ motion[:, :2].T + motion[:, 2] for one in outlines]
    shown = [one for one in moved if ((one.mean(axis=0) >= 0) & (one.mean(axis=0) < (width, height))).all()]
    if not shown:
        return None
    sides = np.linalg.norm(np.diff(shown[0], axis=0), axis=1)
    margin = _MARGIN_TILES * float(sides.max())
    corners = np.concatenate(shown)
    low = np.clip(np.floor(corners.min(axis=0) - margin), 0, (width, height)).astype(int)
    high = np.clip(np.ceil(corners.max(axis=0) + margin), 0, (width, height)).astype(int)
    part = image[low[1] : high[1], low[0] : high[0]]
    scale = min(1.0, _MOST_PX / max(part.shape[:2]))
    size = (max(1, round(part.shape[1] * scale)), max(1, round(part.shape[0] * scale)))
    small = np.asarray(cv2.resize(part, size, interpolation=cv2.INTER_AREA) if scale < 1.0 else part.copy(), np.uint8)
    for one in shown:
        _outline(small, (one - low) * scale)
    for quality in _QUALITIES:
        jpeg = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()
        if len(jpeg) <= MOST_CROP_BYTES:
            return jpeg
    return None


def _outline(image: Image, corners: NDArray[np.float64]) -> None:
    """Draw an outline right around a tile, bright on dark: one of both shows on any table."""
    middle = corners.mean(axis=0)
    away = corners - middle
    grown = middle + away * (1 + 3.5 / np.maximum(1.0, np.linalg.norm(away, axis=1, keepdims=True)))
    points = [np.round(grown).astype(np.int32)]
    for colour, thickness in ((_DARK, 4), (_BRIGHT, 2)):
        cv2.polylines(image, points, isClosed=True, color=colour, thickness=thickness, lineType=cv2.LINE_AA)
