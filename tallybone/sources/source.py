"""Sources of a replay: pictures as uniform `Shot` values and recorded inputs in feeding order, and their game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import cv2
import numpy as np

import engine
from engine.game.closing import name_key
from hardware.camera.device import CameraTurn
from tallybone.choices import TileSet
from tallybone.clock import software
from tallybone.recording.folder import SUFFIX
from tallybone.recording.format import Damage, ImageMessage, Pictures, RecordingError, SittingStart, Topic
from tallybone.recording.reader import RecordedMessage, input_of, read_recording, write_input, write_step
from tallybone.recording.resume import Left, left_in_head
from tallybone.recording.writer import RecordingWriter
from tallybone.session.sitting import ByHand, Step
from vision import VisionError
from vision.arrays import GreyImage, Image
from vision.image.picture import PictureError, decode_picture, load_picture, read_picture_file
from vision.tracking.watch import Frame

PICTURES = frozenset([".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".gif", ".avif", ".heic", ".heif"])
VIDEOS = frozenset({".avi", ".m4v", ".mkv", ".mov", ".mp4", ".webm"})
_NS_PER_MS = 1_000_000
_NS_PER_S = 1_000_000_000
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


_INPUTS = (Topic.BUTTON, Topic.KNOCK, Topic.CORRECTION)
NO_GAME = "free"
# The last picture of a film is repeated for this time, at this interval. Then even a hand in it counts as settled.
_HELD_NS = 1_600_000_000
_HELD_EVERY_NS = 200_000_000


@dataclass(frozen=True, slots=True)
class RecordedInput:
    """A press, a knock, an answer or a correction.

    Attributes:
        t_ns: Time of the input.
        where: Name in error messages.
        load: Returns the input. Raises JsonValueError if it is from a later version.
    """

    t_ns: int
    where: str
    load: Callable[[], ByHand]


Item: TypeAlias = Shot | RecordedInput | Damage
"""A picture, an input, or damage to the recording in place of pictures and inputs."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source for replay.

    Attributes:
        items: Pictures and inputs, in feeding order.
        count: Number of items, if known.
        dated: File that gives a new recording its date: the first picture, or the video. None if the source is a
            recording.
        start: Start of a recording, if it has one.
        left: State from which the recording continues an earlier sitting, or None. Its records are not among the items.
    """

    items: Iterator[Item]
    pictures: Pictures
    count: int | None = None
    dated: Path | None = None
    start: SittingStart | None = None
    left: Left | None = None


def source_at(path: Path, orientation: CameraTurn | None = None) -> Source:
    """Open a recording, a video or a folder of pictures, which are corrected by *orientation*.

    Raises:
        OSError: If the path is none of these, or cannot be read, or its pictures cannot be turned.
        VisionError: If a folder contains no pictures.
    """
    source = _source_at(path)
    if orientation is None or orientation == CameraTurn():
        return source
    if source.left is not None:
        raise RecordingError(f"{path}: it continues another recording, so its pictures cannot be turned")
    return replace(source, items=(_turned(item, orientation) for item in source.items))


def _turned(item: Item, orientation: CameraTurn) -> Item:
    if not isinstance(item, Shot):
        return item

    def load() -> Image:
        return orientation.upright(item.load())

    return replace(item, load=load, jpeg=lambda: _encoded(load(), item.where), grey=None)


def _source_at(path: Path) -> Source:
    if path.suffix.lower() == SUFFIX and not path.is_dir():
        recording = read_recording(path)
        pictures = Pictures.SETTLED if recording.start is None else recording.start.pictures
        records, start = iter(recording), recording.start
        left = None if start is None or start.continues is None else left_in_head(start, records, path)
        return Source(_items_of_recording(records, path), pictures, start=start, left=left)
    if path.suffix.lower() in VIDEOS and path.is_file():
        return Source(_held(shots_of_video(path)), Pictures.MOVING, dated=path)
    if not path.is_dir():
        expected = f"expected a recording ({SUFFIX}), a video ({', '.join(sorted(VIDEOS))}) or a folder of pictures"
        raise RecordingError(
            f"{path}: {expected}, but {'it is something else' if path.exists() else 'there is no such file'}"
        )
    paths = pictures_in(path)
    return Source(shots_of_pictures(paths), Pictures.SETTLED, len(paths), paths[0])


def _held(shots: Iterator[Shot]) -> Iterator[Shot]:
    """Yield the pictures of a film, and repeat the last one until its picture counts as settled."""
    # Films often end right after the last tile, and no later picture could contradict it.
    last: Shot | None = None
    for shot in shots:
        yield shot
        last = shot
    if last is not None:
        for after_ns in range(_HELD_EVERY_NS, _HELD_NS + 1, _HELD_EVERY_NS):
            yield replace(last, t_ns=last.t_ns + after_ns)


def dealt_by_itself(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, preceded by inputs that deal a hand and let the first seat lead. Yield nothing without items."""
    waiting = iter(items)
    first = next(waiting, None)
    if first is None:
        return
    t_ns = 0 if isinstance(first, Damage) else first.t_ns
    yield RecordedInput(t_ns, "the deal", engine.NewHand)
    yield RecordedInput(t_ns, "the lead", lambda: engine.Lead(engine.Seat(0)))
    yield from chain((first,), waiting)


