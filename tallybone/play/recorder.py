"""Record a live game. If writing fails, keep the file intact and start another.

The head of the new file contains the state of the game, like that of a resumed match (`recording/resume.py`), so the
score is complete. Only the pictures in between are missing.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from engine import Amend, Event, MatchStart, Stack
from engine.phrases import phrase
from tallybone.json_values import to_json
from tallybone.plain_text import plain
from tallybone.recording.folder import journal_path, journals_in, next_number, prune
from tallybone.recording.format import SittingStart, Topic
from tallybone.recording.reader import write_input, write_step, write_table
from tallybone.recording.resume import Crops, Evidence, Left, write_evidence, write_left
from tallybone.recording.writer import RecordingWriter
from tallybone.session.places import Places
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand, Step
from vision.arrays import Image
from vision.reader.custom_set import RecordedSet
from vision.reading import PointPx, SeenTile
from vision.tracking.camera_motion import STRAIGHT_ON, Alignment

# The folder is pruned again after the recording has grown by this size or by this share of the quota, whichever is
# less.
_GROWN_BYTES = 32_000_000
_GROWN_SHARE = 0.05
_CHECK_EVERY = 50  # pictures
NOT_RECORDED = phrase("RECORDING STOPPED")
"""Status of a recorder that cannot write any more."""

_RETRY_NS = 5_000_000_000
_MAX_JOURNALS = 3  # the newest may be damaged
# Minimum free space for a new recording. With less, writing would fail at once.
_MIN_FREE_BYTES = 8_000_000
# With less free space than this, the match continues in a new file, without crops in its head, and the previous file is
# deleted. This is done only if that file is at least this large. A recording grows by about 10 MB between two checks.
_LOW_FREE_BYTES = 32_000_000


class Recorder:
    """Records inputs before they are fed, and results before they are shown. This base class records nothing."""

    def frame(self, t_ns: int, jpeg: bytes, name: str | None) -> None:
        """Record a picture before it is fed."""

    def input(self, item: ByHand, t_ns: int, *, by: str = "") -> None:
        """Record an input before it is fed. *by* is the name of its author, "" if unknown."""

    def happened(self, step: Step) -> None:
        """Record the effects of an input before they are shown."""

    def evidence(self, evidence: Evidence) -> None:
        """Record the crop of the picture that led to a play or question."""

    @property
    def text(self) -> str:
        """Status of the recording, as text."""
        return phrase("not recorded")

    @property
    def is_whole(self) -> bool:
        """True if recording works, or nothing is to be recorded."""
        return True

    def close(self) -> None:
        """Close the recording."""


@dataclass(frozen=True, slots=True)
class RecordingQuota:
    """Maximum size of all recordings in a folder, in bytes. The oldest recordings are deleted first."""

    folder: Path
    keep_bytes: int


class FileRecorder(Recorder):
    """Records a game in a file, and keeps the folder within its quota.

    If the first settled picture causes no changes or events, a TABLE record refers to it, because a resumed sitting
    needs the empty table.
    """

    def __init__(
        self,
        path: Path,
        writer: RecordingWriter,
        room: RecordingQuota,
        complain: Callable[[str], None],
        *,
        settled: int | None,
    ) -> None:
        """Write to *writer*.

        Args:
            path: Path of the file.
            writer: Writer of the file.
            room: Quota of the folder.
            complain: Receives error messages.
            settled: Record number of the last settled picture in the file, or None.
        """
        self._path, self._writer, self._room, self._complain = path, writer, room, complain
        self._is_open = True
        self._picture = 0
        self._settled = settled
        self._frames = 0
        self._pruned_at_bytes = 0
        self._prune()

    @property
    def name(self) -> str:
        """Name of the file."""
        return self._path.name

    @property
    def text(self) -> str:
        """Status of the recording, as text."""
        return phrase("recorded in {file}", file=self._path.name) if self._is_open else NOT_RECORDED

    @property
    def is_whole(self) -> bool:
        """True while no write has failed, so the whole game so far is in the file."""
        return self._is_open

    def frame(self, t_ns: int, jpeg: bytes, name: str | None) -> None:
        """Record a picture."""
        self._picture = self._writer.records
        self._write(lambda: self._writer.frame(t_ns, jpeg, name=name))
        self._frames += 1
        if self._frames % _CHECK_EVERY == 0:
            # Prune the folder if this recording has grown enough since the folder was last pruned.
            size_bytes = self.size_bytes if self._is_open else 0
            min_bytes = min(_GROWN_BYTES, int(_GROWN_SHARE * self._room.keep_bytes))
            if size_bytes - self._pruned_at_bytes >= min_bytes:
                self._pruned_at_bytes = size_bytes
                self._prune()

    def input(self, item: ByHand, t_ns: int, *, by: str = "") -> None:
        """Record an input."""
        self._write(lambda: write_input(self._writer, item, t_ns, by=by))

    def happened(self, step: Step) -> None:
        """Record the effects of an input. Its events are synced to the disk before this returns."""
        view = step.view
        is_first = False
        if view is not None and view.is_settled:
            is_first, self._settled = self._settled is None, self._picture
        self._write(lambda: write_step(self._writer, step, picture=self._settled))
        if is_first and view is not None and not view.changes and not step.events:
            self._write(lambda: write_table(self._writer, step, picture=self._settled))

    def evidence(self, evidence: Evidence) -> None:
        """Record a crop."""
        self._write(lambda: write_evidence(self._writer, evidence))

    def close(self) -> None:
        """Write the index and close the file. An error is reported to *complain*."""
        if self._is_open:
            self._is_open = False
            try:
                self._writer.close()
            except OSError as error:
                self._complain(str(error))

    def give_up(self) -> None:
        """Delete the file, because another contains all scores of the game."""
        self._is_open = False
        self._writer.abandon()

    @property
    def size_bytes(self) -> int:
        """Size of the file, 0 if it was deleted."""
        try:
            return self._path.stat().st_size
        except OSError:
            return 0

    def _write(self, write: Callable[[], None]) -> None:
        """Call *write* if the file is open. If that fails, report the error and close the file."""
        if not self._is_open:
            return
        try:
            write()
        except OSError as error:
            self._is_open = False
            self._complain(f"{error}; the game goes on WITHOUT a recording")
            with contextlib.suppress(OSError):
                self._writer.close()

    def _prune(self) -> None:
        try:
            prune(self._room.folder, keep_bytes=self._room.keep_bytes)
        except OSError as error:
            self._complain(f"old recordings cannot be deleted: {error}")


BeginRecording: TypeAlias = Callable[[SittingStart, Left | None, int], FileRecorder]
"""Function that starts a recording, given its metadata, its head, and the time."""


class Journal:
    """Log of the match in a small file of its own, apart from the pictures.

    It is used if its recording cannot be read, or has fewer events. Its number is also in its name, so files can be
    numbered even if none can be read.
    """

    def __init__(self, folder: Path, complain: Callable[[str], None]) -> None:
        """Prepare to write to *folder*. *complain* receives error messages."""
        self._folder, self._complain = folder, complain
        self._writer: RecordingWriter | None = None
        self._has_failed = False

    def begin(self, left: Left, t_ns: int) -> None:
        """Start a file with the state of the match, named by its number. Only the newest files are kept."""
        self.close()
        with self._reporting():
            self._writer = RecordingWriter(journal_path(self._folder, left.start.number), left.start)
            write_left(self._writer, replace(left, empty=None, last=None, tiles=(), evidence=()), t_ns)
            self._has_failed = False
            for old in journals_in(self._folder)[:-_MAX_JOURNALS]:
                old.unlink()

    @property
    def is_open(self) -> bool:
        """True if no write to the current file has failed."""
        return self._writer is not None

    def happened(self, step: Step) -> None:
        """Write the events of an input, and sync them to the disk before this returns."""
        if self._writer is None or not step.events:
            return
        with self._reporting():
            for event in step.events:
                self._writer.write(Topic.EVENT, step.t_ns, to_json(event, Event), is_waited_for=False)
            self._writer.write(Topic.TABLE, step.t_ns, {"places": to_json(step.session.places, Places)})

    def close(self) -> None:
        """Close the file, if any."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with contextlib.suppress(OSError):
                writer.close()

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        """Close the file after an error. Only the first error in succession is reported."""
        try:
            yield
        except OSError as error:
            self.close()
            if not self._has_failed:
                self._complain(f"{error}; the score is not copied to a journal")
            self._has_failed = True


