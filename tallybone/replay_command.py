"""`tallybone replay`: a folder of pictures of one table in, what was placed, moved and removed out."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.progress import track

from tallybone.choices import TileSet
from tallybone.terminal import printable, quiet_libraries
from vision.changes import PictureSizeError
from vision.errors import VisionError
from vision.perception import Change, ChangeKind, Perception, TableView
from vision.picture import load_picture
from vision.reading import Tile

_PICTURES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff"})
# Pictures in a folder say nothing of time: one a second keeps their order.
_NS_PER_PICTURE = 1_000_000_000


@dataclass(frozen=True, slots=True)
class TableEvent:
    """One change of the table, with the picture that shows it."""

    t_ns: int
    frame: str
    change: Change


class EmptyFolderError(VisionError, OSError):
    """A folder without a picture in it."""


def replay_folder(
    folder: Path,
    *,
    tile_set: TileSet = TileSet.AUTO,
    as_json: bool = False,
    perception: Perception | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Follow a table through the pictures of a folder, in name order; the first shows it empty.

    Args:
        folder: Where the pictures are.
        tile_set: The set on the table, where it is known.
        as_json: Print a line of JSON per event and one with the result, instead of sentences.
        perception: What follows the table; by default one with the shipped reader.
        out: Where events go, by default stdout.
        err: Where progress and errors go, by default stderr.

    Returns:
        The exit code: 0, or 1 if the folder or any picture in it could not be read.
    """
    console, complaints = Console(file=out or sys.stdout, highlight=False), Console(file=err or sys.stderr, stderr=True)
    failures: list[str] = []

    def complain(message: str) -> None:
        failures.append(message)
        complaints.print(f"tallybone replay: {printable(message)}", markup=False, highlight=False, soft_wrap=True)

    try:
        pictures = pictures_in(folder)
        follow = perception or _shipped_perception(tile_set)
    except (VisionError, OSError) as error:
        complain(str(error))
        return 1
    shown = track(pictures, "Replaying", console=complaints, transient=True, disable=not complaints.is_terminal)
    counts: Counter[str] = Counter()
    view = TableView((), (), ())
    for event, view in _events(shown, follow, complain):  # noqa: B007 - the last view is the result
        if event is None:
            continue
        counts[event.change.kind.value] += 1
        console.file.write((format_event(event) if as_json else describe(event)) + "\n")
        console.file.flush()
    result = {
        "frames": len(pictures),
        **{kind.value: counts[kind.value] for kind in ChangeKind},
        "tiles": len(view.tiles),
    }
    console.file.write((json.dumps({"result": result}) if as_json else _summary(result)) + "\n")
    return 1 if failures else 0


def pictures_in(folder: Path) -> list[Path]:
    """Return the pictures of a folder in name order.

    Raises:
        OSError: If there is no such folder, or no picture in it.
    """
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in _PICTURES)
    if not found:
        raise EmptyFolderError(f"{folder}: expected pictures ({', '.join(sorted(_PICTURES))}), but there is none")
    return found


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


def _events(
    pictures: Iterable[Path], follow: Perception, complain: Callable[[str], None]
) -> Iterator[tuple[TableEvent | None, TableView]]:
    """Yield each event with the table after it, and None where a picture changed nothing."""
    for index, path in enumerate(pictures):
        try:
            with quiet_libraries():
                view = follow.feed(load_picture(path))
        except (VisionError, OSError) as error:
            complain(f"{path}: {error}" if isinstance(error, PictureSizeError) else str(error))
            if index == 0:
                complain(f"{path}: it should show the empty table; without it nothing can be told from what is printed")
                return
            continue
        if not view.changes:
            yield None, view
        for change in view.changes:
            yield TableEvent(index * _NS_PER_PICTURE, path.name, change), view


def _shipped_perception(tile_set: TileSet) -> Perception:
    from vision.finder import load_finder
    from vision.heads import load_heads
    from vision.reader import Reader

    return Perception(Reader(load_heads(), load_finder(), max_pips=tile_set.max_pips))
