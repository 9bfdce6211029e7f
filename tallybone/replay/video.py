"""Write a replay as a video: each frame with the tiles as read, the last announcement and the score."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from engine import Game
from tallybone.files import ExportError
from tallybone.replay.lines import sentences_of
from tallybone.replay.run import ReplayStep
from tallybone.sources.shots import Shot
from tallybone.sources.source import Item
from vision.arrays import Image
from vision.image.annotate import annotate
from vision.reading import Reading
from vision.tracking.table_view import TableView

_NS_PER_FRAME, _FPS = 100_000_000, 10.0
# Maximum number of repetitions of a frame, which shortens pauses to five seconds.
_MAX_REPEATS = 50
_LINE_PX, _BAR_BGR, _TEXT_BGR = 28, (40, 34, 30), (240, 240, 240)


class Video:
    """Writes the frames of a replay, ten a second."""

    def __init__(self, path: Path) -> None:
        """Write to *path*, which must end in .mp4."""
        self._path = path
        self._writer: cv2.VideoWriter | None = None
        self._image: Image | None = None
        self._drawn: _Drawn | None = None
        self._since_ns: int | None = None
        self._words = self._score = ""

    def through(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items, and keep the picture of the current one when it is loaded."""
        for item in items:
            self._image = None
            yield replace(item, load=partial(self._load, item)) if isinstance(item, Shot) else item

    def add(self, step: ReplayStep) -> None:
        """Write the frames of a step.

        Raises:
            ExportError: If they cannot be written.
        """
        if step.effects is not None:
            self._words = next(reversed([*sentences_of(step.effects)]), self._words)
            self._score = _score(step.effects.session.state.game)
        if self._image is None or step.view is None:
            return
        frame = np.vstack([self._annotated(self._image, step.view), self._bar(self._image.shape[1])])
        since_ns = -_NS_PER_FRAME if self._since_ns is None else self._since_ns
        repeats = min(_MAX_REPEATS, step.since_ns // _NS_PER_FRAME - since_ns // _NS_PER_FRAME)
        self._since_ns = step.since_ns
        for _ in range(repeats):
            self._writer_for(frame).write(frame)

    def close(self) -> None:
        """Close the file.

        Raises:
            ExportError: If there was no picture.
        """
        if self._writer is None:
            raise ExportError(f"{self._path.name}: there are no pictures for a video")
        self._writer.release()

    def _load(self, shot: Shot) -> Image:
        self._image = shot.load()
        return self._image

    def _annotated(self, image: Image, view: TableView) -> Image:
        drawn = self._drawn
        if drawn is None or not drawn.is_of(view) or drawn.light.shape != image.shape:
            drawn = self._drawn = _Drawn(view, image.shape[1], image.shape[0])
        return drawn.over(image)

    def _bar(self, width_px: int) -> Image:
        bar = np.full((2 * _LINE_PX, width_px, 3), _BAR_BGR, np.uint8)
        for line, text in enumerate((self._words, self._score)):
            place = (8, (line + 1) * _LINE_PX - 8)
            cv2.putText(bar, _ascii(text), place, cv2.FONT_HERSHEY_SIMPLEX, 0.7, _TEXT_BGR, 1, cv2.LINE_AA)
        return bar

    def _writer_for(self, frame: Image) -> cv2.VideoWriter:
        if self._writer is None:
            size = (frame.shape[1], frame.shape[0])
            self._writer = cv2.VideoWriter(str(self._path), cv2.VideoWriter.fourcc(*"mp4v"), _FPS, size)
            if not self._writer.isOpened():
                raise ExportError(f"{self._path.name}: this OpenCV build cannot write videos")
        return self._writer


class _Drawn:
    """Overlay with the tiles as read, drawn once for each set of tiles.

    Drawing takes 50 times as long as blending. The overlay is drawn on black and on white, which gives the colour and
    opacity of each pixel.
    """

    def __init__(self, view: TableView, width_px: int, height_px: int) -> None:
        self.view = view
        reading = Reading(width_px, height_px, view.shown_tiles, view.joins).with_unsure(view.shown_unsure)
        black, white = (self._sheet(reading, grey) for grey in (0, 255))
        self.adds = black
        self.light: NDArray[np.float32] = (white.astype(np.float32) - black) / np.float32(255)

    def is_of(self, view: TableView) -> bool:
        """Return True if the overlay for another view looks the same."""
        return (self.view.shown_tiles, self.view.shown_unsure) == (view.shown_tiles, view.shown_unsure)

    def over(self, image: Image) -> Image:
        """Return a frame with the overlay."""
        lit = cv2.multiply(image, self.light, dtype=cv2.CV_8U)
        return np.asarray(cv2.add(lit, self.adds), np.uint8)

    @staticmethod
    def _sheet(reading: Reading, grey: int) -> Image:
        flat = np.full((reading.height_px, reading.width_px, 3), grey, np.uint8)
        size = (reading.width_px, reading.height_px)
        return np.asarray(cv2.resize(annotate(flat, reading), size, interpolation=cv2.INTER_AREA), np.uint8)


def _score(game: Game | None) -> str:
    if game is None:
        return ""
    return "   ".join(f"{name} {points}" for name, points in zip(game.players, game.totals, strict=True))


def _ascii(text: str) -> str:
    """Return a text reduced to the characters that OpenCV can draw.

    >>> _ascii("Zoë plays 5-0")
    'Zoe plays 5-0'
    """
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
