"""What is replayed, how it is recorded, and which machine follows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

from tallybone.choices import TileSet
from tallybone.recording.damage import Damage
from tallybone.recording.errors import RecordingError
from tallybone.recording.reader import read_session
from tallybone.recording.shelf import SUFFIX
from tallybone.recording.start import Pictures
from tallybone.recording.writer import SessionWriter
from tallybone.shots import (
    VIDEOS,
    Shot,
    pictures_in,
    recorded,
    shots_of_pictures,
    shots_of_session,
    shots_of_video,
    start_of_pictures,
)
from vision.perception import Perception, TableView
from vision.watch import Frame, Watch

Follower: TypeAlias = Callable[[Shot], TableView]
"""Loads a picture and returns the table after it; raises what either raises."""


@dataclass(frozen=True, slots=True)
class Source:
    """What is replayed.

    Attributes:
        shots: Its pictures, and damage where some cannot be had.
        pictures: Whether they are a moving picture.
        count: How many there are, if that is known.
        dated: Which file has their date; None if they are a recording.
    """

    shots: Iterator[Shot | Damage]
    pictures: Pictures
    count: int | None = None
    dated: Path | None = None


def source_at(path: Path) -> Source:
    """Return what is to be replayed: a recording, a video or a folder of pictures.

    Raises:
        OSError: If it is nothing that can be.
        VisionError: If there is no picture in it.
    """
    if path.suffix.lower() == SUFFIX and not path.is_dir():
        session = read_session(path)
        pictures = Pictures.SETTLED if session.start is None else session.start.pictures
        return Source(shots_of_session(session), pictures)
    if path.suffix.lower() in VIDEOS and path.is_file():
        return Source(shots_of_video(path), Pictures.MOVING, dated=path)
    paths = pictures_in(path)
    return Source(shots_of_pictures(paths), Pictures.SETTLED, len(paths), paths[0])


def follower_for(source: Source, perception: Perception) -> Follower:
    """Return what follows the pictures of a source: each of them, or those on which nothing moves any more."""
    match source.pictures:
        case Pictures.SETTLED:
            return lambda shot: perception.feed(shot.load())
        case Pictures.MOVING:
            watch = Watch(perception)
            return lambda shot: watch.feed(Frame(shot.load(), shot.t_ns))


@contextmanager
def recording(source: Source, record: Path | None, tile_set: TileSet) -> Iterator[Iterator[Shot | Damage]]:
    """Give the pictures of a source, each recorded when it is loaded if there is where to.

    Raises:
        RecordingError: If the source is a recording already, or none can be made.
    """
    if record is None:
        yield source.shots
        return
    if source.dated is None:
        raise RecordingError(f"{record}: only pictures and videos are recorded, and this is a recording already")
    software = f"tallybone {version('tallybone')}"
    start = start_of_pictures(source.dated, tile_set=tile_set.value, software=software, pictures=source.pictures)
    with SessionWriter(record, start) as writer:
        yield (one if isinstance(one, Damage) else recorded(one, writer) for one in source.shots)
