"""Record a live game. If writing fails, keep the file intact and start another.

The head of the new file contains the state of the game, like that of a resumed match (`recording/resume.py`), so the
score is complete. Only the pictures in between are missing.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from engine import MatchStart
from engine.phrases import phrase
from tallybone.recording.evidence import Crops, Evidence, write_evidence
from tallybone.recording.folder import prune
from tallybone.recording.messages import write_input, write_step, write_table
from tallybone.recording.resume import Left
from tallybone.recording.writer import RecordingWriter
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand, Step
from vision.reader.custom_set import RecordedSet

# The folder is pruned again after the recording has grown by this size or by this share of the quota, whichever is
# less.
_GROWN_BYTES, _GROWN_SHARE = 32_000_000, 0.05
_CHECK_EVERY = 50  # pictures
NOT_RECORDED = phrase("RECORDING STOPPED")
"""Status of a recorder that cannot write any more."""

_RETRY_NS = 5_000_000_000
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
    def words(self) -> str:
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
    def words(self) -> str:
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
            self._make_room()

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

    def _make_room(self) -> None:
        """Prune the folder if this recording has grown enough since the folder was last pruned."""
        size_bytes = self.size_bytes if self._is_open else 0
        least_bytes = min(_GROWN_BYTES, int(_GROWN_SHARE * self._room.keep_bytes))
        if size_bytes - self._pruned_at_bytes >= least_bytes:
            self._pruned_at_bytes = size_bytes
            self._prune()

    def _prune(self) -> None:
        try:
            prune(self._room.folder, keep_bytes=self._room.keep_bytes)
        except OSError as error:
            self._complain(f"old recordings cannot be deleted: {error}")


BeginRecording: TypeAlias = Callable[[Left | None, str | None, int], FileRecorder]
"""Function that starts a recording, given its head, the name of the recording before, and the time."""


class LastingRecorder(Recorder):
    """A recorder that starts another file after an error."""

    def __init__(
        self, begin: BeginRecording, folder: Path, left: Left, complain: Callable[[str], None], *, goes_on: bool
    ) -> None:
        """Record to files in *folder*. Nothing is written before `open`.

        Args:
            begin: Starts a recording.
            folder: Folder of the recordings.
            left: State of the game at the start.
            complain: Receives error messages.
            goes_on: Whether the match is resumed, so the first file needs a head.
        """
        self._begin, self._folder, self._complain = begin, folder, complain
        self._left, self._goes_on, self._crops = left, goes_on, Crops(left.evidence)
        self._file: FileRecorder | None = None
        self._session: Session | None = None
        self._jpeg: bytes | None = None
        self._tried_ns: int | None = None
        self._frames = 0

    def open(self, t_ns: int) -> None:
        """Start the first file. If that fails, report the error and retry later."""
        self._tried_ns = t_ns
        try:
            self._file = self._begin(self._left if self._goes_on else None, self._left.start.continues, t_ns)
        except OSError as error:
            self._complain(f"{error}; the game goes on WITHOUT a recording")

    @property
    def words(self) -> str:
        """Status of the recording, as text."""
        return NOT_RECORDED if self._file is None else self._file.words

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
        self._note(step)
        self._retry(step.t_ns)

    def evidence(self, evidence: Evidence) -> None:
        """Record a crop."""
        self._crops.add(evidence)
        if self._file is not None:
            self._file.evidence(evidence)

    def close(self) -> None:
        """Close the current file, if any."""
        if self._file is not None:
            self._file.close()

    def _note(self, step: Step) -> None:
        """Remember the state of the game, for the head of another file."""
        self._session, view = step.session, step.view
        if view is None or not view.is_settled or self._jpeg is None:
            return
        left = self._left
        is_first = left.last is None and not left.start.in_play
        empty = self._jpeg if is_first else left.empty
        self._left = replace(left, tiles=view.tiles, empty=empty, last=self._jpeg, aim=view.aim)

    def _retry(self, t_ns: int) -> None:
        """If recording has failed and a retry is due, start another file. Frees a nearly full disk if possible."""
        is_due = self._tried_ns is None or t_ns - self._tried_ns >= _RETRY_NS
        if self.is_whole or not is_due:
            return
        if self._free_bytes() < _MIN_FREE_BYTES:
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
        self._tried_ns = t_ns
        before = "" if self._file is None else self._file.name
        try:
            self._file = self._begin(self._now(), before, t_ns)
        except OSError:
            return False  # the original error has been reported
        return True

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
