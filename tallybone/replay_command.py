"""`tallybone replay`: pictures of one table in, what was placed, moved and removed out."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TextIO

from rich.console import Console
from rich.progress import track

from tallybone.choices import TileSet
from tallybone.recording.damage import Damage
from tallybone.recording.errors import RecordingError
from tallybone.recording.start import Pictures
from tallybone.replay_source import Follower, follower_for, recording, source_at
from tallybone.shots import Shot
from tallybone.terminal import printable, quiet_libraries
from vision.changes import PictureSizeError
from vision.errors import VisionError
from vision.perception import Change, ChangeKind, Perception, Start, TableView
from vision.reading import Tile

_NO_EMPTY_TABLE = "it should show the empty table; without it nothing can be told from what is printed"


@dataclass(frozen=True, slots=True)
class TableEvent:
    """One change of the table, with the picture that shows it."""

    t_ns: int
    frame: str
    change: Change


def replay(
    path: Path,
    *,
    tile_set: TileSet = TileSet.AUTO,
    start: Start = Start.EMPTY,
    as_json: bool = False,
    record: Path | None = None,
    perception: Perception | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Follow a table through pictures.

    Args:
        path: A folder, whose pictures are taken in name order, a recording (.mcap) or a video. Of moving pictures only
            what is settled is read.
        tile_set: The set on the table, where it is known.
        start: What the first picture shows, or the first that is settled.
        as_json: Print a line of JSON per event and one with the result, instead of sentences.
        record: Make a recording here of every picture, and follow what is in it.
        perception: What reads the table; by default one with the shipped reader that begins with *start*.
        out: Where events go, by default stdout.
        err: Where progress and errors go, by default stderr.

    Returns:
        The exit code: 0, or 1 if any of it could not be read, or not be recorded.
    """
    console, complaints = Console(file=out or sys.stdout, highlight=False), Console(file=err or sys.stderr, stderr=True)
    failures: list[str] = []

    def complain(message: str) -> None:
        failures.append(message)
        complaints.print(f"tallybone replay: {printable(message)}", markup=False, highlight=False, soft_wrap=True)

    try:
        source = source_at(path)
        follow = follower_for(source, perception or _shipped_perception(tile_set, start))
        needs_first = source.pictures is Pictures.SETTLED and start is Start.EMPTY
        with recording(source, record, tile_set) as shots:
            shown = track(
                shots, "Replaying", source.count, console=complaints, transient=True, disable=not complaints.is_terminal
            )
            eye = _Eye(follow, path, complain, needs_first=needs_first)
            result = _follow(eye, shown, console.file, as_json=as_json)
    except (VisionError, OSError) as error:
        complain(str(error))
        return 1
    console.file.write((json.dumps({"result": result}) if as_json else _summary(result)) + "\n")
    return 1 if failures else 0


def _follow(eye: _Eye, shots: Iterable[Shot | Damage], out: IO[str], *, as_json: bool) -> dict[str, int]:
    """Print each event, and return how many of each kind there were."""
    counts: Counter[str] = Counter()
    tiles = 0
    for event, view in eye.events(shots):
        tiles = len(view.tiles)
        if event is not None:
            counts[event.change.kind.value] += 1
            out.write((format_event(event) if as_json else describe(event)) + "\n")
            out.flush()
    return {"frames": eye.frames, **{kind.value: counts[kind.value] for kind in ChangeKind}, "tiles": tiles}


class _Eye:
    """Looks at one picture after another, and complains of those that cannot be looked at."""

    def __init__(self, follow: Follower, path: Path, complain: Callable[[str], None], *, needs_first: bool) -> None:
        self._follow, self._path, self._complain, self._needs_first = follow, path, complain, needs_first
        self.frames = 0

    def events(self, shots: Iterable[Shot | Damage]) -> Iterator[tuple[TableEvent | None, TableView]]:
        """Yield each event with the table after it, and None where a picture changed nothing."""
        for shot in shots:
            if isinstance(shot, Damage):
                self._complain(f"{self._path}: {shot}")
                continue
            self.frames += 1
            try:
                with quiet_libraries():
                    view = self._follow(shot)
            except RecordingError:
                raise
            except (VisionError, OSError) as error:
                self._complain(f"{shot.where}: {error}" if isinstance(error, PictureSizeError) else str(error))
                if self.frames == 1 and self._needs_first:
                    self._complain(f"{shot.where}: {_NO_EMPTY_TABLE}")
                    return
                continue
            if not view.changes:
                yield None, view
            for change in view.changes:
                yield TableEvent(shot.t_ns, shot.name, change), view


def format_event(event: TableEvent) -> str:
    """Return an event as one line of JSON, without a line end."""
    said: dict[str, object] = {"t_ns": event.t_ns, "event": event.change.kind.value, "frame": event.frame}
    said |= _tile(event.change.tile)
    if event.change.before is not None:
        said["before"] = _tile(event.change.before)
    return json.dumps(said, allow_nan=False)


def describe(event: TableEvent) -> str:
    """Return an event as a sentence."""
    tile = event.change.tile
    name = "-".join(str(half.pips) for half in tile.halves) or "a face-down tile"
    x, y = tile.center_px
    return f"{printable(event.frame)}: {name} {event.change.kind.value} at {x:.0f}, {y:.0f}"


def _summary(result: dict[str, int]) -> str:
    return (
        f"{result['frames']} pictures: {result['placed']} tiles placed, {result['moved']} moved, "
        f"{result['removed']} removed; {result['tiles']} on the table at the end"
    )


def _tile(tile: Tile) -> dict[str, object]:
    """Return a tile for JSON; one that lies face down has a place but no pips."""
    return {
        "pips": [half.pips for half in tile.halves],
        "confidence": [round(half.confidence, 4) for half in tile.halves],
        "halves_px": _rounded(tile.half_centers_px),
        "corners_px": _rounded(tile.corners_px),
    }


def _rounded(points: tuple[tuple[float, float], ...]) -> list[list[float]]:
    return [[round(x, 1) + 0.0, round(y, 1) + 0.0] for x, y in points]  # + 0.0: never "-0.0"


def _shipped_perception(tile_set: TileSet, start: Start) -> Perception:
    from vision.reader import load_reader

    return Perception(load_reader(tile_set.max_pips), start)
