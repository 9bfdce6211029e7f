"""Find the match that was left before it was over: in the background, since reading a recording takes long."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from engine import EngineError
from tallybone.play.start import newest_left, state_of
from tallybone.recording.format import RecordingError

# Nobody means a match that was left many matches ago; `play --resume-from` continues any.
_MOST_RECORDINGS = 3


@dataclass(frozen=True, slots=True)
class LeftMatch:
    """A match that was left.

    Attributes:
        path: Its recording.
        game: Its game.
        players: Their names, by seat.
        totals: Their points.
        written_s: When it was left, in seconds of the clock on the wall.
    """

    path: Path
    game: str
    players: tuple[str, ...]
    totals: tuple[int, ...]
    written_s: float


class LeftMatches:
    """Knows the newest match in a folder that is not over, after a search."""

    def __init__(self, folder: Path) -> None:
        """Look in *folder* when it is asked to."""
        self._folder, self._lock = folder, threading.Lock()
        self._found: LeftMatch | None = None
        self._wanted, self._known = 1, 0  # a match may lie there: nothing is known before the first search has ended

    @property
    def is_known(self) -> bool:
        """Whether the search has ended since the last change; not before the first."""
        return self._known == self._wanted

    @property
    def newest(self) -> LeftMatch | None:
        """The newest; None for none, or during the search."""
        return self._found if self.is_known else None

    def look(self) -> None:
        """Look again, in a thread of its own: a match has ended."""
        with self._lock:
            self._wanted += 1
        threading.Thread(target=self._look, name="left matches", daemon=True).start()

    def forget(self) -> None:
        """Know none: a match has begun."""
        with self._lock:
            self._wanted += 1
            self._found, self._known = None, self._wanted

    def _look(self) -> None:
        asked = self._wanted
        found = _newest_in(self._folder)
        with self._lock:
            if asked == self._wanted:  # otherwise something has changed meanwhile, and another thread looks
                self._found, self._known = found, asked


def _newest_in(folder: Path) -> LeftMatch | None:
    try:
        path, left = newest_left(folder, most=_MOST_RECORDINGS)
        game = state_of(left).game
        written_s = path.stat().st_mtime
    except (RecordingError, EngineError, OSError):
        return None
    return None if game is None else LeftMatch(path, left.start.rules, game.players, game.totals, written_s)
