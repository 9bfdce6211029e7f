"""Record a live game as it is played; when a disk fails, keep the file whole and start another.

The other one has a head that says how the game stands, as that of a match that is resumed (`recording/resume.py`), so
that from then on nothing of the score can be lost. Of the time between, only the pictures are missing.
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

# The folder is looked at again when the recording has grown by so much, or by this share of what is kept.
_GROWN_BYTES, _GROWN_SHARE = 32_000_000, 0.05
_LOOK_EVERY = 50  # pictures
NOT_RECORDED = phrase("NOT RECORDED any more")
"""The words of a recorder that cannot write any more."""

_TRIES_EVERY_NS = 5_000_000_000
# With less room a recording would only begin to end at once.
_LEAST_FREE_BYTES = 8_000_000
# With less room than this, an earlier file of the match of at least this size is given up. Between two looks at the
# folder a recording grows by about 10 MB.
_LOW_FREE_BYTES = 32_000_000


class Recorder:
    """Keeps a live game: called before the sitting is fed, and before anything is shown. This one keeps nothing."""

    def frame(self, t_ns: int, jpeg: bytes, name: str | None) -> None:
        """Keep a picture that is going to be fed."""

    def came(self, said: ByHand, t_ns: int, *, by: str = "") -> None:
        """Keep an input before it is fed, and the person who gave it; "" if unknown."""

    def happened(self, happened: Step) -> None:
        """Keep the effects of an input before they are shown."""

    def evidence(self, one: Evidence) -> None:
        """Keep a crop of the picture from which a play or a question was read."""

    @property
    def words(self) -> str:
        """Where it is kept, in words."""
        return phrase("not recorded")

    @property
    def is_whole(self) -> bool:
        """Whether all that should be kept is."""
        return True

    def close(self) -> None:
        """End it."""


@dataclass(frozen=True, slots=True)
class RecordingQuota:
    """How much the recordings of a folder may take; the oldest go first."""

    folder: Path
    keep_bytes: int


class FileRecorder(Recorder):
    """Keeps a game in a file, and its folder in bounds.

    The first settled picture is named in a record of `Topic.TABLE`, so that a resumed sitting knows the empty table.
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
        """Write to *writer*; *settled* is the number of a picture in it that shows how the table lies."""
        self._path, self._writer, self._room, self._complain = path, writer, room, complain
        self._is_open = True
        self._picture = 0
        self._settled = settled
        self._frames = 0
        self._pruned_at_bytes = 0
        self._prune()

    @property
    def name(self) -> str:
        """The name of the file."""
        return self._path.name

    @property
    def words(self) -> str:
        """Where it is kept, or that it is not any more."""
        return phrase("recorded in {file}", file=self._path.name) if self._is_open else NOT_RECORDED

    @property
    def is_whole(self) -> bool:
        """Whether all of the game is in the file so far."""
        return self._is_open

    def frame(self, t_ns: int, jpeg: bytes, name: str | None) -> None:
        """Keep a picture."""
        self._picture = self._writer.records
        self._write(lambda: self._writer.frame(t_ns, jpeg, name=name))
        self._frames += 1
        if self._frames % _LOOK_EVERY == 0:
            self._make_room()

    def came(self, said: ByHand, t_ns: int, *, by: str = "") -> None:
        """Keep what was pressed or said."""
        self._write(lambda: write_input(self._writer, said, t_ns, by=by))

    def happened(self, happened: Step) -> None:
        """Keep the effects of an input; their events are on the disk when this returns."""
        view = happened.view
        is_first = False
        if view is not None and view.is_settled:
            is_first, self._settled = self._settled is None, self._picture
        self._write(lambda: write_step(self._writer, happened, picture=self._settled))
        if is_first and view is not None and not view.changes and not happened.events:
            self._write(lambda: write_table(self._writer, happened, picture=self._settled))

    def evidence(self, one: Evidence) -> None:
        """Keep a crop."""
        self._write(lambda: write_evidence(self._writer, one))

    def close(self) -> None:
        """End the recording with its index."""
        if self._is_open:
            self._is_open = False
            try:
                self._writer.close()
            except OSError as error:
                self._complain(str(error))

    def give_up(self) -> None:
        """Delete the file; another one holds the whole game."""
        self._is_open = False
        self._writer.abandon()

    @property
    def size_bytes(self) -> int:
        """The size of the file; 0 if somebody took it away."""
        try:
            return self._path.stat().st_size
        except OSError:
            return 0

    def _write(self, write: Callable[[], None]) -> None:
        """Write, or report that it failed: the game goes on."""
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
        """Delete the oldest recordings where this one has grown enough to matter."""
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
"""Begins a recording: with which head, None for none; after which other; when."""


