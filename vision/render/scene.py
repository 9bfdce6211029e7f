"""What lies where on a table: the exact input of a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from vision.reading import Join
from vision.render.look_types import Bgr, CameraLook, LightLook, TableLook, TileLook
from vision.render.patterns import MAX_PIPS, Points


@dataclass(frozen=True, slots=True)
class PlacedTile:
    """A tile that lies on the table.

    Attributes:
        pips: Of half 0 and half 1, or None for a face-down tile. Half 0 lies towards -x of the tile.
        center_mm: Middle of the tile from the middle of the picture, x right and y down.
        theta_rad: Turns the x axis (the long one) of the tile, clockwise in the picture.
        height_mm: Height of its underside over the table.
    """

    pips: tuple[int, int] | None
    center_mm: tuple[float, float]
    theta_rad: float
    height_mm: float = 0.0

    def __post_init__(self) -> None:
        if self.pips is not None and not all(0 <= pips <= MAX_PIPS for pips in self.pips):
            raise ValueError(f"pips: expected two of 0 to {MAX_PIPS} or None, got {self.pips}")

    def to_table(self, points_mm: Points) -> Points:
        """Return points of the tile frame, shape (N, 2), on the table."""
        cos, sin = math.cos(self.theta_rad), math.sin(self.theta_rad)
        turned: Points = points_mm @ np.array([[cos, sin], [-sin, cos]]) + np.asarray(self.center_mm)
        return turned


class ClutterKind(StrEnum):
    """Things on a table that are no tiles."""

    COIN = "coin"
    PEN = "pen"
    PHONE = "phone"
    PAPER = "paper"
    CARD = "card"
    DIE = "die"
    GLASS = "glass"
    PRINTED_TILE = "printed_tile"
    STANDING_TILE = "standing_tile"


@dataclass(frozen=True, slots=True)
class Clutter:
    """A thing that is no tile to be read.

    Attributes:
        center_mm, theta_rad: As of a tile.
        length_mm, width_mm: Its extent; a coin uses its length as diameter.
        height_mm: How far it rises above the table.
    """

    kind: ClutterKind
    center_mm: tuple[float, float]
    theta_rad: float
    length_mm: float
    width_mm: float
    height_mm: float
    bgr: Bgr


@dataclass(frozen=True, slots=True)
class Scene:
    """A table as one picture shows it.

    Attributes:
        joins: Indices into *tiles*.
        clutter: Things that the truth does not list.
    """

    tiles: tuple[PlacedTile, ...]
    tile: TileLook
    table: TableLook
    light: LightLook
    camera: CameraLook
    joins: tuple[Join, ...] = ()
    clutter: tuple[Clutter, ...] = ()

    def __post_init__(self) -> None:
        for join in self.joins:
            if not (0 <= join.a < len(self.tiles) and 0 <= join.b < len(self.tiles)):
                raise ValueError(f"{join}: expected indices below {len(self.tiles)}")
