"""Read pictures of a table from a folder, a recording or a video, as uniform `Shot` values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from tallybone.recording.format import ImageMessage
from tallybone.recording.reader import RecordedMessage
from tallybone.recording.writer import RecordingWriter
from vision.arrays import GreyImage, Image
from vision.errors import VisionError
from vision.image.picture import PictureError, decode_picture, load_picture, read_picture_file
from vision.tracking.watch import Frame

PICTURES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff"})
VIDEOS = frozenset({".avi", ".m4v", ".mkv", ".mov", ".mp4", ".webm"})
_NS_PER_MS, _NS_PER_S = 1_000_000, 1_000_000_000
# Frame rate that is assumed for a video without a plausible one.
_FRAMES_PER_S = 30.0
# Quality of pictures converted to JPEG for a recording. At 95, the file of a rendered table is a fifth as large as its
# PNG file.
_JPEG_QUALITY = 95
_JPEG_SIGNATURE = b"\xff\xd8\xff"


class EmptyFolderError(VisionError, OSError):
    """A folder does not contain pictures."""


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """A picture of the table that is loaded on demand.

    Attributes:
        t_ns: Time at which the picture was taken.
        name: Name in events.
        where: Name in error messages.
        load: Loads the BGR picture, shape (H, W, 3). Raises PictureError.
        jpeg: Returns the picture as a JPEG file, unchanged if it is one. Raises PictureError.
        grey: Small grey picture for the settle gate, if precomputed.
    """

    t_ns: int
    name: str
    where: str
    load: Callable[[], Image]
    jpeg: Callable[[], bytes]
    grey: GreyImage | None = None

    @property
    def frame(self) -> Frame:
        """The loaded picture with its time. Raises PictureError."""
        return Frame(self.load(), self.t_ns, self.grey)


def pictures_in(folder: Path) -> list[Path]:
    """Return the picture files of a folder, sorted by name.

    Raises:
        OSError: If the folder does not exist. EmptyFolderError, which is an OSError, if it contains no pictures.
    """
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in PICTURES)
    if not paths:
        raise EmptyFolderError(f"{folder}: expected pictures ({', '.join(sorted(PICTURES))}), but there is none")
    return paths


def shots_of_pictures(paths: list[Path]) -> Iterator[Shot]:
    """Yield picture files in order, with times one second apart."""
    for index, path in enumerate(paths):
        yield _shot_of_file(index * _NS_PER_S, path)


def shot_of_record(record: RecordedMessage, path: Path) -> Shot | None:
    """Return the picture in a record, or None for another record. A picture without a name gets the record's number."""
    picture = record.payload
    if not isinstance(picture, ImageMessage):
        return None
    name, where, data = picture.name or str(record.number), f"{path}: record {record.number}", picture.jpeg
    return Shot(record.t_ns, name, where, lambda: decode_picture(data, where), lambda: data)


def shots_of_video(path: Path) -> Iterator[Shot]:
    """Yield the pictures of a video, with strictly increasing times, and named by number from 0.

    Raises:
        PictureError: If the video cannot be opened, or is empty.
    """
    video = cv2.VideoCapture(str(path))
    try:
        if not video.isOpened():
            raise PictureError(f"{path}: it cannot be opened as a video")
        number, t_ns, frame_ns = 0, -1, _ns_per_frame(video)
        while True:
            is_read, image = video.read()
            if not is_read:
                break
            reported_ns = round(video.get(cv2.CAP_PROP_POS_MSEC) * _NS_PER_MS)
            # Some videos lack timestamps. The settle gate needs them, so they are made up from the frame rate.
            t_ns = reported_ns if reported_ns > t_ns else max(t_ns, 0) + frame_ns
            yield _shot_of_image(t_ns, str(number), f"{path}: picture {number}", np.asarray(image, np.uint8))
            number += 1
    finally:
        video.release()
    if number == 0:
        raise PictureError(f"{path}: expected a video, but it has no pictures")


def recorded(shot: Shot, writer: RecordingWriter) -> Shot:
    """Return a shot that is recorded when it is loaded. It loads the recorded JPEG, so that a replay is identical."""

    def load() -> Image:
        data = shot.jpeg()
        image = decode_picture(data, shot.where)  # Raises before an undecodable picture is recorded.
        writer.frame(shot.t_ns, data, name=shot.name)
        return image

    return Shot(shot.t_ns, shot.name, shot.where, load, shot.jpeg)


def _ns_per_frame(video: cv2.VideoCapture) -> int:
    """Return the time between frames of a video, or a default if its frame rate is implausible."""
    per_s = video.get(cv2.CAP_PROP_FPS)
    return round(_NS_PER_S / (per_s if 1.0 <= per_s <= 1000.0 else _FRAMES_PER_S))


def _shot_of_file(t_ns: int, path: Path) -> Shot:
    def jpeg() -> bytes:
        data = read_picture_file(path)
        return data if data.startswith(_JPEG_SIGNATURE) else _encoded(decode_picture(data, str(path)), str(path))

    return Shot(t_ns, path.name, str(path), lambda: load_picture(path), jpeg)


def _shot_of_image(t_ns: int, name: str, where: str, image: Image) -> Shot:
    return Shot(t_ns, name, where, lambda: image, lambda: _encoded(image, where))


def _encoded(image: Image, where: str) -> bytes:
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    if not done:
        raise PictureError(f"{where}: it cannot be encoded as JPEG")
    return data.tobytes()
