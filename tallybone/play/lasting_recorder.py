"""Keeps a live game through all that a disk can do: where a recording cannot go on, another one begins when it can.

The other one has a head that says how the game stands, as that of a match that is resumed (`recording/left.py`), so
that from then on nothing of the score can be lost. Of the time between, only the pictures are missing.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from engine import MatchStart
from engine.phrases import phrase
from tallybone.play.recorder import NOT_RECORDED, FileRecorder
from tallybone.recording.resume import Left
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand, Happened

Begin: TypeAlias = Callable[[Left | None, str | None, int], FileRecorder]
"""Begins a recording: with which head, None for none; after which other; when."""

_TRIES_EVERY_NS = 5_000_000_000
# With less room a recording would only begin to end at once.
_LEAST_FREE_BYTES = 8_000_000


class LastingRecorder:
    """A recorder that does not give up."""

    def __init__(
        self, begin: Begin, folder: Path, left: Left, complain: Callable[[str], None], *, goes_on: bool
    ) -> None:
        """Keep a game that was *left* like that, if it *goes_on*, in files of *folder*.

        Nothing is on the disk before `open`.
        """
        self._begin, self._folder, self._complain = begin, folder, complain
        self._left, self._goes_on = left, goes_on
        self._file: FileRecorder | None = None
        self._session: Session | None = None
        self._jpeg: bytes | None = None
        self._tried_ns: int | None = None

    def open(self, t_ns: int) -> None:
        """Begin; where that cannot be, say so and try again later."""
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
        self._mend(t_ns)
        self._jpeg = jpeg
        if self._file is not None:
            self._file.frame(t_ns, jpeg, name)

    def came(self, said: ByHand, t_ns: int, *, by: str = "") -> None:
        """Keep what was pressed or said."""
        self._mend(t_ns)
        if self._file is not None:
            self._file.came(said, t_ns, by=by)

    def happened(self, happened: Happened) -> None:
        """Keep what followed; its events are on the disk when this returns, unless nothing can be kept."""
        if self._file is not None:
            self._file.happened(happened)
        self._note(happened)
        self._mend(happened.t_ns)

    def close(self) -> None:
        """End it."""
        if self._file is not None:
            self._file.close()

    def _note(self, happened: Happened) -> None:
        """Remember how the game stands, for another recording."""
        self._session, view = happened.session, happened.view
        if view is None or not view.is_settled or self._jpeg is None:
            return
        left = self._left
        is_first = left.last is None and not left.start.in_play
        self._left = Left(
            left.start,
            tiles=view.tiles,
            empty=self._jpeg if is_first else left.empty,
            last=self._jpeg,
            aim=view.aim,
            events=left.events,
            places=left.places,
        )

    def _mend(self, t_ns: int) -> None:
        """Begin another recording where this one has failed, if it is time to try."""
        if self.is_whole or not self._is_due(t_ns) or not self._has_room():
            return
        self._tried_ns = t_ns
        before = "" if self._file is None else self._file.name
        try:
            self._file = self._begin(self._now(), before, t_ns)
        except OSError:
            return  # it was said already that nothing is kept
        self._complain(phrase("the game is recorded again, with all its scores"))

    def _is_due(self, t_ns: int) -> bool:
        return self._tried_ns is None or t_ns - self._tried_ns >= _TRIES_EVERY_NS

    def _has_room(self) -> bool:
        there = next((one for one in (self._folder, *self._folder.absolute().parents) if one.is_dir()), None)
        try:
            return there is not None and shutil.disk_usage(there).free >= _LEAST_FREE_BYTES
        except OSError:
            return False

    def _now(self) -> Left:
        """Return how the game stands."""
        left, session = self._left, self._session
        if session is None:
            return left
        events = tuple(event for event in session.state.log if not isinstance(event, MatchStart))
        return Left(
            left.start, events, session.places, tiles=left.tiles, empty=left.empty, last=left.last, aim=left.aim
        )
