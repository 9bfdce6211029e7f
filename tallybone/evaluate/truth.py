"""Read the truth of a simulated table from its recording."""

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
    """A recording does not hold the truth."""


@dataclass(frozen=True, slots=True)
class TrueLying:
    """A tile as it really lies in the picture.

    Attributes:
        pips: Its numbers, the smaller first; of a tile that lies face down, too, if they are known.
        zone: The part of the table that it belongs to.
        center_px: Its middle.
        side_px: Side of a half.
    """

    pips: tuple[int, ...]
    zone: Zone
    center_px: Point
    side_px: float


@dataclass(frozen=True, slots=True)
class Truth:
    """The truth in a recording.

    Attributes:
        events: Every event of the rules, in order.
        states: The match after each of them.
        lying_ns, lying: When the tiles began to lie so, and how.
        bumps: Where the camera points since then, right and down in pixels and degrees, compared with a straight one.
        look: Name of the looks of the table; empty where it is not known.
        difficulty: How hard it is to follow; empty where it is not known.
    """

    events: tuple[TrueEvent, ...]
    states: tuple[State, ...]
    lying_ns: tuple[int, ...]
    lying: tuple[tuple[TrueLying, ...], ...]
    bumps: tuple[Bump, ...] = ()
    look: str = ""
    difficulty: str = ""

    def lying_at(self, t_ns: int) -> tuple[TrueLying, ...]:
        """Return how the tiles lie at a time."""
        at = bisect_right(self.lying_ns, t_ns) - 1
        return self.lying[at] if at >= 0 else ()

    def bump_at(self, t_ns: int) -> Bump:
        """Return where the camera points at a time."""
        at = bisect_right(self.lying_ns, t_ns) - 1
        return self.bumps[at] if at >= 0 else STRAIGHT

    def state_at(self, t_ns: int) -> State:
        """Return the match after all that is over at a time."""
        at = bisect_right(self.events, t_ns, key=lambda one: one.t_ns) - 1
        return self.states[at] if at >= 0 else State()


def read_truth(path: Path) -> Truth:
    """Return the truth in a recording.

    Raises:
        TruthError: If it has none, or it was written by a later version.
        RecordingError: If it is no recording.
        OSError: If it cannot be read.
    """
    events: list[TrueEvent] = []
    lying: list[tuple[int, tuple[TrueLying, ...]]] = []
    bumps: list[Bump] = []
    table: Mapping[str, Any] = {}
    for record in read_recording(path):
        if isinstance(record, Damage) or record.topic is not Topic.TRUTH:
            continue
        said: Any = record.payload
        try:
            match said["kind"]:
                case "event":
                    events.append(_event(said, record.t_ns))
                case "tiles":
                    lying.append((record.t_ns, tuple(_lying(one) for one in said["tiles"])))
                    right_px, down_px, degrees = said.get("bump", STRAIGHT)
                    bumps.append((float(right_px), float(down_px), float(degrees)))
                case "table":
                    table = said
                case _:
                    pass
        except (JsonValueError, KeyError, TypeError, ValueError) as error:
            raise TruthError(f"{path}: record {record.number}: the truth cannot be read: {error}") from error
    if not events:
        raise TruthError(f"{path}: it does not say what really happened; `tallybone simulate` makes recordings that do")
    return Truth(
        tuple(events),
        tuple(accumulate(events, lambda state, one: apply(state, one.event)[0], initial=State()))[1:],
        tuple(t_ns for t_ns, _ in lying),
        tuple(tiles for _, tiles in lying),
        tuple(bumps),
        str(table.get("look", "")),
        str(table.get("difficulty", "")),
    )


def _event(said: Mapping[str, Any], t_ns: int) -> TrueEvent:
    event: Event = from_json(said["event"], Event, Topic.TRUTH.path)
    return TrueEvent(t_ns, event, int(said["points"]), tuple(said["totals"]), int(said["ended_ns"]))


def _lying(said: Mapping[str, Any]) -> TrueLying:
    a, b, c, _ = corners = said["corners_px"]
    center = (sum(x for x, _ in corners) / 4, sum(y for _, y in corners) / 4)
    side_px = math.sqrt(math.dist(a, b) * math.dist(b, c) / 2)
    return TrueLying(tuple(sorted(said["pips"])), Zone(said["zone"]), center, side_px)
