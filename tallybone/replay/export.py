"""Export a replay as a game record (.dgr), a table of plays (.csv), JSON or a video."""

from __future__ import annotations

import csv
import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from numpy.typing import NDArray

import engine
from engine import Game
from engine.record.text import Tag
from hardware.libraries import install_command
from tallybone.choices import OptionError
from tallybone.files import ExportError, require_free, whole_file
from tallybone.json_values import to_json
from tallybone.plain_text import plain
from tallybone.recording.format import SittingStart
from tallybone.replay.lines import clock_time, format_change, sentences_of
from tallybone.replay.run import ReplayStep
from tallybone.sources.source import Item, Shot
from vision.arrays import Image
from vision.image.annotate import annotate
from vision.reading import Reading
from vision.tracking.table_view import TableView

if TYPE_CHECKING:
    from av import VideoStream


VIDEO = ".mp4"
TEXTS = (".dgr", ".csv", ".json")

_COLUMNS = ("time", "hand", "seat", "player", "tile", "at", "count", "points")
# First characters that make a spreadsheet interpret a text as a formula, including full-width forms. A leading
# apostrophe prevents that (https://owasp.org/www-community/attacks/CSV_Injection).
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@dataclass(frozen=True, slots=True)
class ExportFiles:
    """Files to write. The suffix of each path determines its format. *is_forced* overwrites existing files."""

    paths: tuple[Path, ...] = ()
    is_forced: bool = False


class Exports:
    """Exports a replay step by step."""

    def __init__(self, files: ExportFiles, videos: Sequence[Video]) -> None:
        """Write *videos* during the replay, and the other *files* at the end."""
        self._files, self._videos = files, videos
        self._transcript = Transcript()

    def through(self, items: Iterator[Item]) -> Iterable[Item]:
        """Return the items for the replay, changed so that videos keep each picture when it is loaded."""
        for video in self._videos:
            items = video.through(items)
        return items

    def add(self, step: ReplayStep) -> None:
        """Add the next step."""
        self._transcript.add(step)
        for video in self._videos:
            video.add(step)

    def write_texts(self, start: SittingStart | None, result: Mapping[str, Any]) -> None:
        """Write all files except videos.

        Raises:
            ExportError: If a game record is requested but no score was kept, or a file exists and must not be replaced.
            OSError: If a file cannot be written.
        """
        for path in self._files.paths:
            match path.suffix.lower():
                case ".dgr":
                    text = game_record(self._transcript, start)
                case ".csv":
                    text = plays_table(self._transcript)
                case ".json":
                    text = everything(self._transcript, start, result)
                case _:
                    continue
            with whole_file(path, is_forced=self._files.is_forced) as part:
                part.write_text(text, encoding="utf-8")


@contextmanager
def exporting(files: ExportFiles, *, has_pictures: bool) -> Iterator[Exports]:
    """Yield the exporter for a replay. Videos get their final names only if no error occurs.

    Raises:
        OptionError: If the suffix of a file is unknown, or a video is requested without pictures.
        ExportError: If a file exists and must not be replaced, its folder is missing or not writable, or PyAV is
            missing.
    """
    for path in files.paths:
        if path.suffix.lower() not in (*TEXTS, VIDEO):
            raise OptionError(f"{path}: expected a name that ends in {', '.join(TEXTS)} or {VIDEO}")
        if path.suffix.lower() == VIDEO and not has_pictures:
            raise OptionError(f"{path}: a video needs pictures: omit --log-only")
        require_free(path, is_forced=files.is_forced)
    with ExitStack() as stack:
        paths = [path for path in files.paths if path.suffix.lower() == VIDEO]
        parts = [stack.enter_context(whole_file(path, is_forced=files.is_forced)) for path in paths]
        videos = [Video(VideoFile(part)) for part in parts]
        yield Exports(files, videos)
        for video in videos:
            video.close()