class LastingRecorder(Recorder):
    """A recorder with a journal. After an error it starts other files."""

    def __init__(
        self, begin: BeginRecording, folder: Path, left: Left, complain: Callable[[str], None], *, is_resumed: bool
    ) -> None:
        """Record to files in *folder*. Nothing is written before `open`.

        Args:
            begin: Starts a recording.
            folder: Folder of the recordings.
            left: State of the game at the start.
            complain: Receives error messages.
            is_resumed: Whether the match is resumed, so the first file needs a head.
        """
        self._begin, self._folder, self._complain = begin, folder, complain
        self._left, self._needs_head, self._crops = left, is_resumed, Crops(left.evidence)
        # Without a recording, the players have been warned already.
        self._journal = Journal(folder, lambda error: complain(error) if self.is_whole else None)
        self._file: FileRecorder | None = None
        self._session: Session | None = None
        self._jpeg: bytes | None = None
        self._t_ns = 0
        self._tried_ns: int | None = None
        self._frames = 0

    def open(self, t_ns: int) -> None:
        """Start the first files. If that fails, report the error and retry later."""
        try:
            self._start_recording(t_ns)
        except OSError as error:
            self._complain(f"{error}; the game goes on WITHOUT a recording")

    @property
    def text(self) -> str:
        """Status of the recording, as text."""
        return NOT_RECORDED if self._file is None else self._file.text

    @property
    def is_whole(self) -> bool:
        """True if the whole log of the game is recorded."""
        return self._file is not None and self._file.is_whole

    def frame(self, t_ns: int, jpeg: bytes, name: str | None) -> None:
        """Record a picture."""
        self._retry(t_ns)
        self._frames += 1
        if self._frames % _CHECK_EVERY == 0 and self.is_whole and self._free_bytes() < _LOW_FREE_BYTES:
            self._replace_large_file(t_ns)
        self._jpeg = jpeg
        if self._file is not None:
            self._file.frame(t_ns, jpeg, name)

    def input(self, item: ByHand, t_ns: int, *, by: str = "") -> None:
        """Record an input."""
        self._retry(t_ns)
        if isinstance(item, RecordedSet):
            self._left = replace(self._left, start=replace(self._left.start, own_set=item))
        if self._file is not None:
            self._file.input(item, t_ns, by=by)

    def happened(self, step: Step) -> None:
        """Record the effects of an input. If recording works, its events are synced to the disk before this returns."""
        if self._file is not None:
            self._file.happened(step)
        self._journal.happened(step)
        self._note(step)
        self._retry(step.t_ns, is_due=bool(step.events))

    def evidence(self, evidence: Evidence) -> None:
        """Record a crop."""
        self._crops.add(evidence)
        if self._file is not None:
            self._file.evidence(evidence)

    def close(self) -> None:
        """Close the current files. If recording has failed, retry before."""
        self._retry(self._t_ns, is_due=True)
        if self._file is not None:
            self._file.close()
        self._journal.close()

    def _note(self, step: Step) -> None:
        """Remember the state of the game, for the head of another file."""
        self._session, view = step.session, step.view
        if view is None or not view.is_settled or self._jpeg is None:
            return
        left = self._left
        is_first = left.last is None and not left.start.in_play
        empty = self._jpeg if is_first else left.empty
        self._left = replace(left, tiles=view.tiles, empty=empty, last=self._jpeg, aim=view.aim)

    def _retry(self, t_ns: int, *, is_due: bool = False) -> None:
        """If recording has failed and a retry is due, start other files. Frees a nearly full disk if possible."""
        self._t_ns = t_ns
        is_due = is_due or self._tried_ns is None or t_ns - self._tried_ns >= _RETRY_NS
        if not is_due or (self.is_whole and self._journal.is_open):
            return
        if self.is_whole:
            self._start_journal(t_ns)
        elif self._free_bytes() < _MIN_FREE_BYTES:
            self._replace_large_file(t_ns)
        elif self._begin_again(t_ns):
            self._complain(phrase("recording again, with all scores"))

    def _replace_large_file(self, t_ns: int) -> None:
        """Start another file and delete the previous one, if it is large enough to free space on a nearly full disk."""
        before = self._file
        if before is not None and before.size_bytes >= _LOW_FREE_BYTES and self._begin_again(t_ns):
            before.give_up()
            self._complain(
                phrase("the disk is full: earlier pictures of this match were deleted, its scores were kept")
            )

    def _begin_again(self, t_ns: int) -> bool:
        """Start another file with the whole game in its head. Return False if that fails."""
        self._needs_head = True
        try:
            self._start_recording(t_ns)
        except OSError:  # the original error has been reported
            return False
        return True

    def _start_recording(self, t_ns: int) -> None:
        self._tried_ns = t_ns
        before = self._file
        try:
            start = self._numbered()
            if before is not None:
                start = replace(start, continues=before.name)
            self._file = self._begin(start, self._now() if self._needs_head else None, t_ns)
        finally:
            if self._file is not before or not self._journal.is_open:
                self._start_journal(t_ns)

    def _start_journal(self, t_ns: int) -> None:
        """Start a journal of the game so far. An error is reported to *complain*."""
        self._tried_ns = t_ns
        try:
            start = replace(self._numbered(), continues=None if self._file is None else self._file.name)
        except OSError:
            return  # without the folder, the recording has failed too
        self._journal.begin(replace(self._now(), start=start), t_ns)

    def _numbered(self) -> SittingStart:
        """Return the metadata of the next file. Numbers only rise, whatever can be read of the folder."""
        self._folder.mkdir(parents=True, exist_ok=True)
        start = self._left.start
        number = max(next_number(self._folder), start.number + 1)
        self._left = replace(self._left, start=replace(start, number=number))
        return self._left.start

    def _free_bytes(self) -> int:
        """Return the free space on the disk, 0 if it cannot be determined."""
        existing = next((path for path in (self._folder, *self._folder.absolute().parents) if path.is_dir()), None)
        try:
            return 0 if existing is None else shutil.disk_usage(existing).free
        except OSError:
            return 0

    def _now(self) -> Left:
        """Return the current state of the game, without crops if the disk is nearly full."""
        session = self._session
        if session is None:
            return self._left
        events = tuple(event for event in session.state.log if not isinstance(event, MatchStart))
        # Crops must not use the last space that the log needs.
        crops = tuple(self._crops) if self._free_bytes() >= _LOW_FREE_BYTES else ()
        return replace(self._left, events=events, places=session.places, evidence=crops)


_TileOutline = tuple[PointPx, ...]
# Margin around the outlined tiles, in lengths of the first tile. It is wide enough to show adjacent tiles.
_MARGIN_TILES = 1.0
_MAX_PX = 320
_QUALITIES = (80, 60, 40)
MAX_CROP_BYTES = 20_000
"""Maximum size of a crop. Larger ones are dropped. On rendered tables, crops usually have 6 kB, and 8 kB at most."""
_DARK = (20, 20, 20)
_BRIGHT = (80, 220, 255)


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
