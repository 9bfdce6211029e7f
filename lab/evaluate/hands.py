"""Read the ground truth of a simulated table, and compare each scored hand and the bare reader with it."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import engine
from lab.matches.items import TrueEvent, Zone
from lab.render.motion import STRAIGHT, Bump
from tallybone.json_values import JsonValueError, from_json
from tallybone.recording.format import Damage, RecordingError, Topic
from tallybone.recording.reader import read_recording
from tallybone.session.places import Point
from vision.reading import Face, SeenTile
from vision.tracking.table_view import ChangeKind, TableView
from vision.tracking.tracks import moved_tile


class TruthError(RecordingError):
    """A recording contains no usable ground truth."""


@dataclass(frozen=True, slots=True)
class TruePosition:
    """True position of a tile in the picture.

    Attributes:
        pips: Numbers in ascending order. Empty if unknown, as for face-down tiles.
        zone: Part of the table that the tile belongs to.
        center_px: Centre of the tile.
        side_px: Side of a half.
    """

    pips: tuple[int, ...]
    zone: Zone
    center_px: Point
    side_px: float


@dataclass(frozen=True, slots=True)
class Truth:
    """Ground truth of a recording.

    Attributes:
        events: All events of the match, in order.
        states: State of the match after each event.
        tiles_ns, tiles: Start time of each arrangement of tiles, and the positions of the tiles in it.
        bumps: For each arrangement, the shift of the camera right and down in pixels and its rotation in degrees.
        look: Name of the table's look. Empty if unknown.
        difficulty: Name of the difficulty. Empty if unknown.
    """

    events: tuple[TrueEvent, ...]
    states: tuple[engine.State, ...]
    tiles_ns: tuple[int, ...]
    tiles: tuple[tuple[TruePosition, ...], ...]
    bumps: tuple[Bump, ...] = ()
    look: str = ""
    difficulty: str = ""

    def tiles_at(self, t_ns: int) -> tuple[TruePosition, ...]:
        """Return the positions of the tiles at *t_ns*. Empty before the first arrangement."""
        at = bisect_right(self.tiles_ns, t_ns) - 1
        return self.tiles[at] if at >= 0 else ()

    def bump_at(self, t_ns: int) -> Bump:
        """Return the displacement of the camera at *t_ns*, none before the first arrangement."""
        at = bisect_right(self.tiles_ns, t_ns) - 1
        return self.bumps[at] if at >= 0 else STRAIGHT

    def state_at(self, t_ns: int) -> engine.State:
        """Return the state of the match after all events up to *t_ns*."""
        at = bisect_right(self.events, t_ns, key=lambda event: event.t_ns) - 1
        return self.states[at] if at >= 0 else engine.State()


def read_truth(path: Path) -> Truth:
    """Read the ground truth of a recording.

    Raises:
        TruthError: If the recording has no ground truth, or this version cannot parse it.
        RecordingError: If the file is not a recording.
        OSError: If the file cannot be read.
    """
    events: list[TrueEvent] = []
    tiles: list[tuple[int, tuple[TruePosition, ...]]] = []
    bumps: list[Bump] = []
    table: Mapping[str, Any] = {}
    for record in read_recording(path):
        if isinstance(record, Damage) or record.topic is not Topic.TRUTH:
            continue
        payload: Any = record.payload
        try:
            match payload["kind"]:
                case "event":
                    events.append(_event(payload, record.t_ns))
                case "tiles":
                    tiles.append((record.t_ns, tuple(_position(tile) for tile in payload["tiles"])))
                    right_px, down_px, degrees = payload.get("bump", STRAIGHT)
                    bumps.append((float(right_px), float(down_px), float(degrees)))
                case "table":
                    table = payload
                case _:
                    pass
        except (JsonValueError, KeyError, TypeError, ValueError) as error:
            raise TruthError(f"{path}: record {record.number}: the truth cannot be read: {error}") from error
    if not events:
        raise TruthError(f"{path}: it has no ground truth; `tallybone simulate` makes recordings with it")
    return Truth(
        tuple(events),
        tuple(accumulate(events, lambda state, event: engine.apply(state, event.event)[0], initial=engine.State()))[1:],
        tuple(t_ns for t_ns, _ in tiles),
        tuple(positions for _, positions in tiles),
        tuple(bumps),
        str(table.get("look", "")),
        str(table.get("difficulty", "")),
    )


def _event(payload: Mapping[str, Any], t_ns: int) -> TrueEvent:
    event: engine.Event = from_json(payload["event"], engine.Event, Topic.TRUTH.path)
    return TrueEvent(t_ns, event, int(payload["points"]), tuple(payload["totals"]), int(payload["ended_ns"]))


def _position(tile: Mapping[str, Any]) -> TruePosition:
    a, b, c, _ = corners = tile["corners_px"]
    center = (sum(x for x, _ in corners) / 4, sum(y for _, y in corners) / 4)
    side_px = math.sqrt(math.dist(a, b) * math.dist(b, c) / 2)
    return TruePosition(tuple(sorted(tile["pips"])), Zone(tile["zone"]), center, side_px)


# Maximum distance between the centres of a detected tile and the true tile, in sides of a half.
_SAME_PLACE = 0.5


@dataclass(frozen=True, slots=True)
class ReaderFigures:
    """Accuracy of the reader for newly detected tiles of the layout.

    Attributes:
        found: Number of true tiles that were detected.
        right: Number of these with the right pips.
        spare: Number of detections without a true tile, and of repeated detections.
    """

    found: int = 0
    right: int = 0
    spare: int = 0


class ReaderJudge:
    """Compares consecutive views of a table with the ground truth. *figures* holds the results so far."""

    def __init__(self) -> None:
        self._known: Counter[tuple[int, ...]] = Counter()
        self.figures = ReaderFigures()

    def begin_hand(self) -> None:
        """Forget the tiles detected so far."""
        self._known.clear()

    def add(self, view: TableView, true_tiles: tuple[TruePosition, ...]) -> None:
        """Compare the newly placed face-up tiles of a view with the true tiles."""
        for change in view.changes:
            if change.kind is ChangeKind.PLACED and change.tile.face is Face.UP:
                self._judge(moved_tile(change.tile, view.aim.motion), true_tiles)

    def _judge(self, tile: SeenTile, true_tiles: tuple[TruePosition, ...]) -> None:
        """Count a detected tile as found or spare.

        Detections of true tiles in other zones than the layout do not count.
        """
        before = self.figures
        spare = replace(before, spare=before.spare + 1)
        true = min(true_tiles, key=lambda position: math.dist(position.center_px, tile.center_px), default=None)
        if true is None or math.dist(true.center_px, tile.center_px) >= _SAME_PLACE * true.side_px:
            self.figures = spare
        elif true.zone is Zone.LAYOUT:
            self._known[true.pips] += 1
            copies = sum(other.pips == true.pips and other.zone is Zone.LAYOUT for other in true_tiles)
            is_right = tuple(sorted(half.pips for half in tile.halves)) == true.pips
            found = ReaderFigures(before.found + 1, before.right + is_right, before.spare)
            self.figures = spare if self._known[true.pips] > copies else found
