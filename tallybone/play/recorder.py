"""Writes a live game down in a file as it is played; where that fails, the file is whole as far as it goes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from engine.phrases import phrase
from tallybone.recording.folder import prune
from tallybone.recording.messages import say_happened, say_input, say_table
from tallybone.recording.writer import SessionWriter
from tallybone.session.sitting import ByHand, Happened

# The folder is looked at again when the recording has grown by so much, or by this share of what is kept.
_GROWN_BYTES, _GROWN_SHARE = 32_000_000, 0.05
_LOOK_EVERY = 50  # pictures


NOT_RECORDED = phrase("NOT RECORDED any more")
"""What a recorder says that cannot write on."""


class Recorder(Protocol):
    """What keeps a live game: called before the sitting is fed, and before anything is shown."""

    def frame(self, t_ns: int, jpeg: bytes, name: str | None) -> None:
        """Keep a picture that is going to be fed."""

    def came(self, said: ByHand, t_ns: int, *, by: str = "") -> None:
        """Keep what was pressed or said before it is fed, and who did; "" where nobody knows."""

    def happened(self, happened: Happened) -> None:
        """Keep what followed before it is shown."""

    @property
    def words(self) -> str:
        """Where it is kept, in words."""

    @property
    def is_whole(self) -> bool:
        """Whether all that should be kept is."""

    def close(self) -> None:
        """End it."""


class NoRecorder:
    """Keeps nothing."""

    words: str = phrase("not recorded")
    is_whole = True

    def frame(self, t_ns: int, jpeg: bytes, name: str | None) -> None:
        """Do nothing."""

    def came(self, said: ByHand, t_ns: int, *, by: str = "") -> None:
        """Do nothing."""

    def happened(self, happened: Happened) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much the recordings of a folder may take; the oldest go first."""

    folder: Path
    keep_bytes: int


class FileRecorder:
    """Keeps a game in a file, and its folder in bounds.

    The first settled picture is named in a record of `Topic.TABLE`, so that a resumed sitting knows the empty table.
    """

    def __init__(
        self, path: Path, writer: SessionWriter, room: Room, complain: Callable[[str], None], *, settled: int | None
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
        """What the file is called."""
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
        self._write(lambda: say_input(self._writer, said, t_ns, by=by))

    def happened(self, happened: Happened) -> None:
        """Keep what followed; its events are on the disk when this returns."""
        view = happened.view
        is_first = False
        if view is not None and view.is_settled:
            is_first, self._settled = self._settled is None, self._picture
        self._write(lambda: say_happened(self._writer, happened, picture=self._settled))
        if is_first and view is not None and not view.changes and not happened.events:
            self._write(lambda: say_table(self._writer, happened, picture=self._settled))

    def close(self) -> None:
        """End the recording with its index."""
        if self._is_open:
            self._is_open = False
            try:
                self._writer.close()
            except OSError as error:
                self._complain(str(error))

    def _write(self, write: Callable[[], None]) -> None:
        """Write, or say that it cannot be: a game is not stopped for it."""
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
        try:
            size_bytes = self._path.stat().st_size if self._is_open else 0
        except OSError:
            return  # somebody took the file away; what is written goes on into it
        least_bytes = min(_GROWN_BYTES, int(_GROWN_SHARE * self._room.keep_bytes))
        if size_bytes - self._pruned_at_bytes >= least_bytes:
            self._pruned_at_bytes = size_bytes
            self._prune()

    def _prune(self) -> None:
        try:
            prune(self._room.folder, keep_bytes=self._room.keep_bytes)
        except OSError as error:
            self._complain(f"old recordings cannot be deleted: {error}")
