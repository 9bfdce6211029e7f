"""Read the ground truth of a simulated table from its recording."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from engine import Event, State, apply
from synthetic.render.motion import STRAIGHT, Bump
from tallybone.json_values import JsonValueError, from_json
from tallybone.recording.format import Damage, RecordingError, Topic
from tallybone.recording.reader import read_recording
from tallybone.session.touching import Point
from tallybone.simulate.items import TrueEvent, Zone


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
    states: tuple[State, ...]
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

    def state_at(self, t_ns: int) -> State:
        """Return the state of the match after all events up to *t_ns*."""
        at = bisect_right(self.events, t_ns, key=lambda event: event.t_ns) - 1
        return self.states[at] if at >= 0 else State()


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
        tuple(accumulate(events, lambda state, event: apply(state, event.event)[0], initial=State()))[1:],
        tuple(t_ns for t_ns, _ in tiles),
        tuple(positions for _, positions in tiles),
        tuple(bumps),
        str(table.get("look", "")),
        str(table.get("difficulty", "")),
    )


def _event(payload: Mapping[str, Any], t_ns: int) -> TrueEvent:
    event: Event = from_json(payload["event"], Event, Topic.TRUTH.path)
    return TrueEvent(t_ns, event, int(payload["points"]), tuple(payload["totals"]), int(payload["ended_ns"]))


def _position(tile: Mapping[str, Any]) -> TruePosition:
    a, b, c, _ = corners = tile["corners_px"]
    center = (sum(x for x, _ in corners) / 4, sum(y for _, y in corners) / 4)
    side_px = math.sqrt(math.dist(a, b) * math.dist(b, c) / 2)
    return TruePosition(tuple(sorted(tile["pips"])), Zone(tile["zone"]), center, side_px)
