"""Write a simulated sitting as a recording with frames, inputs and ground truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import cv2

from engine import Event, NewHand, Play, changed_options
from synthetic.render.motion import STRAIGHT
from tallybone.choices import TileSet
from tallybone.clock import software
from tallybone.json_values import to_json
from tallybone.recording.format import Pictures, SittingStart, Topic
from tallybone.recording.messages import write_input
from tallybone.recording.writer import RecordingWriter
from tallybone.simulate.items import (
    SimulatedInput,
    SimulatedItem,
    TrueEvent,
    TrueRecord,
    TrueTable,
    TrueTile,
    TrueTiles,
)
from tallybone.simulate.simulation import Simulation, SimulationSettings
from vision.reading import Face
from vision.tracking.watch import Frame

# Fixed date, because the same seed must give the same file.
_STARTED_AT = datetime(2000, 1, 1, tzinfo=UTC)
_JPEG_QUALITY = 85
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class RecordingSummary:
    """Amount of recorded data.

    Attributes:
        frames: Number of frames.
        seconds: Duration of the sitting.
        plays: Number of plays, without stacks.
        hands: Number of hands started.
    """

    frames: int = 0
    seconds: float = 0.0
    plays: int = 0
    hands: int = 0


def start_of(simulation: Simulation, settings: SimulationSettings) -> SittingStart:
    """Return the header of the recording of a simulated sitting."""
    rules = settings.rules
    return SittingStart(
        started_at=_STARTED_AT,
        players=settings.players,
        rules=rules.name,
        options=tuple(changed_options(rules).items()),
        tile_set=TileSet.to(rules.max_pips).value,
        seed=settings.seed,
        software=software(),
        pictures=Pictures.MOVING,
        zones=simulation.room.zones,
    )


def record(items: Iterable[SimulatedItem], writer: RecordingWriter) -> Iterator[RecordingSummary]:
    """Write items as they arrive, and yield a summary after each.

    Raises:
        RecordingError: If an item cannot be written.
    """
    frames = plays = hands = 0
    t_ns = 0
    for item in items:
        match item:
            case Frame(image=image, t_ns=t_ns):
                _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
                writer.frame(t_ns, data.tobytes())
                frames += 1
            case SimulatedInput(t_ns=t_ns, value=value):
                write_input(writer, value, t_ns)
            case _:
                t_ns = item.t_ns
                writer.write(Topic.TRUTH, t_ns, truth_line(item))
                if isinstance(item, TrueEvent):
                    plays, hands = plays + isinstance(item.event, Play), hands + isinstance(item.event, NewHand)
        yield RecordingSummary(frames, t_ns / _NS_PER_S, plays, hands)


def truth_line(item: TrueTable | TrueTiles | TrueEvent | TrueRecord) -> dict[str, Any]:
    """Return an item of the ground truth as a JSON object."""
    match item:
        case TrueTable(look=look, difficulty=difficulty):
            return {"kind": "table", "look": look, "difficulty": difficulty}
        case TrueTiles(tiles=tiles, bump=bump):
            line: dict[str, Any] = {"kind": "tiles", "tiles": [_tile_line(tile) for tile in tiles]}
            return line if bump == STRAIGHT else line | {"bump": [round(number, 4) for number in bump]}
        case TrueEvent():
            return {
                "kind": "event",
                "event": to_json(item.event, Event),
                "points": item.points,
                "totals": list(item.totals),
                "ended_ns": item.ended_ns,
            }
        case TrueRecord(dgr=dgr):
            return {"kind": "record", "dgr": dgr}


def _tile_line(true: TrueTile) -> dict[str, Any]:
    return {
        "pips": [half.pips for half in true.tile.halves],
        "face": "down" if true.tile.face is Face.DOWN else "up",
        "zone": true.zone.value,
        "corners_px": [[round(x, 1), round(y, 1)] for x, y in true.tile.corners_px],
    }