@dataclass(frozen=True, slots=True)
class Tapped:
    """Items of a source. If they are to be recorded, each is recorded when it is loaded."""

    items: Iterator[Item]
    note: Callable[[Step], None]


@contextmanager
def recording(
    source: Source, record: Path | None, tile_set: TileSet, match: engine.MatchStart | None = None
) -> Iterator[Tapped]:
    """Yield the items of a source, and record them to the new file *record* unless it is None.

    Pictures with a game, but without a recorded start, are preceded by a deal and a lead.

    Raises:
        RecordingError: If the source is already a recording, or the new recording cannot be created or written.
    """
    items = source.items if match is None or source.start is not None else dealt_by_itself(source.items)
    if record is None:
        yield Tapped(items, lambda _: None)
        return
    if source.dated is None:
        raise RecordingError(f"{record}: only pictures and videos are recorded, and this is a recording already")
    start = SittingStart(
        started_at=datetime.fromtimestamp(source.dated.stat().st_mtime, UTC),
        players=() if match is None else match.players,
        rules=NO_GAME if match is None else match.rules.name,
        options=() if match is None else tuple(engine.changed_options(match.rules).items()),
        tile_set=tile_set.value,
        software=software(),
        pictures=source.pictures,
    )
    with RecordingWriter(record, start) as writer:
        yield Tapped((_recorded(item, writer) for item in items), partial(write_step, writer))


def _items_of_recording(records: Iterable[RecordedMessage | Damage], path: Path) -> Iterator[Item]:
    for record in records:
        if isinstance(record, Damage):
            yield record
            continue
        shot = shot_of_record(record, path)
        if shot is not None:
            yield shot
        elif record.topic in _INPUTS:
            yield _recorded_input(record, path)


def _recorded_input(record: RecordedMessage, path: Path) -> RecordedInput:
    def load() -> ByHand:
        value = input_of(record)
        assert value is not None  # The topic is in _INPUTS.
        return value

    return RecordedInput(record.t_ns, f"{path}: record {record.number}", load)


def _recorded(item: Item, writer: RecordingWriter) -> Item:
    match item:
        case Shot():
            return recorded(item, writer)
        case RecordedInput(t_ns=t_ns, where=where, load=load):

            def load_and_record() -> ByHand:
                value = load()
                write_input(writer, value, t_ns)
                return value

            return RecordedInput(t_ns, where, load_and_record)
        case Damage():
            return item


@dataclass(frozen=True, slots=True)
class GameOverrides:
    """Changes to the game of a recording. Fields without a value leave it unchanged.

    Attributes:
        rules: Name of the game, or "free" for none. If given, recorded options are ignored.
        options: Changed rule options as key=value. Without *rules* they modify those of the recording.
        players: Names by seat.
    """

    rules: str | None = None
    options: tuple[str, ...] = ()
    players: tuple[str, ...] = ()


def parse_players(text: str) -> tuple[str, ...]:
    """Return the names in a comma-separated list. Blank names are dropped.

    Raises:
        OptionsError: If a name occurs twice.
    """
    names = tuple(name for part in text.split(",") if (name := part.strip()))
    keys = [name_key(name) for name in names]
    repeated = next((name for name, key in zip(names, keys, strict=True) if keys.count(key) > 1), None)
    if repeated is not None:
        raise engine.OptionsError([f"two players are called {repeated}: give each player a different name"])
    return names


def match_of(overrides: GameOverrides, start: SittingStart | None) -> engine.MatchStart | None:
    """Return the start of the match, or None if no score is kept.

    Without names of players, they are called "Player 1" and so on, for the smallest possible number of players.

    Raises:
        EngineError: If the game, an option or the number of players is invalid.
    """
    base = start if overrides.rules is None else None
    name = overrides.rules or (NO_GAME if base is None else base.rules)
    options = engine.parse_options(" ".join(overrides.options))
    if name == NO_GAME:
        if options:
            raise engine.OptionsError([f"{next(iter(options))}: options need a game: give --rules too"])
        return None
    rules = engine.with_options(engine.profile(name), (dict(base.options) if base else {}) | options)
    players = (
        overrides.players
        or (start.players if start is not None else ())
        or tuple(f"Player {seat + 1}" for seat in range(rules.seats_min))
    )
    problems = engine.deal_problems(rules, len(players))
    if problems:
        raise engine.OptionsError(problems)
    return engine.MatchStart(rules, players)
