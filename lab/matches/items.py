"""Items of a simulated sitting: frames, inputs and ground truth."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from engine import Event
from lab.render.motion import STRAIGHT, Bump, Moment
from lab.render.scene import PlacedTile
from tallybone.session.sitting import ByHand
from vision.reading import SeenTile
from vision.tracking.watch import Frame


class Zone(StrEnum):
    """Part of the table that a tile belongs to."""

    BONEYARD = "boneyard"
    LAYOUT = "layout"
    SEAT = "seat"


@dataclass(frozen=True, slots=True)
class ZonedTile:
    """A tile on the table, and its zone."""

    placed: PlacedTile
    zone: Zone


@dataclass(frozen=True, slots=True)
class FramePlan:
    """A frame that is not rendered yet."""

    t_ns: int
    moment: Moment


@dataclass(frozen=True, slots=True)
class SimulatedInput:
    """A button press, a knock or a correction."""

    t_ns: int
    value: ByHand


@dataclass(frozen=True, slots=True)
class TilesPlan:
    """Positions of the tiles and the camera from the next frame on."""

    t_ns: int
    tiles: tuple[ZonedTile, ...]
    bump: Bump


@dataclass(frozen=True, slots=True)
class TrueTable:
    """Properties of the table, reported once at the start.

    Attributes:
        t_ns: Time, before the first frame.
        look: Name of its look, a key of `room.LOOKS`.
        difficulty: Name of its difficulty.
    """

    t_ns: int
    look: str
    difficulty: str


@dataclass(frozen=True, slots=True)
class TrueTile:
    """Exact reading of a tile, even if it is hidden, and its zone."""

    tile: SeenTile
    zone: Zone


@dataclass(frozen=True, slots=True)
class TrueTiles:
    """True positions of the tiles in the picture, and of the camera, from the next frame on."""

    t_ns: int
    tiles: tuple[TrueTile, ...]
    bump: Bump = STRAIGHT


@dataclass(frozen=True, slots=True)
class TrueEvent:
    """A completed event of the match.

    Attributes:
        t_ns: Time after the event, between two frames.
        event: The event.
        points: Sum of the points that the event gives to all seats.
        totals: Total of each seat after the event.
        ended_ns: Time of the last frame with motion before *t_ns*.
    """

    t_ns: int
    event: Event
    points: int
    totals: tuple[int, ...]
    ended_ns: int


@dataclass(frozen=True, slots=True)
class TrueRecord:
    """Game record of the whole match, reported at the end."""

    t_ns: int
    dgr: str


TruthItem: TypeAlias = TrueEvent | TrueRecord
Planned: TypeAlias = FramePlan | SimulatedInput | TilesPlan | TruthItem
"""An item of a script, in table coordinates."""

SimulatedItem: TypeAlias = Frame | SimulatedInput | TrueTable | TrueTiles | TruthItem
"""An item of a simulated sitting, in picture coordinates."""