def game_record(transcript: Transcript, start: SittingStart | None) -> str:
    """Return the match as a game record (docs/reference/game_record.md), with its date if *start* is given.

    Raises:
        ExportError: If no score was kept.
    """
    if transcript.state.game is None:
        raise ExportError("expected a game for the record, but it has no score")
    record = engine.record_of(transcript.state)
    if start is not None:
        record = replace(record, tags=(*record.tags, Tag("Date", f"{start.started_at:%Y-%m-%d}")))
    return engine.format_record(record)


def plays_table(transcript: Transcript) -> str:
    """Return a CSV table with a row of headings, and a row for each play and stack in force at the end."""
    players = () if transcript.state.game is None else transcript.state.game.players
    rows: list[tuple[str | int, ...]] = [(*_COLUMNS, *(f"total {name}" for name in players))]
    for play in transcript.plays:
        count = "" if play.count is None else play.count
        player = (play.seat + 1, players[play.seat])
        time = clock_time(play.since_ns)
        rows.append((time, play.hand, *player, play.tile, play.at, count, play.points, *play.totals))
    return format_csv(rows)


def format_csv(rows: Iterable[Iterable[str | int]]) -> str:
    r"""Return rows as a CSV file. Texts that a spreadsheet would take for a formula are escaped with an apostrophe.

    >>> format_csv([("Ann", 5), ("=1+1", -5)])
    "Ann,5\n'=1+1,-5\n"
    """
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    for row in rows:
        table.writerow([_escaped(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()


def _escaped(cell: str) -> str:
    text = plain(cell)  # removes lone CRs, which the csv module leaves unquoted and spreadsheets treat as row ends
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def everything(transcript: Transcript, start: SittingStart | None, result: Mapping[str, Any]) -> str:
    """Return all events, outcomes and changes of the table as a JSON document."""
    document = {
        "sitting": None if start is None else start.format(),
        "events": transcript.events,
        "outcomes": transcript.outcomes,
        "changes": transcript.changes,
        "result": result,
    }
    return json.dumps(document, allow_nan=False, indent=1) + "\n"


@dataclass(frozen=True, slots=True)
class ExportedPlay:
    """A play or stack that is in force at the end.

    Attributes:
        since_ns: Time at which it was recorded, in nanoseconds since the start.
        hand: Number of its hand, from 1.
        seat: Seat of its player at the end of the match.
        at: Port and tile that it joins, or tile that it is stacked on. Empty for the first tile of a hand.
        count: Sum of the open ends after it, or None if the rules do not count them.
        points: Points of its player for it, scored at once or when called.
        totals: Totals after it and its points, by seat at the end of the match.
    """

    since_ns: int
    hand: int
    seat: engine.Seat
    tile: str
    at: str
    count: int | None
    points: int
    totals: tuple[int, ...]


@dataclass(slots=True)
class Transcript:
    """Collects the events, outcomes and changes of a replay for the exports at its end."""

    state: engine.State = field(default_factory=engine.State)
    events: list[dict[str, Any]] = field(default_factory=list)
    outcomes: list[Mapping[str, Any]] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    _times: list[int] = field(default_factory=list)

    def add(self, step: ReplayStep) -> None:
        """Add the next step."""
        for change in () if step.view is None else step.view.changes:
            self.changes.append(json.loads(format_change(change, step)))
        if step.effects is None:
            return
        self.state = step.effects.session.state
        self._times += [max(0, step.since_ns)] * (len(self.state.log) - len(self._times))
        self.events += ({"t_ns": step.t_ns, **to_json(event, engine.Event)} for event in step.effects.events)
        self.outcomes += step.effects.lines

    @property
    def plays(self) -> list[ExportedPlay]:
        """The plays and stacks in force at the end, in order."""
        return _Plays(self.state, self._times).plays


class _Plays:
    """Collects the plays among the actions in force."""

    def __init__(self, state: engine.State, times: list[int]) -> None:
        self.plays: list[ExportedPlay] = []
        seats = 0 if state.game is None else len(state.game.players)
        self._totals = self._at_deal = (0,) * seats
        self._hand = 0
        self._tiles: dict[engine.NodeId, str] = {}
        results = engine.history(state)
        for step, self._seats in zip(results, engine.last_seats(results, seats), strict=True):
            before = len(self.plays)
            spot = getattr(step.entry.action, "at", None)
            for outcome in step.outcomes:
                match outcome:
                    case engine.HandStarted(number=number):
                        self._hand, self._at_deal = number, self._totals
                    case engine.Redealt():
                        self._totals = self._at_deal
                    case engine.Placed(seat=seat, tile=tile, node=node):
                        at = "" if spot is None else f"{spot.port} of {self._tiles.get(spot.host, '?')}"
                        self._lay(times[step.entry.seq], seat, str(tile), at)
                        self._tiles[node] = str(tile)
                    case engine.Stacked(seat=seat, tile=tile, node=node):
                        self._lay(times[step.entry.seq], seat, str(tile), f"on {self._tiles.get(node, '?')}")
                    case engine.Counted(count=count) if len(self.plays) > before:
                        self._change(count=count.total)
                    case engine.Scored():
                        self._pay(outcome)
                    case _:
                        pass

    def _lay(self, since_ns: int, seat: engine.Seat, tile: str, at: str) -> None:
        seat = self._seats[seat]
        self.plays.append(ExportedPlay(since_ns, self._hand, seat, tile, at, None, 0, self._totals))

    def _pay(self, scored: engine.Scored) -> None:
        """Add points to a total, and points for a play or steal also to the last play if it is of that seat."""
        totals, seat = list(self._totals), self._seats[scored.seat]
        totals[seat] += scored.points
        self._totals = tuple(totals)
        last = self.plays[-1] if self.plays else None
        if last is not None and last.seat == seat and scored.reason in (engine.Reason.PLAY, engine.Reason.STEAL):
            self._change(points=last.points + scored.points)
        if last is not None and scored.reason in (engine.Reason.PLAY, engine.Reason.STEAL):
            self._change(totals=self._totals)

    def _change(self, **values: Any) -> None:
        self.plays[-1] = replace(self.plays[-1], **values)


# At most ten frames a second. Pauses are shortened to five seconds, and the last frame is shown for one.
_NS_PER_FRAME = 100_000_000
_MAX_PAUSE_NS = 5_000_000_000
_LAST_NS = 1_000_000_000
_LINE_PX = 28
_BAR_BGR = (40, 34, 30)
_TEXT_BGR = (240, 240, 240)
# Constant quality. "realtime" takes 10 ms for a frame of 1280x776; "good" 50 ms, for two thirds of the size.
_QUALITY = {"crf": "32", "b": "0", "deadline": "realtime", "cpu-used": "8", "row-mt": "1"}
# A browser that seeks decodes all frames since the last key frame.
_KEY_FRAME_EVERY = 50
_BT_709 = 1
_LIMITED_RANGE = 1


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
            height, width = (side - side % 2 for side in image.shape[:2])
            stream = self._stream = self._stream or self._opened(width, height)
            frame = self._av.VideoFrame.from_ndarray(image[:height, :width], format="bgr24").reformat(
                stream.width, stream.height, "yuv420p", dst_colorspace=_BT_709, dst_color_range=_LIMITED_RANGE
            )
            frame.pts, frame.time_base = t_ns // 1_000_000, Fraction(1, 1000)
            self._file.mux(stream.encode(frame))
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
        drawn = self._drawn
        if drawn is None or not drawn.is_of(step.view) or drawn.light.shape != self._image.shape:
            drawn = self._drawn = _Drawn(step.view, self._image.shape[1], self._image.shape[0])
        frame = np.vstack([drawn.over(self._image), self._bar(self._image.shape[1])])
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
