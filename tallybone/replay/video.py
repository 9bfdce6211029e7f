"""Write a replay as a video: each frame with the tiles as read, the last announcement and the score."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from engine import Game
from hardware.libraries.installing import install_command
from tallybone.files import ExportError
from tallybone.replay.lines import sentences_of
from tallybone.replay.run import ReplayStep
from tallybone.sources.source import Item, Shot
from vision.arrays import Image
from vision.image.annotate import annotate
from vision.reading import Reading
from vision.tracking.table_view import TableView

if TYPE_CHECKING:
    from av import VideoStream

# At most ten frames a second. Pauses are shortened to five seconds, and the last frame is shown for one.
_NS_PER_FRAME, _MAX_PAUSE_NS, _LAST_NS = 100_000_000, 5_000_000_000, 1_000_000_000
_LINE_PX, _BAR_BGR, _TEXT_BGR = 28, (40, 34, 30), (240, 240, 240)
# Constant quality. "realtime" takes 10 ms for a frame of 1280x776; "good" 50 ms, for two thirds of the size.
_QUALITY = {"crf": "32", "b": "0", "deadline": "realtime", "cpu-used": "8", "row-mt": "1"}
# A browser that seeks decodes all frames since the last key frame.
_KEY_FRAME_EVERY = 50
_BT_709, _LIMITED_RANGE = 1, 1


class VideoFile:
    """Writes a video that browsers play: VP9 in an MP4 file, where each frame has its own time."""

    def __init__(self, path: Path) -> None:
        """Write to *path*.

        Raises:
            ExportError: If PyAV is not installed.
        """
        try:
            import av
        except ImportError as error:
            raise ExportError(f"a video needs av, which is not installed: {install_command('video')}") from error
        self._path, self._av = path, av
        # Without "file:", a colon in the name is taken for a protocol. With +faststart, playing starts while loading.
        self._file = av.open(f"file:{path}", "w", format="mp4", options={"movflags": "+faststart"})
        self._stream: VideoStream | None = None
        self._last: tuple[Image, int] | None = None

    def write(self, image: Image, t_ns: int) -> None:
        """Add a frame that appears *t_ns* nanoseconds after the start. An odd last row or column is cut off.

        Raises:
            ExportError: If it cannot be written.
        """
        try:
            self._encode(image, t_ns)
        except (self._av.FFmpegError, ValueError) as error:  # ValueError: this build of FFmpeg has no VP9
            raise ExportError(f"{self._path.name}: cannot write the video: {error}") from error
        self._last = image, t_ns

    def close(self) -> None:
        """Finish the file.

        Raises:
            ExportError: If there was no frame, or the file cannot be written.
        """
        if self._last is None or self._stream is None:
            raise ExportError(f"{self._path.name}: there are no pictures for a video")
        image, t_ns = self._last
        self.write(image, t_ns + _LAST_NS - _NS_PER_FRAME)
        try:
            self._file.mux(self._stream.encode())
            self._file.close()
        except self._av.FFmpegError as error:
            raise ExportError(f"{self._path.name}: cannot write the video: {error}") from error

    def _encode(self, image: Image, t_ns: int) -> None:
        height, width = (side - side % 2 for side in image.shape[:2])
        stream = self._stream = self._stream or self._opened(width, height)
        frame = self._av.VideoFrame.from_ndarray(image[:height, :width], format="bgr24").reformat(
            stream.width, stream.height, "yuv420p", dst_colorspace=_BT_709, dst_color_range=_LIMITED_RANGE
        )
        frame.pts, frame.time_base = t_ns // 1_000_000, Fraction(1, 1000)
        self._file.mux(stream.encode(frame))

    def _opened(self, width: int, height: int) -> VideoStream:
        stream = self._file.add_stream("libvpx-vp9", rate=10, options=_QUALITY)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        context = stream.codec_context
        context.time_base, context.gop_size = Fraction(1, 1000), _KEY_FRAME_EVERY
        # Otherwise browsers guess the colours from the size.
        context.colorspace = context.color_primaries = context.color_trc = _BT_709
        context.color_range = _LIMITED_RANGE
        return stream


class Video:
    """Draws the frames of a replay and writes them to a file."""

    def __init__(self, file: VideoFile) -> None:
        """Write to *file*."""
        self._file = file
        self._image: Image | None = None
        self._drawn: _Drawn | None = None
        self._since_ns: int | None = None
        self._shown_ns = 0
        self._text = self._score = ""

    def through(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items, and keep the picture of the current one when it is loaded."""
        for item in items:
            self._image = None
            yield replace(item, load=partial(self._load, item)) if isinstance(item, Shot) else item

    def add(self, step: ReplayStep) -> None:
        """Write the frame of a step, if it has a picture and the last one is long enough ago.

        Raises:
            ExportError: If it cannot be written.
        """
        if step.effects is not None:
            self._text = next(reversed([*sentences_of(step.effects)]), self._text)
            self._score = _score(step.effects.session.state.game)
        if self._image is None or step.view is None:
            return
        if self._since_ns is not None:
            if step.since_ns // _NS_PER_FRAME <= self._since_ns // _NS_PER_FRAME:
                return
            self._shown_ns += min(_MAX_PAUSE_NS, step.since_ns - self._since_ns)
        self._since_ns = step.since_ns
        frame = np.vstack([self._annotated(self._image, step.view), self._bar(self._image.shape[1])])
        self._file.write(frame, self._shown_ns)

    def close(self) -> None:
        """Finish the file.

        Raises:
            ExportError: If there was no picture.
        """
        self._file.close()

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
        for line, text in enumerate((self._text, self._score)):
            place = (8, (line + 1) * _LINE_PX - 8)
            cv2.putText(bar, _ascii(text), place, cv2.FONT_HERSHEY_SIMPLEX, 0.7, _TEXT_BGR, 1, cv2.LINE_AA)
        return bar


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