class LastingRecorder(Recorder):
    """A recorder that does not give up."""

    def __init__(
        self, begin: BeginRecording, folder: Path, left: Left, complain: Callable[[str], None], *, goes_on: bool
    ) -> None:
        """Keep a game that was *left* like that, if it *goes_on*, in files of *folder*.

        Nothing is on the disk before `open`.
        """
        self._begin, self._folder, self._complain = begin, folder, complain
        self._left, self._goes_on, self._crops = left, goes_on, Crops(left.evidence)
        self._file: FileRecorder | None = None
        self._session: Session | None = None
        self._jpeg: bytes | None = None
        self._tried_ns: int | None = None
        self._frames = 0

    def open(self, t_ns: int) -> None:
        """Begin; if that fails, report it and retry later."""
        self._tried_ns = t_ns
        try:
            self._file = self._begin(self._left if self._goes_on else None, self._left.start.continues, t_ns)
        except OSError as error:
            self._complain(f"{error}; the game goes on WITHOUT a recording")

    @property
    def words(self) -> str:
        """Where it is kept, or that it is not."""
        return NOT_RECORDED if self._file is None else self._file.words

    @property
    def is_whole(self) -> bool:
        """Whether the whole log of the game is kept."""
        return self._file is not None and self._file.is_whole

    def frame(self, t_ns: int, jpeg: bytes, name: str | None) -> None:
        """Keep a picture."""
        self._retry(t_ns)
        self._frames += 1
        if self._frames % _LOOK_EVERY == 0 and self.is_whole and self._free_bytes() < _LOW_FREE_BYTES:
            self._replace_large_file(t_ns)
        self._jpeg = jpeg
        if self._file is not None:
            self._file.frame(t_ns, jpeg, name)

    def came(self, said: ByHand, t_ns: int, *, by: str = "") -> None:
        """Keep what was pressed or said."""
        self._retry(t_ns)
        if self._file is not None:
            self._file.came(said, t_ns, by=by)

    def happened(self, happened: Step) -> None:
        """Keep the effects of an input; their events are on the disk when this returns, unless nothing can be kept."""
        if self._file is not None:
            self._file.happened(happened)
        self._note(happened)
        self._retry(happened.t_ns)

    def evidence(self, one: Evidence) -> None:
        """Keep a crop."""
        self._crops.add(one)
        if self._file is not None:
            self._file.evidence(one)

    def close(self) -> None:
        """End it."""
        if self._file is not None:
            self._file.close()

    def _note(self, happened: Step) -> None:
        """Remember how the game stands, for another recording."""
        self._session, view = happened.session, happened.view
        if view is None or not view.is_settled or self._jpeg is None:
            return
        left = self._left
        is_first = left.last is None and not left.start.in_play
        empty = self._jpeg if is_first else left.empty
        self._left = replace(left, tiles=view.tiles, empty=empty, last=self._jpeg, aim=view.aim)

    def _retry(self, t_ns: int) -> None:
        """Begin another recording where this one has failed, if it is time to try."""
        is_due = self._tried_ns is None or t_ns - self._tried_ns >= _TRIES_EVERY_NS
        if self.is_whole or not is_due:
            return
        if self._free_bytes() < _LEAST_FREE_BYTES:
            self._replace_large_file(t_ns)
        elif self._begin_again(t_ns):
            self._complain(phrase("the game is recorded again, with all its scores"))

    def _replace_large_file(self, t_ns: int) -> None:
        """Begin another recording on a disk that is nearly full, then delete the one before if that makes room."""
        before = self._file
        if before is not None and before.size_bytes >= _LOW_FREE_BYTES and self._begin_again(t_ns):
            before.give_up()
            self._complain(
                phrase("the disk is full: the earlier pictures of this match were deleted, its scores are kept")
            )

    def _begin_again(self, t_ns: int) -> bool:
        """Begin another recording, whose head holds the whole game; return whether that succeeded."""
        self._tried_ns = t_ns
        before = "" if self._file is None else self._file.name
        try:
            self._file = self._begin(self._now(), before, t_ns)
        except OSError:
            return False  # it is reported already that nothing is kept
        return True

    def _free_bytes(self) -> int:
        """Return the room on the disk; 0 if it cannot be read."""
        there = next((one for one in (self._folder, *self._folder.absolute().parents) if one.is_dir()), None)
        try:
            return 0 if there is None else shutil.disk_usage(there).free
        except OSError:
            return 0

    def _now(self) -> Left:
        """Return how the game stands."""
        session = self._session
        if session is None:
            return self._left
        events = tuple(event for event in session.state.log if not isinstance(event, MatchStart))
        # Crops must not take the last room for the log.
        crops = tuple(self._crops) if self._free_bytes() >= _LOW_FREE_BYTES else ()
        return replace(self._left, events=events, places=session.places, evidence=crops)
