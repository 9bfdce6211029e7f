"""Read the folder of recordings for a page, with caches of bounded size."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tallybone.recording.folder import age_key, recording_files
from tallybone.recording.format import RecordingError, SittingStart
from tallybone.recording.reader import read_recording
from tallybone.recording.survey import Survey, is_running, survey
from tallybone.replay.recorded_game import RecordedGame

MAX_LISTED = 1000
"""Maximum number of recordings listed. Older ones are omitted."""
_MAX_OPEN = 4
_Age: TypeAlias = tuple[int, float, str]


class NoRecordingError(LookupError):
    """The folder has no recording of that name."""


@dataclass(frozen=True, slots=True)
class _Print:
    """Properties of a file that show if it has changed."""

    inode: int
    changed_ns: int
    size_bytes: int

    @classmethod
    def of(cls, path: Path) -> _Print:
        known = path.stat()
        return cls(known.st_ino, known.st_mtime_ns, known.st_size)


@dataclass(slots=True)
class OpenRecording:
    """A recording, as far as it has been read. *is_running* is True while it is being written."""

    path: Path
    game: RecordedGame
    is_running: bool


class Shelf:
    """Recordings in a folder. Not thread-safe."""

    def __init__(self, folder: Path, most: int = MAX_LISTED) -> None:
        """Read *folder*, which need not exist yet. At most *most* recordings are listed."""
        self.folder, self._max = folder, most
        self._ages: dict[str, tuple[_Print, _Age]] = {}
        self._surveys: dict[str, tuple[_Print, Survey]] = {}
        self._open: OrderedDict[str, tuple[_Print, OpenRecording]] = OrderedDict()

    def listed(self) -> tuple[list[Survey], list[str]]:
        """Return the recordings, newest first, and an error for each .mcap file that is not a recording."""
        kept: dict[str, tuple[_Print, Survey]] = {}
        others: list[str] = []
        for path in self._newest():
            try:
                now = _Print.of(path)
                before, known = self._surveys.get(path.name, (None, None))
                if known is None or before != now or known.is_running:
                    known = survey(path)
                kept[path.name] = now, known
            except FileNotFoundError:
                continue  # it was deleted meanwhile
            except RecordingError as error:
                others.append(str(error).replace(f"{self.folder}/", ""))
        self._surveys = kept
        found = [one for _, one in kept.values()]
        return sorted(found, key=lambda one: _age(one.path, one.start), reverse=True), others

    def path_of(self, name: str) -> Path:
        """Return the path of the recording with this name, which must be a file in the folder.

        Raises:
            NoRecordingError: If there is no such file.
        """
        found = next((path for path in self._files() if path.name == name), None)
        if found is None:
            raise NoRecordingError(name)
        return found

    def opened(self, name: str) -> OpenRecording:
        """Return a recording with its log up to now. The _MAX_OPEN latest ones stay in memory.

        Raises:
            NoRecordingError: If there is no such file.
            EngineError: If this version has no such game.
            OSError: If it cannot be read.
        """
        path = self.path_of(name)
        with path.open("rb") as file:
            running, now = is_running(file), _Print.of(path)
            before, one = self._open.pop(name, (None, None))
            if one is None or before is None or not _is_same_recording(before, now, one):
                one = OpenRecording(path, RecordedGame(path, read_recording(path).start), running)
                before = None
            if before != now or running != one.is_running:
                one.game.update(file, is_growing=running)
                one.is_running = running
        self._open[name] = (now, one)
        while len(self._open) > _MAX_OPEN:
            self._open.popitem(last=False)
        return one

    def _newest(self) -> list[Path]:
        """Return the newest files, in no particular order."""
        # If there are too many, their metadata is read to find the newest.
        files = self._files()
        if len(files) <= self._max:
            self._ages = {}
            return files
        kept: dict[str, tuple[_Print, _Age]] = {}
        for path in files:
            with suppress(FileNotFoundError):  # it was deleted meanwhile
                kept[path.name] = self._aged(path)
        self._ages = kept
        names = sorted(kept, key=lambda name: kept[name][1], reverse=True)
        return [self.folder / name for name in names[: self._max]]

    def _aged(self, path: Path) -> tuple[_Print, _Age]:
        now = _Print.of(path)
        before, known = self._ages.get(path.name, (None, None))
        if known is not None and before == now:
            return now, known
        try:
            return now, _age(path, read_recording(path).start)
        except RecordingError:
            return now, _age(path, None)

    def _files(self) -> list[Path]:
        """Return the files named like recordings, in reverse order of their names. Unprintable names are left out."""
        try:
            return [path for path in reversed(recording_files(self.folder)) if path.name.isprintable()]
        except FileNotFoundError:
            return []


def _is_same_recording(before: _Print, now: _Print, one: OpenRecording) -> bool:
    """Return True if a file is unchanged, or has only grown while it was being written."""
    return before == now or (one.is_running and before.inode == now.inode and now.size_bytes >= before.size_bytes)


def _age(path: Path, start: SittingStart | None) -> _Age:
    """Return the key that sorts recordings by age. Those without metadata count as the oldest."""
    return (0, 0.0, path.name) if start is None else age_key(path, start)
