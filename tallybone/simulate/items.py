"""Define the items of a simulated sitting: frames, presses and sounds, and the truth."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from engine import Event
from synthetic.render.motion import STRAIGHT, Bump, Moment
from synthetic.render.scene import PlacedTile
from tallybone.session.sitting import ByHand
from vision.reading import SeenTile
from vision.tracking.watch import Frame


class Zone(StrEnum):
    """The part of the table that a tile belongs to."""

    BONEYARD = "boneyard"
    LAYOUT = "layout"
    SEAT = "seat"


@dataclass(frozen=True, slots=True)
class Lying:
    """A tile that lies on the table, and its zone."""

    placed: PlacedTile
    zone: Zone


@dataclass(frozen=True, slots=True)
class FramePlan:
    """A frame that has not been drawn yet."""

    t_ns: int
    moment: Moment


@dataclass(frozen=True, slots=True)
class SimulatedInput:
    """A press, a sound or a correction."""

    t_ns: int
    said: ByHand


@dataclass(frozen=True, slots=True)
class NowLying:
    """How the tiles lie from the next shot on, and where the camera points."""

    t_ns: int
    tiles: tuple[Lying, ...]
    bump: Bump


@dataclass(frozen=True, slots=True)
class TrueTable:
    """The properties of the table, once at the beginning.

    Attributes:
        t_ns: Before the first frame.
        look: Name of its looks, one of `scenes.LOOKS`.
        difficulty: How hard it is to follow.
    """

    t_ns: int
    look: str
    difficulty: str


@dataclass(frozen=True, slots=True)
class TrueTile:
    """A tile as a perfect eye sees it, with its pips, where the picture shows it whatever hides it; and its zone."""

    tile: SeenTile
    zone: Zone


@dataclass(frozen=True, slots=True)
class TrueTiles:
    """How the tiles lie from the next frame on, and where the camera points."""

    t_ns: int
    tiles: tuple[TrueTile, ...]
    bump: Bump = STRAIGHT


@dataclass(frozen=True, slots=True)
class TrueEvent:
    """An event of the rules that is over.

    Attributes:
        t_ns: When it is entered.
        event: The event.
        points: Its points, for all seats together.
        totals: Points of each seat after it.
        ended_ns: Time of the last frame that shows a change of it; from then on nothing moved.
    """

    t_ns: int
    event: Event
    points: int
    totals: tuple[int, ...]
    ended_ns: int


@dataclass(frozen=True, slots=True)
class TrueRecord:
    """The whole match in writing, when it is over."""

    t_ns: int
    dgr: str


TruthItem: TypeAlias = TrueEvent | TrueRecord
Planned: TypeAlias = FramePlan | SimulatedInput | NowLying | TruthItem
"""An item of a script, in millimetres."""

SimulatedItem: TypeAlias = Frame | SimulatedInput | TrueTable | TrueTiles | TruthItem
"""An item of a simulated sitting, in pixels."""
