"""Write a simulated sitting as a recording: the frames, the inputs of the players, and the truth."""

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

# A simulated table has no date, and the same seed gives the same file.
_STARTED_AT = datetime(2000, 1, 1, tzinfo=UTC)
_JPEG_QUALITY = 85
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class RecordingSummary:
    """How much was recorded.

    Attributes:
        frames: Pictures.
        seconds: Time at the table.
        plays: Tiles that were laid as plays; stacked copies are none.
        hands: Hands that were begun.
    """

    frames: int = 0
    seconds: float = 0.0
    plays: int = 0
    hands: int = 0


def start_of(simulation: Simulation, wishes: SimulationSettings) -> SittingStart:
    """Return the start of the recording of a simulated sitting."""
    rules = wishes.rules
    return SittingStart(
        started_at=_STARTED_AT,
        players=wishes.players,
        rules=rules.name,
        options=tuple(changed_options(rules).items()),
        tile_set=TileSet.to(rules.max_pips).value,
        seed=wishes.seed,
        software=software(),
        pictures=Pictures.MOVING,
        zones=simulation.room.zones,
    )


def record(items: Iterable[SimulatedItem], writer: RecordingWriter) -> Iterator[RecordingSummary]:
    """Write items as they come; yield after each how much there is.

    Raises:
        RecordingError: If one cannot be written.
    """
    frames = plays = hands = 0
    t_ns = 0
    for item in items:
        match item:
            case Frame(image=image, t_ns=t_ns):
                _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
                writer.frame(t_ns, data.tobytes())
                frames += 1
            case SimulatedInput(t_ns=t_ns, said=said):
                write_input(writer, said, t_ns)
            case _:
                t_ns = item.t_ns
                writer.write(Topic.TRUTH, t_ns, truth_line(item))
                if isinstance(item, TrueEvent):
                    plays, hands = plays + isinstance(item.event, Play), hands + isinstance(item.event, NewHand)
        yield RecordingSummary(frames, t_ns / _NS_PER_S, plays, hands)


def truth_line(item: TrueTable | TrueTiles | TrueEvent | TrueRecord) -> dict[str, Any]:
    """Return an item of the truth, for JSON."""
    match item:
        case TrueTable(look=look, difficulty=difficulty):
            return {"kind": "table", "look": look, "difficulty": difficulty}
        case TrueTiles(tiles=tiles, bump=bump):
            line: dict[str, Any] = {"kind": "tiles", "tiles": [_tile_line(one) for one in tiles]}
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


def _tile_line(one: TrueTile) -> dict[str, Any]:
    return {
        "pips": [half.pips for half in one.tile.halves],
        "face": "down" if one.tile.face is Face.DOWN else "up",
        "zone": one.zone.value,
        "corners_px": [[round(x, 1), round(y, 1)] for x, y in one.tile.corners_px],
    }
