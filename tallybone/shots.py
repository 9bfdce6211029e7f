"""Where pictures of a table come from: a folder, a recording, a video. All look the same to what follows the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import cv2
import numpy as np

from tallybone.recording.damage import Damage
from tallybone.recording.image_message import ImageMessage
from tallybone.recording.reader import SessionFile
from tallybone.recording.start import SessionStart
from tallybone.recording.topics import Topic
from tallybone.recording.writer import SessionWriter
from vision.errors import VisionError
from vision.picture import PictureError, decode_picture, load_picture, read_picture_file
from vision.pyramid import Image

PICTURES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff"})
VIDEOS = frozenset({".avi", ".m4v", ".mkv", ".mov", ".mp4", ".webm"})
# Pictures in a folder say nothing of time: one a second keeps their order.
_NS_PER_PICTURE = 1_000_000_000
_NS_PER_MS = 1_000_000
# Of the JPEG that another format becomes in a recording. At 95 a rendered table is a fifth of its PNG.
_JPEG_QUALITY = 95
_JPEG_BEGINS = b"\xff\xd8\xff"


class EmptyFolderError(VisionError, OSError):
    """A folder without a picture in it."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture of the table, not yet loaded.

    Attributes:
        t_ns: When it was taken.
        name: What events call it.
        where: What complaints call it.
        load: Returns it; shape (H, W, 3), BGR. Raises PictureError.
        jpeg: Returns it as a JPEG file: its own bytes if it is one. Raises PictureError.
    """

    t_ns: int
    name: str
    where: str
    load: Callable[[], Image]
    jpeg: Callable[[], bytes]


def pictures_in(folder: Path) -> list[Path]:
    """Return the pictures of a folder in name order.

    Raises:
        OSError: If there is no such folder, or no picture in it.
    """
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in PICTURES)
    if not found:
        raise EmptyFolderError(f"{folder}: expected pictures ({', '.join(sorted(PICTURES))}), but there is none")
    return found


def shots_of_pictures(paths: list[Path]) -> Iterator[Shot]:
    """Yield pictures that are files, one a second."""
    for index, path in enumerate(paths):
        yield _shot_of_file(index * _NS_PER_PICTURE, path)


def shots_of_session(session: SessionFile) -> Iterator[Shot | Damage]:
    """Yield the pictures of a recording, named as they were or by the number of their record, and its damage."""
    for one in session:
        if isinstance(one, Damage):
            yield one
        elif one.topic is Topic.CAMERA and isinstance(one.payload, ImageMessage):
            where = f"{session.path}: record {one.number}"
            yield _shot_of_jpeg(one.t_ns, one.payload.name or str(one.number), where, one.payload.jpeg)


def shots_of_video(path: Path) -> Iterator[Shot]:
    """Yield the pictures of a video, named by their number from 0.

    Raises:
        PictureError: If it cannot be opened.
    """
    video = cv2.VideoCapture(str(path))
    try:
        if not video.isOpened():
            raise PictureError(f"{path}: it cannot be opened as a video")
        number = 0
        while True:
            found, image = video.read()
            if not found:
                break
            t_ns = round(video.get(cv2.CAP_PROP_POS_MSEC) * _NS_PER_MS)
            yield _shot_of_image(max(t_ns, 0), str(number), f"{path}: picture {number}", np.asarray(image, np.uint8))
            number += 1
    finally:
        video.release()
    if number == 0:
        raise PictureError(f"{path}: expected a video, but there is no picture in it")


def recorded(shot: Shot, writer: SessionWriter) -> Shot:
    """Return a shot that, when it is loaded, is recorded first and then is what the recording holds of it."""

    def load() -> Image:
        data = shot.jpeg()
        image = decode_picture(data, shot.where)  # what cannot be decoded is not recorded
        writer.frame(shot.t_ns, data, name=shot.name)
        return image

    return Shot(shot.t_ns, shot.name, shot.where, load, shot.jpeg)


def start_of_pictures(path: Path, *, tile_set: str, software: str) -> SessionStart:
    """Return how a recording of pictures begins; its date is that of the file, the first picture or the video."""
    date = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return SessionStart(started_at=date, tile_set=tile_set, software=software)


def _shot_of_file(t_ns: int, path: Path) -> Shot:
    def jpeg() -> bytes:
        data = read_picture_file(path)
        return data if data.startswith(_JPEG_BEGINS) else _encoded(decode_picture(data, str(path)), str(path))

    return Shot(t_ns, path.name, str(path), lambda: load_picture(path), jpeg)


def _shot_of_jpeg(t_ns: int, name: str, where: str, data: bytes) -> Shot:
    return Shot(t_ns, name, where, lambda: decode_picture(data, where), lambda: data)


def _shot_of_image(t_ns: int, name: str, where: str, image: Image) -> Shot:
    return Shot(t_ns, name, where, lambda: image, lambda: _encoded(image, where))


def _encoded(image: Image, where: str) -> bytes:
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    if not done:
        raise PictureError(f"{where}: it cannot be written as a JPEG")
    return data.tobytes()
