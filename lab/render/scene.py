"""Scene description: tiles and objects with their positions, the complete input of a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from lab.render.look_types import CameraLook, LightLook, TableLook, TileLook
from lab.render.patterns import MAX_PIPS
from vision.arrays import Bgr, Points
from vision.reading import Join


@dataclass(frozen=True, slots=True)
class PlacedTile:
    """A tile on the table.

    Attributes:
        pips: Numbers of half 0 and half 1, or None for a face-down tile. Half 0 is towards -x of the tile.
        center_mm: Middle of the tile relative to the middle of the picture, x right and y down.
        theta_rad: Direction of the tile's x axis (its long axis), clockwise in the picture.
        height_mm: Height of the underside above the table.
        look: 0 for the scene's main look, n for its n-th additional look.
    """

    pips: tuple[int, int] | None
    center_mm: tuple[float, float]
    theta_rad: float
    height_mm: float = 0.0
    look: int = 0

    def __post_init__(self) -> None:
        if self.pips is not None and not all(0 <= pips <= MAX_PIPS for pips in self.pips):
            raise ValueError(f"pips: expected two of 0 to {MAX_PIPS} or None, got {self.pips}")

    def to_table(self, points_mm: Points) -> Points:
        """Transform points of the tile frame, shape (N, 2), to the table."""
        cos, sin = math.cos(self.theta_rad), math.sin(self.theta_rad)
        on_table: Points = points_mm @ np.array([[cos, sin], [-sin, cos]]) + np.asarray(self.center_mm)
        return on_table


class ClutterKind(StrEnum):
    """Kinds of objects other than readable tiles."""

    COIN = "coin"
    PEN = "pen"
    PHONE = "phone"
    PAPER = "paper"
    CARD = "card"
    DIE = "die"
    GLASS = "glass"
    PRINTED_TILE = "printed_tile"
    STANDING_TILE = "standing_tile"
    PICTURE = "picture"
    MUG = "mug"
    KEYBOARD = "keyboard"
    KEYPAD = "keypad"
    CHECKERBOARD = "checkerboard"
    PAGE = "page"
    DOTS = "dots"
    BARCODE = "barcode"
    RULER = "ruler"
    PLAYING_CARD = "playing_card"
    BANK_CARD = "bank_card"


@dataclass(frozen=True, slots=True)
class Clutter:
    """An object other than a readable tile.

    Attributes:
        center_mm, theta_rad: Position and direction, as in `PlacedTile`.
        length_mm, width_mm: Extent. For round objects, the length is the diameter.
        height_mm: Height of the top above the table.
        bgr: Main colour.
        pips: Numbers on a standing or printed tile. The face of a standing tile is towards +y and its half 0 towards
            -x.
    """

    kind: ClutterKind
    center_mm: tuple[float, float]
    theta_rad: float
    length_mm: float
    width_mm: float
    height_mm: float
    bgr: Bgr
    pips: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """A player's hand and arm over the table.

    Attributes:
        tip_mm: Position of the middle fingertip.
        heading_rad: Direction from the elbow to the fingertips, clockwise from x in the picture.
        height_mm: Height of the fingertips above the table.
        skin_bgr: Colour of the skin.
        sleeve_bgr: Colour of the sleeve, or None for a bare arm.
        sleeve: Position of the cuff: 0 at the wrist, 1 at the elbow.
        is_left: True for a left hand, seen from above.
        spread: Spread of the fingers, 0 to 1.
        curl: Bend of the fingers, from 0 (flat) to 1.
        scale: Size relative to a hand of 190 mm.
    """

    tip_mm: tuple[float, float]
    heading_rad: float
    height_mm: float
    skin_bgr: Bgr
    sleeve_bgr: Bgr | None = None
    sleeve: float = 0.3
    is_left: bool = False
    spread: float = 0.5
    curl: float = 0.4
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Floor:
    """Edge of the table, and the floor beyond.

    Attributes:
        look: Look of the floor. Its pattern is not scaled with distance from the table.
        outline_mm: Outline of the table top as (x, y), convex, clockwise in the picture.
        drop: Darkness of the floor, from 0 (as bright as the table) to 1 (black).
        rim_bgr: Colour of the rim of the table.
        rim_mm: Height of the rim.
        below_mm: Depth of the floor below the table top.
    """

    look: TableLook
    outline_mm: tuple[tuple[float, float], ...]
    drop: float = 0.4
    rim_bgr: Bgr = (40.0, 60.0, 85.0)
    rim_mm: float = 25.0
    below_mm: float = 720.0

    def __post_init__(self) -> None:
        if len(self.outline_mm) < 3:
            raise ValueError(f"outline_mm: expected at least 3 points, got {len(self.outline_mm)}")
        if not 0.0 <= self.drop <= 1.0:
            raise ValueError(f"drop: expected 0 to 1, got {self.drop}")

    def margin_mm(self, point_mm: tuple[float, float]) -> float:
        """Return the distance of a point from the edge of the table top. Negative outside."""
        corners = np.array(self.outline_mm)
        along = np.roll(corners, -1, axis=0) - corners
        offset = np.asarray(point_mm) - corners
        inwards = along[:, 0] * offset[:, 1] - along[:, 1] * offset[:, 0]
        return float((inwards / np.maximum(np.linalg.norm(along, axis=1), 1e-9)).min())


@dataclass(frozen=True, slots=True)
class Scene:
    """Contents and appearance of a picture.

    Attributes:
        tile: Main look of the tiles.
        joins: Joins, as indices into *tiles*.
        clutter: Other objects. They are not part of the ground truth.
        reaches: Players' hands, above everything else.
        more_looks: Additional looks of tiles, with the same size as *tile*.
        floor: Table edge and floor, or None for a table that fills the picture.
    """

    tiles: tuple[PlacedTile, ...]
    tile: TileLook
    table: TableLook
    light: LightLook
    camera: CameraLook
    joins: tuple[Join, ...] = ()
    clutter: tuple[Clutter, ...] = ()
    reaches: tuple[Reach, ...] = ()
    more_looks: tuple[TileLook, ...] = ()
    floor: Floor | None = None

    def __post_init__(self) -> None:
        for placed in self.tiles:
            if not 0 <= placed.look <= len(self.more_looks):
                raise ValueError(f"{placed}: expected a look up to {len(self.more_looks)}")
        for look in self.more_looks:
            if _size(look) != _size(self.tile):
                raise ValueError(f"more_looks: expected tiles of {_size(self.tile)} mm, got {_size(look)}")
        for join in self.joins:
            if not (0 <= join.a < len(self.tiles) and 0 <= join.b < len(self.tiles)):
                raise ValueError(f"{join}: expected indices below {len(self.tiles)}")

    def look_of(self, placed: PlacedTile) -> TileLook:
        """Return the look of a tile."""
        return self.tile if placed.look == 0 else self.more_looks[placed.look - 1]


def _size(look: TileLook) -> tuple[float, float, float]:
    return (look.length_mm, look.width_mm, look.thickness_mm)
