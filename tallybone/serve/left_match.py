"""Find the latest unfinished match, in the background because reading a recording takes long."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from engine import EngineError
from tallybone.play.start import newest_left, state_of
from tallybone.recording.format import RecordingError

# Only so many of the latest recordings are searched. `play --resume-from` can continue any match.
_MAX_RECORDINGS = 3


@dataclass(frozen=True, slots=True)
class LeftMatch:
    """An unfinished match.

    Attributes:
        path: Recording of the match.
        game: Name of the game.
        players: Names of the players, by seat.
        totals: Points, by seat.
        written_s: Time at which the recording was last written, as Unix time in seconds.
    """

    path: Path
    game: str
    players: tuple[str, ...]
    totals: tuple[int, ...]
    written_s: float


class LeftMatches:
    """Finds the latest unfinished match in a folder. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        """Prepare to search *folder*."""
        self._folder, self._lock = folder, threading.Lock()
        self._found: LeftMatch | None = None
        self._wanted, self._known = 1, 0  # Unknown until the first search has finished.

    @property
    def is_known(self) -> bool:
        """True if a search has finished since the last call of `look`, or a match has begun since."""
        return self._known == self._wanted

    @property
    def newest(self) -> LeftMatch | None:
        """The latest unfinished match.

        None if there is no such match, during the search, and once another has begun.
        """
        return self._found if self.is_known else None

    def look(self) -> None:
        """Search again in a new thread, after a match has ended."""
        with self._lock:
            self._wanted += 1
        threading.Thread(target=self._look, name="left matches", daemon=True).start()

    def forget(self) -> None:
        """Discard the result, because a match has begun."""
        with self._lock:
            self._wanted += 1
            self._found, self._known = None, self._wanted

    def _look(self) -> None:
        asked = self._wanted
        found = _newest_in(self._folder)
        with self._lock:
            if asked == self._wanted:  # Otherwise the result is outdated.
                self._found, self._known = found, asked


def _newest_in(folder: Path) -> LeftMatch | None:
    try:
        path, left = newest_left(folder, most=_MAX_RECORDINGS)
        game = state_of(left).game
        written_s = path.stat().st_mtime
    except (RecordingError, EngineError, OSError):
        return None
    return None if game is None else LeftMatch(path, left.start.rules, game.players, game.totals, written_s)
